"""Whether a force that is given beside a potential holds the force of that potential.

`force` is all of Q. A potential beside it adds nothing to the motion, it only tells the energy; so
a force that leaves out −Nᵀ ∂V/∂q is a mistake which no equation shows, the energy alone does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError

if TYPE_CHECKING:
    import casadi

    from zwang.functions.derive import State
    from zwang.functions.model import Definition

__all__ = ["require_stated"]

#: States at rest at which both are looked at.
STATES = 8
#: Below this part of the force of the potential, none of it is there.
NONE_OF_IT = 1e-9


def require_stated(
    definition: Definition, force: casadi.SX, of_potential: casadi.SX, s: State
) -> None:
    """Refuse a force that is zero, at rest, wherever the force of the potential is not.

    Looked at entry by entry, at several states: what else acts may add to it, but hardly takes it
    away everywhere. Forces that call Python are not looked at.
    """
    import casadi as ca

    if s.calls:
        return
    defaults = [np.ravel(x) for x in definition.parameters.values()]
    p = np.concatenate([np.zeros(0), *defaults])
    both = ca.Function(
        "forces", [s.q, s.v, s.t, s.p], [ca.densify(force), ca.densify(of_potential)]
    )
    generator = np.random.default_rng(0)
    rest = np.zeros(s.v.numel())
    states = [
        (generator.uniform(0.5, 1.5, s.q.numel()), generator.uniform()) for _ in range(STATES)
    ]
    found = np.array([both(q, rest, t, p) for q, t in states])[..., 0]
    given, wanted = np.abs(found[:, 0]), np.abs(found[:, 1])
    usable = np.isfinite(given).all(axis=1) & np.isfinite(wanted).all(axis=1)
    given, wanted = given[usable].max(axis=0, initial=0.0), wanted[usable].max(axis=0, initial=0.0)
    missing = [
        name
        for name, g, w in zip(definition.velocities, given, wanted, strict=True)
        if w > 0.0 and g <= NONE_OF_IT * w
    ]
    if missing:
        raise InputError(
            "force",
            found=f"none of the force of the potential, which acts along {', '.join(missing)}",
            expected="all forces, that of the potential among them",
            advice="Add it to force. Without a force the potential acts by itself; "
            "System.from_lagrangian adds its forces to those of V.",
        )

"""Check of traced functions: a force given with a potential contains that of the potential.

`force` is all of Q. A potential beside it adds nothing to the motion, it only gives the energy; so
a force that lacks −Nᵀ ∂V/∂q is a mistake which no equation shows, the energy alone does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError
from zwang.tracing.rhs_rounding import summed_sizes

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.differentiate import Symbols
    from zwang.tracing.traced_model import Definition

__all__ = ["require_stated"]

#: States at rest at which both are looked at.
STATES = 8
#: Below this part of the force of the potential, none of it is there.
NONE_OF_IT = 1e-9
#: Roundings of what was summed, below which the force of the potential is zero: −Nᵀ ∂V/∂q may
#: cancel on paper, as for a disk on its rim. `summed_sizes` counts one rounding an operation.
ROUNDINGS = 4.0 * np.finfo(float).eps


def require_stated(
    definition: Definition, force: casadi.SX, of_potential: casadi.SX, s: Symbols
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
    inputs, potential = [s.q, s.v, s.t, s.p], ca.densify(of_potential)
    generator = np.random.default_rng(0)
    rest = np.zeros(s.v.numel())
    states = [
        (generator.uniform(0.5, 1.5, s.q.numel()), rest, generator.uniform(), p)
        for _ in range(STATES)
    ]
    both = ca.Function("forces", inputs, [ca.densify(force), potential])
    found = np.array([both(*state) for state in states])[..., 0]
    found = np.abs(found[np.isfinite(found).all(axis=(1, 2))])
    given, wanted = found.max(axis=0, initial=0.0)
    absent = (wanted > 0.0) & (given <= NONE_OF_IT * wanted)
    if absent.any():
        sizes = ca.Function("sizes", inputs, [potential, summed_sizes(potential, inputs)])
        found = np.abs(np.array([sizes(*state) for state in states])[..., 0])
        absent &= (found[:, 0] > ROUNDINGS * found[:, 1]).any(axis=0)
    missing = [name for name, gone in zip(definition.velocities, absent, strict=True) if gone]
    if missing:
        raise InputError(
            "force",
            must="include all forces, also that of the potential",
            but=f"lacks that of the potential along {', '.join(missing)}",
            advice="Add it to force. Without a force the force of the potential is added; "
            "System.from_lagrangian adds its forces to those of V.",
        )

"""Check of traced functions: whether a mass matrix is symmetric.

Kinetic energy takes the symmetric part alone, so that nobody means another; but a factor may take
one triangle and a product the whole of it, and then the motion depends on who computes it. What is
symmetric as it is written costs nothing; all else is looked at with numbers put in, here and where
a motion begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError
from zwang.terms import SYMMETRY_TOLERANCE, asymmetry

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.differentiate import Symbols
    from zwang.tracing.traced_model import Definition

__all__ = ["require_symmetric_mass"]

#: States at which a mass matrix is looked at that is not symmetric as it is written.
STATES = 4


def require_symmetric_mass(definition: Definition, M: casadi.SX, s: Symbols) -> None:
    """Refuse a mass matrix that is not symmetric at some state, with the default parameters.

    One that calls Python is looked at where a motion begins.
    """
    import casadi as ca

    if ca.sparsify(M - M.T).nnz() == 0 or s.calls:
        return
    p = np.concatenate([np.zeros(0), *(np.ravel(x) for x in definition.parameters.values())])
    mass = ca.Function("mass", [s.q, s.t, s.p], [ca.densify(M)])
    generator = np.random.default_rng(0)
    for _ in range(STATES):
        q, t = generator.uniform(0.5, 1.5, s.q.numel()), generator.uniform()
        found = np.array(mass(q, t, p))
        if not np.isfinite(found).all():
            continue
        relative = asymmetry(found)
        i, j = divmod(int(np.argmax(relative)), len(found))
        if relative[i, j] > SYMMETRY_TOLERANCE:
            where = [f"{name} = {x:g}" for name, x in zip(definition.coordinates, q, strict=True)]
            if not ca.depends_on(ca.vec(M), s.q):
                where = []
            if ca.depends_on(ca.vec(M), s.t):
                where.append(f"t = {t:g}")
            at = f" at {', '.join(where)}" if where else ""
            raise InputError(
                "mass",
                must="be symmetric",
                but=f"M[{i}, {j}] = {found[i, j]:g} and M[{j}, {i}] = {found[j, i]:g}{at}",
                advice="Use (M + M.T) / 2 if only the symmetric part is meant.",
            )

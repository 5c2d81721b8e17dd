"""Equations at many states at once: mass matrices, constraint rows, and whether all are regular."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.linalg.rank import own_spectrum
from zwang.terms import SYMMETRY_TOLERANCE, FloatArray, asymmetry

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["all_regular", "terms_at"]


class _MassAndRows:
    """(q, v, t, p) → (M, A), compiled."""

    def __init__(self, system: Equations) -> None:
        import casadi as ca

        from zwang.codegen.kernel import compile as compile_kernel

        m, s = system.model, system.model.state
        outputs = [ca.densify(ca.vec(ca.densify(x))) for x in (m.M.T, m.A.T)]
        self.kernel = compile_kernel(ca.Function("terms", [s.q, s.v, s.t, s.p], outputs))


def terms_at(
    system: Equations, Y: FloatArray, t: float, P: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """M (N, nv, nv) and A (N, m, nv) at states (N, n) with parameters (N, np)."""
    from zwang.programs.at_states import evaluated

    found = system.cache.once(_MassAndRows, lambda: _MassAndRows(system))
    count, nv = len(Y), len(system.velocities)
    M, A = evaluated(found.kernel, Y, t, P, len(system.coordinates))
    return M.reshape(count, nv, nv), A.reshape(count, -1, nv)


def all_regular(M: FloatArray) -> bool:
    """Whether all mass matrices (N, nv, nv) are symmetric, and regular by a wide margin."""
    if not np.isfinite(M).all() or asymmetry(M).max(initial=0.0) > SYMMETRY_TOLERANCE:
        return False
    spectrum = own_spectrum(M)
    return bool(np.all(spectrum.rank == M.shape[-1]) and spectrum.estimated)

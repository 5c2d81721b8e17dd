"""Equations at many states at once: mass matrices, constraint rows, and whether all are regular."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.caching import PassedOn
from zwang.linalg.rank import DEFAULT_TOLERANCES, own_spectrum
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import SYMMETRY_TOLERANCE, EquationTerms, FloatArray, asymmetry

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["all_regular", "determined", "terms_at"]


class _MassAndRows(PassedOn):
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


def determined(M: FloatArray, A: FloatArray) -> np.ndarray:
    """Where M (N, n, n), which may be singular, and rows A (N, m, n) determine the acceleration.

    By the ranks of `ExpressionEquations.require_unique`, which tells by name what is not; also
    false where numbers are not finite or M is not symmetric. Booleans (N,).
    """
    good = np.asarray(np.isfinite(M).all(axis=(1, 2)) & np.isfinite(A).all(axis=(1, 2)))
    good[good] = asymmetry(M[good]).max(axis=(1, 2)) <= SYMMETRY_TOLERANCE
    if not good.any():
        return good
    M, A = M[good], A[good]
    nothing = np.zeros(M.shape[:-1]), np.zeros(A.shape[:-1])
    scaled = ScaledTerms.of(EquationTerms.of(M, nothing[0], A, nothing[1]))
    least = -DEFAULT_TOLERANCES.definite * np.maximum(scaled.mass.largest, 1.0)
    ranks = np.broadcast_to(scaled.stacked_ranks, len(M))
    good[good] = (ranks == M.shape[-1]) & (scaled.mass.smallest >= least)
    return good

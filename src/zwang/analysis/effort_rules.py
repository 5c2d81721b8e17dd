"""Inverse dynamics analysis: efforts for accelerations, and which of them a rule chooses.

    M a = Q + C + Aᵀλ + B τ        for given a with A a = b

With a basis D of the motions that A allows, DᵀMD = I, the reactions drop out:

    G τ = g,      G = DᵀB,      g = Dᵀ(M a − Q − C)

g outside the range of G is what the actuators cannot do: D (g − Gτ) is the part of a that is
missed, and τ from least squares makes the motion nearest to a in the metric of M. The null space of
G is the family of efforts that move nothing and only strain the mechanism.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zwang.errors import InputError, UnknownNameError
from zwang.terms import FloatArray

__all__ = ["RULES", "Efforts", "ForceBalance", "balance", "chosen", "weights_of"]

RULES = ("least norm", "weights", "smallest maximum")
#: Singular values below this share of the largest, of scaled rows or columns, are zero.
ZERO = 1e-9
#: A column of G below this share of what was summed into it is rounding.
NO_EFFECT = 1e-11
#: A force below this share of the forces that were summed is rounding.
ROUNDING = 1e-9
#: Entries of D are known to so many units in the last place of the largest, for each velocity:
#: forces across the allowed motions leave that much of themselves in g.
LAST_PLACES = 8.0 * float(np.finfo(float).eps)


class ForceBalance(NamedTuple):
    """The balance of forces in the directions that constraints leave free, of one or many states.

    Attributes
    ----------
    D : M-orthonormal basis of the allowed motions, shape (n, nv, d).
    G, g : shapes (n, d, k) and (n, d).
    size : of the forces that were summed into g, shape (n,).
    reach : of what was summed into each column of G, shape (n, k).
    across : what rounding in D may leave in g of forces that do no work in the motions, shape (n,).
    """

    D: FloatArray
    G: FloatArray
    g: FloatArray
    size: FloatArray
    reach: FloatArray
    across: FloatArray


class Efforts(NamedTuple):
    """Efforts of many states.

    Attributes
    ----------
    tau : shape (n, k).
    missed : acceleration that is not reached, shape (n, nv); zero where that is rounding.
    family : orthonormal basis of efforts without motion for each state, shapes (k, f).
    """

    tau: FloatArray
    missed: FloatArray
    family: list[FloatArray]


def weights_of(rule: str, weights: object, names: tuple[str, ...]) -> FloatArray:
    """Checked weights, ones if there are none, shape (k,)."""
    if rule not in RULES:
        raise UnknownNameError("rule", str(rule), RULES)
    if weights is None:
        if rule == "weights":
            raise InputError(
                "weights", found="none", expected=f"{len(names)} positive numbers, by actuator"
            )
        return np.ones(len(names))
    given = [weights.get(n, 1.0) for n in names] if isinstance(weights, dict) else weights
    if isinstance(weights, dict):
        for name in weights:
            if name not in names:
                raise UnknownNameError("actuator of weights", str(name), names)
    try:
        w = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        w = np.array(np.nan)
    if w.shape != (len(names),) or not np.isfinite(w).all() or not (w > 0.0).all():
        raise InputError(
            "weights",
            found=repr(weights),
            expected=f"{len(names)} positive numbers, one for each actuator",
        )
    if rule == "least norm":
        raise InputError(
            "weights", found="weights with the rule 'least norm'", expected="rule='weights'"
        )
    return w


def balance(
    M: FloatArray, A: FloatArray, B: FloatArray, r: FloatArray, size: FloatArray
) -> ForceBalance:
    """The balance of states (n, …) whose rows have the same rank.

    Parameters
    ----------
    r : M a − Q − C, shape (n, nv).
    size : |M a| + |Q| + |C| of each component, shape (n, nv).
    """
    diagonal = np.einsum("nii->ni", M).mean(axis=0)
    columns = np.abs(A).max(axis=(0, 1), initial=0.0)
    heavy = np.where(diagonal > 0.0, diagonal, 1.0)
    light = np.where(columns > ZERO * columns.max(initial=0.0), columns, 1.0)
    d = 2.0 ** np.round(np.log2(np.where(diagonal > 0.0, heavy**-0.5, 1.0 / light)))
    scaled = A * d
    lengths = np.linalg.norm(scaled, axis=2, keepdims=True)
    scaled = scaled / np.where(lengths > 0.0, lengths, 1.0)
    nv = M.shape[-1]
    if A.shape[1]:
        _, values, Vt = np.linalg.svd(scaled)
        rank = int(np.median(np.sum(values > ZERO * values.max(initial=1.0), axis=1)))
        N = np.swapaxes(Vt[:, rank:], 1, 2)
    else:
        N = np.broadcast_to(np.eye(nv), M.shape)
    N = d[:, None] * N
    S = np.einsum("nia,nij,njb->nab", N, M, N)
    values, vectors = np.linalg.eigh(S)
    large = values > ZERO * np.maximum(values.max(axis=1, initial=1e-300), 1e-300)[:, None]
    # Directions without mass keep their scale: forces balance there for any acceleration.
    root = np.where(large, np.sqrt(np.where(large, values, 1.0)), 1.0)
    D = np.einsum("nia,nab->nib", N, vectors / root[:, None, :])
    G, g = np.einsum("nia,nik->nak", D, B), np.einsum("nia,ni->na", D, r)
    summed = np.einsum("nia,ni->na", np.abs(D), size)
    # Rounding in D is relative to its largest entries, and those may be far from an actuator.
    lightest = root.min(axis=1, initial=np.inf)
    reach = np.einsum("i,nik->nk", d, np.abs(B)) / lightest[:, None]
    across = nv * LAST_PLACES * (size @ d) / lightest
    return ForceBalance(D, G, g, np.linalg.norm(summed, axis=1), reach, across)


def chosen(of: ForceBalance, rule: str, weights: FloatArray) -> Efforts:
    """Efforts by a rule, what they do not reach, and their family."""
    n, _, k = of.G.shape
    unit = np.linalg.norm(of.G, axis=1)
    acts = unit > NO_EFFECT * of.reach  # an actuator along a direction that joints hold does not
    unit = np.where(acts, 1.0 / np.where(acts, unit, 1.0), 1.0)
    scaled = np.where(acts[:, None, :], of.G * unit[:, None, :], 0.0)
    U, values, Vt = np.linalg.svd(scaled, full_matrices=True)
    count = values.shape[1]
    active = values > ZERO * np.maximum(values.max(axis=1, initial=0.0), 1e-300)[:, None]
    inverse = np.where(active, 1.0 / np.where(active, values, 1.0), 0.0)
    parts = np.einsum("nab,na->nb", U[:, :, :count], of.g) * inverse
    tau = unit * np.einsum("nbk,nb->nk", Vt[:, :count], parts)
    left = of.g - np.einsum("nak,nk->na", of.G, tau)
    unreached = np.linalg.norm(left, axis=1) > ROUNDING * of.size + of.across
    missed = np.where(unreached[:, None], np.einsum("nia,na->ni", of.D, left), 0.0)
    ranks = active.sum(axis=1)
    family = []
    for i in range(n):
        basis = unit[i][:, None] * Vt[i, ranks[i] :].T
        Z = np.linalg.qr(basis)[0] if basis.shape[1] else np.zeros((k, 0))
        family.append(Z)
        if Z.shape[1]:
            tau[i] = _by_rule(rule, tau[i], Z, weights)
    return Efforts(tau, missed, family)


def _by_rule(rule: str, tau: FloatArray, Z: FloatArray, weights: FloatArray) -> FloatArray:
    """Of all τ + Z c the one that a rule asks for."""
    if rule == "smallest maximum":
        from zwang.diagnosis.minimax_split import smallest_maximum

        return smallest_maximum(tau - Z @ (Z.T @ tau), Z, weights)
    W = weights[:, None] * Z
    return tau - Z @ np.linalg.solve(Z.T @ W, W.T @ tau)

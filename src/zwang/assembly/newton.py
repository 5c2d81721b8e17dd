"""Assembly of a mechanism by Gauss–Newton: a configuration near its placement that meets joints.

Gauss–Newton on the conditions g(q) = 0, constraints and held coordinates alike, in increments δ of
the velocities' kind (translations and rotations of the bodies):

    δ = −W⁻¹ Gᵀ (G W⁻¹ Gᵀ)⁺ g,    q ← q ⊕ δ

with rotations counted by a length of the mechanism, so that metres and radians compare. A step that
does not bring the conditions down is halved. G of a large mechanism is sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.linalg.least_change import least_change
from zwang.terms import FloatArray

__all__ = [
    "MASSLESS",
    "MASSLESS_SPARSE",
    "NewtonConditions",
    "NewtonResult",
    "impulse_root",
    "is_met",
    "place",
    "search",
    "set_velocities",
    "stacked",
]

ITERATIONS = 60
HALVINGS = 12
#: Searches that begin nearby where one fails, and how far off: parts of the size, or of a radian.
NUDGES, NUDGE = 4, 0.1
#: Conditions count as met below this, relative to the size of the mechanism.
MET = 1e-12
#: Share of the mean mass, or moment of inertia, that counts for what has none. What that takes from
#: the others is as small; divided by the square of a chain's length it must stay above the square
#: of `zwang.linalg.least_change.WEAK`, and above `DELTA` there where G is sparse.
MASSLESS, MASSLESS_SPARSE = 1e-10, 1e-6


@dataclass(frozen=True)
class NewtonConditions:
    """What has to be met.

    Attributes
    ----------
    values : q → (g, G): values and their derivatives by increments, shapes (m,) and (m, nv); G may
        be sparse.
    move : (q, δ) → q ⊕ δ.
    weights : of the increments, shape (nv,); large where little change is desired.
    size : of the mechanism [m].
    """

    values: Callable[[FloatArray], tuple[FloatArray, Any]]
    move: Callable[[FloatArray, FloatArray], FloatArray]
    weights: FloatArray
    size: float


@dataclass(frozen=True)
class NewtonResult:
    """Where the search ended: q, values and slopes there, steps taken, and whether they are met."""

    q: FloatArray
    values: FloatArray
    slopes: Any
    iterations: int
    met: bool


def place(c: NewtonConditions, q: FloatArray) -> NewtonResult:
    """The nearest configuration that the search finds.

    A search from a symmetric position, a rod at right angles to where its end has to be, ends
    between two ways out of it. Where one fails, others begin nearby, and the nearest end counts.
    """
    found = search(c, q)
    if found.met:
        return found
    rng, nearby = np.random.default_rng(0), []
    for _ in range(NUDGES):
        nudge = NUDGE * c.size / np.sqrt(c.weights) * rng.standard_normal(len(c.weights))
        end = search(c, c.move(q, nudge))
        nearby += [(float(np.linalg.norm(end.q - q)), end)] if end.met else []
    return min(nearby, key=lambda pair: pair[0])[1] if nearby else found


def search(c: NewtonConditions, q: FloatArray) -> NewtonResult:
    """Newton steps from q, each shortened until the conditions are missed by less."""
    g, G = c.values(q)
    limit = MET * max(1.0, c.size)
    best = float(np.linalg.norm(g))
    turns = np.sqrt(c.weights) / max(c.size, 1e-300)  # what increments are in radians, or sizes
    steps, polish = 0, 2  # two further steps take the last digits
    while steps < ITERATIONS:
        if np.abs(g).max(initial=0.0) <= limit:
            if not polish:
                break
            polish -= 1
        step = least_change(G, -g, c.weights)
        # A rotation of more than half a radian, or a way of half the size, is no small change.
        largest = float((np.abs(step) * turns).max(initial=0.0))
        step = step / max(1.0, 2.0 * largest)
        for _ in range(HALVINGS):
            trial = c.move(q, step)
            g_new, G_new = c.values(trial)
            size = float(np.linalg.norm(g_new))
            if size < best or size <= limit:
                break
            step = 0.5 * step
        else:
            break
        q, g, G, best, steps = trial, g_new, G_new, size, steps + 1
    return NewtonResult(q, g, G, steps, bool(np.abs(g).max(initial=0.0) <= limit))


def is_met(c: NewtonConditions, q: FloatArray) -> bool:
    """Whether conditions hold at q."""
    g, _ = c.values(q)
    return bool(np.abs(g).max(initial=0.0) <= MET * max(1.0, c.size))


def stacked(slopes: Sequence[Any]) -> Any:
    """Rows of several conditions as one matrix, sparse if one of them is."""
    if all(isinstance(G, np.ndarray) for G in slopes):
        return np.concatenate([np.atleast_2d(G) for G in slopes])
    from scipy import sparse

    rows = [np.atleast_2d(G) if isinstance(G, np.ndarray) else G for G in slopes]
    return sparse.vstack([sparse.csr_array(G) for G in rows], format="csr")


def set_velocities(
    rates: Callable[[FloatArray], tuple[FloatArray, Any]], v: FloatArray, root: Any
) -> tuple[FloatArray, FloatArray, Any]:
    """Velocities with ψ = 0 that an impulse along ψ_v makes of v, and ψ and ψ_v there.

    ½ ΔvᵀM Δv is the least, with Δv = R y and M⁻¹ = R Rᵀ; a few steps for nonlinear ψ.

    Parameters
    ----------
    root : R, dense or, for sparse slopes, sparse.
    """
    for _ in range(8):
        psi, slopes = rates(v)
        if np.abs(psi).max(initial=0.0) <= 1e-14 * max(1.0, float(np.abs(v).max(initial=0.0))):
            break
        G = slopes @ root
        size = np.sqrt((G * G).sum(axis=1))
        scale = 1.0 / np.where(size > 0.0, size, 1.0)
        if isinstance(G, np.ndarray):
            G = G * scale[:, None]
        else:
            from scipy.sparse import diags_array

            G = (diags_array(scale) @ G).tocsr()
        v = v + root @ least_change(G, -psi * scale, np.ones(G.shape[1]))
    psi, slopes = rates(v)
    return v, psi, slopes


def impulse_root(
    blocks: Sequence[FloatArray], turns: Sequence[int], arm: float, least: float
) -> list[FloatArray]:
    """R of each body with R Rᵀ = M⁻¹, for `set_velocities`.

    What has no mass is given a small share of the mean one, so that it follows whatever has some.

    Parameters
    ----------
    blocks : masses of the bodies, (n, n).
    turns : how many of a body's velocities, its last ones, are angular.
    arm : a length of the bodies, by which masses make moments where no body has any.
    least : that share.
    """
    parts = [(len(M) - k, M) for M, k in zip(blocks, turns, strict=True)]
    masses = [x for n, M in parts for x in np.diag(M)[:n]]
    moments = [x for n, M in parts for x in np.diag(M)[n:]]
    mass = float(np.mean([x for x in masses if x > 0.0] or [1.0]))
    moment = float(np.mean([x for x in moments if x > 0.0] or [mass * arm**2]))
    roots = []
    for n, M in parts:
        R = np.zeros(M.shape)
        for own, mean in ((slice(0, n), mass), (slice(n, len(M)), moment)):
            if own.start == own.stop:
                continue
            values, axes = np.linalg.eigh(M[own, own])
            R[own, own] = axes / np.sqrt(np.maximum(values, least * mean))
        roots.append(R)
    return roots

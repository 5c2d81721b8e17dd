"""Kinematic analysis: following a path of configurations through dead points and change points.

Moore–Penrose continuation (Govaerts 2000, section 2.2; Allgower & Georg 1990, chapter 6): a step
along the tangent and its curvature, then Newton corrections of least norm,

    x ← x + h T + ½ h² T′,      x ← x − Â⁺ φ(x),      Â T = 0,   Â T′ = b̂(x, T)

until φ is rounding. In steps of arc length a dead point, where the variable s turns back, is a
place like any other: T_s changes its sign there. At a change point two branches cross and Â loses
rank. It is passed between two steps, from so near that the branch straight ahead is the nearest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from zwang.analysis.path_equations import PathEquations
from zwang.terms import FloatArray

__all__ = [
    "CHANGE",
    "DEAD",
    "Decomposition",
    "Follower",
    "Path",
    "PathNode",
    "Singular",
    "cubic",
    "root",
]

#: Arc length of the first step and of the largest, in scaled units: radians, or link lengths.
FIRST, LONGEST, SHORTEST = 0.05, 0.25, 1e-7
#: The first correction of a step may be this, and a step is chosen to make it the second figure:
#: cubic interpolation between steps is then good to about that, and Newton needs three rounds.
MOST_CORRECTED, CORRECTED = 3e-3, 3e-4
#: Tangents of neighboring steps have at least this cosine: 17 degrees.
STRAIGHT = 0.955
#: A change point is approached to this distance and passed at twice the distance at once.
NEAR = 0.02
#: Newton's method has come to rest when a correction is below this, and has failed after so many.
SETTLED, ROUNDS = 3e-14, 12
#: Singular values, of scaled rows, below this are zero: rows are redundant or motions free.
ZERO = 1e-9
#: Steps after which a path is given up: a hundred turns of a crank.
STEPS = 20_000

DEAD, CHANGE = "dead point", "change point"


class Decomposition(NamedTuple):
    """Singular values of the scaled rows and the vectors that go with the least of them."""

    U: FloatArray
    values: FloatArray
    Vt: FloatArray


@dataclass(frozen=True)
class PathNode:
    """A configuration on the path.

    Attributes
    ----------
    x : (q, s).
    tangent : T in scaled velocities, of unit length.
    slope : x′ by arc length.
    length : arc length from the start.
    signed : least singular value of Â that is not zero everywhere, with a sign that changes where
        it passes zero.
    vectors : the singular vectors of it.
    """

    x: FloatArray
    tangent: FloatArray
    slope: FloatArray
    length: float
    signed: float
    vectors: tuple[FloatArray, FloatArray] = field(repr=False)

    @property
    def s(self) -> float:
        """Value of the path's variable."""
        return float(self.x[-1])


@dataclass(frozen=True)
class Singular:
    """A dead point or a change point of a path.

    Attributes
    ----------
    kind : `DEAD` or `CHANGE`.
    x : where.
    length : arc length from the start.
    after : number of the node before it.
    """

    kind: str
    x: FloatArray
    length: float
    after: int


@dataclass
class Path:
    """Nodes in order, and the singular places between them.

    Attributes
    ----------
    reached : whether the path got to the value that was asked for.
    reason : why it ended before, or empty.
    dense : x (k, nq + 1) at arc lengths (k,), where rows of velocities were integrated.
    """

    nodes: list[PathNode]
    singular: list[Singular]
    reached: bool = False
    reason: str = ""
    dense: Callable[[FloatArray], FloatArray] | None = None


class Follower:
    """Continuation of one system from one configuration.

    Parameters
    ----------
    x : a configuration on the constraints.
    span : how far the variable is to go, for its scale.
    """

    def __init__(self, equations: PathEquations, x: FloatArray, span: float) -> None:
        self.equations = equations
        A = equations.geometry(x).rows
        columns = np.linalg.norm(A[:, :-1], axis=0)
        # A velocity on which no row depends but by rounding, as the spin of a rod between two ball
        # joints, has no scale.
        idle = columns <= ZERO * columns.max(initial=0.0)
        D = np.append(1.0 / np.where(idle, 1.0, columns), abs(span) / 10.0 or 1.0)
        self.D = 2.0 ** np.round(np.log2(D))
        lengths = np.linalg.norm(A * self.D, axis=1)
        self.E = 2.0 ** -np.round(np.log2(np.where(lengths > 0.0, lengths, 1.0)))
        values = self.decomposed(x).values
        self.rank = int(np.sum(values > ZERO * values.max(initial=1.0)))

    @property
    def idle(self) -> int:
        """Motions besides that along the path, which nothing determines."""
        return len(self.D) - 1 - self.rank

    # --- one place --------------------------------------------------------------------------------

    def decomposed(self, x: FloatArray) -> Decomposition:
        """Singular value decomposition of the scaled rows."""
        return self._decomposed(self.equations.geometry(x).rows)

    def _decomposed(self, A: FloatArray) -> Decomposition:
        return Decomposition(*np.linalg.svd(self.E[:, None] * A * self.D))

    def solved(self, of: Decomposition, right: FloatArray) -> FloatArray:
        """Least scaled velocities with Â w = right."""
        r = self.rank
        return of.Vt[:r].T @ ((of.U[:, :r].T @ (self.E * right)) / of.values[:r])

    def free(self, x: FloatArray) -> FloatArray:
        """Velocities that rows allow, with the variable free, shape (nv + 1, k), scaled."""
        return self.decomposed(x).Vt[self.rank :].T

    def corrected(self, x: FloatArray) -> tuple[FloatArray, float] | None:
        """The nearest configuration on the constraints, and the first correction, or None."""
        x, first, last = self.equations.unit(x.copy()), 0.0, np.inf
        for k in range(ROUNDS):
            at = self.equations.geometry(x)
            step = -self.solved(self._decomposed(at.rows), at.phi)
            size = float(np.linalg.norm(step))
            if not np.isfinite(size) or (k and size > 0.5 * last and size > 1e-9):
                return None
            x = self.equations.moved(x, self.D * step)
            first = size if k == 0 else first
            if size < SETTLED or (k and size >= 0.5 * last):
                return x, first
            last = size
        return None

    def node(self, x: FloatArray, towards: FloatArray, before: PathNode | None) -> PathNode:
        """The place x with the tangent that goes on in a direction."""
        of = self.decomposed(x)
        free = of.Vt[self.rank :]
        tangent = free.T @ (free @ towards)
        size = float(np.linalg.norm(tangent))
        tangent = tangent / size if size > 0.0 else free[-1]
        vectors = of.U[:, self.rank - 1], of.Vt[self.rank - 1]
        sign = 1.0
        if before is not None:
            alike = [float(a @ b) for a, b in zip(vectors, before.vectors, strict=True)]
            sign = np.sign(before.signed)
            if min(abs(a) for a in alike) > 0.5 and alike[0] * alike[1] < 0.0:
                sign = -sign
        slope = self.equations.rate(x, self.D * tangent)
        length = 0.0 if before is None else before.length
        return PathNode(x, tangent, slope, length, sign * float(of.values[self.rank - 1]), vectors)

    def curvature(self, node: PathNode) -> FloatArray:
        """T′ in scaled velocities."""
        b = self.equations.bias(node.x, self.D * node.tangent)
        return self.solved(self.decomposed(node.x), b)

    # --- along the path ---------------------------------------------------------------------------

    def start(self, x: FloatArray, direction: float) -> PathNode:
        """The first node, in the direction of growing or falling s."""
        towards = np.zeros(len(self.D))
        towards[-1] = np.sign(direction)
        return self.node(x, towards, None)

    def follow(self, node: PathNode, until: float, most: int = STEPS) -> Path:
        """Nodes from one on, until s has passed a value or turns back.

        Parameters
        ----------
        until : value of s.
        """
        if not self.equations.valued.all():
            from zwang.analysis.integrated_path import integrated_path

            return integrated_path(self, node, until)
        path, h = Path([node], []), FIRST
        direction = np.sign(node.tangent[-1])
        while len(path.nodes) < most:
            last = path.nodes[-1]
            if (last.s - until) * direction >= 0.0:
                path.reached = True
                return path
            step = self._step(path, h)
            if step is None:
                path.reason = "steps became too short"
                return path
            node, h = step
            path.nodes.append(node)
            self.look_back(path)
            if any(p.kind == DEAD for p in path.singular):
                dead = path.singular[-1]
                path.reached = bool((dead.x[-1] - until) * direction > 0.0)
                return path
        path.reason = f"more than {most} steps"
        return path

    def _step(self, path: Path, h: float) -> tuple[PathNode, float] | None:
        """The next node, and the step to try after it."""
        last = path.nodes[-1]
        curvature = self.curvature(last)
        h = min(h, LONGEST, 0.3 / max(float(np.linalg.norm(curvature)), 1e-9))
        h = self._past_change_point(path, h)
        while h > SHORTEST:
            step = h * last.tangent + 0.5 * h**2 * curvature
            corrected = self.corrected(self.equations.moved(last.x, self.D * step))
            if corrected is not None and corrected[1] <= MOST_CORRECTED:
                x, first = corrected
                ahead = last.tangent + h * curvature
                node = self.node(x, ahead, last)
                if float(node.tangent @ ahead) >= STRAIGHT * float(np.linalg.norm(ahead)):
                    larger = (CORRECTED / max(first, 1e-12)) ** (1.0 / 3.0)
                    length = last.length + h
                    node = PathNode(
                        node.x, node.tangent, node.slope, length, node.signed, node.vectors
                    )
                    return node, h * float(np.clip(larger, 0.3, 2.0))
            h *= 0.5
        return None

    def _past_change_point(self, path: Path, h: float) -> float:
        """A step that does not end near a change point ahead: before it, or as far beyond."""
        if len(path.nodes) < 2:
            return h
        before, last = path.nodes[-2:]
        fall = (before.signed - last.signed) / (last.length - before.length)
        if fall * last.signed <= 0.0:
            return h
        distance = last.signed / fall  # where it vanishes, if it goes on like this
        if distance > 2.0 * h:
            return h
        if distance > 2.0 * NEAR:
            return distance - NEAR
        return max(h if h > 2.0 * distance else 0.0, 2.0 * max(distance, NEAR / 4.0))

    def look_back(self, path: Path) -> None:
        """Note dead points and change points between the last two nodes."""
        before, last = path.nodes[-2:]
        k = len(path.nodes) - 2
        if before.signed * last.signed < 0.0:
            found = self._crossed(path, before, last)
            if found is not None:
                path.singular.append(Singular(CHANGE, *found, k))
        if before.tangent[-1] * last.tangent[-1] < 0.0:
            # Branches may cross where this one turns back, as at the edge of the reach of a
            # symmetric five-bar, whose arms are stretched at once: the way ends there as well.
            if path.singular and path.singular[-1].after == k:
                path.singular.pop()
            path.singular.append(Singular(DEAD, *self._turned(path, before, last), k))

    def _turned(self, path: Path, before: PathNode, last: PathNode) -> tuple[FloatArray, float]:
        """Where s turns back between two nodes, to rounding."""
        H = last.length - before.length

        def rate(share: float) -> float:
            return float(self._between(path, before, last, share).tangent[-1])

        share = root(rate, 0.0, 1.0)
        return self._between(path, before, last, share).x, before.length + share * H

    def _between(
        self, path: Path, before: PathNode, last: PathNode, share: float, *, corrected: bool = True
    ) -> PathNode:
        """The node on the path at a share of the way between two others."""
        if share in (0.0, 1.0):
            return last if share else before
        x = interpolated(path, before, last, share)
        if corrected:
            better = self.corrected(x)
            x = x if better is None else better[0]
        near = before if share < 0.5 else last
        towards = (1.0 - share) * before.tangent + share * last.tangent
        return self.node(x, towards, near)

    def _crossed(
        self, path: Path, before: PathNode, last: PathNode
    ) -> tuple[FloatArray, float] | None:
        """Where rows lose rank between two nodes; None if they do not."""
        H = last.length - before.length
        a, b, fa, fb = 0.0, 1.0, before.signed, last.signed
        share = 0.5
        for _ in range(60):
            share = a + (b - a) * float(np.clip(fa / (fa - fb), 0.02, 0.98))
            value = self._between(path, before, last, share, corrected=False).signed
            if abs(value) < 1e-6 or (b - a) * H < 1e-9:
                break
            if value * fa > 0.0:
                a, fa = share, value
            else:
                b, fb = share, value
        share = a + (b - a) * fa / (fa - fb) if fa * fb < 0.0 else share
        x = interpolated(path, before, last, share)
        if abs(self._between(path, before, last, share, corrected=False).signed) > 1e-4:
            return None
        return x, before.length + share * H


def root(f: Callable[[float], float], a: float, b: float) -> float:
    """A zero of f between a and b, where it has different signs, to rounding."""
    from scipy.optimize import brentq

    return float(brentq(f, a, b, xtol=1e-15, rtol=np.float64(1e-14)))  # type: ignore[arg-type] - SciPy annotates rtol by its default


def interpolated(path: Path, before: PathNode, last: PathNode, share: float) -> FloatArray:
    """x at a share of the arc between two nodes, not yet corrected, shape (nq + 1,)."""
    H = last.length - before.length
    if path.dense is not None:
        return path.dense(np.array([before.length + share * H]))[0]
    return cubic(np.array(share), before.x, last.x, H * before.slope, H * last.slope)


def cubic(u: FloatArray, a: Any, b: Any, slope_a: Any, slope_b: Any) -> FloatArray:
    """Hermite's cubic from a to b with slopes, at shares u of the way."""
    v = 1.0 - u
    return (
        v**2 * (1.0 + 2.0 * u) * a
        + u**2 * (1.0 + 2.0 * v) * b
        + u * v * (v * slope_a - u * slope_b)
    )

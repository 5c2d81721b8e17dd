"""Diagnosis by a geometric portrait: a constrained motion seen from N(A) and N(A)⊥.

Udwadia & Mogharabin (2022), Remark 2: the constraints fix the part of v̇ in N(A)⊥, the forces the
part in N(A),

    v̇_N = M_s⁺ Δ,    v̇_⊥ = A⁺b,    Δ = Q + C − M A⁺b

with ‖v̇_N‖ ≤ ‖M_s⁺‖ ‖Δ‖ and ‖v̇_⊥‖ ≥ ‖M A⁺b‖ / ‖M‖ (29), (30). For one particle M = m I, and the
portrait is that of (28): v̇_N is the same part of the acceleration (Q + C)/m.

Lengths and right angles are those of the given coordinates; where these mix units, so do they.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.diagnosis.solved import SolvedTerms
from zwang.display import Displayed
from zwang.linalg.rank import DEFAULT_TOLERANCES, RowGeometry, Tolerances
from zwang.terms import EquationTerms, FloatArray

__all__ = ["Portrait", "SideBySide", "Sides", "portrait", "portrait_terms", "side_by_side"]

#: A part below this fraction of its vector is rounding of the two projections and shown as zero.
PART_TOLERANCE = 1e-14


@dataclass(frozen=True)
class Sides:
    """A vector and its orthogonal parts in N(A) and N(A)⊥, each of shape (n,).

    Attributes
    ----------
    vector : the whole.
    tangent : its part in N(A), along the virtual displacements.
    normal : its part in N(A)⊥.
    """

    vector: FloatArray
    tangent: FloatArray
    normal: FloatArray

    @property
    def lengths(self) -> tuple[float, float]:
        """‖tangent‖ and ‖normal‖."""
        return float(np.linalg.norm(self.tangent)), float(np.linalg.norm(self.normal))


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class Portrait(Displayed):
    """Acceleration and forces of one system, split between N(A) and N(A)⊥.

    Attributes
    ----------
    acceleration : v̇.
    reduced_force : Δ = Q + C − M A⁺b.
    fixed_inertia : M A⁺b, the inertia force of the acceleration that the constraints fix.
    given_force : Q + C.
    constraint_force : Q_c = M v̇ − Q.
    tangent_bound : ‖M_s⁺‖ ‖Δ‖, never less than ‖v̇_N‖.
    normal_bound : ‖M A⁺b‖ / ‖M‖, never more than ‖v̇_⊥‖.
    """

    acceleration: Sides
    reduced_force: Sides
    fixed_inertia: Sides
    given_force: Sides
    constraint_force: Sides
    tangent_bound: float
    normal_bound: float

    def plot(self, ax: Any = None) -> Any:
        """Draw the portrait, N(A) to the right and N(A)⊥ upwards; needs matplotlib.

        Parameters
        ----------
        ax : None for a new figure with accelerations on the left and forces on the right; a pair
            of axes for both; a single one for the accelerations alone.

        Returns
        -------
        matplotlib.figure.Figure
            That of the axes.
        """
        from zwang.diagnosis.portrait_figure import draw

        return draw(self, ax)

    def __str__(self) -> str:
        rows = [
            ("acceleration v̇", self.acceleration),
            ("Δ = Q + C − M A⁺b", self.reduced_force),
            ("M A⁺b", self.fixed_inertia),
            ("Q + C", self.given_force),
            ("constraint force Q_c", self.constraint_force),
        ]
        lines = [f"{'length':<22}{'in N(A)':>14}{'in N(A)⊥':>14}"]
        lines += [f"{name:<22}{s.lengths[0]:>14.6g}{s.lengths[1]:>14.6g}" for name, s in rows]
        tangent, normal = self.acceleration.lengths
        lines.append(f"‖v̇_N‖ = {tangent:.6g} ≤ ‖M_s⁺‖‖Δ‖ = {self.tangent_bound:.6g}")
        lines.append(f"‖v̇_⊥‖ = {normal:.6g} ≥ ‖M A⁺b‖/‖M‖ = {self.normal_bound:.6g}")
        return "\n".join(lines)


@known_keywords()
def portrait(
    M: Any,
    Q: ArrayLike,
    A: Any,
    b: ArrayLike,
    C: ArrayLike | None = None,
    *,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Portrait:
    """The geometric portrait of a single well-posed system.

    Parameters
    ----------
    M, Q, A, b, C : as for `zwang.solve`.

    Examples
    --------
    >>> from zwang.diagnosis.portrait import portrait
    >>> p = portrait([[2, 0], [0, 2]], [3, -20], [[0, 1]], [-1])
    >>> p.acceleration.lengths
    (1.5, 1.0)
    """
    return portrait_terms(EquationTerms.of(M, Q, A, b, C), tolerances)


def portrait_terms(terms: EquationTerms, tolerances: Tolerances = DEFAULT_TOLERANCES) -> Portrait:
    """`portrait` for terms that are already checked."""
    solved = SolvedTerms.of(terms, tolerances)
    system = solved.scaled
    M, f = terms.mass_matrix, terms.total_force
    # Scaled rows span the same N(A)⊥; the coordinates stay as given, so do lengths and angles.
    rows = system.row_scale[:, None] * terms.constraint_matrix
    geometry = RowGeometry.of(rows, rank=int(system.constraint_ranks))
    V2 = geometry.null_space

    def sides(vector: FloatArray) -> Sides:
        V1, floor = geometry.row_space, PART_TOLERANCE * np.linalg.norm(vector)
        both = [V @ (V.T @ vector) for V in (V2, V1)]
        return Sides(vector, *(part * (np.linalg.norm(part) > floor) for part in both))

    fixed = M @ geometry.least_norm(system.row_scale * terms.constraint_rhs)
    # ‖M_s⁺‖ = 1/λ_min(V₂ᵀMV₂), by Lemma 5
    weakest = float(np.linalg.eigvalsh(V2.T @ M @ V2)[0]) if V2.shape[1] else np.inf
    heaviest = float(np.linalg.norm(M, 2))
    return Portrait(
        acceleration=sides(solved.acceleration),
        reduced_force=sides(f - fixed),
        fixed_inertia=sides(fixed),
        given_force=sides(f),
        constraint_force=sides(solved.ideal_force + terms.nonideal_force),
        tangent_bound=float(np.linalg.norm(f - fixed)) / weakest,
        normal_bound=float(np.linalg.norm(fixed)) / heaviest if heaviest else 0.0,
    )


# --- with and without constraints -----------------------------------------------------------------


@dataclass(frozen=True)
class SideBySide:
    """Constrained and free acceleration of one system (Udwadia & Kalaba 1996, features 1 to 3).

    Attributes
    ----------
    coordinates : their names.
    constrained : v̇, shape (n,).
    free : a with M a = Q, shape (n,); None where M is singular.
    reason : why there is no free acceleration, else None.
    """

    coordinates: tuple[str, ...]
    constrained: FloatArray
    free: FloatArray | None
    reason: str | None

    @property
    def difference(self) -> FloatArray | None:
        """v̇ − a, what the constraints change, shape (n,)."""
        return None if self.free is None else self.constrained - self.free

    def __str__(self) -> str:
        width = max(10, *(len(name) for name in self.coordinates))
        head = f"{'coordinate':<{width}}  {'constrained':>14}"
        if self.free is None or self.difference is None:
            lines = [f"{name:<{width}}  {x:>14.6g}" for name, x in self._rows(self.constrained)]
            return "\n".join([head, *lines, f"No free acceleration: {self.reason}."])
        columns = np.column_stack([self.constrained, self.free, self.difference])
        lines = [
            f"{name:<{width}}  {row[0]:>14.6g}  {row[1]:>14.6g}  {row[2]:>14.6g}"
            for name, row in self._rows(columns)
        ]
        return "\n".join([f"{head}  {'free':>14}  {'difference':>14}", *lines])

    def _rows(self, values: FloatArray) -> list[tuple[str, Any]]:
        return list(zip(self.coordinates, values, strict=True))


def side_by_side(terms: EquationTerms, tolerances: Tolerances = DEFAULT_TOLERANCES) -> SideBySide:
    """The acceleration with and without the constraints, and their difference.

    Examples
    --------
    >>> from zwang.terms import EquationTerms
    >>> from zwang.diagnosis.portrait import side_by_side
    >>> print(side_by_side(EquationTerms.of([[2, 0], [0, 2]], [0, -20], [[1, 1]], [0])))
    coordinate     constrained            free      difference
    q0                       5               0               5
    q1                      -5             -10               5
    """
    solved = SolvedTerms.of(terms, tolerances)
    system, n = solved.scaled, terms.coordinate_count
    names = tuple(terms.coordinate(j) for j in range(n))
    if not system.positive_definite:
        reason = f"M is singular (rank {int(system.mass.rank)} of {n}), so M a = Q has none or many"
        return SideBySide(names, solved.acceleration, None, reason)
    scale = system.velocity_scale
    free = scale * np.linalg.solve(system.scaled.mass_matrix, scale * terms.applied_force)
    return SideBySide(names, solved.acceleration, free, None)

"""Distribution of indeterminate constraint forces over redundant rows, by several principles.

Every λ + Z c gives the same Aᵀλ. To pick one is to add a principle the equations do not contain:

    minimum norm         least Σ λᵢ²
    mass-weighted        least Σ λᵢ² aᵢ M⁻¹ aᵢᵀ: each row's own force aᵢᵀλᵢ measured by M⁻¹
    user-weighted        least Σ wᵢ λᵢ², or λᵀWλ
    compliance-weighted  least ½ Σ cᵢ λᵢ², or ½ λᵀCλ: the strain energy of slightly elastic joints
    smallest maximum     least max wᵢ|λᵢ|

The mass weighting counts rows one by one. The whole force measured by M⁻¹, λᵀ A M⁻¹ Aᵀ λ, cannot
choose: it depends on λ only through Aᵀλ, which is the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords, no_longer
from zwang.diagnosis.minimax_split import smallest_maximum
from zwang.diagnosis.solved import SolvedTerms
from zwang.diagnosis.wording import without_noise
from zwang.display import Displayed
from zwang.errors import InputError, UnknownNameError, shown
from zwang.linalg.rank import DEFAULT_TOLERANCES, Tolerances
from zwang.terms import EquationTerms, FloatArray, out_of_range

__all__ = ["Split", "Splits", "splits", "splits_terms"]

#: Rows that a message names.
NAMED = 20


@dataclass(frozen=True, repr=False)
class Split(Displayed):
    """One choice of multipliers.

    Attributes
    ----------
    label : its name, for example ``"compliance-weighted"``.
    minimizes : what it makes least, in words.
    multipliers : λ, shape (m,).
    """

    label: str
    minimizes: str
    multipliers: FloatArray

    def __getattr__(self, name: str) -> Any:
        no_longer("Split", name, {"minimises": "minimizes"})


@dataclass(frozen=True, repr=False)
class Splits(Displayed, Mapping[str, Split]):
    """Several choices of multipliers for one motion, by label.

    Attributes
    ----------
    names : names of the rows.
    choices : the splits, in order.
    acceleration, ideal_force : v̇ and Aᵀλ, shape (n,), common to all.
    force_spread : largest difference of Aᵀλ between the choices, relative to its terms |A|ᵀ|λ|.
    """

    names: tuple[str, ...]
    choices: tuple[Split, ...]
    acceleration: FloatArray
    ideal_force: FloatArray
    force_spread: float

    def __getitem__(self, label: str) -> Split:
        for split in self.choices:
            if split.label == label:
                return split
        raise UnknownNameError("split", label, [split.label for split in self.choices])

    def __contains__(self, label: object) -> bool:
        return any(split.label == label for split in self.choices)

    def __iter__(self) -> Iterator[str]:
        return (split.label for split in self.choices)

    def __len__(self) -> int:
        return len(self.choices)

    def __str__(self) -> str:
        first = max([len(name) for name in self.names], default=0)
        widths = [max(len(split.label), 12) for split in self.choices]
        pairs = list(zip(self.choices, widths, strict=True))
        lines = [" " * first + "".join(f"  {split.label:>{width}}" for split, width in pairs)]
        shown = [(without_noise(split.multipliers), width) for split, width in pairs]
        for i, name in enumerate(self.names):
            values = "".join(f"  {column[i]:>{width}.6g}" for column, width in shown)
            lines.append(f"{name:<{first}}{values}")
        return "\n".join([*lines, *(f"{s.label}: least {s.minimizes}" for s in self.choices)])


@known_keywords()
def splits(
    M: Any,
    Q: ArrayLike,
    A: Any,
    b: ArrayLike,
    C: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    compliance: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    coordinates: Sequence[str] | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Splits:
    """The multipliers of one motion, shared among the rows in several labelled ways.

    Parameters
    ----------
    M, Q, A, b, C : a single well-posed system, as for `zwang.solve`.
    weights : positive numbers wᵢ, shape (m,), or a positive definite matrix (m, m), for
        ``"user-weighted"``; numbers also scale the rows for ``"smallest maximum"``.
    compliance : compliances of the rows, shape (m,), not negative, or a positive semi-definite
        matrix (m, m), for ``"compliance-weighted"``. This is the limit of elastic joints whose
        stiffness grows without bound in fixed ratios; only the ratios matter.
    names, coordinates : names of the rows and of the coordinates.

    Returns
    -------
    Splits : a mapping from label to `Split`; print it for a table.

    Examples
    --------
    A beam on three supports, the middle one twice as compliant:

    >>> from zwang.diagnosis.splits import splits
    >>> A = [[1, -1], [1, 0], [1, 1]]
    >>> s = splits([[4, 0], [0, 1]], [-40, 0], A, [0, 0, 0], compliance=[1, 2, 1])
    >>> s["compliance-weighted"].multipliers
    array([16.,  8., 16.])
    """
    terms = EquationTerms.of(M, Q, A, b, C, names=names, coordinates=coordinates)
    return splits_terms(terms, weights=weights, compliance=compliance, tolerances=tolerances)


def splits_terms(
    terms: EquationTerms,
    *,
    weights: ArrayLike | None = None,
    compliance: ArrayLike | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Splits:
    """`splits` for terms that are already checked."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # reported below, in words
        found = _splits(terms, weights, compliance, tolerances)
    if not all(np.isfinite(split.multipliers).all() for split in found.choices):
        raise out_of_range(terms)
    return found


def _splits(
    terms: EquationTerms,
    weights: ArrayLike | None,
    compliance: ArrayLike | None,
    tolerances: Tolerances,
) -> Splits:
    m = terms.constraint_count
    user = None if weights is None else _weighting("weights", weights, terms, definite=True)
    elastic = None if compliance is None else _weighting("compliance", compliance, terms)
    solved = SolvedTerms.of(terms, tolerances)
    if not np.isfinite(solved.multipliers).all():
        raise out_of_range(terms)
    root_mass = np.diag(_own_inverse_roots(solved))
    choices = [
        Split("minimum norm", "Σ λᵢ²", solved.multipliers),
        Split("mass-weighted", "Σ λᵢ² aᵢ M⁻¹ aᵢᵀ", _least(solved, root_mass)),
    ]
    if user is not None:
        choices.append(Split("user-weighted", "λᵀ W λ", _least(solved, user)))
    if elastic is not None:
        what = "½ λᵀ C λ, the strain energy of stiff joints"
        choices.append(Split("compliance-weighted", what, _least(solved, elastic)))
    per_row = np.ones(m) if weights is None or np.ndim(weights) != 1 else np.asarray(weights, float)
    lam = smallest_maximum(solved.multipliers, solved.dependencies, per_row)
    what = "max wᵢ|λᵢ|, then Σ λᵢ²" if np.any(per_row != 1.0) else "max |λᵢ|, then Σ λᵢ²"
    choices.append(Split("smallest maximum", what, lam))
    return Splits(
        names=tuple(terms.name(i) for i in range(m)),
        choices=tuple(choices),
        acceleration=solved.acceleration,
        ideal_force=solved.ideal_force,
        force_spread=_force_spread(solved, choices),
    )


def _least(solved: SolvedTerms, root: FloatArray) -> FloatArray:
    """The λ with least ‖root λ‖ and the same Aᵀλ; of several, the one of least norm."""
    lam, Z = solved.multipliers, solved.dependencies
    if Z.shape[1] == 0:
        return lam
    # λ ⟂ Z and ZᵀZ = I, so that the least-norm c also gives the least-norm λ + Z c.
    return lam - Z @ np.linalg.lstsq(root @ Z, root @ lam)[0]


def _own_inverse_roots(solved: SolvedTerms) -> FloatArray:
    """√(aᵢ M⁻¹ aᵢᵀ) of each row, the largest about 1, for only ratios count; shape (m,).

    With M + A⁺A, in scaled terms, where M is singular.
    """
    system = solved.scaled
    M, A = system.scaled.mass_matrix, system.scaled.constraint_matrix
    if not system.positive_definite:
        M = M + system.geometry.normal_projector
    # Scaled rows are E a D: the factors E are taken off again, D cancels.
    scale = system.row_scale / np.min(system.row_scale, initial=np.inf)
    return np.sqrt(np.einsum("ij,ji->i", A, np.linalg.solve(M, A.T))) / scale


def _force_spread(solved: SolvedTerms, choices: Sequence[Split]) -> float:
    A = solved.terms.constraint_matrix
    scale = solved.scaled.velocity_scale  # forces in scaled terms, free of mixed units
    force = solved.ideal_force * scale
    worst = 0.0
    for split in choices:
        size = np.max((np.abs(A).T @ np.abs(split.multipliers)) * scale, initial=0.0)
        change = np.max(np.abs(A.T @ split.multipliers * scale - force), initial=0.0)
        worst = max(worst, change / size if size else 0.0)
    return float(worst)


def _weighting(
    what: str, value: ArrayLike, terms: EquationTerms, *, definite: bool = False
) -> FloatArray:
    """A root R of the weighting, ‖R λ‖² = λᵀWλ, from numbers (m,) or a matrix (m, m)."""
    m, kind = terms.constraint_count, "positive" if definite else "non-negative"
    found = ""
    try:
        W = np.asarray(value, dtype=float)
    except (TypeError, ValueError):  # a dictionary, for one
        W, found = np.full(m, np.nan), shown(value)
    if W.shape not in {(m,), (m, m)} or not np.isfinite(W).all():
        shape = f"an array of shape {W.shape}"
        raise InputError(
            what,
            expected=f"{m} {kind} numbers, one for each row, or a matrix ({m}, {m})",
            found=found or (shape if np.isfinite(W).all() else "values that are not finite"),
            advice=_order_of_rows(terms),
        )
    if W.ndim == 1:
        bad = np.flatnonzero(W <= 0.0 if definite else W < 0.0)
        if bad.size:
            raise InputError(
                what, found=f"{W[bad[0]]:g} for row {bad[0]}", expected=f"{kind} numbers"
            )
        return np.diag(np.sqrt(W))
    values, vectors = np.linalg.eigh(0.5 * (W + W.T))
    floor = 1e-12 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    symmetric = np.allclose(W, W.T, rtol=1e-10, atol=floor)
    if not symmetric or (values < (floor if definite else -floor)).any():
        raise InputError(
            what,
            expected=f"a symmetric positive {'definite' if definite else 'semi-definite'} matrix",
            found="an asymmetric one" if not symmetric else f"one with eigenvalue {values[0]:g}",
        )
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def _order_of_rows(terms: EquationTerms) -> str:
    """In which order numbers for rows are given, as a sentence; empty where rows have no names."""
    if not terms.names:
        return ""
    rows = [terms.name(i) for i in range(terms.constraint_count)]
    more = ", …" if len(rows) > NAMED else ""
    return f"The order of the rows is {', '.join(rows[:NAMED])}{more}, see terms().names."

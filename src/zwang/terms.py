"""The canonical terms of a constrained system, the one hand-over type of the library.

    M v̇ = Q + Q_c          M (n, n) symmetric, positive semi-definite
    A v̇ = b                A (m, n), any rank, rows may repeat
    wᵀ Q_c = wᵀ C           for every w with A w = 0  (C = 0: d'Alembert)

Leading axes are a batch: M (…, n, n), Q (…, n), A (…, m, n), b (…, m), C (…, n).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.display import Displayed
from zwang.errors import InputError

__all__ = [
    "EquationTerms",
    "FloatArray",
    "Precision",
    "asymmetry",
    "finite",
    "join",
    "out_of_range",
    "require_symmetric",
]

FloatArray = NDArray[np.floating]

#: The rounding of double precision, 2⁻⁵².
EPSILON = float(np.finfo(float).eps)

#: How far M may be from symmetric, relative to √(M_ii M_jj) and to the row's own size. Products
#: such as Rᵀ J R computed in double precision stay below 1e-14; a wrong entry is far above.
SYMMETRY_TOLERANCE = 1e-10

#: Roundings of a coarser type by which M may be asymmetric.
SYMMETRY_ROUNDINGS = 64.0


class Precision(NamedTuple):
    """The relative rounding of numbers as they were handed in: 2⁻⁵² for doubles, 2⁻²³ for float32.

    Attributes
    ----------
    mass, rows, rhs : of M, A and b.
    """

    mass: float = EPSILON
    rows: float = EPSILON
    rhs: float = EPSILON


DOUBLE = Precision()


@dataclass(frozen=True, repr=False)
class EquationTerms(Displayed):
    """M, Q, A, b, C of one system, or of a batch of systems.

    Build it with `EquationTerms.of`, which checks shapes and values and fills in what is absent.

    Attributes
    ----------
    mass_matrix : M, shape (…, n, n), symmetric.
    applied_force : Q, shape (…, n), with gyroscopic terms and without constraint forces.
    constraint_matrix : A, shape (…, m, n).
    constraint_rhs : b, shape (…, m).
    nonideal_force : C, shape (…, n); zero for ideal constraints.
    names : one name for each row of A.
    coordinates : one name for each velocity (column of A).
    notes : what was altered in the given terms, as sentences (for example an averaged asymmetry of
        M).
    rhs_rounding : how far rounding may put b off, shape (…, m), where that is known.
    precision : the rounding of the numbers as they were handed in.
    at_state : whether they were computed at a state, which keeps its constraints to some digits
        only, so that right sides agree to `Tolerances.consistency` and not to rounding.
    """

    mass_matrix: FloatArray
    applied_force: FloatArray
    constraint_matrix: FloatArray
    constraint_rhs: FloatArray
    nonideal_force: FloatArray
    names: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rhs_rounding: FloatArray | None = None
    precision: Precision = DOUBLE
    at_state: bool = False

    @classmethod
    def of(
        cls,
        M: Any,
        Q: ArrayLike,
        A: Any = None,
        b: ArrayLike | None = None,
        C: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
        coordinates: Sequence[str] | None = None,
    ) -> EquationTerms:
        """Check and complete M, Q, A, b, C; sparse matrices are made dense.

        Raises
        ------
        InputError : a shape does not fit, a value is not a finite real number, or M is not
            symmetric. Whether M is semi-definite and the constraints agree is a question of rank
            and is answered by `zwang.solve` and `zwang.explain`.
        """
        notes: list[str] = []
        precision = Precision(rounding_of(M), rounding_of(A), rounding_of(b))
        M = checked_array("mass matrix M", M)
        if M.ndim < 2 or M.shape[-1] != M.shape[-2] or M.shape[-1] == 0:
            raise InputError(
                "mass matrix M",
                must="be square, (…, n, n) with n ≥ 1",
                but=f"has shape {M.shape}",
                advice="Give one row and one column for each coordinate.",
            )
        n = M.shape[-1]
        Q = checked_vector("applied force Q", Q, n)
        A, b = _checked_rows(A, b, n)
        m = A.shape[-2]
        C = np.zeros(n) if C is None else checked_vector("non-ideal force C", C, n)

        batch = _common_batch(M, Q, A, b, C)
        M = _symmetric(M, notes, precision.mass)
        if batch:
            M, A = _expand(M, batch, 2), _expand(A, batch, 2)
            Q, b, C = _expand(Q, batch, 1), _expand(b, batch, 1), _expand(C, batch, 1)
        return cls(
            M,
            Q,
            A,
            b,
            C,
            names=checked_labels("names", names, m, "row of A"),
            coordinates=checked_labels("coordinates", coordinates, n, "coordinate"),
            notes=tuple(notes),
            precision=precision,
        )

    @property
    def coordinate_count(self) -> int:
        """n, the number of velocities."""
        return self.mass_matrix.shape[-1]

    @property
    def constraint_count(self) -> int:
        """m, the number of constraint rows."""
        return self.constraint_matrix.shape[-2]

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The leading axes; empty for a single system."""
        return self.mass_matrix.shape[:-2]

    @property
    def total_force(self) -> FloatArray:
        """Q + C: the acceleration depends on applied and non-ideal force only through the sum."""
        return self.applied_force + self.nonideal_force

    def name(self, row: int) -> str:
        """Name of a constraint row, or ``row 3`` when none was given."""
        return self.names[row] if self.names else f"row {row}"

    def coordinate(self, column: int) -> str:
        """Name of a coordinate, or ``q3`` when none was given."""
        return self.coordinates[column] if self.coordinates else f"q{column}"

    def system(self, index: int | tuple[int, ...] | np.ndarray) -> EquationTerms:
        """One system, or a part, of a batch."""
        return replace(
            self,
            mass_matrix=self.mass_matrix[index],
            applied_force=self.applied_force[index],
            constraint_matrix=self.constraint_matrix[index],
            constraint_rhs=self.constraint_rhs[index],
            nonideal_force=self.nonideal_force[index],
            rhs_rounding=None if self.rhs_rounding is None else self.rhs_rounding[index],
        )

    def with_forces(
        self, applied_force: ArrayLike, nonideal_force: ArrayLike | None = None
    ) -> EquationTerms:
        """The same system under other forces."""
        n = self.coordinate_count
        C = np.zeros(n) if nonideal_force is None else nonideal_force
        shape = (*self.batch_shape, n)
        return replace(
            self,
            applied_force=np.broadcast_to(np.asarray(applied_force, dtype=float), shape),
            nonideal_force=np.broadcast_to(np.asarray(C, dtype=float), shape),
        )


def join(
    components: Mapping[str, EquationTerms] | Sequence[EquationTerms],
    A: Any = None,
    b: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
) -> EquationTerms:
    """Join components whose equations are known into the equations of the whole.

    M, Q and C are stacked block by block, each component keeps its own constraint rows, and the
    rows ``A v̇ = b`` on the stacked coordinates connect the components. The joined
    coordinates are redundant, and M may be singular: that is the point (Udwadia & Mogharabin
    2022, introduction).

    Parameters
    ----------
    components : single systems, in order; with a mapping, its keys prefix all names.
    A, b : connecting rows, shape (k, Σ nᵢ) and (k,).
    names : names of the connecting rows.
    """
    if isinstance(components, Mapping):
        parts, prefixes = list(components.values()), [f"{key}." for key in components]
    else:
        parts, prefixes = list(components), [""] * len(components)
    if not parts:
        raise InputError(
            "components",
            must="have at least one EquationTerms",
            but="are empty",
            advice="Make them with EquationTerms.of(M, Q, A, b, C).",
        )
    for k, part in enumerate(parts):
        if not isinstance(part, EquationTerms):
            raise InputError(
                f"component {k}",
                found=f"a {type(part).__name__}",
                expected="an EquationTerms",
                advice="Make it with EquationTerms.of(M, Q, A, b, C).",
            )
        if part.batch_shape:
            raise InputError(
                f"component {k}",
                expected="a single system",
                found=f"a batch of shape {part.batch_shape}",
                advice="Join system by system.",
            )
    n = sum(part.coordinate_count for part in parts)
    own = sum(part.constraint_count for part in parts)
    M, A_own = np.zeros((n, n)), np.zeros((own, n))
    row_names: list[str] = []
    coordinates: list[str] = []
    i = j = 0
    for k, (prefix, part) in enumerate(zip(prefixes, parts, strict=True)):
        ni, mi = part.coordinate_count, part.constraint_count
        M[i : i + ni, i : i + ni] = part.mass_matrix
        A_own[j : j + mi, i : i + ni] = part.constraint_matrix
        label = prefix or f"{k}."
        row_names += [f"{label}{part.name(r)}" for r in range(mi)]
        coordinates += [f"{label}{part.coordinate(c)}" for c in range(ni)]
        i, j = i + ni, j + mi
    linking = EquationTerms.of(M, np.zeros(n), A, b, names=names)
    row_names += [
        linking.names[r] if linking.names else f"link {r}"
        for r in range(len(linking.constraint_rhs))
    ]
    joined = EquationTerms.of(
        M,
        np.concatenate([part.applied_force for part in parts]),
        np.vstack([A_own, linking.constraint_matrix]),
        np.concatenate([*(part.constraint_rhs for part in parts), linking.constraint_rhs]),
        np.concatenate([part.nonideal_force for part in parts]),
        names=row_names,
        coordinates=coordinates,
    )
    every = [linking.precision, *(part.precision for part in parts)]
    return replace(
        joined,
        precision=Precision(*(max(x) for x in zip(*every, strict=True))),
        at_state=any(part.at_state for part in parts),
    )


#: Length of arrays up to which BLAS makes products in one thread.
NO_THREADS = 8192


def finite(array: FloatArray) -> bool:
    """Whether all numbers are finite."""
    # One product settles the usual case in a third of the time; a square may be out of range. Of
    # long arrays BLAS would make it in threads, which take longer to begin than the work does.
    if array.size <= NO_THREADS and math.isfinite(np.vdot(array, array)):
        return True
    return bool(np.isfinite(array).all())


def rounding_of(value: Any) -> float:
    """The relative rounding of the type in which numbers were handed in, at least that of doubles.

    Whole numbers, and all that have no such type, count as doubles.
    """
    while isinstance(value, list | tuple) and value:
        value = value[0]
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype == np.float64:
        return EPSILON
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return max(EPSILON, float(np.finfo(dtype).eps))
    return EPSILON


def checked_array(what: str, value: Any) -> FloatArray:
    """A finite float64 array, or an error that states what is wrong with it."""
    if type(value) is np.ndarray:
        array = value
    else:
        array = _plain_array(what, value)
    if array.dtype != np.float64:
        array = _as_float(what, array)
    if not finite(array):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            what,
            must="be finite",
            but=f"has {array[where]} at index {where}",
            advice="Look for a division by zero or an overflow where it was computed.",
        )
    return array


def _plain_array(what: str, value: Any) -> np.ndarray:
    if hasattr(value, "toarray"):  # scipy.sparse, without importing it
        value = value.toarray()
    if np.ma.isMaskedArray(value) and np.ma.is_masked(value):
        raise InputError(
            what,
            must="have a number in every place",
            but="has masked values",
            advice="Fill them in, or omit the rows that contain them.",
        )
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InputError(
            what,
            must="be a rectangular array",
            but="has rows of unequal length",
            advice="Give every row the same number of entries.",
        ) from error


def _as_float(what: str, array: np.ndarray) -> FloatArray:
    if np.iscomplexobj(array):
        raise InputError(
            what,
            expected="real numbers",
            found="complex numbers",
            advice="Take the real part if the imaginary part is rounding.",
        )
    cause: Exception | None = None
    absent = array.dtype == object and any(value is None for value in array.flat)
    if (
        array.dtype.kind in "biufO" and not absent
    ):  # strings and dates can be cast too, but nobody means it
        try:
            with np.errstate(over="ignore"):  # an overflow is found as an infinity
                return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            cause = error
    raise InputError(
        what,
        expected="numbers that fit double precision",
        found="None" if absent else f"values of type {array.dtype}",
        advice="Convert them to an array of floats first.",
    ) from cause


def checked_vector(
    what: str, value: Any, size: int, per: str = "one for each coordinate"
) -> FloatArray:
    array = checked_array(what, value)
    if array.ndim < 1 or array.shape[-1] != size:
        advice = "Give a flat list of numbers."
        if array.ndim >= 2 and array.shape[-1] == 1 and array.shape[-2] == size:
            advice = "It looks like a column: give it flat, without the last axis."
        raise InputError(
            what,
            must=f"have shape (…, {size}), {per}",
            but=f"has shape {array.shape}",
            advice=advice,
        )
    return array


def _checked_rows(A: Any, b: Any, n: int) -> tuple[FloatArray, FloatArray]:
    """A and b of constraints on n velocities, with as many rows; both None: no rows."""
    if A is None:
        if b is not None and np.size(np.asarray(b)) > 0:
            raise InputError(
                "constraint right side b",
                must="be omitted, as no constraint matrix A was given",
                advice="Give A as well, or leave both out.",
            )
        A, b = np.zeros((0, n)), np.zeros(0)
    A = checked_array("constraint matrix A", A)
    if A.ndim == 1:
        raise InputError(
            "constraint matrix A",
            must=f"have shape (…, m, {n})",
            but=f"has shape {A.shape}",
            advice="A single row is written [[…]].",
        )
    if A.ndim < 1 or A.shape[-1] != n:
        raise InputError(
            "constraint matrix A",
            must=f"have shape (…, m, {n}), as M is {n} by {n}",
            but=f"has shape {A.shape}",
            advice="Give one column for each coordinate.",
        )
    m = A.shape[-2]
    if b is None:
        if m:
            raise InputError(
                "constraint right side b",
                must=f"have {m} values, one for each row of A",
                but="was not given",
                advice="For constraints with A v̇ = 0 give zeros.",
            )
        b = np.zeros(0)
    return A, checked_vector("constraint right side b", b, m, "one for each row of A")


def _common_batch(
    M: FloatArray, Q: FloatArray, A: FloatArray, b: FloatArray, C: FloatArray
) -> tuple[int, ...]:
    shapes = [M.shape[:-2], A.shape[:-2], Q.shape[:-1], b.shape[:-1], C.shape[:-1]]
    if not any(shapes):
        return ()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        listed = ", ".join(f"{k} {s}" for k, s in zip("MAQbC", shapes, strict=True))
        raise InputError(
            "leading (batch) axes",
            must="be equal or broadcastable",
            but=f"are {listed}",
            advice="Give all terms the same leading axes, or none where they are equal.",
        ) from error


def _expand(array: FloatArray, batch: tuple[int, ...], own_axes: int) -> FloatArray:
    return np.broadcast_to(array, batch + array.shape[array.ndim - own_axes :])


def asymmetry(M: FloatArray) -> FloatArray:
    """|M_ij − M_ji| relative to √(M_ii M_jj) and to the larger of the two, shape (…, n, n)."""
    Mt = M.mT
    difference = np.abs(0.5 * M - 0.5 * Mt)
    root = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    scale = root[..., :, None] * root[..., None, :]
    scale = np.maximum(scale, np.maximum(np.abs(M), np.abs(Mt)))
    return 2.0 * np.divide(difference, scale, out=np.zeros_like(difference), where=scale > 0.0)


def require_symmetric(M: FloatArray, rounding: float = EPSILON) -> float:
    """How far M (…, n, n) is from symmetric, relative; refused above `SYMMETRY_TOLERANCE`.

    Numbers given with a coarser `rounding` may violate it by so much more.
    """
    if (M.mT == M).all():
        return 0.0
    relative = asymmetry(M)
    worst = np.unravel_index(np.argmax(relative), relative.shape)
    ratio = float(relative[worst])
    if ratio > max(SYMMETRY_TOLERANCE, SYMMETRY_ROUNDINGS * rounding):
        *lead, i, j = (int(k) for k in worst)
        at = f"M[{', '.join(map(str, [*lead, i, j]))}]"
        raise InputError(
            "mass matrix M",
            must="be symmetric",
            but=f"{at} = {M[worst]:g} and {M.mT[worst]:g} across the diagonal",
            advice="Use (M + M.T) / 2 if only the symmetric part is meant.",
        )
    return ratio


def _symmetric(M: FloatArray, notes: list[str], rounding: float) -> FloatArray:
    ratio = require_symmetric(M, rounding)
    if ratio == 0.0:
        return M
    notes.append(
        f"M was not exactly symmetric (by {ratio:.1e}, relative); its symmetric part is used"
    )
    return 0.5 * M + 0.5 * M.mT


def checked_labels(
    what: str, labels: Sequence[str] | None, count: int, per: str
) -> tuple[str, ...]:
    if labels is None:
        return ()
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(
            what,
            found=repr(labels),
            expected=f"a list of {count} names, one for each {per}",
            advice=f"Write {what}=['…', '…'].",
        )
    result = tuple(str(label) for label in labels)
    if len(result) != count:
        raise InputError(
            what,
            must=f"be {count}, one for each {per}",
            but=f"there are {len(result)}",
            advice="Give one name for each, in order.",
        )
    if len(set(result)) != count:
        twice = next(label for label in result if result.count(label) > 1)
        raise InputError(
            what,
            must="be distinct",
            but=f"{twice!r} occurs more than once",
            advice="Messages identify rows and coordinates by name.",
        )
    return result


def out_of_range(terms: EquationTerms) -> InputError:
    """The error for numbers so large or small that products of them are not doubles."""
    M: Any = terms.mass_matrix  # dense, perhaps a batch, or sparse
    inertia = np.abs(M.diagonal(axis1=-2, axis2=-1) if M.__class__ is np.ndarray else M.diagonal())
    inertia = inertia[inertia > 0.0]
    found = ["no mass"]
    if inertia.size:
        found = [f"masses from {inertia.min():.0e} to {inertia.max():.0e}"]
    for letter, part in (
        ("A", terms.constraint_matrix),
        ("Q", terms.applied_force),
        ("C", terms.nonideal_force),
        ("b", terms.constraint_rhs),
    ):
        if 0 not in part.shape:
            found.append(f"|{letter}| up to {abs(part).max():.0e}")
    return InputError(
        "terms",
        must="have numbers whose products stay within the range of double precision",
        but=f"have {', '.join(found)}",
        advice="Choose other units; replace remainders of rounding by zero.",
    )

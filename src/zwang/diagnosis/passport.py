"""Determinacy of reactions: which multipliers and joint forces the equations determine.

Where rows of A depend on each other, λ + Z c gives the same motion for every c, with Z a basis of
N(Aᵀ) (Udwadia & Kalaba 1996, (22)). So

    multiplier i            is determinate when row i of Z is zero,
    A_gᵀ λ_g of a group g   is determinate when A_gᵀ Z_g = 0, and partly so when A_gᵀ Z_g has a
                            smaller rank than A_g.

The force of a group may be determinate although its multipliers are not: a dependency within the
group moves multipliers about and leaves the force alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.diagnosis.solved import SolvedTerms
from zwang.diagnosis.wording import listing, without_noise
from zwang.display import Displayed, html_table, preformatted
from zwang.errors import InputError, UnknownNameError, shown
from zwang.linalg.rank import DEFAULT_TOLERANCES, Tolerances
from zwang.terms import EquationTerms, FloatArray

__all__ = [
    "GroupPassport",
    "Groups",
    "Passport",
    "Status",
    "chosen_groups",
    "passport",
    "passport_terms",
    "with_untold",
]

#: Name of a group → its rows or constraints, or one of these.
Groups: TypeAlias = Mapping[str, Iterable[int | str] | str]


class Status(StrEnum):
    """How much of a force the equations determine."""

    DETERMINATE = "determinate"
    PARTLY = "partly"
    INDETERMINATE = "indeterminate"


#: Forces below this share of the largest multiplier are shown as zero.
NOTHING = 1e-12
#: A unit direction acts along a coordinate when its component there exceeds this.
ACTS = 1e-9


@dataclass(frozen=True, repr=False)
class GroupPassport(Displayed):
    """The generalized force A_gᵀ λ_g of a group of rows, such as the wrench of a joint.

    Attributes
    ----------
    name, rows : the group and its rows of A.
    status : determinate, partly or indeterminate.
    force : the value for the least-norm multipliers, shape (n,).
    basis : A_gᵀ Z_g, shape (n, k); every ``force + basis @ c`` is admissible, with the c of
        `Passport.redistribute`.
    determinate_components : which components of the force are determinate, shape (n,), boolean.
    determinate_directions : orthonormal columns d with dᵀ(A_gᵀλ_g) determinate although the group
        acts along them, shape (n, rank A_g − rank A_gᵀZ_g).
    resultant, moment : of a joint, the force [N] and the moment [N m] on its second body at its
        point, world axes, shape (3,). Of several joints of one body those of all of them on it,
        the moment about the point of the joint that was built first; that body is the second one
        of this joint or, if it is its first, they act on the other bodies. None of other groups.
    """

    name: str
    rows: tuple[int, ...]
    status: Status
    force: FloatArray
    basis: FloatArray
    determinate_components: np.ndarray
    determinate_directions: FloatArray
    resultant: FloatArray | None = None
    moment: FloatArray | None = None


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class Passport(Displayed):
    """What is known about each multiplier and each group, and the family of admissible values.

    Attributes
    ----------
    names, coordinates : names of rows and coordinates.
    multipliers : the least-norm λ, shape (m,).
    basis : Z, shape (m, k), a sparse basis of N(Aᵀ) in the given rows: ``multipliers + basis @ c``
        are all λ that give this motion.
    statuses : one `Status` for each multiplier.
    groups : `GroupPassport` by name.
    acceleration, ideal_force : v̇ and Aᵀλ, shape (n,), the same for all admissible λ.
    notes : what else leaves reactions open, and what the table is about.
    of_joints : whether the table has forces and moments of joints, and not the norm of A_gᵀ λ_g.
    """

    names: tuple[str, ...]
    coordinates: tuple[str, ...]
    multipliers: FloatArray
    basis: FloatArray
    statuses: tuple[Status, ...]
    groups: dict[str, GroupPassport]
    acceleration: FloatArray
    ideal_force: FloatArray
    notes: tuple[str, ...] = ()
    of_joints: bool = False

    @property
    def determinate(self) -> bool:
        """Whether every multiplier is determinate (rank A = m, and no force is unknown)."""
        return all(status is Status.DETERMINATE for status in self.statuses)

    def redistribute(self, c: ArrayLike) -> FloatArray:
        """Another admissible λ = multipliers + basis @ c, shape (m,), for any c of shape (k,)."""
        c = np.asarray(c, dtype=float)
        if c.shape != self.basis.shape[1:]:
            raise InputError(
                "redistribution c",
                must=f"have shape {self.basis.shape[1:]}, one number for each column of `basis`",
                but=f"has shape {c.shape}",
            )
        return self.multipliers + self.basis @ c

    def status(self, name: str) -> Status:
        """Status of a group or of a row, by name."""
        if name in self.groups:
            return self.groups[name].status
        if name not in self.names:
            raise UnknownNameError("group or row", name, [*self.groups, *self.names])
        return self.statuses[self.names.index(name)]

    def __str__(self) -> str:
        lines = self._sentences()
        width = max([len(name) for name in [*self.names, *self.groups]], default=0)
        width = max(width, len("multiplier"))
        lines.append(f"{'multiplier':<{width}}  {'least norm':>14}  status")
        shown = without_noise(self.multipliers)
        for name, value, status in zip(self.names, shown, self.statuses, strict=True):
            lines.append(f"{name:<{width}}  {value:>14.6g}  {status}")
        if self.groups:
            joints = self.of_joints
            head = f"{'force [N]':>14}  {'moment [N m]':>14}" if joints else f"{'|force|':>14}"
            lines.append(f"{'group':<{width}}  {head}  status")
            lines += [self._group_line(g, width, joints=joints) for g in self.groups.values()]
        return "\n".join(lines)

    def _sentences(self) -> list[str]:
        open_count = self.basis.shape[1]
        plural = "parameter" if open_count == 1 else "parameters"
        lines = ["All multipliers are determinate."] if self.determinate else []
        if open_count:
            lines = [f"The multipliers form a family with {open_count} free {plural}."]
        return [*lines, *self.notes]

    def _repr_html_(self) -> str:
        rows = zip(self.names, without_noise(self.multipliers), self.statuses, strict=True)
        tables = [
            html_table(
                ["multiplier", "least norm", "status"],
                ([name, f"{value:.6g}", str(status)] for name, value, status in rows),
            )
        ]
        joints = self.of_joints
        sizes = ["force [N]", "moment [N m]"] if joints else ["|force|"]
        if self.groups:
            tables.insert(
                0,
                html_table(
                    ["group", *sizes, "status"],
                    (self._cells(group, joints=joints) for group in self.groups.values()),
                ),
            )
        return preformatted("\n".join(self._sentences()), wrapped=True) + "".join(tables)

    def _shown(self, vectors: Sequence[FloatArray | None]) -> list[FloatArray | None]:
        """Vectors without what is rounding beside the largest multiplier."""
        limit = NOTHING * np.abs(self.multipliers).max(initial=0.0)
        return [None if x is None else np.where(np.abs(x) > limit, x, 0.0) for x in vectors]

    def _group_line(self, group: GroupPassport, width: int, *, joints: bool) -> str:
        name, *sizes, status = self._cells(group, joints=joints)
        return f"{name:<{width}}  {'  '.join(f'{x:>14}' for x in sizes)}  {status}"

    def _cells(self, group: GroupPassport, *, joints: bool) -> list[str]:
        """Name of a group, magnitudes of its force and moment, and how far they are determined."""
        vectors = [group.resultant, group.moment] if joints else [group.force]
        sizes = ["—" if x is None else f"{np.linalg.norm(x):.6g}" for x in self._shown(vectors)]
        status = str(group.status)
        if group.status is Status.PARTLY:
            # Whether it acts along a coordinate, be the force just now zero or not.
            acts = np.any(np.abs(group.determinate_directions) > ACTS, axis=1)
            sure = [
                name
                for name, known, used in zip(
                    self.coordinates, group.determinate_components, acts, strict=True
                )
                if known and used
            ]
            turning = [x.partition(".")[0] for x in sure if ".omega" in x]
            if sure and len(turning) == len(sure):
                bodies = listing(list(dict.fromkeys(turning)))
                status += (
                    f"; determinate is what turns {bodies} about its center of mass, of a force "
                    "the component across the line to it"
                )
            else:
                status += (
                    f"; determinate along {listing(sure)}"
                    if sure
                    else "; see its determinate_directions"
                )
        return [group.name, *sizes, status]


@known_keywords()
def passport(
    M: Any,
    Q: ArrayLike,
    A: Any,
    b: ArrayLike,
    C: ArrayLike | None = None,
    *,
    groups: Mapping[str, Iterable[int | str] | str] | None = None,
    names: Sequence[str] | None = None,
    coordinates: Sequence[str] | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Passport:
    """Determinacy of each multiplier and of the force of each group of rows.

    Parameters
    ----------
    M, Q, A, b, C : a single well-posed system, as for `zwang.solve`.
    groups : name → rows, by number or name; ``"pin"`` stands for all rows ``pin[0]``, ``pin[1]``, …
        By default rows named ``pin[0]``, ``pin[1]``, … form the group ``pin``.
    names, coordinates : names of the rows and of the coordinates.

    Examples
    --------
    A beam of mass 4 on three supports: nothing determines how they share its weight.

    >>> from zwang.diagnosis.passport import passport
    >>> p = passport([[4, 0], [0, 1]], [-40, 0], [[1, -1], [1, 0], [1, 1]], [0, 0, 0])
    >>> print(p)
    The multipliers form a family with 1 free parameter.
    multiplier      least norm  status
    row 0              13.3333  indeterminate
    row 1              13.3333  indeterminate
    row 2              13.3333  indeterminate
    >>> p.redistribute([10 / 3])
    array([16.66666667,  6.66666667, 16.66666667])
    """
    terms = EquationTerms.of(M, Q, A, b, C, names=names, coordinates=coordinates)
    return passport_terms(terms, groups, tolerances)


def passport_terms(
    terms: EquationTerms,
    groups: Mapping[str, Iterable[int | str] | str] | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Passport:
    """`passport` for terms that are already checked."""
    chosen = _default_groups(terms) if groups is None else chosen_groups(terms, groups)
    solved = SolvedTerms.of(terms, tolerances)
    fixed = ~np.any(solved.dependencies, axis=1)
    return Passport(
        names=tuple(terms.name(i) for i in range(terms.constraint_count)),
        coordinates=tuple(terms.coordinate(j) for j in range(terms.coordinate_count)),
        multipliers=solved.multipliers,
        basis=solved.circuits,
        statuses=tuple(Status.DETERMINATE if f else Status.INDETERMINATE for f in fixed),
        groups={name: _group(solved, name, rows) for name, rows in chosen.items()},
        acceleration=solved.acceleration,
        ideal_force=solved.ideal_force,
    )


def with_untold(plain: Passport, told: Passport, notes: Iterable[str]) -> Passport:
    """A passport whose standing is that of another one, of the same rows and further ones.

    Parameters
    ----------
    told : of the same system with additional rows that transmit undetermined forces.
    """
    groups = {
        name: replace(
            group,
            status=told.groups[name].status,
            determinate_components=told.groups[name].determinate_components,
            determinate_directions=told.groups[name].determinate_directions,
        )
        for name, group in plain.groups.items()
    }
    statuses = told.statuses[: len(plain.names)]
    return replace(plain, groups=groups, statuses=statuses, notes=(*plain.notes, *notes))


def _group(solved: SolvedTerms, name: str, rows: list[int]) -> GroupPassport:
    system = solved.scaled
    A, U2 = system.scaled.constraint_matrix[rows], system.geometry.dependencies[rows]
    # Ranks and zeros are decided in scaled terms, where every row and column counts alike.
    share = A.T @ U2
    left, values, _ = np.linalg.svd(share, full_matrices=False)
    undecided = int(np.sum(values > solved.zero))
    own = int(np.linalg.matrix_rank(A, rtol=system.tolerances.rank))
    if undecided == 0:
        status = Status.DETERMINATE
    else:
        status = Status.PARTLY if undecided < own else Status.INDETERMINATE
    known = np.linalg.norm(share, axis=1) <= solved.zero
    basis = solved.terms.constraint_matrix[rows].T @ solved.circuits[rows]
    basis[known] = 0.0
    if undecided == 0:
        basis[:] = 0.0
    return GroupPassport(
        name=name,
        rows=tuple(rows),
        status=status,
        force=solved.terms.constraint_matrix[rows].T @ solved.multipliers[rows],
        basis=basis,
        determinate_components=known,
        determinate_directions=_determinate_directions(solved, A, left[:, :undecided], own),
    )


def _determinate_directions(
    solved: SolvedTerms, A: FloatArray, open_forces: FloatArray, own: int
) -> FloatArray:
    """Directions d in the range of A_gᵀ with dᵀ(A_gᵀ Z_g) = 0, in the given coordinates.

    Forces are D⁻¹ times scaled ones; both subspaces are transformed before they are compared.
    """
    scale = solved.scaled.velocity_scale
    if own == 0:
        return np.zeros((len(scale), 0))
    acting = np.linalg.svd(A.T, full_matrices=False)[0][:, :own]
    acting, open_part = np.linalg.qr(acting / scale[:, None]).Q, open_forces / scale[:, None]
    if open_part.shape[1] == 0:
        return acting
    within = acting.T @ np.linalg.qr(open_part).Q  # (own, undecided), of full column rank
    complement = np.linalg.qr(within, mode="complete").Q[:, open_part.shape[1] :]
    return acting @ complement


# --- groups ---------------------------------------------------------------------------------------


def _default_groups(terms: EquationTerms) -> dict[str, list[int]]:
    """Rows ``pin[0]``, ``pin[1]``, … make the group ``pin``; other names make none."""
    groups: dict[str, list[int]] = {}
    for i, name in enumerate(terms.names):
        if match := re.fullmatch(r"(.+)\[\d+\]", name):
            groups.setdefault(match[1], []).append(i)
    return groups


def require_groups(
    groups: Groups,
) -> Groups:
    """Groups as they were given, if they are named."""
    if not isinstance(groups, Mapping):
        expected = "a dictionary of names and their rows"
        raise InputError("groups", found=shown(groups), expected=expected)
    return groups


def chosen_groups(terms: EquationTerms, groups: Groups) -> dict[str, list[int]]:
    """Name → numbers of the rows meant, each once."""
    known = _default_groups(terms)
    chosen: dict[str, list[int]] = {}
    for group, members in require_groups(groups).items():
        rows: list[int] = []
        for member in [members] if isinstance(members, str) else members:
            rows += _rows_of(terms, known, group, member)
        if not rows:
            raise InputError(f"group {group!r}", must="have at least one row", but="has none")
        chosen[group] = list(dict.fromkeys(rows))
    return chosen


def _rows_of(
    terms: EquationTerms, known: dict[str, list[int]], group: str, member: int | str
) -> list[int]:
    if isinstance(member, str):
        if member in terms.names:
            return [terms.names.index(member)]
        if member in known:
            return known[member]
        raise UnknownNameError(f"row of group {group!r}", member, [*terms.names, *known])
    count = terms.constraint_count
    if not 0 <= member < count:
        raise InputError(
            f"row of group {group!r}",
            found=str(member),
            expected=f"a row number from 0 to {count - 1}" if count else "no rows, as A has none",
        )
    return [int(member)]

"""What `zwang.explain` returns: the diagnosis of one system, as data and as sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from zwang.arguments.keywords import known_keywords_of_methods
from zwang.diagnosis.wording import combination, listing, motion, number
from zwang.display import Displayed, counted
from zwang.terms import FloatArray

__all__ = ["Contradiction", "DependentGroup", "Explanation"]

#: Dependent groups and degrees of freedom written out in the report; all of them are in the data.
LISTED_IN_REPORT = 12


@dataclass(frozen=True)
class DependentGroup:
    """Rows of which each follows from the others: Σ coefficients[i] · (row rows[i]) = 0.

    No smaller set among them is dependent.

    Attributes
    ----------
    rows, names : the rows of A, by number and by name.
    coefficients : shape (len(rows),), for the rows as they were given; whole numbers if possible.
    """

    rows: tuple[int, ...]
    names: tuple[str, ...]
    coefficients: FloatArray

    def __str__(self) -> str:
        return f"{combination(self.coefficients, self.names)} = 0"


@dataclass(frozen=True)
class Contradiction(DependentGroup):
    """A dependent group whose right sides disagree: Σ coefficients[i] · b[rows[i]] = gap ≠ 0.

    It is irreducible: without any one of its rows the others agree with each other.

    Attributes
    ----------
    gap : what the right sides add up to.
    drop : a set of rows of A; dropping them resolves this and all connected contradictions.
    drop_any : rows of the group any one of which alone would do; empty if no single one does.
    smallest : whether no smaller contradiction exists among the rows connected with it.
    """

    gap: float
    drop: tuple[str, ...]
    drop_any: tuple[str, ...]
    smallest: bool

    def __str__(self) -> str:
        left = combination(self.coefficients, self.names)
        if len(self.rows) == 1:
            return f"{left} is zero on the left and {number(self.gap)} on the right"
        return f"{left} is zero on the left but {number(self.gap)} on the right"

    @property
    def advice(self) -> str:
        """What to do about it, in a sentence."""
        if len(self.drop_any) > 1:
            return f"Drop any one of {listing(self.drop_any, 'or')}, or correct its right side."
        one = "its right side" if len(self.drop) == 1 else "their right sides"
        return f"Drop {listing(self.drop)}, or correct {one}."


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class Explanation(Displayed):
    """The diagnosis of one system M v̇ = Q + Q_c, A v̇ = b.

    Attributes
    ----------
    coordinates, names : names of the n coordinates and of the m constraint rows.
    ranks : ranks of ``"A"``, ``"M"`` and ``"[M; A]"``.
    dependent_groups : minimal dependent groups of rows, smallest first.
    groups_complete : whether these are all minimal groups; otherwise they are a basis.
    contradictions : dependent groups whose right sides disagree; None when b was not given.
    freedoms : basis of the motions the constraints allow, shape (n, n − rank A); of a large
        mechanism with very many only the first.
    undetermined : basis of the directions with neither mass nor constraint, shape (n, k).
    semidefinite : whether M is positive semi-definite.
    uniqueness_tests : the equivalent tests of uniqueness, each from its own matrix: the three of
        Udwadia & Mogharabin (2022), Remark 6, and Lemma 1 of Udwadia & Schutte (2010).
    exists : whether an acceleration exists. It does when constraints are consistent and no force
        acts along an undetermined direction; None when b or a needed Q was not given.
    notes : what was altered in the given terms, and the constraint that the state misses most.
    on_constraints : whether the state satisfies its constraints; consistent rows say nothing of
        that, as they are about accelerations. True where terms alone were given.
    """

    sentences: ClassVar[bool] = True

    coordinates: tuple[str, ...]
    names: tuple[str, ...]
    ranks: dict[str, int]
    dependent_groups: tuple[DependentGroup, ...]
    groups_complete: bool
    contradictions: tuple[Contradiction, ...] | None
    freedoms: FloatArray
    undetermined: FloatArray
    semidefinite: bool
    uniqueness_tests: dict[str, bool]
    exists: bool | None
    notes: tuple[str, ...] = ()
    on_constraints: bool = True

    @property
    def coordinate_count(self) -> int:
        """n, the number of coordinates."""
        return len(self.coordinates)

    @property
    def constraint_count(self) -> int:
        """m, the number of constraint rows."""
        return len(self.names)

    @property
    def degrees_of_freedom(self) -> int:
        """n − rank A."""
        return self.coordinate_count - self.ranks["A"]

    @property
    def redundancy(self) -> int:
        """m − rank A: how many rows are redundant."""
        return self.constraint_count - self.ranks["A"]

    @property
    def consistent(self) -> bool | None:
        """Whether A A⁺ b = b; None when b was not given and some rows depend on others."""
        if self.contradictions is None:
            return None if self.redundancy else True
        return not self.contradictions

    @property
    def unique(self) -> bool:
        """Whether there is at most one acceleration: rank [M; A] = n."""
        return self.undetermined.shape[1] == 0

    @property
    def one_to_one(self) -> bool:
        """Whether M̃ = [M_s; A] maps accelerations one to one (Remark 4 of UM 2022)."""
        return self.unique

    @property
    def multipliers_unique(self) -> bool:
        """Whether λ is unique: rank A = m, (23) of Udwadia & Kalaba (1996)."""
        return self.redundancy == 0

    @property
    def well_posed(self) -> bool:
        """Whether the model has exactly one motion (b unknown: for every b that fits)."""
        return self.semidefinite and self.unique and self.consistent is not False

    def freedom(self, index: int) -> str:
        """One of the degrees of freedom in words."""
        return motion(self.freedoms[:, index], self.coordinates)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, strings, lists and dictionaries (ready for JSON)."""
        facts = {key: _plain(value) for key, value in asdict(self).items()}
        derived = (
            "coordinate_count",
            "constraint_count",
            "degrees_of_freedom",
            "redundancy",
            "consistent",
            "unique",
            "multipliers_unique",
            "well_posed",
        )
        facts |= {name: getattr(self, name) for name in derived}
        facts["motions"] = [self.freedom(i) for i in range(self.freedoms.shape[1])]
        facts["report"] = str(self)
        return facts

    def __str__(self) -> str:
        lines = [
            self._head(),
            *self._about_mass(),
            *self._about_rows(),
            *self._about_contradictions(),
            *self._about_motion(),
            *self._about_freedoms(),
        ]
        return "\n".join([*lines, *(f"Note: {note}." for note in self.notes)])

    def _head(self) -> str:
        return (
            f"{counted(self.coordinate_count, 'coordinate')}, "
            f"{counted(self.constraint_count, 'constraint row')} of rank {self.ranks['A']}: "
            f"{counted(self.degrees_of_freedom, 'degree')} of freedom."
        )

    def _about_mass(self) -> list[str]:
        n, rank = self.coordinate_count, self.ranks["M"]
        if not self.semidefinite:
            return ["M is not positive semi-definite: some motion has negative kinetic energy."]
        if rank == n:
            return ["M is positive definite."]
        return [f"M is singular: rank {rank} of {n}."]

    def _about_rows(self) -> list[str]:
        if not self.redundancy:
            return ["The rows are independent."] if self.constraint_count else []
        groups = self.dependent_groups
        kind = "all minimal groups" if self.groups_complete else "a basis of the groups"
        verb = "is" if self.redundancy == 1 else "are"
        lines = [f"{counted(self.redundancy, 'row')} {verb} redundant. Dependent are ({kind}):"]
        lines += [f"  {group}" for group in groups[:LISTED_IN_REPORT]]
        if len(groups) > LISTED_IN_REPORT:
            lines.append(f"  … and {len(groups) - LISTED_IN_REPORT} more")
        return lines

    def _about_contradictions(self) -> list[str]:
        if self.consistent is None:
            return ["They are consistent if b adds up to zero in the same way (b was not given)."]
        if not self.contradictions:
            return [self._about_agreement()] if self.redundancy else []
        lines = ["The constraints contradict each other:"]
        lines += [f"  {item}" for item in self.contradictions[:LISTED_IN_REPORT]]
        if len(self.contradictions) > LISTED_IN_REPORT:
            lines.append(f"  … and {len(self.contradictions) - LISTED_IN_REPORT} more")
        return lines + list(dict.fromkeys(item.advice for item in self.contradictions))

    def _about_agreement(self) -> str:
        if self.on_constraints:
            return "The constraints are consistent."
        return "The right sides of the rows agree, but the state does not satisfy the constraints."

    def _about_motion(self) -> list[str]:
        lines = []
        if self.unique:
            lines.append("The acceleration is unique." if self.consistent is not False else "")
        else:
            said = "; ".join(motion(w, self.coordinates) for w in self.undetermined.T)
            lines.append(f"The acceleration is not unique. Neither mass nor constraint: {said}.")
            if self.exists is None:
                lines.append("One exists only if no force acts that way.")
            elif self.exists:
                lines.append("Accelerations exist, as no force acts that way.")
            elif self.consistent is not False:
                lines.append("None exists, as a force acts that way.")
        if self.redundancy:
            lines.append("Multipliers are not unique; zwang.passport reports which forces are.")
        elif self.constraint_count:
            lines.append("The multipliers are unique.")
        return [line for line in lines if line]

    def _about_freedoms(self) -> list[str]:
        count = self.degrees_of_freedom
        if count == 0:
            none = "The constraints leave no degree of freedom"
            return [f"{none}: motion is prescribed, or there is none."]
        shown = min(self.freedoms.shape[1], LISTED_IN_REPORT)
        lines = [f"The constraints allow {counted(count, 'motion')}:"]
        lines += [f"  {self.freedom(i)}" for i in range(shown)]
        return lines + ([f"  … and {count - shown} more"] if count > shown else [])


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

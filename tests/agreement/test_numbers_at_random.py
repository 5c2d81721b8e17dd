"""`solve` and `explain` against exact rationals, over conditions, scales, ranks and precisions.

No wrong answer without a note, no refusal of what is consistent, no note where digits abound, and
every contradiction that is more than rounding refused by name. The limits stand in
docs/theory/tolerances.md.

    python -m pytest -m campaign -s tests/agreement/test_numbers_at_random.py     27,000 systems
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import zwang as zw
from reference.oracle import (
    DoubleDouble,
    ExactSolution,
    NoUniqueSolutionError,
    rationals,
    solve_exactly,
)
from reference.planted_systems import (
    FAMILIES,
    Drawn,
    contradictory,
    draw,
    in_single_precision,
    last_bits,
)
from zwang.errors import InconsistentConstraintsError

#: Up to this condition nothing is wrong without a note, nothing refused, nothing noted; the last
#: one for masses within 2²⁰.
ANSWERED, NEVER_REFUSED, NEVER_NOTED, MASSES = 1e13, 1e10, 1e6, 2.0**20

#: An answer whose norm is off by more is wrong; in single precision by more than what its rounding
#: makes of the condition.
WRONG, SINGLE_WRONG = 1e-6, 300.0 * float(np.finfo(np.float32).eps)

#: For numbers in single precision the same limits.
SINGLE_NEVER_REFUSED, SINGLE_NEVER_NOTED = 1e3, 1e2

#: Gaps are this many times the bound of `zwang.linalg.residual_rounding`, at least.
ABOVE_THE_BOUND = 4.0

CONSTRAINTS = ("InconsistentConstraintsError", "NotUniqueError")


def exactly(one: Drawn) -> ExactSolution | None:
    try:
        return solve_exactly(*(np.asarray(x, float) for x in one.terms))
    except NoUniqueSolutionError:
        return None


def relative_error(exact: ExactSolution, one: Drawn, s: zw.Solution) -> float:
    """Of acceleration and constraint force in scaled coordinates, the larger.

    What all but vanishes cannot be known better than what it is the difference of.
    """
    d, e = one.scales()
    force = float(np.linalg.norm(np.asarray(one.Q, float) * d))
    right = float(np.abs(np.asarray(one.b, float) * e).max(initial=0.0))
    least = 1e-6 * (force + right) + 1e-300
    return max(
        _relative(exact.acceleration, s.acceleration, 1.0 / d, least),
        _relative(exact.constraint_force, s.constraint_force, d, least),
    )


def _relative(exact: DoubleDouble, found: np.ndarray, scale: np.ndarray, least: float) -> float:
    error = float(np.linalg.norm(exact.error(found) * scale))
    return error / max(float(np.linalg.norm(exact.high * scale)), least)


def multiplier_error(exact: ExactSolution, one: Drawn, s: zw.Solution) -> float:
    """Of Aᵀλ against the constraint force, and of λ itself, the larger.

    Multipliers that all but vanish cannot be known better than what they are the difference of:
    what the condition makes of the rounding of forces and right sides.
    """
    if not len(one.b):
        return 0.0
    d, e = one.scales()
    A, lam = np.asarray(one.A, float), np.asarray(s.multipliers, float)
    given = float(np.linalg.norm(np.asarray(one.Q, float) * d))
    least = 1e-6 * (given + float(np.abs(np.asarray(one.b, float) * e).max()))
    left = np.linalg.norm((A.T @ lam - s.constraint_force) * d)
    summed = np.linalg.norm((np.abs(A.T) @ np.abs(lam) + np.abs(s.constraint_force)) * d)
    top = float(np.abs(exact.multipliers.high).max()) or float(e.min())  # squares may overflow
    off = np.linalg.norm(exact.multipliers.error(lam) / top)
    least_of_lam = (1.0 + 0.02 * one.condition(exact.constraint_rank, exact.mass_rank)) * least
    size = np.linalg.norm(exact.multipliers.high / top) + least_of_lam * float(e.min()) / top
    return float(max(left / max(summed, least, 1e-300), off / max(size, 1e-300)))


def accuracy_notes(s: zw.Solution) -> list[str]:
    return [note for note in s.notes if "redundant" not in note]


def solved(one: Drawn) -> tuple[zw.Solution | None, str]:
    try:
        return zw.solve(*one.terms), ""
    except zw.ZwangError as error:
        return None, type(error).__name__


def well_posed(one: Drawn) -> bool:
    return zw.explain(one.M, one.A, one.b, one.Q).well_posed


def look_at(one: Drawn, exact: ExactSolution, counts: Counter) -> list[str]:
    """What of a consistent system breaks a promise."""
    condition = one.condition(exact.constraint_rank, exact.mass_rank)
    s, refusal = solved(one)
    notes = accuracy_notes(s) if s else []
    what = "refused" if s is None else "noted" if notes else "answered"
    counts[int(np.log10(condition)), what] += 1
    broken = []
    if s is None and condition <= NEVER_REFUSED:
        broken.append(f"refused at {condition:.0e}: {refusal}")
    if notes and condition <= NEVER_NOTED and one.mass_ratio <= MASSES:
        broken.append(f"noted at {condition:.0e}: {notes}")
    if s is not None and not notes and condition <= ANSWERED:
        error = relative_error(exact, one, s)
        if error > WRONG:
            broken.append(f"wrong by {error:.0e} at {condition:.0e}")
        error = multiplier_error(exact, one, s)
        if error > WRONG:
            broken.append(f"multipliers wrong by {error:.0e} at {condition:.0e}")
    # Numbers that a formulation cannot do with are refused for their accuracy; that is no verdict.
    if (s is not None or refusal in CONSTRAINTS) and well_posed(one) != (s is not None):
        broken.append(f"explain says otherwise at {condition:.0e}: {refusal or 'solved'}")
    return broken


def bound(one: Drawn, exact: ExactSolution) -> float:
    """Largest gap in the right side of one row that rounding could have made, in scaled rows."""
    d, e = one.scales()
    n = len(d)
    a = np.abs(exact.acceleration.high / d).max() + np.abs(np.asarray(one.Q) * d).max()
    size = np.abs(one.b * e).max(initial=0.0) + 4.0 * a
    return 8.0 * np.sqrt(n) * float(np.finfo(one.A.dtype).eps) * size * len(one.b)


def look_at_contradiction(
    rng: np.random.Generator, one: Drawn, exact: ExactSolution, counts: Counter
) -> list[str]:
    """A gap above the bound must be refused, and what is named must contradict itself exactly."""
    condition = one.condition(exact.constraint_rank, exact.mass_rank)
    least = ABOVE_THE_BOUND * bound(one, exact)
    single = one.A.dtype == np.float32
    if condition > (SINGLE_NEVER_REFUSED if single else NEVER_REFUSED) or not least:
        return []
    made = contradictory(rng, one, least * 10.0 ** rng.uniform(0.0, 4.0 if single else 12.0))
    if made is None:
        return []
    broken, (wrong, _) = [], made
    counts[int(np.log10(condition)), "contradictory"] += 1
    if well_posed(wrong):
        broken.append(f"explain calls a contradiction consistent at {condition:.0e}")
    try:
        zw.solve(*wrong.terms)
    except InconsistentConstraintsError as error:
        rows = list(error.rows)
        if single:  # rounded rows depend on each other no more, so that nothing is exact
            return broken
        A, b = np.asarray(wrong.A, float)[rows], np.asarray(wrong.b, float)[rows]
        if rationals(np.column_stack([A, b])).rank() == rationals(A).rank():
            broken.append(f"{error.names} do not contradict each other ({condition:.0e})")
        return broken
    except zw.ZwangError as error:
        return [*broken, f"a contradiction refused as {type(error).__name__} at {condition:.0e}"]
    return [*broken, f"a contradiction answered at {condition:.0e}"]


def look_at_single_precision(one: Drawn, exact: ExactSolution, counts: Counter) -> list[str]:
    """Rounded to float32, rows that depend on each other still do, and the motion is the same."""
    condition = one.condition(exact.constraint_rank, exact.mass_rank)
    s, refusal = solved(in_single_precision(one))
    notes = accuracy_notes(s) if s else []
    what = "refused" if s is None else "noted" if notes else "answered"
    counts[int(np.log10(condition)), what] += 1
    if s is None:
        refused = condition <= SINGLE_NEVER_REFUSED
        return [f"float32 refused at {condition:.0e}: {refusal}"] if refused else []
    broken = []
    if notes and condition <= SINGLE_NEVER_NOTED:
        broken.append(f"float32 noted at {condition:.0e}: {notes}")
    if not notes:
        error = relative_error(exact, one, s)
        if error > SINGLE_WRONG * condition:
            broken.append(f"float32 wrong by {error:.0e} at {condition:.0e}")
        if condition <= SINGLE_NEVER_REFUSED and s.ranks.constraint != exact.constraint_rank:
            broken.append(f"float32 of rank {s.ranks.constraint}, not {exact.constraint_rank}")
    return broken


def campaign(seed: int, count: int, family: str) -> tuple[list[str], Counter]:
    rng, counts = np.random.default_rng([seed, len(family)]), Counter()
    broken: list[str] = []
    for k in range(count):
        one = draw(rng, "plain", most=4.0) if family == "float32" else draw(rng, family)
        exact = exactly(one)
        if exact is None:
            continue
        if family == "float32" and k % 3 == 0:
            found = look_at_contradiction(rng, in_single_precision(one), exact, counts)
        elif family == "float32":
            found = look_at_single_precision(one, exact, counts)
        elif k % 3 == 0:
            found = look_at_contradiction(rng, one, exact, counts)
        else:
            if k % 3 == 1 and len(one.dependent) and one.b.any():
                # What is off in the last bits is answered as if it were not.
                rounded, _ = solved(last_bits(rng, one))
                small = one.condition(exact.constraint_rank, exact.mass_rank) <= NEVER_REFUSED
                if rounded is None and small:
                    broken.append(f"{k}: refused for last bits")
            found = look_at(one, exact, counts)
        broken += [f"{family} {k}: {what}" for what in found]
    return broken, counts


def table(counts: Counter) -> str:
    kinds = ["answered", "noted", "refused", "contradictory"]
    lines = ["decade " + " ".join(f"{kind:>13}" for kind in kinds)]
    for decade in sorted({d for d, _ in counts}):
        row = " ".join(f"{counts[decade, kind]:13d}" for kind in kinds)
        lines.append(f"10^{decade:<3} {row}")
    return "\n".join(lines)


@pytest.mark.parametrize("family", [*FAMILIES, "float32"])
def test_numbers_at_random(family):
    broken, counts = campaign(1, 120, family)
    assert sum(counts.values()) > 80
    assert broken == []


@pytest.mark.campaign
@pytest.mark.parametrize("family", [*FAMILIES, "float32"])
def test_many_numbers_at_random(family):
    broken, counts = campaign(2, 6_750, family)
    print(f"\n{family}\n{table(counts)}")
    assert broken == []

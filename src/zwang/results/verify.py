"""Checks of a stored run: that it is what was written, and that it is a motion of its system.

Two questions, asked separately. Hashes decide whether the file is what was written; whoever edits a
file can also write new hashes, so the mechanics is asked too:

*   every saved state satisfies its constraints to the limit of the integrator;
*   from every saved state the motion, integrated anew, leads to the next one;
*   kinetic energy changes by the work of the forces;
*   the acceleration is the one of Gauss's principle, at a sample of states;
*   forces that are kept satisfy the full equations, see `zwang.simulation.check_forces`.

A file that fails the first question is damaged. One whose records contradict each other was
inconsistent. One that is no motion, or not as accurate as requested, is reported as that,
with the residual: nobody is accused of what an integrator may have done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.display import Displayed, counted
from zwang.errors import NotIntegratedError, NotUniqueError, TooManyStepsError, ZwangError
from zwang.formulations.gauss import certificate
from zwang.integrators.settings import Drift
from zwang.linalg.rank import RowGeometry
from zwang.results.energies import reference_powers
from zwang.results.run import Run
from zwang.results.segments import Segment
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.tracing.traced_model import TracedModel

__all__ = ["ForceCheck", "Propagate", "Verdict", "Verification", "Ways", "check_motion"]

#: A saved state may differ from the motion through the one before it by this many tolerances. The
#: integrator keeps its local error below one, in the mean over the entries of the state; correct
#: runs reach 3.7, at steps and between them. So edits above ten are found.
STEP_LIMIT = 8.0
#: The same within some steps of a singular position, where only the error that stays afterwards
#: counts for the integrator: correct runs reach 71, for a four-bar that lies flat.
SINGULAR_LIMIT, SINGULAR_STEPS = 1000.0, 5
#: The same where other rows take the place of those that acted, as these came close to losing rank:
#: of 200 linkages that do, correct runs reach 1240. States before and after have the usual limit.
EXCHANGE_LIMIT = 10_000.0

#: Over more steps than these errors add up. There a state may be off by so many times the error
#: that the same integrator makes on the way, if that is more.
#: So it is with friction, however few the steps: its smoothed sign and the pressure it depends on
#: bend sharply within a step, and the error estimate of a correct one may be short by 26.
SEVERAL, SEVERAL_LIMIT = 20, 10.0

#: A state of a fixed-step method may differ from the one its method leads to from the state before
#: by so many times what half the step changes there, for steps taken anew do not know what the
#: method remembered: correct runs reach 17, by Radau. Between steps states are interpolated, and
#: steps taken anew lie elsewhere: 600. And by rounding, of some thousand steps.
FIXED_LIMIT, BETWEEN_LIMIT, FIXED_ROUNDING = 100.0, 3000.0, 1e-11

#: Where a state is further off than that, so many times the error that the same integrator makes
#: there in steps of its own length is allowed for: forces that jump, or bend within a step, make
#: the estimate of a correct one too small. It is begun so many mean steps before, to find its pace.
OWN_LIMIT, LEAD = 10.0, 4.0

#: Differences of less than so many limits may be errors of an integrator.
GROSS = 100.0

#: Residuals of saved states, relative; the integrator aims at a tenth of this.
RESIDUAL_LIMIT = 1e-12

#: Gradient of Gauss's function at the acceleration, relative. Rounding makes 1e-15, more where the
#: constraints are nearly dependent.
GAUSS_LIMIT = 1e-9

#: Energy may fail to agree with the work done between two states by this many tolerances, relative
#: to the energies and the work there.
ENERGY_LIMIT = 100.0

#: Intervals no longer than this, relative, are a saved time next to an event: rounding decides.
INSTANT = 1e-12

#: The work over more steps than these is not summed up: its own error would be what is compared.
MANY = 300
TOO_LONG = f"the energy is not checked over more than {MANY} steps from one saved state to the next"

#: In stiff systems power may die out within a tiny part of an interval, where a quadrature over all
#: of it does not look. An interval that fails is taken in so many pieces, the first a millionth.
HALVINGS = 20
#: Where it still fails, in so many equal ones: saved states may lie far apart in a quick motion.
PIECES = 64
#: Where it fails again a force may jump on the way: pieces whose halves do not agree with them are
#: halved, so often that what a jump leaves is rounding.
BISECTIONS = 32


#: The note where a direction has neither mass nor constraint, and nothing else notices.
UNCHECKED = "accelerations are not unique, so energy and Gauss's principle are not checked"


#: Why a motion may not reach the next saved state when it is integrated anew.
UNREACHED = (NotIntegratedError, TooManyStepsError)


class Verdict(StrEnum):
    """What a stored run turned out to be."""

    VERIFIED = "verified"
    DAMAGED = "damaged"
    MISMATCH = "does not match"
    OTHER_MODEL = "another model"
    NO_MOTION = "no motion of its system"
    INACCURATE = "less accurate than asked"


@dataclass(frozen=True, repr=False)
class Verification(Displayed):
    """Outcome of `zwang.verify`.

    Attributes
    ----------
    verdict : verified; damaged (not what was written); does not match (its records contradict
        each other); made by another model; no motion of its system; or less accurate than asked.
    findings : what is wrong, sentences; empty when nothing is.
    figures : the largest value of each check in units of its limit; above one is a finding.
    checked : how many states and intervals were looked at.
    notes : what could not be checked.
    """

    verdict: Verdict
    findings: tuple[str, ...]
    figures: dict[str, float] = field(default_factory=dict)
    checked: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.verdict is Verdict.VERIFIED

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        looked = ", ".join(_told(count, what) for what, count in self.checked.items())
        lines = [f"{self.verdict.value}: {looked or 'nothing'} checked"]
        lines += [f"  {finding}" for finding in self.findings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _told(count: int, what: str) -> str:
    """A number and what it counts, which is in the plural: "1 state with forces"."""
    thing, space, more = what.partition(" ")
    return counted(count, thing.removesuffix("s"), thing) + space + more


#: (segment, t, y, times) → states at the times, integrated from y at t.
Propagate = Callable[[Segment, float, FloatArray, FloatArray], FloatArray]


class Ways(NamedTuple):
    """Ways to integrate from a saved state to the next.

    Attributes
    ----------
    tightly : much more accurately than the run, by a method with error control.
    alike : as the run itself did.
    in_given : the same in the coordinates that were given: what errors its integrator makes.
    halved : the same with half its fixed step.
    """

    tightly: Propagate
    alike: Propagate
    in_given: Propagate
    halved: Propagate


class ForceCheck(NamedTuple):
    """What came of looking at the forces that are kept with a run.

    Attributes
    ----------
    figures : name of a check, its largest value in units of its limit, and what that would mean.
    states : how many were looked at.
    notes : what could not be checked.
    """

    figures: tuple[tuple[str, float, str], ...]
    states: int
    notes: tuple[str, ...] = ()


@dataclass
class _Check:
    """Findings as they come up."""

    run: Run
    records: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    checked: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def value(self, name: str, value: float, sentence: str) -> None:
        """Remember the largest value of a check, in units of its limit."""
        if not value <= 1.0:
            self.findings.append(sentence)
        self.figures[name] = max(self.figures.get(name, 0.0), value)

    @property
    def verdict(self) -> Verdict:
        """What all of it comes to."""
        if self.records:
            return Verdict.MISMATCH
        if not self.findings:
            return Verdict.VERIFIED
        worst = max(self.figures.values(), default=np.inf)
        return Verdict.INACCURATE if 1.0 < worst <= GROSS else Verdict.NO_MOTION

    def count(self, name: str, count: int) -> None:
        self.checked[name] = self.checked.get(name, 0) + count


def check_motion(
    run: Run,
    ways: Ways,
    claims: Sequence[str],
    doubts: Sequence[str] = (),
    forces: ForceCheck | None = None,
    *,
    intervals: int | None,
    sample: int,
) -> Verification:
    """Ask the mechanics whether a run is a motion of its system.

    Parameters
    ----------
    run : with the instants of its events among its rows.
    claims : contradictions that were seen in the records of the run.
    doubts : where the program of the run disagrees with the full terms.
    forces : what came of looking at the forces that are kept with the run.
    intervals : how many intervals between saved states to integrate anew, evenly spread; all if
        None.
    sample : how many states and intervals to take for Gauss's principle and the energy.
    """
    check = _Check(run, list(claims))
    for doubt in doubts:
        check.value("program", np.inf, doubt)
    if forces is not None:
        check.count("states with forces", forces.states)
        check.notes += forces.notes
        for name, value, sentence in forces.figures:
            check.value(name, value, sentence)
    try:
        if not all(np.isfinite(x).all() for x in (run.t, run.q, run.v)):
            check.records.append("there are states that are not finite")
        elif np.any(np.diff(run.t) < 0.0):
            check.records.append("time runs backwards")
        else:
            for segment in run.segments:
                if segment.last > segment.first:
                    _residuals(check, segment)
                    _steps(check, segment, ways, intervals)
                    try:
                        _energy(check, segment, ways.tightly, sample)
                        _gauss(check, segment, sample)
                    except NotUniqueError:  # as of thin rods that spin about themselves
                        check.notes.append(UNCHECKED)
            _joints(check)
    except ZwangError as error:
        check.value("step", np.inf, f"no motion goes through the states: {error}")
    if len(run.segments) > 1 and run.events:
        check.notes.append("impulses at events are not checked, the motion between them is")
    findings = (*check.records, *check.findings)
    return Verification(check.verdict, findings, check.figures, check.checked, tuple(check.notes))


def _rows(segment: Segment) -> slice:
    return slice(segment.first, segment.last)


def _ratios(model: TracedModel) -> dict[str, Any]:
    """φᵢ / max(1, |φ_q,ᵢ| |q|) and ψᵢ / max(1, |ψ_v,ᵢ| |v|), as the integrator limits them."""
    import casadi as ca

    parts = [ca.SX(0, 1)]
    s = model.state
    for values, symbols in ((model.position_values, s.q), (model.rates, s.v)):
        if values.numel():
            J = ca.jacobian(values, symbols)
            lengths = ca.sqrt(ca.sum2(J * J))
            parts.append(ca.densify(values / ca.fmax(1.0, lengths * ca.norm_2(symbols))))
    return {"ratios": ca.vertcat(*parts)}


def _residuals(check: _Check, segment: Segment) -> None:
    run, rows = check.run, _rows(segment)
    if run.settings.drift is not Drift.PROJECTION:
        check.notes.append(f"drift = {run.settings.drift.value!r} sets no limit to residuals")
        return
    equations = segment.system.equations
    state = run.q[rows], run.v[rows], run.t[rows], segment.parameters
    if equations.by_elements is not None:
        values = np.abs(equations.by_elements.residual_ratios(*state))
    else:
        arguments = equations.arguments(*state)
        values = np.abs(equations.evaluator("residual_ratios", _ratios, *arguments)[0])
    check.count("states", len(values))
    if values.size:
        worst = np.unravel_index(np.argmax(values), values.shape)
        ratio = float(values[worst]) / RESIDUAL_LIMIT
        t = run.t[segment.first + worst[0]]
        check.value(
            "residual",
            ratio,
            f"at t = {t:.6g} s constraints are violated by {values[worst]:.1e}, relative",
        )


def _steps(check: _Check, segment: Segment, ways: Ways, intervals: int | None) -> None:
    """From every saved state the motion leads to the next one.

    With error control, within some tolerances. A fixed step keeps none: there the next state is
    reached by the same method, and how far it may be off is estimated from what half the step
    changes. Where no way leads to the next state, that it is given again from the beginning of the
    segment speaks for it, see `_ask_again`.
    """
    run = check.run
    fixed = run.settings.step > 0.0
    look = _FixedSteps(run, segment, ways) if fixed else _ControlledSteps(run, segment, ways)
    count = segment.last - segment.first - 1
    share = count if intervals is None else min(count, max(intervals, 1))
    suspects: list[_Interval] = []
    left: list[tuple[int, ZwangError]] = []
    for i in segment.first + np.unique(np.linspace(0, count - 1, share).astype(int)):
        if run.t[i + 1] == run.t[i]:
            continue
        try:
            found = look(int(i))
        except UNREACHED as error:
            left.append((int(i), error))
            continue
        if not fixed and found.limit < found.miss <= GROSS * found.limit:
            suspects.append(found)
        else:
            unit = "relative" if fixed else "tolerances"
            sentence = _misled(run, found.row, found.miss, unit)
            check.value("step", found.miss / found.limit, sentence)
    if left:
        i, error = left[0]
        others = f" (as from {len(left) - 1} other saved states)" if len(left) > 1 else ""
        check.notes.append(
            f"could not be integrated anew from t = {run.t[i]:.6g} s on{others}: {error}"
        )
    unreached = [i for i, error in left if isinstance(error, NotIntegratedError)]
    _ask_again(check, segment, ways, suspects, unreached)
    check.count("intervals", int(share) - len(left))


class _Interval(NamedTuple):
    """Where the motion from a row on and the next row differ: by how much, limit, and sizes."""

    row: int
    miss: float
    limit: float
    size: FloatArray


class _Steps:
    """Integrates anew from the rows of a segment, each to the next row."""

    def __init__(self, run: Run, segment: Segment, ways: Ways) -> None:
        self.run, self.segment, self.ways = run, segment, ways
        n = run.q.shape[1] + run.v.shape[1]
        self.scales = np.ones(n) if run.scales is None else run.scales

    def state(self, i: int) -> FloatArray:
        """Saved state i."""
        return np.concatenate([self.run.q[i], self.run.v[i]])

    def sizes(self, i: int) -> FloatArray:
        """Sizes of the entries of state i and the next, with the scales of tolerances."""
        return self.scales + np.maximum(np.abs(self.state(i)), np.abs(self.state(i + 1)))


class _FixedSteps(_Steps):
    """By the method of the run, and by half its steps."""

    def __init__(self, run: Run, segment: Segment, ways: Ways) -> None:
        super().__init__(run, segment, ways)
        self.at_steps = _at_steps(run, segment)

    def __call__(self, i: int) -> _Interval:
        """The interval after row i."""
        run, ways, size = self.run, self.ways, self.sizes(i)
        t, y, after = float(run.t[i]), self.state(i), run.t[i + 1 : i + 2]
        again = ways.alike(self.segment, t, y, after)[0]
        # Over a whole step at least: states within one are interpolated over it.
        reach = np.maximum(after, t + run.settings.step)
        over, halved = (go(self.segment, t, y, reach)[0] for go in (ways.alike, ways.halved))
        change = float(np.max(np.abs(halved - over) / size))
        factor = FIXED_LIMIT if self.at_steps[i] and self.at_steps[i + 1] else BETWEEN_LIMIT
        miss = float(np.max(np.abs(again - self.state(i + 1)) / size))
        return _Interval(i, miss, factor * change + FIXED_ROUNDING, size)


class _ControlledSteps(_Steps):
    """More accurately than the run, or as it did where that cannot be; misses in tolerances."""

    def __init__(self, run: Run, segment: Segment, ways: Ways) -> None:
        super().__init__(run, segment, ways)
        self.steps = _steps_between(run)
        self.limits = np.where(_exchanging(run), EXCHANGE_LIMIT, STEP_LIMIT)
        self.limits[_passing(run)] = SINGULAR_LIMIT

    def __call__(self, i: int) -> _Interval:
        """The interval after row i."""
        run, ways, size = self.run, self.ways, self.sizes(i)
        limit = float(self.limits[i])
        way = self.segment, float(run.t[i]), self.state(i), run.t[i + 1 : i + 2]
        try:
            again = ways.tightly(*way)[0]
        except NotIntegratedError:
            again, limit = ways.in_given(*way)[0], 2.0 * limit  # which has such an error itself
        miss = float(np.max(np.abs(again - self.state(i + 1)) / size)) / run.settings.tolerance
        rubs = self.segment.system.equations.reaction_dependent
        if miss > limit and (self.steps[i] > SEVERAL or rubs):
            limit += SEVERAL_LIMIT * self._error(i, i, run.t[i + 1 : i + 2])
        if miss > limit:
            span = LEAD * (run.t[-1] - run.t[0]) / max(run.counts.steps, 1)
            first = max(int(np.searchsorted(run.t, run.t[i] - span)), self.segment.first)
            first = min(first, i)
            ahead = min(float(run.t[self.segment.last - 1]), float(run.t[i + 1]) + span)
            times = np.unique([*run.t[i : i + 2], ahead])
            error = self._error(i, first, times[times > run.t[first]])
            limit = max(limit, OWN_LIMIT * error)
        return _Interval(i, miss, limit, size)

    def _error(self, i: int, first: int, times: FloatArray) -> float:
        """What error the run's integrator makes from a row on about row i; 0 if it cannot tell."""
        way = self.segment, float(self.run.t[first]), self.state(first), times
        try:
            off = np.abs(self.ways.in_given(*way) - self.ways.tightly(*way))
        except UNREACHED:
            return 0.0
        return float(np.max(off / self.sizes(i))) / self.run.settings.tolerance


def _misled(run: Run, i: int, miss: float, unit: str) -> str:
    return (
        f"from t = {run.t[i]:.6g} s the motion does not lead to the state saved at "
        f"{run.t[i + 1]:.6g} s: they differ by {miss:.3g} {unit}"
    )


def _ask_again(
    check: _Check, segment: Segment, ways: Ways, suspects: list[_Interval], unreached: list[int]
) -> None:
    """Let the segment be integrated again where states are further off than requested.

    What its integrator gives again, to the same states, is what it gave: less accurate than asked,
    which a note reports. What it does not give is a finding; so is a state that it does not give
    and to which no way leads from the one before.
    """
    if not suspects and not unreached:
        return
    run = check.run
    try:
        again = _given_again(run, segment, ways.alike)
    except TooManyStepsError:  # nothing is explained, but nobody knows what it would give
        again, unreached = {}, []
    except ZwangError:
        again = {}

    def is_given(i: int, size: FloatArray) -> bool:
        """Whether the states about interval i are those that its integrator gives again."""
        pairs = [(again.get(k), np.concatenate([run.q[k], run.v[k]])) for k in (i, i + 1)]
        off = [np.inf if x is None else np.max(np.abs(x - y) / size) for x, y in pairs]
        return bool(max(off) <= STEP_LIMIT * run.settings.tolerance)

    worst = None
    for suspect in suspects:
        i, miss, limit, size = suspect
        if is_given(i, size):
            worst = suspect if worst is None or miss > worst.miss else worst
        else:
            check.value("step", miss / limit, _misled(run, i, miss, "tolerances"))
    if worst is not None:
        check.notes.append(
            f"less accurate than asked, as its integrator gives it again: the state saved at "
            f"t = {run.t[worst.row + 1]:.6g} s is off by {worst.miss:.3g} tolerances"
        )
    sizes = _Steps(run, segment, ways).sizes
    for i in unreached:
        if not is_given(i, sizes(i)):
            sentence = (
                f"from t = {run.t[i]:.6g} s no motion leads to the state saved at "
                f"{run.t[i + 1]:.6g} s"
            )
            check.value("step", np.inf, sentence)


def _given_again(run: Run, segment: Segment, alike: Propagate) -> dict[int, FloatArray]:
    """The states of a segment by row, integrated again from its first as the run did."""
    rows = np.arange(segment.first + 1, segment.last)
    rows = rows[run.t[rows] > run.t[segment.first]]
    y = np.concatenate([run.q[segment.first], run.v[segment.first]])
    times, back = np.unique(run.t[rows], return_inverse=True)
    states = alike(segment, float(run.t[segment.first]), y, times)
    return {segment.first: y, **dict(zip(rows.tolist(), states[back], strict=True))}


def _at_steps(run: Run, segment: Segment) -> np.ndarray:
    """Which saved states are the ends of fixed steps of a segment, not interpolated."""
    if run.settings.step == 0.0:
        return np.zeros(len(run), dtype=bool)
    steps = (run.t - run.t[segment.first]) / run.settings.step
    return np.abs(steps - np.round(steps)) < 1e-6


def _steps_between(run: Run) -> FloatArray:
    """How many steps of mean length lie between saved states."""
    return np.diff(run.t) * run.counts.steps / max(run.t[-1] - run.t[0], 1e-300)


def _passing(run: Run) -> np.ndarray:
    """Which intervals between saved states lie within some steps of a singular position."""
    near = SINGULAR_STEPS * (run.t[-1] - run.t[0]) / max(run.counts.steps, 1)
    found = np.zeros(len(run) - 1, dtype=bool)
    for change in run.ranks:
        if not change.lasting:
            found |= (run.t[:-1] < change.t + near) & (run.t[1:] > change.t - near)
    return found


def _exchanging(run: Run) -> np.ndarray:
    """Which intervals end or begin where rows that act took the place of others, or hold that."""
    found = np.zeros(len(run) - 1, dtype=bool)
    events = {event.t for event in run.events}
    for change in run.ranks:
        if change.lasting and change.t > run.t[0] and change.t not in events:
            found |= (run.t[:-1] <= change.t) & (run.t[1:] >= change.t)
    return found


def _joints(check: _Check) -> None:
    """Where an event changes something the position goes on from where it was."""
    run = check.run
    occupied = [s for s in run.segments if s.last > s.first]
    for a, b in pairwise(occupied):
        before, after = run.q[a.last - 1], run.q[b.first]
        if run.t[a.last - 1] == run.t[b.first]:
            size = STEP_LIMIT * run.settings.tolerance * (1.0 + np.abs(before))
            check.value(
                "event",
                float(np.max(np.abs(after - before) / size, initial=0.0)),
                f"the position jumps at t = {run.t[b.first]:.6g} s",
            )


def _energy(check: _Check, segment: Segment, propagate: Propagate, sample: int) -> None:
    run = check.run
    if run.settings.step > 0.0:
        return
    count, notes = segment.last - segment.first - 1, set[str]()
    failures: list[tuple[float, str]] = []
    passing, steps = _passing(run) | _exchanging(run), _steps_between(run)
    for i in segment.first + _sample(count, sample):
        a, b = float(run.t[i]), float(run.t[i + 1])
        if b - a <= INSTANT * max(1.0, abs(b)):  # no room for a quadrature
            continue
        if steps[i] > MANY:
            notes.add(TOO_LONG)
            continue
        if passing[i]:  # there accelerations, and with them powers, jump or are inaccurate
            continue
        T, _ = segment.system.energy(
            run.q[i : i + 2], run.v[i : i + 2], run.t[i : i + 2], parameters=segment.parameters
        )
        try:
            work, ratio = _work_and_miss(run, segment, propagate, int(i), T)
        except NotUniqueError:
            raise
        except ZwangError as error:  # of the motion on the way, not of what was saved
            failures.append((a, str(error.alone())))
            continue
        check.value(
            "energy",
            ratio,
            f"from t = {a:.6g} s to {b:.6g} s the energy changes by {T[1] - T[0]:.6g}, the forces "
            f"do the work {work:.6g}",
        )
    if failures:
        a, error = failures[0]
        more = f" (and at {len(failures) - 1} later times)" if len(failures) > 1 else ""
        notes.add(f"the energy is not checked after t = {a:.6g} s{more}: {error}")
    check.notes += sorted(notes.difference(check.notes))


def _work_and_miss(
    run: Run, segment: Segment, propagate: Propagate, i: int, T: FloatArray
) -> tuple[float, float]:
    """Work of the forces after row i, and by how many limits the kinetic energies T contradict it.

    By more and more pieces, as long as they do.
    """
    a, b = float(run.t[i]), float(run.t[i + 1])
    y = np.concatenate([run.q[i], run.v[i]])
    work, ratio, limit = 0.0, np.inf, np.inf
    for ends in (_graded(1), _graded(HALVINGS), np.linspace(0.0, 1.0, PIECES + 1)):
        if ratio > 1.0:
            work, moved = _work(segment, propagate, y, a + (b - a) * ends)
            size = max(float(np.abs(T).max()) + moved, 1.0)
            limit = ENERGY_LIMIT * run.settings.tolerance * size
            ratio = abs(float(T[1] - T[0]) - work) / limit
    if 1.0 < ratio < np.inf:
        work = _work_with_jumps(segment, propagate, y, (a, b), limit)
        ratio = abs(float(T[1] - T[0]) - work) / limit
    return work, ratio


def _graded(pieces: int) -> FloatArray:
    """Ends of pieces of 0…1, each twice as long as the one before it."""
    return np.concatenate([[0.0], 0.5 ** np.arange(pieces - 1, -1, -1.0)])


def _work(
    segment: Segment, propagate: Propagate, y: FloatArray, ends: FloatArray
) -> tuple[float, float]:
    """Work of all forces on the motion from y at the first end to the last, and ∫|power| dt."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    halves = 0.5 * np.diff(ends)[:, None]
    times = (ends[:-1, None] + halves * (1.0 + nodes)).ravel()
    states = propagate(segment, float(ends[0]), y, times)
    q, v = np.split(states, [len(segment.system.coordinates)], axis=1)
    power = np.sum(
        list(reference_powers(segment.system, (q, v, times), segment.parameters).values()), axis=0
    )
    dt = (halves * weights).ravel()
    return float(dt @ power), float(dt @ np.abs(power))


def _work_with_jumps(
    segment: Segment,
    propagate: Propagate,
    y: FloatArray,
    interval: tuple[float, float],
    limit: float,
) -> float:
    """`_work` to a part of a limit, by halving the pieces in which a force jumps.

    Halves may agree with the whole by chance. A piece without a jump is a polynomial of which the
    fastest terms have died out, and which meets the powers at its ends, where there are no nodes.
    """
    nodes, weights = np.polynomial.legendre.leggauss(8)
    terms = (weights * np.polynomial.legendre.legvander(nodes, 7).T).T * (np.arange(8) + 0.5)
    to_ends = terms @ np.polynomial.legendre.legvander(np.array([-1.0, 1.0]), 7).T
    at = np.concatenate([[-1.0 + 1e-9], nodes, [1.0 - 1e-9]])
    start, end = interval
    ends = np.linspace(start, end, 9)
    pieces, work, rest = np.column_stack([ends[:-1], ends[1:]]), 0.0, 0.0
    for _ in range(BISECTIONS):
        middles, count = pieces.mean(axis=1), len(pieces)
        left = np.column_stack([pieces[:, 0], middles])
        right = np.column_stack([middles, pieces[:, 1]])
        every = np.concatenate([pieces, left, right])
        halves = 0.5 * np.diff(every, axis=1)
        times, places = np.unique(every[:, :1] + halves * (1.0 + at), return_inverse=True)
        states = propagate(segment, start, y, times)
        q, v = np.split(states, [len(segment.system.coordinates)], axis=1)
        found = reference_powers(segment.system, (q, v, times), segment.parameters).values()
        power = np.sum(list(found), axis=0)[places.reshape(-1, len(at))]
        inside, outside = power[:, 1:-1], power[:, [0, -1]]
        sums = np.sum(halves * weights * inside, axis=1)
        finer = sums[count : 2 * count] + sums[2 * count :]
        rough = np.abs(inside @ terms[:, 6:]).sum(axis=1)
        rough += 0.05 * np.abs(inside @ to_ends - outside).sum(axis=1)
        rough = np.max((rough * halves[:, 0]).reshape(3, count), axis=0)
        jumps = np.maximum(np.abs(sums[:count] - finer), rough) > 0.01 * limit
        work, rest = work + float(finer[~jumps].sum()), float(finer[jumps].sum())
        pieces = np.concatenate([left[jumps], right[jumps]])
        if not len(pieces) or np.min(np.diff(pieces, axis=1)) <= INSTANT * max(1.0, abs(end)):
            break
    return work + rest


def _gauss(check: _Check, segment: Segment, sample: int) -> None:
    run = check.run
    rows = segment.first + _sample(segment.last - segment.first, sample)
    system, state = segment.system, (run.q[rows], run.v[rows], run.t[rows])
    elements = system.equations.by_elements
    if elements is not None:
        balance = elements.balance(*state, segment.parameters)
        worst = float(np.maximum(balance.force, balance.constraint).max(initial=0.0))
    else:
        try:
            s = system.solve(*state, parameters=segment.parameters)
        except ZwangError as error:
            if error.batch_place is not None:
                error.at_time(float(run.t[rows[error.batch_place[0]]]))
            raise
        geometry = RowGeometry.of(s.terms.constraint_matrix)
        found = certificate(s.terms, s.acceleration, geometry)
        worst = float(np.maximum(found.gradient, found.constraint).max(initial=0.0))
    check.value(
        "Gauss", worst / GAUSS_LIMIT, f"the acceleration violates Gauss's principle by {worst:.1e}"
    )
    check.count("accelerations", len(rows))


def _sample(count: int, sample: int) -> np.ndarray:
    if count <= 0:
        return np.zeros(0, dtype=int)
    return np.unique(np.linspace(0, count - 1, min(count, sample)).astype(int))

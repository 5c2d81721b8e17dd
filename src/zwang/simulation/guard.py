"""The guard of a simulation: which states of a run are compared with the full terms, and when.

A program is fast because it was chosen: other coordinates, rows left out, kernels of its own. None
of that is believed: at the start and at saved states spread over a run, what it does is compared
with the system as given (`zwang.simulation.program_check`), as often as costs little.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

from zwang.caching import Remembered
from zwang.errors import ZwangError
from zwang.integrators.settings import Drift, Settings
from zwang.simulation.ensemble_check import TOGETHER
from zwang.simulation.program_check import (
    Disagreement,
    Surroundings,
    freedom_lost,
    look,
    motion_of,
    moved,
)
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.programs.contract import Program

__all__ = ["Account", "Guard"]

#: Part of the time of a run that looks may take, seconds for each run besides, and looks that the
#: first run of a program with some parameters takes whatever they cost.
SHARE, FOR_EACH, AT_FIRST = 0.03, 3e-6, 2
#: Seconds of a run that add nothing to what looks may take: in short ones all else is short too.
#: And seconds of looks that may be saved up.
SHORT, MOST_ALLOWANCE = 10e-3, 0.1
#: Seconds of a look at least, on machines whose clock of processor time is too coarse to see one.
LEAST_COST = 2e-5
#: Velocities beyond which a look is dear, and its seconds for each of them, until it is measured.
MANY, COST_OF_MANY = 300, 3e-4
#: Looks at the states of one chunk at most.
MOST = 8
#: Programs with parameters that are remembered as looked at.
KEPT = 256


class Account:
    """What is known of the programs of a system, and what looks at them may cost; kept with it.

    Attributes
    ----------
    seen : programs with parameters that were looked at.
    doubted : carriers that lead astray, and a sentence on each.
    dear : whether a look may cost more than a run, so that even the first waits for its allowance.
    allowance : seconds that looks may take.
    cost : of a look, as last measured [s].
    timed : whether the last run was long by the clock on the wall, so that the processor time of
        the next is measured from its start. That takes some microseconds; by the clock on the wall
        short runs would be long ones wherever others use the processor.
    allowance_of_many, cost_of_many : the same for looks at many starts of ensembles at once.
    """

    def __init__(self, size: int) -> None:
        self.seen: Remembered[tuple[int, bytes], Any] = Remembered(KEPT)
        self.doubted: dict[int, tuple[Any, str]] = {}
        self.allowance, self.dear = 0.0, size > MANY
        self.cost = size * COST_OF_MANY if self.dear else 0.0
        self.allowance_of_many = self.cost_of_many = 0.0
        self.timed = False

    @classmethod
    def of(cls, equations: Equations) -> Account:
        """That of a equations."""
        return equations.cache.once(cls, lambda: cls(len(equations.velocities)))

    def doubt(self, program: Program) -> str:
        """Why a program's coordinates are not believed; empty if nothing speaks against them."""
        carrier = program.carrier
        found = None if carrier is None else self.doubted.get(id(carrier))
        return "" if found is None else found[1]


class Guard:
    """Looks along one simulation, as many as cost little.

    The first run of a program with some parameters is looked at whatever that costs, at its start
    and at its end; all others as far as the allowance of the system goes, which every run adds to.

    Parameters
    ----------
    short : seconds at first that add nothing to what looks may take.
    """

    __slots__ = ("account", "due", "due_at_end", "earns_from", "settings", "since")

    def __init__(self, equations: Equations, settings: Settings, *, short: float = SHORT) -> None:
        account = self.account = Account.of(equations)
        self.settings = settings
        account.allowance = min(account.allowance, 2.0 * account.cost) + FOR_EACH
        self.due, self.since = 0, perf_counter() + short
        self.due_at_end = False
        #: Processor time from which on the run adds to the allowance, if that is measured.
        self.earns_from: float | None = None
        if account.timed or not short:
            account.timed, self.earns_from = False, thread_time() + short

    def begin(self, program: Program, p: FloatArray) -> None:
        """Know the program that the following states are of."""
        self._begin(program, p.tobytes())

    def _begin(self, program: Program, values: bytes) -> None:
        key = (id(program), values)
        if key not in self.account.seen:
            self.account.seen[key] = program
            self.due, self.due_at_end = AT_FIRST, True

    def trusts(self, program: Program, p: FloatArray) -> bool:
        """Whether a program with these parameters was looked at; looks go on at saved states.

        Those who are told otherwise begin it, see `begin`, and look at its start.
        """
        account = self.account
        return (id(program), p.tobytes()) in account.seen and not account.doubted

    def begin_ensemble(self, program: Program) -> None:
        """Know the program of an ensemble: one of its trajectories is looked at whatever it costs.

        The others, whose parameters may differ, are looked at as far as the allowance goes.
        """
        self._begin(program, b"")

    def calls_of_many(self, program: Program, P: FloatArray, count: int, seconds: float) -> int:
        """In how many calls of `ensemble_check` to look at so many starts with parameters P.

        One whatever it costs where the program, or the range of its parameters, is new; others as
        far as the seconds go that this ensemble, and those before it, allow.
        """
        account, most = self.account, -(-count // TOGETHER)
        account.allowance_of_many = min(account.allowance_of_many + seconds, MOST_ALLOWANCE)
        account.allowance_of_many = max(account.allowance_of_many, seconds)
        key = (id(program), P.min(axis=0).tobytes() + P.max(axis=0).tobytes())
        new = 0 if key in account.seen or account.dear else 1
        account.seen[key] = program
        cost = account.cost_of_many
        return min(most, max(new, int(account.allowance_of_many / cost) if cost else 1))

    @contextmanager
    def looking_at_many(self, calls: int) -> Iterator[None]:
        """Measure what so many calls cost, and take it from what they may."""
        began = perf_counter()
        yield
        spent, account = perf_counter() - began, self.account
        account.cost_of_many = spent / calls
        account.allowance_of_many -= spent

    def wanted(self, most: int) -> int:
        """How many looks may be taken now, of so many."""
        if perf_counter() > self.since:
            self._earn()
        account = self.account
        affordable = int(account.allowance / account.cost) if account.cost else 0
        if self.due and not account.dear:
            affordable = max(affordable, 1)
        return max(min(most, affordable), 0)

    def _earn(self) -> None:
        """Add a part of the processor time of a run that is not short.

        Of one that was not measured from its start, only from another short time on.
        """
        account, now = self.account, thread_time()
        if self.earns_from is None:
            account.timed, self.earns_from = True, now + SHORT
        elif now > self.earns_from:
            saved = account.allowance + SHARE * (now - self.earns_from)
            account.allowance = min(saved, max(MOST_ALLOWANCE, 2.0 * account.cost))
            account.timed, self.earns_from = True, now

    def start(
        self, equations: Equations, given: FloatArray, begun: FloatArray, t: float, p: FloatArray
    ) -> Disagreement | None:
        """Whether a start stayed put, see `moved`."""
        began = thread_time()
        found = moved(equations, given, begun, t, p)
        self._charge(began)
        return found

    def look(
        self,
        equations: Equations,
        program: Program,
        state: tuple[FloatArray, float],
        *numbers: FloatArray,
    ) -> Disagreement | None:
        """Look at a state ŷ, t of a program with parameters p̂ and, in the system, p."""
        began = thread_time()
        (y, t), (inner, p) = state, numbers
        try:
            motion = motion_of(equations, program, y, t, inner)
            around = Surroundings.of(equations, motion.y, t, p)
            found = look(equations, motion, t, p, self.settings, around)
            if found is None and self.due == 1 and self._corrects(program):
                found = freedom_lost(equations, program, motion, t, p, around.geometry)
        except ZwangError:  # a function of the user's that fails nearby
            found = None
        self.due = max(self.due - 1, 0)
        self.account.cost = max(self._charge(began), LEAST_COST)
        return found

    def _corrects(self, program: Program) -> bool:
        """Whether a program puts states back on rows of its own, by a kernel that is compiled."""
        return self.settings.drift is Drift.PROJECTION and program.rows[1] > 0

    def _charge(self, began: float) -> float:
        """Take the processor time that was spent since then from the allowance."""
        spent = thread_time() - began
        self.account.allowance -= spent
        if self.earns_from is not None:
            self.earns_from += spent
        return spent

    def doubt(self, program: Program, found: Disagreement) -> bool:
        """Remember that a program disagrees; whether it may be for the coordinates it is in."""
        self.account.seen.clear()  # all that follow are looked at
        carrier = program.carrier
        if carrier is not None:
            self.account.doubted[id(carrier)] = carrier, str(found)
        return carrier is not None

    def rows(self, count: int, *, ended: bool = False) -> list[int]:
        """Which of so many saved states to look at now, spread over them, the last among them.

        At the end of a run there is a look to be taken even if those that were due are behind,
        which they are where a loop that is not compiled returns after a few steps.
        """
        if ended and self.due_at_end:
            self.due, self.due_at_end = max(self.due, 1), False
        wanted = self.wanted(min(MOST, count))
        return [count - 1 - (k * count) // wanted for k in range(wanted)] if wanted else []

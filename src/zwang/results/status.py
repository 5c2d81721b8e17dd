"""How a simulation went: the work it took, and how it ended, as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import TYPE_CHECKING, Any

from zwang.arguments.keywords import no_longer
from zwang.errors import ZwangError
from zwang.integrators import memory as sh
from zwang.integrators.settings import Settings

if TYPE_CHECKING:
    from zwang.results.segments import RankChange

__all__ = [
    "ATTAINABLE",
    "AT_THE_END",
    "Counts",
    "looser_tolerance",
    "method_note",
    "rounding_note",
    "singular_place",
    "start_at_dead_center",
    "status_of",
    "stopped_at_singular",
    "stopped_by_collapse",
    "stopped_by_guard",
    "stopped_by_memory",
    "stopped_by_user",
    "stuck_at_start",
]


#: A singular position so short before the end, in parts of the time, is what ended it: steps that
#: collapse there are shorter by far.
AT_THE_END = 1e-4
#: Tolerances below this, some thousand roundings, may ask for more than rounding leaves of states:
#: where rows that act nearly depend on each other, it is divided by how nearly they do.
ATTAINABLE, LOOSER = 1e-12, 10.0
#: Advice where a run stays at the singular position it begins at, in its status.
BEGIN_BESIDE = "Begin a little away from it"
#: How the clause of a singular position begins at which a run begins, and from which its drivers
#: ask for what cannot be reached.
AT_THE_START = "at the start constraints"
#: Old names of counts.
_RENAMED = {"factorisations": "factorizations"}


@dataclass(frozen=True)
class Counts:
    """Work done: accepted and rejected steps, evaluations of v̇, projections.

    For implicit integrators also evaluations of the Jacobian and factorizations with it.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    projections: int = 0
    jacobians: int = 0
    factorizations: int = 0

    def __add__(self, other: Counts) -> Counts:
        return self.plus(vars(other).values())

    def plus(self, more: Iterable[int]) -> Counts:
        """With so many more of each, in this order."""
        return Counts(*map(add, vars(self).values(), more))

    @classmethod
    def of(cls, plain: Mapping[str, int]) -> Counts:
        """From plain values, by the names they have or had."""
        return cls(**{_RENAMED.get(name, name): count for name, count in plain.items()})

    def __getattr__(self, name: str) -> Any:
        no_longer("Counts", name, _RENAMED)


def status_of(
    counts: Counts,
    t: float,
    code: int,
    settings: Settings,
    failure: ZwangError | None = None,
    *,
    held_back: bool = False,
    place: str = "",
) -> str:
    """How a simulation ended, as a sentence.

    Parameters
    ----------
    failure : why the last acceleration could not be computed, if that is known.
    held_back : whether stability and not accuracy decided the length of the steps.
    place : what is known of a place where no step is small enough, `singular_place`.
    """
    if failure is not None and code in (sh.NOT_FINITE, sh.TOO_SMALL):
        return f"stopped at t = {t:.6g} s: {failure}"
    done = f"{counts.steps} steps, {counts.rejected} rejected, {counts.evaluations} evaluations"
    if held_back:
        done += '; stiff, the steps are as short as stability asks: integrator="radau5" needs fewer'
    if code == sh.DONE:
        return f"reached t = {t:.6g} s: {done}"
    if code == sh.NOT_FINITE:
        return (
            f"stopped at t = {t:.6g} s: the acceleration is not finite beyond it, a division by "
            f"zero, an overflow, or a non-ideal law without solution ({done})"
        )
    if code == sh.NO_ROOT:
        return (
            f"stopped at t = {t:.6g} s: the equations of a step of {settings.step:g} s have no "
            f"solution near the step before; take a smaller one, or smooth a force that jumps "
            f"({done})"
        )
    if code == sh.OFF_CONSTRAINTS:
        return (
            f"stopped at t = {t:.6g} s: a step of {settings.step:g} s ends so far from the "
            f"constraints that no correction leads back to them; take a smaller one ({done})"
        )
    return (
        f"stopped at t = {t:.6g} s: no step is small enough for tolerance "
        f"{settings.tolerance:g}; {place or 'the motion may be singular there, or stiff'} ({done})"
    )


def looser_tolerance(tolerance: float) -> float:
    """The tolerance to go on with where no step is small enough for one below `ATTAINABLE`."""
    return min(LOOSER * tolerance, ATTAINABLE)


def rounding_note(t: float, asked: float, kept: float) -> str:
    """From when on a run keeps a larger tolerance than was asked for, as a sentence."""
    return (
        f"from t = {t:.6g} s on a tolerance of {kept:g} is kept: rounding leaves no step small "
        f"enough for {asked:g}"
    )


def singular_place(
    ranks: Sequence[RankChange],
    end: float,
    drivers: Iterable[str],
    moving: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> str:
    """The singular position at which a simulation ended, as a clause; empty if it was none.

    Parameters
    ----------
    ranks : what was met, the last one last.
    drivers : names of the constraints that prescribe motion.
    moving : finds those of them that move what some constraints join, where none of them is among
        the constraints that depend on each other.
    """
    if not ranks or not ranks[-1].dependent_rows or abs(end - ranks[-1].t) > AT_THE_END * end:
        return ""
    names = ranks[-1].names
    clause = f"constraints {', '.join(names)} depend on each other there, a singular position"
    asking = [name for name in drivers if name in names]
    if not asking and moving is not None:
        asking = list(moving(names))
    return f"{clause}: {asks_too_much(asking)}" if asking else clause


def asks_too_much(drivers: Sequence[str]) -> str:
    """That drivers may prescribe what cannot be, as a sentence without its end."""
    return f"{_drivers(drivers)} may ask for more than the mechanism can reach"


def _drivers(names: Sequence[str]) -> str:
    return f"driver {names[0]}" if len(names) == 1 else f"drivers {' and '.join(names)}"


def method_note(was: str, now: str, t: float, *, rows_near: bool = False) -> str:
    """Why "auto" went on with another method, as a sentence.

    `rows_near` tells that constraint rows that act come near to depending on each other.
    """
    begun = f"from t = {t:.6g} s on"
    if rows_near:
        return f"constraint rows that act nearly dependent {begun}: integrated by {now}"
    if now == "radau5":
        return f"stiff {begun}: integrated by radau5"
    if was == "radau5":
        return f"no longer stiff {begun}: integrated by {now}"
    return f"steps of {was} kept short by its iteration {begun}: integrated by {now}"


def stopped_at_singular(change: RankChange) -> str:
    """How a simulation ended that was to stop where constraints lose rank."""
    return (
        f"stopped at t = {change.t:.6g} s, a singular position: constraints "
        f"{', '.join(change.names)} are dependent there (on_singular='stop')"
    )


def stopped_by_user(t: float, path: str | None = None) -> str:
    """How a simulation ended that the user stopped, and how to go on with it."""
    how = "simulate(run.at(run.t[-1]), until=…) goes on from the last saved state"
    if path is not None:
        how = f"zw.resume({path!r}, system) goes on"
    return f"stopped by the user at t = {t:.6g} s; {how}"


def stopped_by_collapse(t: float, step: float, until: float, place: str = "") -> str:
    """How a simulation ended whose steps became too short ever to reach its end.

    Parameters
    ----------
    place : what is known of the position it began at, `start_at_dead_center`.
    """
    why = place or (
        "constraints may ask for what no motion can do there, or the system is stiff "
        "(integrator='radau5')"
    )
    return (
        f"stopped at t = {t:.6g} s: steps have become as short as {step:.1e} s and stay so, of "
        f"which {(until - t) / max(step, 1e-300):.0e} would be left; {why}"
    )


def start_at_dead_center(
    ranks: Iterable[RankChange],
    t: float,
    always: int,
    drivers: Sequence[str],
    beyond: Callable[[], Sequence[str]] = tuple,
) -> str:
    """That rows of a driver depend on others at a start and not always, as a clause; else empty.

    Parameters
    ----------
    t : of the start.
    always : how many rows depend on others always.
    beyond : finds drivers that ask for what cannot be reached from there.
    """
    for change in ranks:
        if change.t != t or change.dependent_rows <= always:
            continue
        own = [name for name in drivers if name in change.names]
        if own:
            names = f"{', '.join(change.names)} depend on each other"
            asking = list(beyond())
            if asking:
                return f"{AT_THE_START} {names}, a singular position: {asks_too_much(asking)}"
            return (
                f"the motion begins at a dead center of {_drivers(own)}, where constraints "
                f"{names}. {BEGIN_BESIDE}"
            )
    return ""


def stuck_at_start(status: str) -> bool:
    """Whether a simulation did not get away from the singular position that it begins at."""
    return BEGIN_BESIDE in status or AT_THE_START in status


def stopped_by_memory(t: float, rows: int, size: float) -> str:
    """How a simulation ended whose saved states take too much memory."""
    return (
        f"stopped at t = {t:.6g} s: the {rows} states saved so far take {size / 1e9:.1f} GB of "
        "memory; save=… at fewer times, or store=… on disk"
    )


def stopped_by_guard(found: object, carrier: Any) -> str:
    """How a simulation ended whose program disagrees with the full terms of the system."""
    how = (
        "write constraints so that they can be differentiated there, without roots and absolute "
        "values that become zero, and leave out those that say the same twice; if that changes "
        "nothing, please report the system"
        if carrier is None
        else "coordinates='absolute' does not use those it was integrated in"
    )
    return (
        "stopped by a check, which compares the equations as they are integrated with all "
        f"equations of the system, and found them to disagree: {found}; {how}"
    )

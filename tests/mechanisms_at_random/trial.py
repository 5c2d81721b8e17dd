"""One mechanism at random, tried: drawn, solved, simulated, compared.

    python tests/mechanisms_at_random/trial.py FAMILY NUMBER [COORDINATES INTEGRATOR]

makes one again, and prints what was found.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import families_of_planes
import families_of_space
import families_of_trees
import numpy as np
from drawing import Drawn
from referee import IllPlaced, Referee

import zwang as zw

__all__ = [
    "FAMILIES",
    "INTEGRATORS",
    "OUTCOMES",
    "Outcome",
    "combinations",
    "compared",
    "drawn_of",
    "tried",
]

FAMILIES: dict[str, Callable[[np.random.Generator], Drawn]] = {
    **families_of_trees.FAMILIES,
    **families_of_planes.FAMILIES,
    **families_of_space.FAMILIES,
}

#: Integrators with error control, and those with fixed steps, which know bodies' coordinates only.
CONTROLLED = ("order5", "order8", "gauss", "auto", "radau5")
FIXED = ("rattle", "generalized_alpha")
INTEGRATORS = (*CONTROLLED, *FIXED)

#: What can come of a trial; only the first two are as it should be.
OUTCOMES = (
    "agrees",
    "declined",  # by a sentence: coordinates by name of what is redundant, a step that is too long
    "mismatch",
    "refused",
    "stopped",
    "slow",
    "crashed",
    "fell back",
)

#: Time that is simulated [s], saved at so many times.
UNTIL, SAVED = 0.25, 6
#: Local error asked for.
TOLERANCE = 1e-10
#: Motion and accelerations with error control, relative to the largest velocity or acceleration.
#: The local error adds up over some ten to a hundred steps and is carried along by the motion. Of
#: masses that differ by a factor of 1e8 the mass matrix leaves half of the digits.
MOTION, ACCELERATION = 1e-7, 1e-5
#: The same with fixed steps of 1 ms, whose error is of second order.
STEP, ROUGH = 1e-3, 3e-3
#: Residuals of all rows and of energy, relative.
RESIDUAL, ENERGY = 1e-9, 1e-7
#: Processor time of one trial [s]; most of it is compiling.
PATIENCE = 90.0
#: Placements near singular positions are drawn again, so often.
REDRAWN = 40


@dataclass(frozen=True)
class Outcome:
    """What came of a trial."""

    family: str
    number: int
    coordinates: str
    integrator: str
    outcome: str
    detail: str = ""
    error: float = 0.0
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        return self.outcome in {"agrees", "declined"}

    def __str__(self) -> str:
        again = (
            f"python tests/mechanisms_at_random/trial.py {self.family} {self.number} "
            f"{self.coordinates} {self.integrator}"
        )
        return f"{self.outcome:9} {again}\n          {self.detail}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def choices(drawn: Drawn) -> list[str]:
    """Coordinates that there are for a mechanism."""
    if drawn.mechanism.parts.kind.plane is not None:
        return ["absolute", "auto"]
    found = ["absolute", "auto"]
    if drawn.carried and not drawn.friction:
        found.append("joint")
    if drawn.planar and not drawn.friction:
        found.append("planar")
    return found


def combinations(drawn: Drawn) -> list[tuple[str, str]]:
    """Coordinates and integrators, all that go together."""
    found = [(c, i) for c in choices(drawn) for i in CONTROLLED]
    # Friction in joints is a law of their reactions, with a coefficient that may be zero.
    return found + [("auto", i) for i in FIXED if not (drawn.friction and i == "rattle")]


def drawn_of(family: str, number: int) -> tuple[Referee, Any]:
    """Mechanism number so and so of a family, away from singular positions, with its motion."""
    times = np.linspace(0.0, UNTIL, SAVED)
    why = ""
    for attempt in range(REDRAWN):
        rng = np.random.default_rng([number, attempt, sum(map(ord, family))])
        try:
            referee = Referee(FAMILIES[family](rng))
            q, v = referee.start(rng)
            return referee, (q, v, times, referee.motion(q, v, times))
        except IllPlaced as error:
            why = str(error)
    message = f"{family} {number}: no placement away from singular positions; the last: {why}"
    raise ArithmeticError(message)


class _OutOfTime(Exception):  # noqa: N818
    pass


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Raise after so much processor time of this process, where Python has its turn."""

    def ended(*_: Any) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def tried(family: str, number: int, coordinates: str, integrator: str) -> Outcome:
    """The outcome of one trial."""
    from time import process_time

    began = process_time()

    def outcome(kind: str, detail: str = "", error: float = 0.0) -> Outcome:
        detail = " ".join(detail.split())
        seconds = round(process_time() - began, 2)
        return Outcome(family, number, coordinates, integrator, kind, detail, error, seconds)

    referee, motion = drawn_of(family, number)
    began = process_time()
    try:
        with _patience(PATIENCE):
            kind, detail, error = compared(referee, motion, coordinates, integrator)
    except _OutOfTime:
        return outcome("slow", f"more than {PATIENCE:g} s of processor time")
    except zw.ZwangError as error:
        if str(error).startswith(f"coordinates='{coordinates}'"):
            kind = "declined" if over_constrained(referee, coordinates) else "fell back"
            return outcome(kind, str(error))
        return outcome("refused", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001
        return outcome("crashed", f"{type(error).__name__}: {error}")
    return outcome(kind, detail, error)


def compared(
    referee: Referee, motion: Any, coordinates: str, integrator: str
) -> tuple[str, str, float]:
    """Outcome, detail and error of a simulation from the start of a motion."""
    drawn, system = referee.drawn, referee.system
    q, v, times, Y = motion
    nq, fixed = len(q), integrator in FIXED
    loose = max(1.0, np.sqrt(drawn.spread))
    choice: dict[str, Any] = {"coordinates": coordinates, "integrator": integrator}
    choice |= {"step": STEP} if fixed else {"tolerance": TOLERANCE}
    # Accelerations at the start and at the end, by the solve of one state.
    for t, y in ((times[0], Y[0]), (times[-1], Y[-1])):
        expected = referee.acceleration(y[:nq], y[nq:], t)
        found = system.solve(y[:nq], y[nq:], t).acceleration
        gap = _relative(found - expected, expected)
        if not gap <= ACCELERATION * loose:
            return "mismatch", f"solve: accelerations off by {gap:.1e}", gap
    run = system.simulate(q, v, until=UNTIL, save=times, **choice)
    if not run.finished:
        whips = fixed and _whips(referee, q, v)
        return "declined" if whips else "stopped", run.status, 0.0
    found = np.hstack([run.q, run.v])
    size = max(1.0, np.abs(Y[:, nq:]).max())
    error = float(np.abs(found - Y).max()) / size
    said = f"; notes: {'; '.join(run.notes)}" if run.notes else ""
    if not error <= (ROUGH if fixed else MOTION * loose) and not (
        fixed and _converges(referee, motion, choice, error * size)
    ):
        return "mismatch", f"motion off by {error:.1e}{said}", error
    if drawn.exact is not None:
        body, place = drawn.exact
        gap = float(np.abs(run.body(body).position - place(times)).max()) / size
        if not gap <= (ROUGH if fixed else MOTION):
            return "mismatch", f"{body} off its own equations by {gap:.1e}{said}", gap
    missed = max(referee.missed(y, t) for y, t in zip(found, times, strict=True)) / size
    if not missed <= (1e-7 if fixed else RESIDUAL):
        return "mismatch", f"rows missed by {missed:.1e}{said}", missed
    if drawn.lossless and not fixed:
        E = np.array([referee.energy(y[:nq], y[nq:]) for y in found])
        scale = max(0.5 * v @ (system.ideal_terms(q, v, 0.0).mass_matrix @ v), 1.0)
        scale = max(scale, sum(drawn.masses.values()) * 9.81)
        gap = float(np.abs(E - E[0]).max() / scale)
        if not gap <= ENERGY * loose:
            return "mismatch", f"energy off by {gap:.1e}{said}", gap
    if not fixed:
        gap = _accelerations_of_the_loop(referee, Y[-1], times[-1], choice)
        if not gap <= ACCELERATION * loose:
            return "mismatch", f"accelerations of the loop off by {gap:.1e}{said}", gap
        if _fell_back(referee, coordinates, run.notes):
            return "fell back", f"integrated in the coordinates of its bodies{said}", error
    return "agrees", said.removeprefix("; "), error


#: Share of the largest velocity by which velocities change within a step that is too long.
WHIPS = 0.2


def _whips(referee: Referee, q: np.ndarray, v: np.ndarray) -> bool:
    """Whether a motion is too quick for a fixed step: light links that heavy ones pull straight."""
    run = referee.system.simulate(q, v, until=UNTIL, save=STEP, integrator="order8", tolerance=1e-8)
    return run.finished and bool(np.abs(np.diff(run.v, axis=0)).max() > WHIPS * np.abs(run.v).max())


def _converges(referee: Referee, motion: Any, choice: dict[str, Any], error: float) -> bool:
    """Whether half the step leaves about a quarter of an error: that of a method of order two."""
    q, v, times, Y = motion
    finer = choice | {"step": 0.5 * STEP}
    run = referee.system.simulate(q, v, until=UNTIL, save=times, **finer)
    return run.finished and float(np.abs(np.hstack([run.q, run.v]) - Y).max()) < error / 3.0


#: Stencils for accelerations of the loop [s]: a polynomial through six states, and through closer
#: ones where light links whip.
STENCILS = [h * np.arange(6) for h in (3e-4, 3e-5, 3e-6)]


def _accelerations_of_the_loop(referee: Referee, y: np.ndarray, t: float, choice: Any) -> float:
    """What v̇ of a simulation misses at a state far from the placement."""
    nq = len(referee.system.coordinates)
    expected, gaps = referee.acceleration(y[:nq], y[nq:], t), []
    for stencil in STENCILS:
        run = referee.system.simulate(
            y[:nq], y[nq:], start=t, until=t + stencil[-1], save=t + stencil, **choice
        )
        powers = np.vander(stencil / stencil[-1], increasing=True)
        found = np.linalg.solve(powers, run.v)[1] / stencil[-1]
        gaps.append(_relative(found - expected, expected))
        if gaps[-1] <= ACCELERATION:
            break
    return min(gaps)


def _fell_back(referee: Referee, coordinates: str, notes: tuple[str, ...]) -> bool:
    """Whether a mechanism without redundant rows was not carried in coordinates of its own."""
    drawn = referee.drawn
    if coordinates == "absolute" or not drawn.carried or drawn.friction:
        return False
    if drawn.mechanism.parts.kind.plane is not None or over_constrained(referee, coordinates):
        return False
    return not any(note.startswith("integrated in") for note in notes)


def over_constrained(referee: Referee, coordinates: str) -> bool:
    """Whether rows follow from others in the coordinates that are asked for."""
    drawn = referee.drawn
    if drawn.planar and coordinates != "joint":
        return drawn.redundant_in_plane
    return len(referee.system.row_names) > referee.rank


def _relative(gap: np.ndarray, of: np.ndarray) -> float:
    return float(np.abs(gap).max() / max(1.0, np.abs(of).max()))


if __name__ == "__main__":
    name, which, *chosen = sys.argv[1:]
    for pair in [chosen] if chosen else combinations(drawn_of(name, int(which))[0].drawn):
        result = tried(name, int(which), *pair)
        print(f"{result}\n          error {result.error:.1e}, {result.seconds:g} s")

"""Analysis of servo constraints: how far a motion is from rest, or from a start, at its ends.

A bounded motion leaves its rest as exp(r t) before the program moves, and comes to another one
after it: times that end too early cut it off while it moves. It then begins in a state that no
mechanism at rest has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.analysis.realizability import Realizability
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.analysis.servo import ServoSolution
    from zwang.system import System

__all__ = ["note_on_start", "notes_on_rest"]

#: Distances from rest are told from this share on of how far a quantity moves.
SHARE = 1e-3
#: What a start differs by, beside the size of a quantity, that is rounding or its assembly.
SAME = 1e-6


def _positions(system: System) -> list[str]:
    """Names of the positions in which distances are told: of joints, or coordinates."""
    joints = [name for name in system.channels if not name.endswith("_rate")]
    return joints or list(system.coordinates)


def _rate_of(system: System, name: str) -> str:
    """The name of a rate, or nothing where it has none of its own."""
    if f"{name}_rate" in system.channels:
        return f"{name}_rate"
    same = system.definition.kinematics is None and name in system.coordinates
    return system.velocities[system.coordinates.index(name)] if same else ""


def notes_on_rest(
    solution: ServoSolution, at_rest: dict[int, FloatArray | None], facts: Realizability
) -> list[str]:
    """Sentences on the ends at which a bounded motion is cut off.

    Parameters
    ----------
    at_rest : 0 and −1 → the configuration at rest there, shape (nq,), or None.
    """
    notes = []
    growth = np.real(facts.internal_eigenvalues)
    for k, rates, where in ((0, growth, "before"), (-1, -growth, "after")):
        found = _farthest(solution, at_rest[k], k)
        if found is None:
            continue
        name, away, share, speed = found
        slowest = float(rates[rates > 0.0].min(initial=np.inf))
        more = np.log(share / SHARE) / slowest
        moving = f", and changes by {speed:.3g} a second" if speed else ""
        notes.append(
            f"not at rest at t = {solution.t[k]:.6g}: {name} is {away:.3g} from rest there, "
            f"{100.0 * share:.2g} % of how far it moves{moving}. Times with about {more:.2g} s "
            f"more {where} it contain the rest of the motion, at rest on the program"
        )
    return notes


def _farthest(
    solution: ServoSolution, q: FloatArray | None, k: int
) -> tuple[str, float, float, float] | None:
    """What is farthest from rest at an end: name, distance, its share, rate; None if nothing is."""
    if q is None:
        return None
    found, most = None, SHARE
    for name in _positions(solution.system):
        values = solution[name]
        away = _difference(solution, name, q, k)
        share = abs(away) / max(float(np.ptp(values)), 1e-300)
        if share > most and abs(away) > SAME * max(1.0, float(np.abs(values).max())):
            rate = _rate_of(solution.system, name)
            speed = float(solution[rate][k]) if rate else 0.0
            found, most = (name, abs(away), share, abs(speed)), share
    return found


def _difference(solution: ServoSolution, name: str, q: FloatArray, k: int) -> float:
    """A quantity at an end minus what it is at a configuration; angles within half a turn."""
    from zwang.analysis.quantities import derivatives, quantity, values_of

    of = quantity(solution.system, name)
    both = np.stack([solution.q[k], q]), np.zeros((2, solution.v.shape[1]))
    times = np.full(2, solution.t[k])
    found = derivatives(solution.system, of, *both, times, solution.parameter_values)
    here, there = values_of(of, found, both[1])
    away = float(here - there)
    return float(np.arctan2(np.sin(away), np.cos(away))) if of.angle else away


def note_on_start(solution: ServoSolution, q: FloatArray, v: FloatArray) -> list[str]:
    """A sentence where a motion does not begin at the start that was given."""
    system, told = solution.system, []
    # A bounded motion leaves rest before the first time; notes on rest tell of more than a share.
    same = SHARE if solution.how == "boundary value problem" else SAME
    for name in _positions(system):
        away = _difference(solution, name, q, 0)
        size = float(np.ptp(solution[name])) if same == SHARE else 0.0
        if abs(away) > max(same * size, SAME * max(1.0, float(np.abs(solution[name]).max()))):
            told.append(f"{name} begins at {solution[name][0]:.6g}, {abs(away):.3g} from it")
    speed = float(np.abs(solution.v).max(initial=0.0))
    if not told and np.abs(solution.v[0] - v).max(initial=0.0) > same * max(1.0, speed):
        k = int(np.abs(solution.v[0] - v).argmax())
        was = f"{solution.v[0, k]:.6g} and not {v[k]:.6g}"
        told.append(f"{system.velocities[k]} begins as {was}")
    if not told:
        return []
    why = {
        "differentiation": "the program determines the whole motion",
        "boundary value problem": "what the program leaves free is unstable, and one motion of it "
        "alone stays bounded",
    }.get(solution.how, "the program and the constraints determine a part of it")
    return [f"the motion does not begin at start: {'; '.join(told[:3])}: {why}"]

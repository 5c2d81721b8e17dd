"""Whether runs through singular positions stay on their branch, at every tolerance.

N parallelograms are compared with the pendulum they are on their branch. A four-bar with links 1.8
(the frame), 1, 3 and 2.2 folds flat once a turn, as the shortest and the longest are together as
long as the others; its runs are compared with one by the method of order 5. A run that leaves its
branch is wrong by the size of the mechanism; one that stops says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import zwang as zw
from benchmarks.cases import WORKS
from benchmarks.engines.zwang import model

__all__ = ["branches", "change_point"]

TOLERANCES = [10.0**-k for k in np.arange(5.0, 11.01, 0.5)]
#: Errors from which on a run has left its branch [m].
LEFT = 0.3
FRAME, CRANK, COUPLER, ROCKER = 1.8, 1.0, 3.0, 2.2
#: Tolerances, each with the explicit method and with the one that works are timed with.
CASES = [(tolerance, name) for name in ("order8", "auto") for tolerance in TOLERANCES]
#: Rate of the crank at the start [rad/s]: it goes on turning.
RATE = 4.0


def change_point() -> zw.Mechanism:
    """The four-bar that folds flat with its crank along the frame."""
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81), plane="xz")
    angle = 2.0
    tip = CRANK * np.array([np.cos(angle), np.sin(angle)])
    foot = np.array([FRAME, 0.0])
    gap = np.linalg.norm(foot - tip)
    along = (gap**2 + COUPLER**2 - ROCKER**2) / (2.0 * gap)
    unit = (foot - tip) / gap
    end = tip + along * unit + np.sqrt(COUPLER**2 - along**2) * np.array([-unit[1], unit[0]])
    bodies = [m.ground]
    for name, a, b in (
        ("crank", np.zeros(2), tip),
        ("coupler", tip, end),
        ("rocker", end, foot),
    ):
        length = float(np.linalg.norm(b - a))
        bodies.append(m.body(name, mass=length, inertia=length**3 / 12.0, position=(a + b) / 2))
    bodies.append(m.ground)
    for k, at in enumerate((np.zeros(2), tip, end, foot)):
        m.revolute(f"j{k}", bodies[k], bodies[k + 1], at=at)
    return m


def branches(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Largest error of each linkage over all tolerances, and how many left."""
    found = []
    for name in ("four_bars(1)", "four_bars(2)", "four_bars(40)"):
        work = WORKS[name]()
        subject, start, points = model(work)
        errors = []
        for tolerance, integrator in CASES:
            run = subject.simulate(
                start,
                until=work.until,
                tolerance=tolerance,
                save=work.times,
                integrator=integrator,
            )
            errors.append(work.error(points(run)) if run.finished else np.inf)
        found.append(_row(name, errors))
    m = change_point()
    start = m.assemble(velocity={"hold": {"j0.angle_rate": -RATE}})
    times = np.linspace(0.0, 10.0, 101)

    def places(**choices: Any) -> np.ndarray | None:
        run = m.simulate(start, until=10.0, save=times, **choices)
        return run.body("coupler").center if run.finished else None

    exact = places(tolerance=1e-9, integrator="order5")
    errors = []
    for tolerance, integrator in CASES:
        here = places(tolerance=tolerance, integrator=integrator)
        good = here is not None and exact is not None
        errors.append(float(np.linalg.norm(here - exact, axis=1).max()) if good else np.inf)
    found.append(_row("change point, links 1.8, 1, 3, 2.2", errors))
    for row in found:
        say(
            f"{row['linkage']:<36} of {row['runs']} runs {row['left']} left, "
            f"{row['stopped']} stopped; worst of the others {row['worst']:.2g} m"
        )
    return found


def _row(linkage: str, errors: list[float]) -> dict[str, Any]:
    ended = [error for error in errors if np.isfinite(error)]
    pairs = zip(CASES, errors, strict=True)
    return {
        "linkage": linkage,
        "runs": len(errors),
        "left": sum(error > LEFT for error in ended),
        "stopped": len(errors) - len(ended),
        "worst": max(ended, default=float("nan")),
        "errors": {f"{i} {t:.3g}": e if np.isfinite(e) else None for (t, i), e in pairs},
    }

"""The goals that Zwang was given, and what the stored results say about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.comparison import OURS, least
from benchmarks.rows import FELT, Row, rows_of

__all__ = ["Goal", "figures", "goals"]

#: Work → largest part of the best peer's time, to 1e-6 m.
TO_1E_6 = {
    "chain(10)": 0.12,
    "chain(100)": 0.12,
    "four_bars(1)": 0.02,
    "four_bars(2)": 0.02,
    "four_bars(40)": 0.01,
    "bricard": 0.02,
    "skew_chain(10)": 0.2,
}
#: The same for one evaluation.
EVALUATION = {
    "chain(10)": 0.15,
    "chain(100)": 0.12,
    "skew_chain(100)": 0.25,
    "four_bars(1)": 0.05,
}
#: Works of the comparison to 1e-9 m, of which no peer may be ahead.
LOOPS = ("four_bars(1)", "four_bars(2)", "four_bars(40)", "bricard")


@dataclass(frozen=True)
class Goal:
    """A goal, the figure, and whether it is kept; `loop` is the figure of the time loop alone."""

    what: str
    goal: str
    figure: str
    kept: bool
    loop: str = ""
    loop_kept: bool = False


def figures(value: float, count: int) -> str:
    """A number to some figures, without an exponent."""
    rounded = float(f"{value:.{count}g}")
    return f"{rounded:,.0f}" if rounded >= 10.0**count else f"{rounded:.{count}g}"


def _best_peer(rows: Iterable[dict], level: float) -> dict | None:
    return least([row for row in rows if row["engine"] != OURS], level)


def _ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.3f} ×"


def _times(rows: list[dict[str, Any]]) -> list[Goal]:
    found = []
    for name, limit in TO_1E_6.items():
        here = [row for row in rows if row["work"] == name]
        mine = [row for row in here if row["engine"] == OURS]
        best, own, loop = _best_peer(here, 1e-6), least(mine, 1e-6), least(mine, 1e-6, "advance")
        if best is None or own is None or loop is None:
            continue
        whole, inner = own["cpu"] / best["cpu"], loop["advance"] / best["cpu"]
        what = f"{name} to 1e-6 m, {best['engine']} {figures(1e3 * best['cpu'], 3)} ms"
        figure = f"{whole:.3f} × ({figures(1e3 * own['cpu'], 3)} ms)"
        alone = f"{inner:.3f} × ({figures(1e3 * loop['advance'], 3)} ms)"
        found.append(Goal(what, f"≤ {limit:g} ×", figure, whole <= limit, alone, inner <= limit))
    return found


def _ahead(rows: list[dict[str, Any]]) -> list[Goal]:
    """Ahead of every peer to 1e-9 m, and on loops by more than to 1e-6 m."""
    ratios: dict[str, float] = {}
    smaller = []
    for name in dict.fromkeys(row["work"] for row in rows):
        here = [row for row in rows if row["work"] == name]
        own = least([row for row in here if row["engine"] == OURS], 1e-9)
        peer = _best_peer(here, 1e-9)
        if peer is None:
            continue
        ratios[name] = float("inf") if own is None else own["cpu"] / peer["cpu"]
        before = _best_peer(here, 1e-6)
        mine = least([row for row in here if row["engine"] == OURS], 1e-6)
        if name in LOOPS and before and mine and ratios[name] >= mine["cpu"] / before["cpu"]:
            smaller.append(name)
    behind = [name for name, ratio in ratios.items() if ratio >= 1.0]
    told = ", ".join(f"{name} {ratio:.3f} ×" for name, ratio in ratios.items())
    loops = "by more on " + ", ".join(n for n in LOOPS if n in ratios and n not in smaller)
    return [
        Goal("to 1e-9 m, every work that a peer reaches it on", "< 1 ×", told, not behind),
        Goal("loops to 1e-9 m against 1e-6 m", "by more", loops, not smaller),
    ]


def _evaluations(found: dict[str, dict[str, float]]) -> list[Goal]:
    goals = []
    for name, limit in EVALUATION.items():
        times = found.get(name, {})
        peers = {engine: t for engine, t in times.items() if engine != OURS}
        if not peers or OURS not in times:
            continue
        engine, best = min(peers.items(), key=lambda item: item[1])
        ratio = times[OURS] / best
        what = f"one evaluation of {name}, {engine} {1e6 * best:.3g} µs"
        figure = f"{ratio:.3f} × ({1e6 * times[OURS]:.3g} µs)"
        goals.append(Goal(what, f"≤ {limit:g} ×", figure, ratio <= limit))
    return goals


def _branches(found: list[dict[str, Any]]) -> list[Goal]:
    goals = []
    for row in found:
        figure = f"{row['left']} left, {row['stopped']} stopped, of {row['runs']}"
        kept = row["left"] == 0 and row["stopped"] == 0
        what = f"{row['linkage']}, tolerances 1e-5 to 1e-11"
        goals.append(Goal(what, "none leaves its branch", figure, kept))
    return goals


def _ensembles(found: list[dict[str, Any]]) -> list[Goal]:
    goals = []
    for row in found:
        ours, peer = row.get("ours"), row.get("mujoco")
        if not ours or not peer:
            continue
        wall, cpu = ours["rate"] / peer["rate"], peer["cpu_each"] / ours["cpu_each"]
        what = f"ensemble of {row['work']} to {row['level']:g} m against mujoco.rollout"
        figure = f"{wall:.0f} × (processor time: {cpu:.0f} ×)"
        goals.append(Goal(what, "≥ 100 ×", figure, wall >= 100.0))
    return goals


#: What a study is compared with, and how much faster it is to be.
STUDIES = {
    "end_values": ("keeping end values, throughput of the bare ensemble", 0.9),
    "series": ("keeping 21 times of 4 channels, throughput of the bare ensemble", 0.7),
    "against_loop": ("against a loop of processes over `simulate`", 3.0),
}
#: The same beside mujoco.rollout.
STUDIES_BESIDE_MUJOCO = {"pendulum": 10.0, "four-bar": 100.0}


def _studies(found: dict[str, Any]) -> list[Goal]:
    goals = []
    for name, row in found["cases"].items():
        beside = ("against mujoco.rollout to 1e-3 m", STUDIES_BESIDE_MUJOCO[name])
        for key, (words, wanted) in {**STUDIES, "against_mujoco": beside}.items():
            if key in row:
                what, figure = f"study of {row['runs']:,} {name} runs, {words}", row[key]
                goals.append(Goal(what, f"≥ {wanted:g} ×", f"{figure:.3g} ×", figure >= wanted))
    few, many = found["memory"].values()
    told = f"{few:.0f} → {many:.0f} MB"
    return [
        *goals,
        Goal("memory of a study, 100 × as many runs", "≤ 1.5 ×", told, many <= 1.5 * few),
    ]


def _first(stored: dict[str, Any]) -> list[Goal]:
    goals = []
    if "derivations" in stored:
        found = stored["derivations"]["results"]
        for name, title, limit in (
            ("bicycle", "bicycle from functions, derived and compiled", 5.0),
            ("cart(50)", "cart with 50 links, derived and compiled", 10.0),
        ):
            if name not in found:
                continue
            spent = found[name]
            figure = "more than a minute" if spent is None else f"{spent:.1f} s"
            kept = spent is not None and spent <= limit
            goals.append(Goal(title, f"≤ {limit:g} s", figure, kept))
    if "starting" in stored:
        found = stored["starting"]["results"]
        for section, end in (
            ("first_trajectory", "the first trajectory of the four-bar"),
            ("large_chain", "the first steps of a chain of 1000"),
        ):
            for key, limit in (("later", 1.0), ("first run ever", 15.0)):
                spent = found[section][key]
                what = f"start of Python to {end}, {key}"
                goals.append(Goal(what, f"≤ {limit:g} s", f"{spent:.2f} s", spent <= limit))
    return goals


def _felt(row: Row) -> Goal:
    """A row of what users feel."""
    allowed = f" + {1e6 * row.around:g} µs" if row.around else ""
    figure = f"{row.ratio:.3f} × ({figures(1e3 * row.ours, 3)} ms)"
    what = f"{row.section}: {row.what}, {row.beside} {figures(1e3 * row.yardstick, 3)} ms"
    return Goal(what, f"≤ {row.goal:g} ×{allowed}", figure, row.kept)


def goals(stored: dict[str, Any]) -> list[Goal]:
    """All goals on which there are results."""
    found: list[Goal] = []
    if "works" in stored:
        found += _times(stored["works"]["results"]["rows"])
        found += _ahead(stored["works"]["results"]["rows"])
    if "evaluations" in stored:
        found += _evaluations(stored["evaluations"]["results"])
    if "branches" in stored:
        found += _branches(stored["branches"]["results"])
    if "ensembles" in stored:
        found += _ensembles(stored["ensembles"]["results"])
    if "studies" in stored:
        found += _studies(stored["studies"]["results"])
    found += [_felt(row) for section in FELT for row in rows_of(stored, section)]
    return found + _first(stored)

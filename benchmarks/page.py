"""Write the docs page 'Speed and accuracy' and its plots from the stored results.

    python -m benchmarks.page

The words are in `page.md`, the reasons for missed goals in `results/reasons.toml`, every figure
comes from `results/results.json`. A test compares page and results.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.comparison import LEVELS, OURS, least
from benchmarks.goals import Goal, figures, goals
from benchmarks.rows import FELT, Row, rows_of

__all__ = ["IMAGES", "PAGE", "RESULTS", "page", "reason", "results"]

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "results.json"
REASONS = HERE / "results" / "reasons.toml"
PAGE = HERE.parent / "docs" / "comparison" / "speed-and-accuracy.md"
IMAGES = HERE.parent / "docs" / "images"

#: How each engine goes through time.
STEPPED = {
    "Zwang": "compiled, Gauss of order 16 or explicit of order 8, error control",
    "MuJoCo": "C, order 4, fixed steps",
    "Pinocchio": "from Python: order 4, fixed steps, or SciPy's order 8 or Radau, error control",
    "Exudyn": "C++, order 2 implicit with fixed steps; order 4 on trees",
    "Drake": "C++, order 3 or 5 with error control; loops: order 1, fixed steps",
    "OpenSim": "C++, order 4, error control",
    "SymPy": "from Python around generated C: as Pinocchio",
}


#: In place of a section that the stored results do not have.
UNMEASURED = "Not in the stored results: `python -m benchmarks` measures it."


def results() -> dict[str, Any]:
    """What is stored."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def milliseconds(seconds: float) -> str:
    """Three digits."""
    return figures(1e3 * seconds, 3)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(line.replace("|  |", "| |") for line in lines)


# --- goals ----------------------------------------------------------------------------------------


def reason(goal: Goal) -> str | None:
    """Why a goal is missed, where that is written down."""
    known = tomllib.loads(REASONS.read_text(encoding="utf-8"))["missed"]
    fitting = (entry["why"] for entry in known if goal.what.startswith(entry["goal"]))
    return next(fitting, None)


def _goal_table(found: list[Goal]) -> str:
    rows = []
    for goal in found:
        loop = f"{goal.loop}{' met' if goal.loop_kept else ''}" if goal.loop else ""
        mark = "met" if goal.kept else "**missed**"
        rows.append([goal.what, goal.goal, goal.figure, mark, loop])
    return markdown(["", "goal", "figure (whole call)", "", "time loop alone"], rows)


def _missed(found: list[Goal]) -> str:
    missed = [goal for goal in found if not goal.kept]
    if not missed:
        return "All goals are met."
    told: dict[str, list[str]] = {}
    for goal in missed:
        told.setdefault(reason(goal) or "", []).append(goal.what.split(",")[0])
    lines = [f"- {'; '.join(dict.fromkeys(names))}: {why}" for why, names in told.items()]
    return "\n".join(["Reasons for missed goals:", "", *lines])


# --- cases ----------------------------------------------------------------------------------------

#: What the table that the page begins with calls the cases, and its level of accuracy [m].
SUMMARY = {
    "chain(1)": "one rod on a pin",
    "chain(10)": "chain of 10 rods, plane",
    "chain(100)": "chain of 100 rods, plane",
    "chain(1000)": "chain of 1,000 rods, plane",
    "chain(10000)": "chain of 10,000 rods, plane",
    "skew_chain(10)": "chain of 10 rods, space",
    "four_bars(1)": "four-bar linkage",
    "four_bars(2)": "2 four-bar linkages",
    "four_bars(40)": "40 four-bar linkages",
    "bricard": "Bricard's loop",
    "door": "door on three hinges",
    "slider_crank": "slider-crank",
    "andrews": "Andrews' squeezer",
    "governor": "flyball governor, stiff",
    "vehicle": "vehicle on bushings, stiff",
    "car_axis": "car axis, driven",
    "nonholonomic_particle": "nonholonomic particle",
    "rolling_disk": "rolling disk",
    "bicycle": "bicycle",
}
SUMMARY_LEVEL = 1e-6


def _summary(found: dict[str, Any]) -> str:
    """Processor times [ms] of all engines in all cases, and the ratio to the best other."""
    rows = []
    for name in found["works"]:
        here = [row for row in found["rows"] if row["work"] == name]
        times = {}
        for engine in STEPPED:
            best = least([row for row in here if row["engine"] == engine], SUMMARY_LEVEL)
            if best is not None:
                times[engine] = best["cpu"]
        if OURS not in times:
            continue
        cells = [milliseconds(times[e]) if e in times else "–" for e in STEPPED if e != OURS]
        others = [time for engine, time in times.items() if engine != OURS]
        gain = f"{figures(min(others) / times[OURS], 2)}\N{NBSP}×" if others else "–"
        rows.append([SUMMARY.get(name, name), f"**{milliseconds(times[OURS])}**", *cells, gain])
    peers = [engine for engine in STEPPED if engine != OURS]
    return markdown(["", OURS, *peers, "ratio"], rows)


#: Of the page, where it was measured.
SCAN = """## Growth with the number of bodies

Processor time of a run for each body and evaluation, chains of 1 to 300 bodies with defaults.
Programs and coordinates change on the way; the cost of a body may grow by half from one size to the
next at the most.

![cost of a body and evaluation against the number of bodies](../images/speed_scan.svg)
"""


def _felt(stored: dict[str, Any]) -> str:
    """What users feel: rows of all sections that are stored, the worst of many that are alike."""
    parts = []
    for section, title in FELT.items():
        rows = rows_of(stored, section)
        if section == "energy balance":
            rows = _worst(rows)
        if section == "scan over size" and rows:
            rows = _steepest(rows)
        told = [
            [
                _named(row.what),
                f"**{milliseconds(row.ours)}**",
                _beside(row),
                f"{row.ratio:.2g}",
                f"≤ {row.goal:g}{'' if row.kept else ' **missed**'}",
            ]
            for row in rows
        ]
        if told:
            parts.append((f"**{title}**", told))
    head = ["processor time in ms", "Zwang", "beside", "ratio", "goal"]
    lines = [line for title, told in parts for line in ([title, "", "", "", ""], *told)]
    return markdown(head, lines) if lines else UNMEASURED


def _named(what: str) -> str:
    """A row by the words of the table of cases."""
    case, comma, more = what.partition(", ")
    name, to, level = case.partition(" to ")
    known = f"{SUMMARY.get(name, name)}{to}{level}"
    if more.partition(", ")[0] in ("plane", "space"):  # where it was built
        known = known.removesuffix(", plane")
    return f"{known}{comma}{more}"


def _beside(row: Row) -> str:
    """The yardstick and its milliseconds; a second is the same without them."""
    if row.beside == "1 s":
        return row.beside
    return f"{_named(row.beside)} {milliseconds(row.yardstick)}"


def _felt_on(stored: dict[str, Any]) -> str:
    """When and on what these rows were measured."""
    sections = [stored[section] for section in FELT if section in stored]
    told = dict.fromkeys(f"{x['processor']}, {x['date']}" for x in sections)
    return "; ".join(told) or "nothing yet"


def _steepest(rows: list[Row]) -> list[Row]:
    """Where the cost of a body grows most from one size to the next, in the plane and in space."""
    built = ([row for row in rows if row.what.endswith(where)] for where in ("plane", "space"))
    return [max(alike, key=lambda row: row.ratio) for alike in built if alike]


def _worst(rows: list[Row]) -> list[Row]:
    """Of each question the row with the largest ratio, and those of the longest chain."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.what.partition(",")[0], []).append(row)
    found = []
    for kind, own in kinds.items():
        worst = max(own, key=lambda row: row.ratio)
        name = worst.what.partition(", ")[2]
        found.append(replace(worst, what=f"{kind}, worst of {len(own)} mechanisms ({name})"))
        found += [row for row in own if "chain(1000)" in row.what and row is not worst]
    return found


def _works(found: dict[str, Any]) -> str:
    parts = []
    for name, work in found["works"].items():
        rows = []
        for engine in STEPPED:
            mine = [r for r in found["rows"] if r["work"] == name and r["engine"] == engine]
            sentence = found["cannot"].get(name, {}).get(engine)
            if mine:
                rows.append([engine, *(_cell(mine, level) for level in LEVELS)])
            elif sentence:
                rows.append([engine, sentence.replace("|", "/"), *[""] * (len(LEVELS) - 1)])
        head = ["", *(f"≤ {level:g} m" for level in LEVELS)]
        about = f"{work['about']}. Reference: {work['source']}."
        parts.append(f"### {name}\n\n{about}\n\n{markdown(head, rows)}")
    return "\n\n".join(parts)


def _cell(rows: list[dict[str, Any]], level: float) -> str:
    best = least(rows, level)
    if best is None:
        return "–"
    time = milliseconds(best["cpu"])
    loop = least(rows, level, "advance") if best["advance"] is not None else None
    if loop is not None:
        time = f"**{time}** / {milliseconds(loop['advance'])}"
    return f"{time} ({best['setting']})"


def _evaluations(found: dict[str, dict[str, float]]) -> str:
    engines = [engine for engine in STEPPED if any(engine in times for times in found.values())]
    rows = [
        [name, *(figures(1e6 * times[e], 3) if e in times else "" for e in engines)]
        for name, times in found.items()
    ]
    return markdown(["", *engines], rows)


def _gain(rows: list[dict[str, Any]], costs: dict[str, dict[str, float]]) -> str:
    """How much is fewer evaluations, and how much each costs less, stepping included."""
    found = []
    for name in ("chain(10)", "chain(100)", "skew_chain(10)", "four_bars(1)", "bricard"):
        here = [row for row in rows if row["work"] == name]
        mine = least([row for row in here if row["engine"] == OURS], 1e-6, "advance")
        for engine in ("MuJoCo", "Pinocchio"):
            best = least([row for row in here if row["engine"] == engine], 1e-6)
            if mine is None or best is None or not best["evaluations"]:
                continue
            fewer = best["evaluations"] / mine["evaluations"]
            cheaper = best["cpu"] / best["evaluations"] / (mine["advance"] / mine["evaluations"])
            bare, share = costs.get(name, {}).get(engine), ""
            if engine == "Pinocchio" and bare is not None:
                share = f"{max(0.0, 1.0 - bare * best['evaluations'] / best['cpu']):.0%}"
            order = "8, SciPy" if "DOP853" in best["setting"] else "4"
            found.append(
                [
                    name,
                    engine,
                    order,
                    f"{figures(fewer, 2)}\N{NBSP}×",
                    f"{figures(cheaper, 2)}\N{NBSP}×",
                    share,
                ]
            )
    head = ["case", "versus", "order", "fewer evaluations", "each cheaper", "share of Python"]
    return markdown(head, found)


# --- the rest -------------------------------------------------------------------------------------


def _ensembles(found: list[dict[str, Any]]) -> str:
    rows = []
    for row in found:
        ours, peer = row["ours"], row.get("mujoco")
        if ours is None or peer is None:
            continue
        cells = [
            f"{figures(x['rate'], 3)} /s, {milliseconds(x['cpu_each'])} ms ({x['setting']})"
            for x in (ours, peer)
        ]
        gains = ours["rate"] / peer["rate"], peer["cpu_each"] / ours["cpu_each"]
        ratios = [f"{figures(gain, 3)}\N{NBSP}×" for gain in gains]
        rows.append([row["work"], f"{row['level']:g} m", *cells, *ratios])
    head = ["case", "to", "Zwang `simulate_many`", "MuJoCo `rollout`", "wall", "processor"]
    return markdown(head, rows)


def _studies(found: dict[str, Any]) -> str:
    rows = []
    for name, row in found["cases"].items():
        ratios = [
            f"{figures(row[key], 3)}\N{NBSP}×" if key in row else "–"
            for key in ("end_values", "series", "against_mujoco", "against_loop")
        ]
        rows.append([name, f"{row['runs']:,}", f"{1e6 * row['study_each']:.3g} µs", *ratios])
    head = ["case", "runs", "each, dataset included", "of the bare ensemble", "with 21 times"]
    memory = " and ".join(
        f"{size:.0f} MB for {runs} runs" for runs, size in found["memory"].items()
    )
    return (
        markdown([*head, "MuJoCo `rollout`", "loop of processes"], rows)
        + f"\n\nPeak memory of a process with a study of pendulums: {memory}."
    )


def _branches(found: list[dict[str, Any]]) -> str:
    rows = [
        [row["linkage"], str(row["left"]), str(row["stopped"]), f"{row['worst']:.2g} m"]
        for row in found
    ]
    return markdown(["linkage", "left its branch", "stopped", "largest error of the others"], rows)


def _starting(found: dict[str, Any]) -> str:
    first, imports, sizes = (found[key] for key in ("first_trajectory", "imports", "megabytes"))
    rows = []
    for name in dict.fromkeys([*imports, *sizes]):
        seconds = f"{imports[name]:.2f}" if name in imports else ""
        rows.append([name, seconds, f"{sizes[name]:.0f}" if name in sizes else ""])
    return (
        "Processor time from starting Python to the end of a simulation of the four-bar over 10 s: "
        f"{first['later']:.2f} s; on the very first run, with empty caches, "
        f"{first['first run ever']:.1f} s.\n\n" + markdown(["", "import [s]", "size [MB]"], rows)
    )


def _derivations(found: dict[str, float | None]) -> str:
    def told(name: str) -> str:
        if name not in found:
            return "not tried"
        spent = found[name]
        return "more than 60" if spent is None else f"{spent:.2f}"

    rows = [
        [str(n), *(told(name) for name in (f"cart({n})", f"Kane cart({n})", f"Lagrange cart({n})"))]
        for n in (2, 5, 10, 20, 50)
    ]
    return (
        "Processor time in s, including imports, with empty caches. Zwang: from functions "
        "to the first evaluation in machine code; Whipple's bicycle from its kinetic energy and "
        f"rolling conditions takes {told('bicycle')} s. SymPy: derivation alone.\n\n"
        + markdown(["cart with n links", "Zwang", "SymPy, Kane", "SymPy, Lagrange"], rows)
    )


def page(stored: dict[str, Any]) -> str:
    """The whole page."""
    works, costs = stored["works"]["results"], stored["evaluations"]["results"]
    about, found = stored["works"], goals(stored)

    def told(section: str, tell: Callable[[Any], str]) -> str:
        return tell(stored[section]["results"]) if section in stored else UNMEASURED

    return Template((HERE / "page.md").read_text(encoding="utf-8")).substitute(
        dates=" and ".join(sorted({section["date"] for section in stored.values()})),
        processor=about["processor"],
        cores=about["cores"],
        system=about["system"],
        versions=", ".join(f"{name} {version}" for name, version in about["versions"].items()),
        felt=_felt(stored),
        felt_on=_felt_on(stored),
        summary=_summary(works),
        goals=_goal_table(found),
        missed=_missed(found),
        gain=_gain(works["rows"], costs),
        works=_works(works),
        evaluations=_evaluations(costs),
        scan=SCAN if rows_of(stored, "scan over size") else "",
        ensembles=told("ensembles", _ensembles),
        studies=told("studies", _studies),
        studies_on=stored["studies"]["processor"] if "studies" in stored else "",
        branches=told("branches", _branches),
        starting=told("starting", _starting),
        derivations=told("derivations", _derivations),
        engines=markdown(["", "integration"], [[name, how] for name, how in STEPPED.items()]),
    )


def main() -> None:
    """Write page and plots."""
    from benchmarks.plots import draw_errors, draw_growth, draw_scan

    stored = results()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(stored), encoding="utf-8")
    draw_errors(stored["works"]["results"]["rows"], IMAGES / "speed_errors.svg")
    draw_growth(stored["evaluations"]["results"], IMAGES / "speed_growth.svg")
    scanned = rows_of(stored, "scan over size")
    if scanned:
        draw_scan(scanned, IMAGES / "speed_scan.svg")


if __name__ == "__main__":
    main()

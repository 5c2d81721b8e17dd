"""Charts of a report over time: own outputs, joints, drivers, reactions, energies, residuals."""

from __future__ import annotations

from html import escape

import numpy as np

from zwang.errors import ZwangError
from zwang.multibody.pose import SCALAR
from zwang.results.mechanism_run import parts_of
from zwang.results.run import Run
from zwang.terms import FloatArray
from zwang.view.channels import determined, reacting_joints
from zwang.view.chart import ChartSheet
from zwang.view.efforts import EffortSeries, effort_series, effort_words
from zwang.view.report_springs import spring_series

__all__ = ["report_charts"]

#: Lines of one chart, and charts of channels: beyond it nothing can be distinguished.
MOST_LINES, MOST_CHARTS = 8, 12
#: Points of a chart of the saved states.
MOST_POINTS = 1200


def report_charts(sheet: ChartSheet, run: Run, even: Run) -> str:
    """All charts, as figures.

    Parameters
    ----------
    run : as simulated.
    even : the same at the times to be drawn.
    """
    t, drawn = even.t, _outputs(sheet, even)
    if run.mechanism is None:
        names = even.system.coordinates[:MOST_CHARTS]
        drawn += [sheet.add(name, t, {name: even[name]}) for name in names]
    else:
        drawn += [*_joints(sheet, even), *_drivers(sheet, even), *_springs(sheet, even)]
        drawn += _scalars(sheet, even)
        drawn += _reactions(sheet, even)
    drawn += _constraints(sheet, even)
    unit = "" if run.mechanism is None else "J"
    drawn.append(sheet.add("energy", t, _energies(even), unit=unit))
    times, residuals = _residuals(run)
    if residuals:
        # Rows of lengths, angles and pure numbers together.
        unit = "" if run.mechanism is None else "SI units"
        drawn.append(sheet.add("largest residual", times, residuals, unit=unit, log=True))
    return "".join(drawn)


def _outputs(sheet: ChartSheet, even: Run) -> list[str]:
    """The user's own outputs come first: they are what somebody asked for."""
    drawn = []
    for name in even.system.outputs:
        try:
            series = {name: even[name]}
        except ZwangError as error:  # one that has no value here
            drawn.append(f"<p>Not drawn: {escape(str(error))}</p>")
            continue
        doubtful = [] if determined(even, name) else [name]
        unit = even.channels[name].unit
        drawn.append(sheet.add(name, even.t, series, unit=unit, doubtful=doubtful))
    return drawn


def _energies(even: Run) -> dict[str, FloatArray]:
    V = even.potential_energy
    kinetic = {"kinetic": even.kinetic_energy}
    return kinetic if V is None else {**kinetic, "potential": V, "sum": even.energy}


def _joints(sheet: ChartSheet, even: Run) -> list[str]:
    own = [c for c in even.system.channels if not c.endswith("_rate")]
    drawn = []
    for label, unit in (("joint angles", "rad"), ("joint displacements", "m")):
        ending = label.removeprefix("joint ").removesuffix("s")
        every = [c for c in own if c.partition(".")[2].startswith(ending)]
        series = {c: even[c] for c in every[:MOST_LINES]}
        if series:
            title = _part_of(label, len(series), len(every))
            drawn.append(sheet.add(title, even.t, series, unit=unit))
    if not drawn:  # bodies that nothing joins
        bodies = [b.name for b in parts_of(even).bodies if f"{b.name}.position" in even.channels]
        for name in bodies[:2]:
            place = even[f"{name}.position"]
            series = {f"{name}.{axis}": place[:, k] for k, axis in enumerate("xyz")}
            drawn.append(sheet.add(f"position of {name}", even.t, series, unit="m"))
    return drawn


def _scalars(sheet: ChartSheet, even: Run) -> list[str]:
    """Extra generalized coordinates."""
    names = [b.name for b in parts_of(even).bodies if b.kind is SCALAR][:MOST_LINES]
    series = {name: even[name] for name in names if name in even.channels}
    return [sheet.add("extra coordinates", even.t, series)] if series else []


def _drivers(sheet: ChartSheet, even: Run) -> list[str]:
    """Torque, force, speed and power of drivers and actuators."""
    words = effort_words(even)
    try:
        every = list(effort_series(even))
    except ZwangError:  # the table says why
        return []
    drawn = []
    for quantity in ("torque", "force", "speed", "power"):
        own = [of for of in every if of.quantity == quantity]
        series = {_channel(of): of.values for of in own[:MOST_LINES]}
        if series:
            units = {of.unit for of in own}
            unit = units.pop() if len(units) == 1 else ""
            title = _part_of(f"{quantity} of {words}", len(series), len(own))
            doubtful = [name for name in series if not determined(even, name)]
            drawn.append(sheet.add(title, even.t, series, unit=unit, doubtful=doubtful))
    return drawn


def _springs(sheet: ChartSheet, even: Run) -> list[str]:
    """Forces of springs and dampers; tension is positive."""
    drawn, every = [], spring_series(even)
    for unit, quantity in (("N", "forces"), ("N m", "moments")):
        own = [of for of in every if of.unit == unit]
        if own:
            series = {of.channel: of.values for of in own[:MOST_LINES]}
            title = f"{quantity} of springs and dampers"
            title = _part_of(title, len(series), len(own))
            drawn.append(sheet.add(title, even.t, series, unit=unit))
    return drawn


def _channel(of: EffortSeries) -> str:
    return f"{of.name}.{'effort' if of.quantity == 'force' else of.quantity}"


def _part_of(title: str, shown: int, there_are: int) -> str:
    """A title, with the numbers where a chart does not show all."""
    return title if shown == there_are else f"{title}, {shown} of {there_are}"


def _reactions(sheet: ChartSheet, even: Run) -> list[str]:
    try:
        every = {
            name: np.linalg.norm(even.reaction(name).force, axis=1)
            for name in reacting_joints(even)
        }
    except ZwangError:
        return []
    acting = [name for name, force in every.items() if np.any(force)]
    largest = sorted(acting, key=lambda name: -float(every[name].max()))[:MOST_LINES]
    forces = {name: every[name] for name in acting if name in largest}
    if not forces:
        return []
    title = "reaction forces"
    if len(forces) < len(acting):
        title = f"reaction forces, the {len(forces)} largest of {len(acting)}"
    doubtful = [name for name in forces if not determined(even, f"{name}.force")]
    made = sheet.add(title, even.t, forces, unit="N", doubtful=doubtful)
    return [made]


def _constraints(sheet: ChartSheet, even: Run) -> list[str]:
    """Multipliers of constraints that are no joints."""
    joints = set(reacting_joints(even))
    drawn = []
    for name in [n for n in even.system.groups if n not in joints][:MOST_CHARTS]:
        try:
            values = even.multipliers(name)
        except ZwangError:
            continue
        rows = [name] if values.shape[1] == 1 else [f"{name}[{k}]" for k in range(values.shape[1])]
        series = {row: values[:, k] for k, row in enumerate(rows[:MOST_LINES])}
        if series:
            doubtful = [row for row in series if not determined(even, f"{row}.multiplier")]
            title = f"multiplier of {name}"
            drawn.append(sheet.add(title, even.t, series, doubtful=doubtful))
    return drawn


def _residuals(run: Run) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Largest |φ| and |φ̇|, |ψ| at the saved states, the largest of each bin where they are many."""
    bins = np.unique(np.linspace(0, len(run.t), MOST_POINTS + 1).astype(int)[:-1])
    series = {}
    for level in ("position", "velocity"):
        parts = [np.abs(getattr(r, level)).max(axis=1, initial=0.0) for r in run.residuals]
        values = np.concatenate([np.zeros(0), *parts])
        if np.any(values):
            series[level] = np.maximum.reduceat(values, bins)
    return run.t[bins], series

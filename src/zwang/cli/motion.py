"""``zwang kinematics``, ``inverse`` and ``servo``: motion without masses, efforts for a motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from zwang.analysis.columns import expanded
from zwang.cli.output import FAILURE, Printer
from zwang.model_files.model import Model
from zwang.terms import FloatArray

__all__ = ["inverse", "kinematics", "servo"]


def kinematics(out: Printer, model: Model, csv: Path | None, outputs: list[str]) -> None:
    """Follow a mechanism over the range of the file, and print what comes of it."""
    k = model.kinematics()
    written = model.analysis_tables.get("kinematics", {}).get("outputs")
    names = outputs or written or list(k.system.channels)
    with model.telling("kinematics"):
        columns = expanded(k.__getitem__, names)
    if csv is not None:
        k.to_csv(csv, names)
    out.result(
        {
            "model": model.name,
            "variable": k.variable,
            "finished": k.finished,
            "status": k.status,
            "values": k.t,
            "outputs": columns,
            "dead_points": [
                {"kind": p.kind, "value": p.value, "names": list(p.names)} for p in k.dead_points
            ],
            "notes": list(k.notes),
        }
    )
    rows = {name: _ranging(values) for name, values in columns.items() if len(values)}
    out.table(f"{model.name}: {len(k)} positions over {k.variable}", rows)
    out.say(str(k))
    if csv is not None:
        out.say(f"All values are in {csv}.")
    if not k.finished:
        raise typer.Exit(FAILURE)


def _ranging(values: FloatArray) -> str:
    """Smallest and largest; what is rounding of the largest is zero."""
    size = float(np.abs(values).max())
    low, high = (x if abs(x) > 1e-12 * size else 0.0 for x in (values.min(), values.max()))
    return f"between {low:.6g} and {high:.6g}"


def inverse(
    out: Printer,
    model: Model,
    motion: Path,
    actuators: list[str] | None,
    rule: str | None,
    csv: Path | None,
) -> None:
    """Efforts for the motion of a file, printed as a table of motors."""
    inv = model.inverse_dynamics(motion, actuators, rule)
    if csv is not None:
        inv.to_csv(csv)
    out.result(
        {
            "model": model.name,
            "t": inv.t,
            "effort": inv.effort,
            "power": inv.power,
            "motors": inv.motor_table(),
            "unreachable": inv.unreachable,
            "notes": list(inv.notes),
        }
    )
    out.say(f"{model.name}: {len(inv.t)} times from {inv.t[0]:g} to {inv.t[-1]:g}\n{inv}")
    if csv is not None:
        out.say(f"All values are in {csv}.")
    if inv.unreachable:
        raise typer.Exit(FAILURE)


def servo(out: Printer, model: Model, csv: Path | None, plot: Path | None) -> None:
    """What the program of a file asks of its actuators, and the efforts that follow it."""
    asked = model.servo()
    facts = asked.realizability
    out.say(str(facts))
    outputs = model.analysis_tables["servo"].get("outputs", [])
    with model.telling("servo", given=("CSV",)):
        solution = asked.solve(model.servo_times)
        columns = expanded(solution.__getitem__, outputs)
        if csv is not None:
            solution.to_csv(csv, outputs)
        if plot is not None:
            solution.plot(outputs, path=plot)
    out.result(
        {
            "model": model.name,
            "rank": facts.rank,
            "index": facts.index,
            "relative_degrees": facts.relative_degrees,
            "smoothness": facts.smoothness,
            "internal": facts.internal,
            "internal_eigenvalues": [[s.real, s.imag] for s in facts.internal_eigenvalues.tolist()],
            "how": solution.how,
            "t": solution.t,
            "effort": solution.effort,
            "outputs": columns,
            "notes": list(solution.notes),
        }
    )
    rows = {f"effort of {name}": values for name, values in solution.effort.items()} | columns
    ranges = {name: _ranging(values) for name, values in rows.items()}
    out.table(f"{model.name}: {len(solution.t)} times, by {solution.how}", ranges)
    for note in solution.notes:
        out.say(note)
    for what, file in (("All values are", csv), ("The figure is", plot)):
        if file is not None:
            out.say(f"{what} in {file}.")

"""``zwang kinematics`` and ``zwang inverse``: motion without masses, efforts for a motion."""

from __future__ import annotations

from pathlib import Path

import typer

from zwang.analysis.columns import expanded
from zwang.cli.output import FAILURE, Printer
from zwang.model_files.model import read_model

__all__ = ["inverse", "kinematics"]


def kinematics(out: Printer, path: Path, csv: Path | None, outputs: list[str]) -> None:
    """Follow a mechanism over the range of the file, and print what comes of it."""
    model = read_model(path)
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
    rows = {
        name: f"from {values.min():.6g} to {values.max():.6g}"
        for name, values in columns.items()
        if len(values)
    }
    out.table(f"{model.name}: {len(k)} positions over {k.variable}", rows)
    out.say(str(k))
    if csv is not None:
        out.say(f"All values are in {csv}.")
    if not k.finished:
        raise typer.Exit(FAILURE)


def inverse(
    out: Printer,
    path: Path,
    motion: Path,
    actuators: list[str] | None,
    rule: str | None,
    csv: Path | None,
) -> None:
    """Efforts for the motion of a file, printed as a table of motors."""
    model = read_model(path)
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

"""``zwang kinematics``: what a driven mechanism does, without masses."""

from __future__ import annotations

from pathlib import Path

import typer

from zwang.analysis.columns import expanded
from zwang.cli.output import FAILURE, Printer
from zwang.model_files.model import read_model

__all__ = ["kinematics"]


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

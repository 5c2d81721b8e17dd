"""``zwang report``: a run, a model that is simulated first, or a study, as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zwang.analysis.statics import Equilibrium
from zwang.cli.inspect import explain
from zwang.cli.output import Printer
from zwang.cli.run import read_given, simulate
from zwang.cli.study import is_study, report_study
from zwang.errors import InputError
from zwang.model_files.model import Model, read_model
from zwang.simulation.stored_runs import load

__all__ = ["report"]


def report(
    out: Printer,
    source: Path,
    output: Path | None,
    model: Path | None,
    *,
    force: bool,
    values: Sequence[str] = (),
    case: str | None = None,
) -> None:
    """Write the report of a run; a model file is simulated and explained on the way."""
    folder = source
    if not source.is_dir():
        step = Printer(as_json=out.as_json, part=True)
        explain(step, read_given(source, values, case))
        folder = simulate(
            step, source, None, until=None, tolerance=None, resume=False, values=values, case=case
        )
    elif values or case is not None:
        raise InputError(
            "--set" if values else "--case",
            must="be given with a MODEL.toml, which is run first",
            but=f"'{source}' is a folder of results",
            advice="Make another run with: zwang run MODEL.toml.",
        )
    if is_study(folder):
        report_study(out, folder, output, model, force=force)
        return
    described = read_model(folder if model is None else model)
    target = Path(f"{folder.stem}.html") if output is None else output
    path = load(folder, described.system).report(
        target, title=described.name, overwrite=force, **_analyses(described)
    )
    out.result({"run": str(folder), "report": str(path)})
    out.say(f"Wrote {path}: open it in a browser.")


def _analyses(model: Model) -> dict[str, Any]:
    """What else the model file asks for: modes by [linearize], rest by [equilibrium]."""
    if model.mechanism is None:
        return {}
    wanted: dict[str, Any] = {}
    if "linearize" in model.analysis_tables:
        wanted["modes"] = model.linearize()
    if "equilibrium" in model.analysis_tables:
        found = model.equilibrium()
        if isinstance(found, Equilibrium):
            wanted["equilibria"] = [found]
    return wanted

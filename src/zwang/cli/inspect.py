"""Commands that look at a model, a run or the installation, and change nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from zwang.cli.output import FAILURE, Printer
from zwang.errors import InputError
from zwang.model_files.model import read_model

__all__ = ["check", "derive", "explain", "info", "verify"]


def check(out: Printer, path: Path) -> None:
    """Read a model and assemble its start."""
    model = read_model(path)
    system = model.system
    state = model.start()
    with model.telling("start"):
        explanation = system.explain(state)
        system.solve(state)  # tells what leaves the motion open, or contradicts itself
    residuals = system.residuals(state)
    values = [np.abs(x).max(initial=0.0) for x in (residuals.position, residuals.velocity)]
    facts = {
        "model": model.name,
        "kind": "system" if model.mechanism is None else "mechanism",
        "coordinates": len(system.coordinates),
        "velocities": len(system.velocities),
        "constraint_rows": len(system.row_names),
        "degrees_of_freedom": explanation.degrees_of_freedom,
        "redundant_rows": explanation.redundancy,
        "residual_at_start": float(max(values)),
        "moved_to_assemble": float(getattr(state, "distance", 0.0)),
    }
    if model.mechanism is not None:
        parts = model.mechanism.parts
        facts |= {"bodies": len(parts.bodies), "joints": len(parts.joints)}
        facts |= {"forces": len(parts.forces) + len(parts.friction)}
    out.result(facts)
    rows = {k.replace("_", " "): _shown(v) for k, v in facts.items() if k != "model"}
    out.table(model.name, rows)
    out.say(f"{path} is sound.")


def _shown(value: object) -> str:
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def explain(out: Printer, path: Path) -> None:
    """Freedoms, dependent constraints and determinacy at the start."""
    model = read_model(path)
    state = model.start()
    with model.telling("start"):
        explanation = model.system.explain(state)
    if explanation.exists is False:
        out.result({"model": model.name, "explanation": explanation.to_dict()})
        out.say(str(explanation))
        raise typer.Exit(FAILURE)
    with model.telling("start"):
        passport = model.system.passport(state)
    out.result(
        {
            "model": model.name,
            "explanation": explanation.to_dict(),
            "multipliers": {
                name: {"least_norm": value, "status": str(status)}
                for name, value, status in zip(
                    passport.names, passport.multipliers.tolist(), passport.statuses, strict=True
                )
            },
            "reactions": {name: str(group.status) for name, group in passport.groups.items()},
        }
    )
    out.say(f"{explanation}\n\n{passport}")


def verify(out: Printer, folder: Path, model: Path | None) -> None:
    """Check a stored run against its model."""
    from zwang.simulation.stored_runs import verify as verify_run

    if not folder.is_dir():
        raise InputError(
            str(folder),
            found="a file" if folder.exists() else "no such folder",
            expected="the folder of a run",
            advice="'zwang run MODEL.toml' makes one.",
        )
    found = verify_run(folder, read_model(folder if model is None else model).system)
    out.result({"run": str(folder), "honest": bool(found), "report": str(found).splitlines()})
    out.say(str(found))
    if not found:
        raise typer.Exit(FAILURE)


def derive(out: Printer, path: Path, *, terms: bool, latex: bool) -> None:
    """Closed forms of a model."""
    model = read_model(path)
    form = model.system.derive(solve=not terms)
    text = form.latex() if latex else str(form)
    out.result({"model": model.name, "closed_form": text})
    out.say(text)


def info(out: Printer) -> None:
    """What is installed."""
    import platform
    from importlib.util import find_spec

    from zwang.codegen.cache import folder
    from zwang.results.model_digest import versions

    extras = {
        "symbolic": ("sympy",),
        "plot": ("matplotlib", "av"),
        "data": ("xarray",),
        "view": ("viser",),
        "control": ("control",),
    }
    present = {name: all(find_spec(p) for p in needed) for name, needed in extras.items()}
    facts = {**versions(), "platform": platform.platform(), "cache": str(folder() or "none")}
    out.result({**facts, "extras": present})
    # For people the processor's name will do; all its features decide the machine code.
    facts["processor"] = " ".join(facts["processor"].split()[:2])
    out.table("zwang", {**facts, "extras": ", ".join(k for k, v in present.items() if v) or "none"})

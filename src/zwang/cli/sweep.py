"""``zwang sweep``: the runs of a plan, with progress, and what came of them."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import Any

import typer

from zwang.cli.output import STOPPED, Printer
from zwang.cli.study import TABLES, require_table, results, say_results, write_table
from zwang.errors import InputError
from zwang.studies.by_constants import simulated
from zwang.studies.reasons import by_reason
from zwang.studies.refine import refine
from zwang.studies.study import Study, clock, study

__all__ = ["sweep"]

#: Runs that a dry run computes to see how long they take, at most.
TRIED = 64
#: Endings of files, which a dataset does not have.
FILES = (*TABLES, ".mat", ".nc", ".json", ".toml", ".html", ".png", ".svg", ".pdf")


def sweep(
    out: Printer,
    path: Path,
    output: Path | None,
    *,
    scheduler: str | None,
    workers: int | None,
    resume: bool,
    dry_run: bool,
    csv: Path | None = None,
    units: bool = False,
) -> None:
    """Run a plan, or say what it would take."""
    folder = path.with_suffix(".zarr") if output is None else output
    _require_folder(folder)
    if csv is not None:
        require_table(csv)
    found = study(None, path, output=folder, scheduler=scheduler)
    if dry_run:
        _estimate(out, found, workers)
        return
    there = any((folder / name).exists() for name in ("zarr.json", "round-0.zarr"))
    if there and not resume:
        raise InputError(
            f"output '{folder}'",
            must="not exist yet",
            but="does",
            advice="--resume computes what is missing in it; -o chooses another.",
        )
    began = perf_counter()
    try:
        if found.plan.refine is not None:
            _require_table_of_runs(csv)
            _follow(out, found, folder, workers)
            return
        found.run(workers=workers, progress=False if out.as_json else None)
    except KeyboardInterrupt:
        again = f"zwang sweep {quote(str(path))} -o {quote(str(folder))} --resume"
        typer.echo(f"Stopped; what was computed is kept. Go on with: {again}", err=True)
        raise typer.Exit(STOPPED) from None
    if csv is not None:
        write_table(found, csv, units=units)
    _summary(out, found, folder, perf_counter() - began)
    if csv is not None:
        out.say(f"All values are in {csv}.")


def _require_folder(folder: Path) -> None:
    """Refuse the name of a file for the dataset, which is a folder."""
    if folder.suffix.lower() in FILES:
        table = folder.suffix.lower() in TABLES
        advice = f"--csv {quote(str(folder))} writes a table besides." if table else None
        raise InputError(
            f"output '{folder}'",
            must="be the name of a folder for the dataset, as OUT.zarr",
            but=f"ends in {folder.suffix}",
            advice=advice,
        )


def _require_table_of_runs(csv: Path | None) -> None:
    if csv is not None:
        raise InputError(
            "--csv",
            must="be given with a plan that follows no boundary",
            but="the plan has a table [refine]",
            advice="--json prints the points of the boundary; zwang export writes a round.",
        )


def _follow(out: Printer, found: Study, folder: Path, workers: int | None) -> None:
    """Follow the boundary that the plan asks for; each round is a study in the folder."""
    edge = refine(
        found.subject,
        found.plan,
        folder,
        scheduler=found.scheduler,
        workers=workers,
        progress=False if out.as_json else None,
    )
    names = edge.names
    out.result(
        {
            "folder": str(folder),
            "runs": edge.runs,
            "rounds": len(edge.studies),
            "names": list(names),
            "size": edge.size.tolist(),
            "reached": edge.reached,
            "points": edge.points.tolist(),
        }
    )
    low, high = (edge.points.min(axis=0), edge.points.max(axis=0)) if len(edge.points) else ((), ())
    rows = {"boundary": str(edge) if len(edge.points) else "none: one side of the level alone"}
    rows |= {n: f"{a:.6g} to {b:.6g}" for n, a, b in zip(names, low, high, strict=False)}
    out.table(folder.name, rows)
    out.say(f"Kept in {folder}, a study for each round.")


def _summary(out: Printer, found: Study, folder: Path, seconds: float) -> None:
    counts = found.counts()
    reasons = {reason: len(numbers) for reason, numbers in by_reason(found.failed)}
    facts: dict[str, Any] = {
        "dataset": str(folder),
        "runs": found.plan.count,
        **counts,
        "seconds": seconds,
        "varies": list(found.plan.names),
        "keeps": [x.name for x in found.outputs.variables()],
        "reasons": reasons,
        "notes": list(found.notes),
        **results(found),
    }
    out.result(facts)
    rows = {
        "runs": ", ".join(f"{n} {name}" for name, n in counts.items() if n),
        "varies": ", ".join(found.plan.names),
        "keeps": ", ".join(facts["keeps"]),
        "took": f"{seconds:.1f} s",
    }
    for k, (reason, count) in enumerate(list(reasons.items())[:3]):
        rows[f"reason {k + 1}"] = f"{count} × {reason}"
    rows.update({f"note {k + 1}": note for k, note in enumerate(found.notes)})
    out.table(folder.name, rows)
    say_results(out, found)
    where = quote(str(folder))
    out.say(
        f"Kept in {folder}. See it with: zwang report {where}, zwang plot {where}; as a table: "
        f"zwang export {where}; xarray.open_zarr reads it."
    )


def _estimate(out: Printer, found: Study, workers: int | None) -> None:
    """How many, how long and how large, from a few of the runs."""
    import os

    count = found.plan.count
    tried = min(count, TRIED)
    step = count // tried
    spent = 0.0
    for attempt in range(2):  # the first compiles
        began = perf_counter()
        if attempt:
            for k in range(0, tried, 8):
                simulated(found.outputs, found.plan.rows(k * step, min(k * step + 8, count)))
        else:
            simulated(found.outputs, found.plan.rows(0, 1))
        spent = perf_counter() - began
    each = spent / tried
    threads = workers or os.cpu_count() or 1
    seconds = each * count / threads
    facts = {
        "runs": count,
        "tasks": -(-count // found.shard),
        "runs_per_task": found.shard,
        "seconds_per_run": each,
        "seconds": seconds,
        "workers": threads,
        "bytes": found.size,
        "notes": list(found.notes),
    }
    out.result(facts)
    rows = {
        "runs": f"{count} over {', '.join(found.plan.names)}",
        "tasks": f"{facts['tasks']} of {found.shard} runs",
        "time": f"at most about {clock(seconds)} with {threads} workers "
        f"({each * 1e3:.3g} ms a run, from {tried} of them)",
        "size": f"{found.size / 1e6:.3g} MB",
    }
    rows.update({f"note {k + 1}": note for k, note in enumerate(found.notes)})
    out.table("dry run", rows)

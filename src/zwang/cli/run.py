"""``zwang run``: simulate, store, sum up; a run that is stopped can be resumed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from zwang.assembly.large_moves import BodyMove, large_moves
from zwang.cli.assembled import moved_in_words
from zwang.cli.output import FAILURE, STOPPED, Printer
from zwang.cli.words import at_the_command_line
from zwang.display import plain_number
from zwang.errors import InputError
from zwang.model_files.given_values import parsed_values, units_left_out
from zwang.model_files.missing_mass import mass_notes
from zwang.model_files.model import Model, read_model
from zwang.results.event_rows import with_instants
from zwang.simulation.notes import OFF
from zwang.simulation.progress import EnsembleProgress, Progress, Report, reporting

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["read_given", "simulate", "summary"]


def simulate(
    out: Printer,
    path: Path,
    output: Path | None,
    *,
    until: float | None,
    tolerance: float | None,
    resume: bool,
    values: Sequence[str] = (),
    case: str | None = None,
    forces: bool = False,
) -> Path:
    """Simulate a model file, print what came of it, and give the folder it is kept in."""
    model = read_given(path, values, case)
    named = path if case is None else path.with_stem(f"{path.stem}-{case}")
    folder = _folder(named, output, resume=resume)
    begun, pace = perf_counter(), _ProgressLine()
    how_to_go_on = f"Go on with: zwang run {quote(str(path))} -o {quote(str(folder))} --resume"
    with reporting(progress=False if out.as_json else None) as show, _telling(folder, how_to_go_on):
        pace.show = show
        if resume:
            if until is not None or tolerance is not None or values or forces:
                raise InputError(
                    "--resume",
                    must="be given alone, as a run is resumed with its own settings",
                    but="--until, --tolerance, --set or --forces was given too",
                )
            run = model.resume(folder, progress=pace)
        else:
            _require_free(folder, how_to_go_on)
            choices = {"until": until, "tolerance": tolerance, "forces": forces or None}
            given: dict[str, Any] = {k: v for k, v in choices.items() if v is not None}
            run = model.simulate(store=folder, progress=pace, **given)
    facts = summary(model, run, folder, perf_counter() - begun, pace.last)
    facts["notes"] += mass_notes(model)
    out.result(facts)
    moves = _moves(model, run)
    told = {"moved to assemble": moved_in_words(moves, model)} if moves else {}
    out.table(model.name, _rows(facts) | told)
    first = Path(f"{named.stem}.run")
    taken = f", as {first} exists" if output is None and folder != first else ""
    if run.finished:
        out.say(f"Kept in {folder}{taken}. Check it with: zwang verify {quote(str(folder))}")
        return folder
    if len(run):
        out.say(f"What there is until t = {run.t[-1]:.6g} s is kept in {folder}{taken}.")
    if run.status.startswith("stopped by the user"):
        typer.echo(f"Stopped. {how_to_go_on}", err=True)
        raise typer.Exit(STOPPED)
    typer.echo(f"Error: {at_the_command_line(run.status)}", err=True)
    raise typer.Exit(FAILURE)


def _moves(model: Model, run: Run) -> tuple[BodyMove, ...]:
    """Bodies that assembly has moved far from where the file places them."""
    begins = len(run) and run.t[0] == model.simulation.choices.get("start", 0.0)
    if model.mechanism is None or not begins:
        return ()
    return large_moves(model.mechanism.parts, run.q[0])


@contextmanager
def _telling(folder: Path, how_to_go_on: str) -> Iterator[None]:
    """A second Ctrl-C acts at once; what was committed by then is kept."""
    try:
        yield
    except KeyboardInterrupt:
        if not folder.is_dir():
            raise
        typer.echo(f"Stopped at once. {how_to_go_on}", err=True)
        raise typer.Exit(STOPPED) from None


def _folder(path: Path, output: Path | None, *, resume: bool) -> Path:
    """Where the run is kept: as asked for, or beside the present folder under a free name."""
    if output is not None:
        return output
    first = Path(f"{path.stem}.run")
    number = 1
    folder = first
    while folder.exists():
        last, number = folder, number + 1
        folder = Path(f"{path.stem}-{number}.run")
        if resume and not folder.exists():
            return last
    return folder


def _require_free(folder: Path, how_to_go_on: str) -> None:
    """Refuse a folder that is there, with what to type."""
    if os.path.lexists(folder):
        raise InputError(
            f"folder '{folder}'",
            must="not exist yet",
            but="does",
            advice=f"Give another one with -o, or remove it. {how_to_go_on}",
        )


def read_given(path: Path, values: Sequence[str], case: str | None) -> Model:
    """The model with values of ``--set``; one that does not fit is told as that option."""
    given = parsed_values(values)
    for note in units_left_out(path, given):
        typer.echo(f"Note: {note}", err=True)
    try:
        return read_model(path, values=given, case=case)
    except InputError as error:
        for name in given:
            if error.what == f"value of {name!r}":
                raise InputError(f"--set {name}", **error.facts) from None
        raise


class _ProgressLine:
    """Shows the progress, and keeps the last record for the summary of times."""

    show: Report | None = None
    last: Progress | None = None

    def __call__(self, record: Progress | EnsembleProgress) -> None:
        assert isinstance(record, Progress)
        self.last = record
        if self.show is not None:
            self.show(record)


def summary(
    model: Model, run: Run, folder: Path | None, seconds: float, last: Progress | None = None
) -> dict[str, Any]:
    """What came of a run, as data.

    Parameters
    ----------
    seconds : it took, preparation included.
    last : record of its progress, which knows how long the integration took.
    """
    energy = run.energy if len(run) else np.zeros(1)
    integration = None if last is None else last.seconds
    speed = None
    if last is not None and last.seconds > 0.0:
        speed = (last.t - last.begun_at) / last.seconds
    return {
        "model": model.name,
        "finished": run.finished,
        "status": run.status,
        "start": float(run.t[0]) if len(run) else None,
        "end": float(run.t[-1]) if len(run) else None,
        "saved_states": len(run),
        "states_beside_events": len(with_instants(run)[0]) - len(run),
        "steps": run.counts.steps,
        "rejected_steps": run.counts.rejected,
        "evaluations": run.counts.evaluations,
        "worst_residual": run.worst_residual,
        "energy_at_start": float(energy[0]),
        "energy_at_end": float(energy[-1]),
        "energy_range": float(np.ptp(energy)),
        "rank_events": [{"t": r.t, "dependent_rows": r.dependent_rows} for r in run.ranks],
        "events": [{"name": e.name, "t": e.t} for e in run.events],
        "notes": list(run.notes),
        "seconds": seconds,
        "integration_seconds": integration,
        "times_real_time": speed,
        "run": None if folder is None else str(folder),
    }


def _rows(facts: dict[str, Any]) -> dict[str, str]:
    """The summary for people."""
    rows = {
        "status": facts["status"],
        "steps": f"{facts['steps']} ({facts['rejected_steps']} rejected)",
        "evaluations": str(facts["evaluations"]),
        "saved states": f"{facts['saved_states']}{_beside(facts['states_beside_events'])}",
        "worst residual": f"{facts['worst_residual']:.1e}",
        "energy": f"{facts['energy_at_start']:.6g} J at the start, "
        f"{facts['energy_at_end']:.6g} J at the end "
        f"(range of saved states {plain_number(facts['energy_range'], 4)} J)",
        "redundant equations": _redundancy(facts["rank_events"], facts["start"]),
        "events": _counted(facts["events"], lambda e: f"{e['name']} at {e['t']:.4g} s"),
        "time": f"{facts['seconds']:.2f} s, preparation included",
    }
    if facts["times_real_time"] is not None:
        rows["speed"] = (
            f"{facts['times_real_time']:.3g} × real time, integration took "
            f"{facts['integration_seconds']:.2g} s"
        )
    for k, note in enumerate(facts["notes"]):
        rows["warning" if note.startswith(OFF) else f"note {k + 1}"] = note
    return rows


def _beside(count: int) -> str:
    """States that are kept besides the saved ones, which `zwang verify` counts too."""
    return f" and {count} beside events" if count else ""


def _redundancy(events: list[dict[str, Any]], start: float | None) -> str:
    """How many constraint equations follow from the others, at first and where that changes."""
    if not events:
        return "none"
    at_first = events[0]["dependent_rows"] if events[0]["t"] == start else 0
    verb = "follows" if at_first == 1 else "follow"
    told = f"{at_first or 'none'} of the constraint equations {verb} from the others"
    # What is known of the start is told once, though the loop meets it as well.
    later = [e for e in events if (e["t"], e["dependent_rows"]) != (start, at_first)]
    if not later:
        return f"{told} (zwang explain names the joints)"
    changes = ", ".join(f"{e['dependent_rows']} at {e['t']:.4g} s" for e in later[:4])
    return f"{told} at the start; {changes}{', …' if len(later) > 4 else ''}"


def _counted(entries: list[Any], show: Any) -> str:
    """How many, and the first of them."""
    if not entries:
        return "none"
    first = ", ".join(show(entry) for entry in entries[:4])
    return f"{len(entries)}: {first}{', …' if len(entries) > 4 else ''}"

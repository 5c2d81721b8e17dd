"""``zwang plot`` and ``zwang export``: a stored run or study as a picture or a table."""

from __future__ import annotations

from pathlib import Path

from zwang.cli.output import Printer
from zwang.cli.study import export_study, is_study, plot_study, table_path
from zwang.errors import InputError, MissingExtraError
from zwang.model_files.model import read_model
from zwang.model_files.stored import load
from zwang.results.channel_summary import summary_of, summary_table
from zwang.results.determined import ONE_OF_MANY, determined
from zwang.results.pieces import with_sides
from zwang.results.run import Run

__all__ = ["export", "plot"]

#: Endings of tables that can be written.
FORMATS = (".csv", ".mat", ".xlsx")


def plot(
    out: Printer,
    folder: Path,
    names: list[str],
    output: Path | None,
    model: Path | None,
    *,
    compare: list[Path],
    labels: list[str],
    against: str | None,
    kind: str | None,
    degrees: bool,
    paper: bool,
) -> None:
    """Draw channels of a run, and of others to compare it with, or a study, into a file."""
    if is_study(folder):
        options = {"--compare": compare, "--label": labels, "--degrees": degrees}
        figure = plot_study(
            folder, names, model, kind=kind, against=against, paper=paper, refused=options
        )
    elif kind is not None:
        raise InputError("--kind", must="be given with a study", but=f"'{folder}' is none")
    else:
        run = _run(folder, model)
        others = [_run(other, None) for other in compare]
        names_of_runs = [folder.stem, *(other.stem for other in compare)] if others else None
        figure = run.plot(
            *names,
            against=against,
            degrees=degrees,
            compare=others,
            labels=labels or names_of_runs,
            style="paper" if paper else "screen",
        )
    target = Path(f"{folder.stem}.png") if output is None else output
    try:
        figure.savefig(target, dpi=600 if paper else 150)
    except (OSError, ValueError) as error:
        raise InputError(
            f"file '{target}'",
            found=f"that it cannot be written ({error})",
            expected="a file ending in .png, .svg or .pdf, in a folder that exists",
        ) from None
    out.result({"run": str(folder), "picture": str(target)})
    out.say(f"Wrote {target}.")


def export(
    out: Printer,
    folder: Path,
    channels: list[str],
    output: Path | None,
    model: Path | None,
    *,
    every: float | None,
    units: bool,
    degrees: bool,
    listed: bool,
    summary: bool,
) -> None:
    """Write channels of a run as a table, list them, or print their extreme values."""
    if is_study(folder):
        export_study(
            out,
            folder,
            channels,
            output,
            model,
            units=units,
            listed=listed,
            summary=summary,
            refused={"--every": every, "--degrees": degrees},
        )
        return
    run = _run(folder, model)
    if listed:
        rows = {
            c.name: {
                "unit": c.unit,
                "description": c.description,
                "determinate": determined(run, c.name),
            }
            for c in run.channels.values()
        }
        out.result({"run": str(folder), "channels": rows})
        out.say(str(run.channels))
        return
    if summary:
        facts = summary_of(run, channels or None, every, degrees=degrees)
        out.result({"run": str(folder), "summary": facts})
        out.say(summary_table(facts))
        out.say(_looked_at(run, every))
        return
    target = table_path(folder, output)
    _write(run, target, channels or None, every, units=units, degrees=degrees)
    open_ = [n for n in channels or run.channels if not determined(run, n)]
    out.result({"run": str(folder), "table": str(target), "indeterminate": open_})
    out.say(f"Wrote {target}.")
    if open_:
        out.say(f"{', '.join(open_)}: {ONE_OF_MANY[0].lower()}{ONE_OF_MANY[1:]}")


def _looked_at(run: Run, every: float | None) -> str:
    """Which states extremes and means are of."""
    if every is not None:
        which = f"states {every:g} s apart"
    else:
        sides = " and both sides of events" if with_sides(run) is not run else ""
        which = f"the {len(run)} saved states{sides}"
    return f"Of {which}: extremes between them may be larger, and are those of a study."


def _run(folder: Path, model: Path | None) -> Run:
    if not folder.is_dir():
        raise InputError(
            f"run '{folder}'",
            must="be the folder of a run",
            but="is a file" if folder.exists() else "there is no such folder",
            advice="'zwang run MODEL.toml' makes one.",
        )
    return load(folder, None if model is None else read_model(model))


def _write(
    run: Run,
    target: Path,
    channels: list[str] | None,
    every: float | None,
    *,
    units: bool,
    degrees: bool,
) -> None:
    ending = target.suffix.lower()
    if ending == ".csv":
        run.to_csv(target, channels, every, units=units, degrees=degrees)
    elif ending == ".mat":
        run.to_mat(target, channels, every, degrees=degrees)
    elif ending == ".xlsx":
        try:
            run.to_pandas(channels, every, degrees=degrees).to_excel(target)
        except ImportError as error:
            raise MissingExtraError("a table for Excel", "openpyxl", "data") from error
    else:
        raise InputError(
            f"file '{target}'",
            found=f"the ending {ending!r}",
            expected=f"one of {', '.join(FORMATS)}",
        )

"""Results of ``zwang sweep``: printed, exported, drawn and reported."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from zwang.cli.output import Printer
from zwang.display import plain_number, typeset
from zwang.errors import InputError, MissingExtraError
from zwang.model_files.units import quantity
from zwang.results.determined import ONE_OF_MANY
from zwang.studies.dataset import RECORD
from zwang.studies.study import Study, open_study
from zwang.studies.subject import unit_as_written, unit_in_plan
from zwang.studies.table import study_columns

__all__ = [
    "TABLES",
    "export_study",
    "is_study",
    "plot_study",
    "report_study",
    "require_table",
    "results",
    "say_results",
    "table_path",
    "write_table",
]

#: Runs that are printed one by one; of more, statistics of the outputs are.
SHOWN = 20
#: Endings of tables that can be written.
TABLES = (".csv", ".xlsx")
#: Width for tables that go to no terminal.
WIDE = 200


def is_study(folder: Path) -> bool:
    """Whether a folder is the dataset of a study; one of rounds is refused with their names."""
    if (folder / "round-0.zarr").is_dir():
        rounds = sorted(x.name for x in folder.glob("round-*.zarr"))
        raise InputError(
            f"folder '{folder}'",
            must="be a run or one study",
            but=f"has a study for each of {len(rounds)} rounds",
            advice=f"Name one of them, as {quote(str(folder / rounds[-1]))}.",
        )
    # A stored run is a Zarr group, too.
    return (folder / "zarr.json").is_file() and (folder / RECORD / "plan.json").is_file()


def results(found: Study) -> dict[str, Any]:
    """What outputs came to, as data: statistics, and of few runs all values, the last over time."""
    facts: dict[str, Any] = {"statistics": found.statistics()}
    if found.plan.count <= SHOWN:
        table = _last_values(found)
        facts["results"] = {
            name: [None if isinstance(x, float) and np.isnan(x) else x for x in column]
            for name, column in table.items()
        }
    return facts


def say_results(out: Printer, found: Study) -> None:
    """Print the runs of a small study one by one, and statistics of a large one."""
    if out.as_json:
        return
    if found.plan.count <= SHOWN:
        table = _last_values(found, units=True)
        if set(table["status"]) == {"finished"}:
            del table["status"]
        out.say(_printed(table))
    else:
        out.say(_statistics(found, found.statistics()))
    if any(x.dimensions for x in found.outputs.variables()):
        out.say(f"Of outputs over {found.outputs.time_name} these are the last values.")
    _say_doubts(out, found)
    out.say("")


def _say_doubts(out: Printer, found: Study, names: list[str] | None = None) -> None:
    """Name the outputs that motions do not determine."""
    known = found.outputs.variables()
    open_ = [x.name for x in known if not x.determinate and (not names or x.name in names)]
    if open_:
        out.say(f"{', '.join(open_)}: {ONE_OF_MANY[0].lower()}{ONE_OF_MANY[1:]}")


def _last_values(found: Study, *, units: bool = False) -> dict[str, list[Any]]:
    """A line for each run: what varies, outputs and how it ended."""
    table = study_columns(found, units=units)
    numbers, table = table["run"], {n: x for n, x in table.items() if n not in ("run", "reason")}
    last = np.append(numbers[1:] != numbers[:-1], [True] * min(len(numbers), 1))
    kept = {name: column[last].tolist() for name, column in table.items()}
    return _as_planned(found, kept) if units else kept


def _as_planned(found: Study, table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The table with what varies in the units of the plan: degrees where it has degrees."""
    names, result = found.plan.names, {}
    for k, (title, column) in enumerate(table.items()):
        unit = unit_as_written(found.plan, names[k]) if k < len(names) else ""
        own = f"{names[k]} [{unit}]" if unit else title
        if own != title and all(isinstance(value, float) for value in column):
            factor = quantity(f"1 {unit}", None)
            result[own] = [value / factor for value in column]
        else:
            result[title] = column
    return result


def _planned(found: Study, name: str, value: Any) -> str:
    """A value of what varies in the unit of the plan, or else in its own."""
    if not isinstance(value, float):
        return str(value)
    unit = unit_as_written(found.plan, name)
    if unit:
        return f"{value / quantity(f'1 {unit}', None):.6g} {unit}"
    return f"{value:.6g} {typeset(unit_in_plan(found.subject, found.plan, name))}".rstrip()


def _printed(table: dict[str, list[Any]]) -> str:
    """Columns to the width of the terminal, those that do not fit below."""
    width = max(shutil.get_terminal_size((WIDE, 24)).columns, 40) - 2
    count = max(map(len, table.values()), default=0)
    first = [str(k) for k in ("", *range(count))]
    first = [cell.ljust(max(map(len, first))) for cell in first]
    parts: list[list[str]] = []
    room = 0
    for title, column in table.items():
        cells = [title, *map(_cell, column)]
        wide = max(map(len, cells))
        if not parts or room < wide + 2:
            parts.append(first)
            room = width - len(first[0])
        parts[-1] = [f"{a}  {b.rjust(wide)}" for a, b in zip(parts[-1], cells, strict=True)]
        room -= wide + 2
    return "\n\n".join("\n".join(f"  {line}".rstrip() for line in part) for part in parts)


def _cell(value: Any) -> str:
    """A value in a table; a stroke where there is none."""
    if not isinstance(value, float):
        return str(value)
    return plain_number(value, 6) if np.isfinite(value) else "–"


def _statistics(found: Study, facts: Mapping[str, Mapping[str, Any]]) -> str:
    """Least, mean and greatest values, with what varies where they are."""
    lines = []
    for name, x in facts.items():
        unit = f" {x['unit']}" if x["unit"] else ""
        if not x["runs"]:
            lines.append(f"  {name}: no run that finished has a value")
            continue
        lines.append(
            f"  {name}: mean {plain_number(x['mean'], 6)}{unit}, "
            f"standard deviation {plain_number(x['deviation'])}{unit}"
        )
        for what in ("least", "greatest"):
            run = x[f"run_of_{what}"]
            where = ", ".join(
                f"{n} = {_planned(found, n, v)}" for n, v in found.values_of(run).items()
            )
            lines.append(f"    {what:<8} {plain_number(x[what], 6)}{unit} in run {run}: {where}")
    return "\n".join(lines)


def write_table(
    found: Study, target: Path, names: list[str] | None = None, *, units: bool = False
) -> None:
    """The results as a file that a spreadsheet reads."""
    require_table(target)
    if target.suffix.lower() == ".csv":
        found.to_csv(target, names, units=units)
        return
    try:
        found.to_pandas(names, units=units).to_excel(target)
    except ImportError as error:
        raise MissingExtraError("a table for Excel", "openpyxl", "data") from error


def table_path(folder: Path, output: Path | None) -> Path:
    """The file for a table of a run or study: the one given, or a new one named after it."""
    target = Path(f"{folder.stem}.csv") if output is None else output
    if output is None and target.exists():
        raise InputError(
            f"file '{target}'",
            must="be named to be written over",
            but="it is there already",
            advice=f"Write --csv {target}, or another name.",
        )
    return target


def require_table(target: Path) -> None:
    """Refuse a file that no table can be written to."""
    if target.suffix.lower() not in TABLES:
        raise InputError(
            f"file '{target}'",
            found=f"the ending {target.suffix!r}",
            expected=f"one of {', '.join(TABLES)} for the results of a study",
        )
    if not target.parent.is_dir():
        raise InputError(
            f"file '{target}'",
            must="be in a folder that exists",
            but=f"there is no folder '{target.parent}'",
        )


def export_study(
    out: Printer,
    folder: Path,
    names: list[str],
    output: Path | None,
    model: Path | None,
    *,
    units: bool,
    listed: bool,
    summary: bool,
    refused: Mapping[str, Any],
) -> None:
    """Write the results as a table, list what is in it, or print statistics."""
    _require_none(refused)
    found = open_study(folder, model)
    if listed:
        data = found.arrays
        kept = [*found.plan.names, *(x.name for x in found.outputs.variables())]
        columns = {n: data[n].attrs.get("units", "") for n in kept}
        open_ = [x.name for x in found.outputs.variables() if not x.determinate]
        out.result({"study": str(folder), "columns": columns, "indeterminate": open_})
        varied = {n: f"varies {unit and f'[{unit}]'}".strip() for n, unit in columns.items()}
        told = {n: f"[{unit}]" if unit else "" for n, unit in columns.items()}
        told |= {n: f"{told[n]} indeterminate".strip() for n in open_}
        out.table(folder.name, told | {n: varied[n] for n in found.plan.names})
        _say_doubts(out, found)
        return
    if summary:
        facts = found.statistics(names or None)
        out.result({"study": str(folder), "statistics": facts})
        out.say(_statistics(found, facts))
        _say_doubts(out, found, names)
        return
    target = table_path(folder, output)
    write_table(found, target, names or None, units=units)
    open_ = [n for n, facts in found.statistics(names or None).items() if not facts["determinate"]]
    out.result({"study": str(folder), "table": str(target), "indeterminate": open_})
    out.say(f"Wrote {target}.")
    _say_doubts(out, found, names)


def plot_study(
    folder: Path,
    names: list[str],
    model: Path | None,
    *,
    kind: str | None,
    against: str | None,
    paper: bool,
    refused: Mapping[str, Any],
) -> Any:
    """A figure of outputs over what varies."""
    _require_none(refused)
    over = None if against is None else [n.strip() for n in against.split(",")]
    style = "paper" if paper else "screen"
    return open_study(folder, model).plot(*names, kind=kind, against=over, style=style)


def report_study(
    out: Printer, folder: Path, output: Path | None, model: Path | None, *, force: bool
) -> None:
    """One HTML file of a study."""
    target = Path(f"{folder.stem}.html") if output is None else output
    path = open_study(folder, model).report(target, overwrite=force)
    out.result({"study": str(folder), "report": str(path)})
    out.say(f"Wrote {path}: open it in a browser.")


def _require_none(refused: Mapping[str, Any]) -> None:
    """Refuse options that are of runs alone."""
    for option, value in refused.items():
        if value:
            raise InputError(option, must="be given with a run", but="the folder is a study")

"""A study as one HTML file: what it is, its pictures, and charts of all runs that are linked.

A run that is pointed at in one chart is marked in the other and listed with all its values, and
the lines that compute it again, bit for bit.
"""

from __future__ import annotations

import base64
import io
import json
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.display import typeset
from zwang.errors import InputError, StoreError
from zwang.results.determined import ONE_OF_MANY
from zwang.studies.compute import BY_EVENT, FINISHED, STATUS
from zwang.studies.plots import ENOUGH
from zwang.studies.reasons import by_reason

if TYPE_CHECKING:
    from zwang.studies.study import Study

__all__ = ["write_report"]

#: Runs that charts show at most, evenly spread; those that failed come first.
MOST_SHOWN = 5000
#: What is said of a run that finished as an event stopped it.
STOPPED = "stopped by event"


def write_report(study: Study, path: str | PathLike[str], *, overwrite: bool) -> Path:
    """Write the page, see `Study.report`."""
    where = path_of(path, "report")
    if where.exists() and not overwrite:
        raise InputError(
            f"file '{where}'",
            must="not exist yet",
            but="does",
            advice="overwrite=True replaces it.",
        )
    page = _page(study)
    try:
        where.write_text(page, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"report '{where}'", but=f"cannot be written: {error.strerror or error}"
        ) from error
    return where


def _page(study: Study) -> str:
    data, counts = study.arrays, study.counts()
    title = study.subject.model.name if study.subject.model is not None else "Study"
    facts = {
        "runs": ", ".join(f"{n} {name}" for name, n in counts.items() if n) + _stopped(data),
        "varies": ", ".join(study.plan.names),
        "keeps": ", ".join(x.name for x in study.outputs.variables()),
        **_doubts(study),
        "versions": ", ".join(f"{k} {v}" for k, v in study.versions.items()),
        "dataset": str(study.path),
    }
    rows = "".join(f"<tr><th>{k}</th><td>{escape(v)}</td></tr>" for k, v in facts.items())
    plan = escape(json.dumps(dict(study.plan.values), indent=1)[:4000])
    content = json.dumps(_chart_data(study, data), allow_nan=False).replace("</", "<\\/")
    return _TEMPLATE.format(
        title=escape(title),
        facts=_wide(f"<table>{rows}</table>", "the study"),
        legend="; those that an event stopped are yellow" if _by_event(data).any() else "",
        reasons=_reasons(study),
        pictures=_pictures(study, data),
        plan=plan,
        data=content,
        style=files("zwang.studies").joinpath("report.css").read_text(encoding="utf-8"),
        script=files("zwang.studies").joinpath("report.js").read_text(encoding="utf-8"),
    )


def _by_event(data: Any) -> np.ndarray:
    """Which runs an event stopped, booleans (N,)."""
    reasons = np.array([BY_EVENT in str(reason) for reason in data["reason"].values], dtype=bool)
    return reasons & (data["status"].values == FINISHED)


def _stopped(data: Any) -> str:
    count = int(np.count_nonzero(_by_event(data)))
    return f"; {count} of those that finished stopped by an event" if count else ""


def _doubts(study: Study) -> dict[str, str]:
    """Outputs that motions do not determine."""
    named = [x.name for x in study.outputs.variables() if not x.determinate]
    return {"note": f"{', '.join(named)}: {ONE_OF_MANY}"} if named else {}


def _reasons(study: Study) -> str:
    found = by_reason(study.failed)
    if not found:
        return "<p>All runs finished.</p>" if study.complete else "<p>None so far.</p>"
    cells = "".join(
        f"<tr><td>{len(numbers)}</td><td>{escape(reason)}</td>"
        f"<td>{', '.join(map(str, numbers[:8]))}{', …' if len(numbers) > 8 else ''}</td></tr>"
        for reason, numbers in found[:20]
    )
    head = "<tr><th>runs</th><th>reason, of the first of them</th><th>numbers</th></tr>"
    return _wide(f"<table>{head}{cells}</table>", "runs that did not finish")


def _wide(table: str, name: str) -> str:
    """A table that may be wider than a phone: it scrolls by itself, by keys too."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{name}">{table}</div>'


def _pictures(study: Study, data: Any) -> str:
    """Envelopes, maps and histograms of the outputs, as far as Matplotlib is there."""
    from zwang.errors import MissingExtraError, ZwangError

    result = []
    for x in study.outputs.variables()[:8]:
        kinds = ["envelope"] if data[x.name].ndim > 1 else [None, "histogram"]
        if study.plan.count < ENOUGH:
            kinds = [kind for kind in kinds if kind != "histogram"]
        for kind in dict.fromkeys(kinds):
            try:
                figure = study.plot(x.name, kind=kind)
            except MissingExtraError:
                return "<p>Pictures need the extra 'plot'.</p>"
            except ZwangError:
                continue  # an output that no run has
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=110)
            image = base64.b64encode(buffer.getvalue()).decode()
            result.append(f'<img alt="{escape(x.name)}" src="data:image/png;base64,{image}">')
    return "".join(result)


def _chart_data(study: Study, data: Any) -> dict[str, Any]:
    """Columns of the runs that charts show."""
    status = data["status"].values
    bad = np.flatnonzero(status != 0)[: MOST_SHOWN // 2]
    some = np.linspace(0, len(status) - 1, min(len(status), MOST_SHOWN)).astype(int)
    shown = np.unique(np.concatenate([bad, some]))
    columns: dict[str, list[Any]] = {}
    words: dict[str, list[str]] = {}
    for name in (*study.plan.names, *(x.name for x in study.outputs.variables()), "steps"):
        array = data[name]
        values = (array.values if array.ndim == 1 else array.values[:, -1])[shown]
        if values.dtype.kind in "fi":
            columns[name] = [float(f"{v:.6g}") if np.isfinite(v) else None for v in values]
        else:
            words[name] = [str(v) for v in values]
    names = list(columns)
    outputs = [x.name for x in study.outputs.variables() if x.name in columns]
    varied = [n for n in study.plan.names if n in columns]
    first = [varied[0] if varied else names[0], outputs[0] if outputs else names[-1]]
    second = [first[0], [*outputs, "steps"][1]]
    if len(varied) > 1:  # where runs failed, or else how the output depends on the other quantity
        second = varied[:2] if len(bad) or not outputs else [varied[1], outputs[0]]
    failed, stopped = study.failed, _by_event(data)
    why = {int(i): str(data["reason"].values[i]) for i in shown if stopped[i]}
    return {
        "path": str(study.path),
        "stored": study.subject.text is not None,
        "runs_again": study.plan.compute == "run",
        "reasons": why | {int(i): failed[int(i)] for i in bad if int(i) in failed},
        "labels": {n: f"{n} at the end" for n in outputs if data[n].ndim > 1},
        "units": {name: typeset(data[name].attrs.get("units", "")) for name in names},
        "run": shown.tolist(),
        "status": [
            STOPPED if by_event else STATUS[int(k)]
            for k, by_event in zip(status[shown], stopped[shown], strict=True)
        ],
        "columns": columns,
        "words": words,
        "first": first,
        "second": second,
    }


_TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body><main><h1>{title}</h1>{facts}
<h2>All runs</h2><p>Click a run to mark it in both charts and see its values; those that did not
finish are red, on the lower edge where they have no value{legend}.</p>
<div class="charts"><div id="one"></div><div id="two"></div></div>
<div class="bar"><label>Number of a run <input id="number" type="number" min="0"></label></div>
<div id="run" aria-live="polite"></div>
<h2>Runs that did not finish</h2>{reasons}
<h2>Outputs</h2>{pictures}
<h2>Plan</h2><pre tabindex="0">{plan}</pre></main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body></html>
"""

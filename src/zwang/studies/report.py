"""A study as one HTML file: what it is, its pictures, and charts of all runs that are linked.

A run that is pointed at in one chart is marked in the other and listed with all its values, and
the lines that compute it again, bit for bit.
"""

from __future__ import annotations

import base64
import io
import json
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError, StoreError
from zwang.studies.compute import STATUS

if TYPE_CHECKING:
    from zwang.studies.study import Study

__all__ = ["write_report"]

#: Runs that charts show at most, evenly spread; those that failed come first.
MOST_SHOWN = 5000


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
    data, counts = study.dataset, study.counts()
    title = study.subject.model.name if study.subject.model is not None else "Study"
    facts = {
        "runs": ", ".join(f"{n} {name}" for name, n in counts.items() if n),
        "varies": ", ".join(study.plan.names),
        "keeps": ", ".join(x.name for x in study.outputs.variables()),
        "versions": ", ".join(f"{k} {v}" for k, v in data.attrs["versions"].items()),
        "dataset": str(study.path),
    }
    rows = "".join(f"<tr><th>{k}</th><td>{escape(v)}</td></tr>" for k, v in facts.items())
    plan = escape(json.dumps(dict(study.plan.values), indent=1)[:4000])
    content = json.dumps(_chart_data(study, data), allow_nan=False).replace("</", "<\\/")
    return _TEMPLATE.format(
        title=escape(title),
        rows=rows,
        reasons=_reasons(study),
        pictures=_pictures(study, data),
        plan=plan,
        data=content,
        style=_STYLE,
        script=_SCRIPT,
    )


def _reasons(study: Study) -> str:
    found: dict[str, list[int]] = {}
    for number, reason in study.failed.items():
        found.setdefault(reason, []).append(number)
    if not found:
        return "<p>All runs finished.</p>"
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))[:20]
    cells = "".join(
        f"<tr><td>{len(numbers)}</td><td>{escape(reason)}</td>"
        f"<td>{', '.join(map(str, numbers[:8]))}{', …' if len(numbers) > 8 else ''}</td></tr>"
        for reason, numbers in ordered
    )
    return f"<table><tr><th>runs</th><th>reason</th><th>numbers</th></tr>{cells}</table>"


def _pictures(study: Study, data: Any) -> str:
    """Envelopes, maps and histograms of the outputs, as far as Matplotlib is there."""
    from zwang.errors import MissingExtraError, ZwangError

    result = []
    for x in study.outputs.variables()[:8]:
        kinds = ["envelope"] if data[x.name].ndim > 1 else [None, "histogram"]
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
    for name in (*study.plan.names, *(x.name for x in study.outputs.variables())):
        values = data[name].values
        values = values if values.ndim == 1 else values[:, -1]
        if values.dtype.kind != "f":
            continue
        picked = values[shown]
        columns[name] = [float(f"{v:.6g}") if np.isfinite(v) else None for v in picked]
    names = list(columns)
    outputs = [x.name for x in study.outputs.variables() if x.name in columns]
    varied = [n for n in study.plan.names if n in columns]
    second = [varied[0], varied[1]] if len(varied) > 1 else [names[0], names[-1]]
    return {
        "path": str(study.path),
        "run": shown.tolist(),
        "status": [STATUS[int(k)] for k in status[shown]],
        "columns": columns,
        "first": [varied[0] if varied else names[0], outputs[0] if outputs else names[-1]],
        "second": second,
    }


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } th, td { text-align: left; padding: 3px 10px;
border-bottom: 1px solid #ddd; vertical-align: top } img { max-width: 100%; margin: 0.5rem 0 }
.charts { display: flex; flex-wrap: wrap; gap: 1rem } canvas { border: 1px solid #ccc }
pre { background: #f5f5f5; padding: 0.8rem; overflow: auto } #run { min-height: 9rem }
"""

_SCRIPT = """
const D = JSON.parse(document.getElementById('data').textContent);
const names = Object.keys(D.columns); let chosen = -1; const charts = [];
function chart(host, x, y) {
  const pick = v => { const s = document.createElement('select');
    for (const n of names) s.add(new Option(n, n, n === v, n === v)); return s; };
  const sx = pick(x), sy = pick(y), c = document.createElement('canvas');
  c.width = 500; c.height = 380;
  const bar = document.createElement('div'); bar.append(sy, ' over ', sx); host.append(bar, c);
  const g = c.getContext('2d'), m = 60;
  const range = a => { const f = a.filter(v => v !== null); let lo = Math.min(...f),
    hi = Math.max(...f); if (!(hi > lo)) { lo -= 1; hi += 1; } return [lo, hi]; };
  const self = { draw() {
    const X = D.columns[sx.value], Y = D.columns[sy.value], [a, b] = range(X), [p, q] = range(Y);
    self.at = i => X[i] === null || Y[i] === null ? null :
      [m + (X[i] - a) / (b - a) * (c.width - m - 30),
       c.height - 40 - (Y[i] - p) / (q - p) * (c.height - 60)];
    g.clearRect(0, 0, c.width, c.height); g.strokeStyle = '#888';
    g.strokeRect(m, 20, c.width - m - 30, c.height - 60); g.fillStyle = '#333';
    g.font = '12px system-ui'; g.textAlign = 'center';
    for (let k = 0; k <= 4; k++) {
      g.fillText((a + (b - a) * k / 4).toPrecision(4), m + k / 4 * (c.width - m - 30),
                 c.height - 22);
      g.textAlign = 'right'; g.fillText((p + (q - p) * k / 4).toPrecision(4), m - 5,
                 c.height - 36 - k / 4 * (c.height - 60)); g.textAlign = 'center'; }
    g.fillText(sx.value, c.width / 2, c.height - 6);
    for (let i = 0; i < D.run.length; i++) { const s = self.at(i); if (!s) continue;
      g.fillStyle = D.status[i] === 'finished' ? '#3070b080' : '#c04030b0';
      g.fillRect(s[0] - 1.5, s[1] - 1.5, 3, 3); }
    const s = chosen < 0 ? null : self.at(chosen);
    if (s) { g.strokeStyle = '#000'; g.lineWidth = 2; g.beginPath();
      g.arc(s[0], s[1], 6, 0, 7); g.stroke(); g.lineWidth = 1; } } };
  c.addEventListener('click', e => { const r = c.getBoundingClientRect();
    const px = e.clientX - r.left, py = e.clientY - r.top; let best = 400;
    for (let i = 0; i < D.run.length; i++) { const s = self.at(i); if (!s) continue;
      const d = (s[0] - px) ** 2 + (s[1] - py) ** 2; if (d < best) { best = d; chosen = i; } }
    charts.forEach(k => k.draw()); show(); });
  sx.onchange = sy.onchange = () => self.draw(); charts.push(self); self.draw();
}
function show() { if (chosen < 0) return; const e = document.getElementById('run');
  const rows = names.map(n => `<tr><th>${n}</th><td>${D.columns[n][chosen] ?? '–'}</td></tr>`);
  e.innerHTML = `<h3>Run ${D.run[chosen]}: ${D.status[chosen]}</h3><table>${rows.join('')}</table>`
    + `<pre>study = zw.open_study(${JSON.stringify(D.path)})\\n`
    + `run = study.run_of(${D.run[chosen]})\\nrun.report("run-${D.run[chosen]}.html")</pre>`; }
chart(document.getElementById('one'), ...D.first);
chart(document.getElementById('two'), ...D.second);
"""

_TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style}</style></head>
<body><h1>{title}</h1><table>{rows}</table>
<h2>All runs</h2><p>Click a run to mark it in both charts and see its values; those that did not
finish are red.</p><div class="charts"><div id="one"></div><div id="two"></div></div>
<div id="run"></div>
<h2>Runs that did not finish</h2>{reasons}
<h2>Outputs</h2>{pictures}
<h2>Plan</h2><pre>{plan}</pre>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body></html>
"""

"""One HTML file on a run: the mechanism moving, its account, its reactions and their standing.

The file holds everything and asks for nothing: it opens from disk, without a network.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from zwang.diagnosis.passport import Status
from zwang.errors import InputError, ZwangError
from zwang.paths import path_of
from zwang.results.mechanism_run import parts_of
from zwang.results.model_digest import versions
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.terms import FloatArray
from zwang.view.camera import camera_of
from zwang.view.channels import reacting_joints
from zwang.view.chart import chart
from zwang.view.picture import player_data, still
from zwang.view.scene import (
    APPLIED_COLOR,
    OPEN_COLOR,
    PASSPORT_ROWS,
    REACTION_COLOR,
    Scene,
    frame_times,
    scene_of,
    statuses,
)

__all__ = ["report", "report_html"]

#: Nothing may be fetched from anywhere; what the page needs is in it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
#: By which a report is known again.
MARK = '<meta name="generator" content="Zwang">'
#: Lines of one chart, and charts of channels: beyond it nothing can be told apart.
MOST_LINES, MOST_CHARTS = 8, 12
#: Saved states × (velocities + constraint rows)² up to which the ledger is made: it solves dense
#: equations eight times a state, some ten seconds at this limit.
LEDGER_WORK = 1.5e6
#: Points of a chart.
MOST_POINTS = 1200


def report(
    run: Run,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    overwrite: bool = False,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = True,
) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    path : of the HTML file; an earlier report there is replaced.
    title : heading; the mechanism's size by default.
    overwrite : whether anything else there may be replaced.
    frames, start, end, forces : as for `zwang.view.scene.scene_of`.
    traces : the same; the body that gets about most by default.
    """
    target = path_of(path, "report")
    if target.exists() and not overwrite and not _is_report(target):
        raise InputError(
            f"report {str(target)!r}",
            found="something else there already",
            expected="a new file, or an earlier report",
            advice="Choose another name; overwrite=True (--force at the command line) replaces it.",
        )
    text = report_html(
        run, title=title, frames=frames, start=start, end=end, traces=traces, forces=forces
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def _is_report(path: Path) -> bool:
    """Whether a file is a report that was written here."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(2000)
    except OSError:
        return False


def report_html(
    run: Run,
    *,
    title: str | None = None,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = True,
) -> str:
    """The report as text."""
    if run.mechanism is not None:
        shown = _farthest(run) if traces is None else traces
        scene = scene_of(run, frames=frames, start=start, end=end, traces=shown, forces=forces)
        page = _Page(run, scene.run, scene)
    else:
        times = frame_times(run, frames, start, end)
        page = _Page(run, at_times(run, times), None)
    head = title or page.default_title
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
{MARK}
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(head)}</title><style>{_asset("report.css")}</style></head><body>
<h1>{escape(head)}</h1>
<p class="soft">{escape(run.status)}</p>
<div class="top">{page.player()}<div class="card">{page.summary()}</div></div>
{page.notes()}
<h2>Over time</h2><div class="charts">{page.charts()}</div>
{page.reactions()}
<h2>Freedoms and redundancy</h2>{page.explanation()}
<h2>Energy ledger</h2>{page.ledger()}
<h2>Rank and events</h2>{page.history()}
<h2>Made with</h2>{page.parameters()}{page.versions()}
<script type="application/json" id="scene">{page.data()}</script>
<script>{_asset("player.js")}</script>
</body></html>
"""


def _asset(name: str) -> str:
    return files("zwang.view").joinpath(name).read_text(encoding="utf-8")


def _farthest(run: Run) -> list[str]:
    """The body that gets about most leaves a trace."""
    parts = parts_of(run)
    moved = {
        b.name: float(np.ptp(run.body(b.name).center, axis=0).max())
        for b in parts.bodies
        if b.kind.nv > 1
    }
    return [max(moved, key=lambda name: moved[name])] if moved else []


@dataclass(frozen=True)
class _Page:
    """The parts of a report.

    Attributes
    ----------
    run : as simulated; account and counts are of its saved states.
    even : the same at even times, for pictures and charts.
    scene : of a mechanism, else None.
    """

    run: Run
    even: Run
    scene: Scene | None

    # --- what it is -------------------------------------------------------------------------------

    @property
    def default_title(self) -> str:
        system = self.run.system
        if self.scene is None:
            return f"Run of a system in {_counted(len(system.coordinates), 'coordinate')}"
        parts = parts_of(self.run)
        bodies = sum(b.kind.nv > 1 for b in parts.bodies)
        return (
            f"Run of a mechanism of {_counted(bodies, 'body', 'bodies')} and "
            f"{_counted(len(parts.joints), 'joint')}"
        )

    def player(self) -> str:
        """Picture, canvas and controls."""
        start, end = float(self.even.t[0]), float(self.even.t[-1])
        picture = ""
        if self.scene is not None:
            picture = still(self.scene, camera_of(self.scene))
            picture += '<canvas id="view" hidden aria-label="The mechanism in motion"></canvas>'
        speeds = "".join(
            f'<option value="{s}"{" selected" if s == 1 else ""}>{s:g} ×</option>'
            for s in (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10)
        )
        bar = (
            '<div class="bar"><button id="play" type="button">▶ Play</button>'
            f'<input id="time" type="range" min="{start!r}" max="{end!r}" step="any" '
            f'value="{start!r}" aria-label="time"><output id="clock">t = {start:.3f} s</output>'
            f'<label>speed <select id="speed">{speeds}</select></label></div>'
        )
        return f'<div class="player">{picture}{bar}{self._arrow_bar()}</div>'

    def _arrow_bar(self) -> str:
        if self.scene is None or not (self.scene.arrows or self.scene.traces):
            return ""
        boxes = []
        reactions = [a for a in self.scene.arrows if a.role == "reaction"]
        if reactions:
            boxes.append(_box("reactions", "reactions", _key(REACTION_COLOR)))
        if any(a.open for a in reactions):
            boxes.append(f"<span>{_key(OPEN_COLOR, 'open')} not determined by the motion</span>")
        if any(a.role == "applied" for a in self.scene.arrows):
            boxes.append(_box("applied", "applied forces", _key(APPLIED_COLOR)))
        if self.scene.traces:
            boxes.append(_box("traces", f"trace of {self.scene.traces[0].name}", ""))
        if self.scene.arrows:
            boxes.append(
                '<label>arrows <input id="scale" type="range" min="-1.5" max="1.5" step="any" '
                'value="0"></label>'
            )
        return f'<div class="bar">{"".join(boxes)}</div>'

    def data(self) -> str:
        """The scene for the player; times alone for a system of functions."""
        plain = (
            {"times": self.even.t.tolist()}
            if self.scene is None
            else player_data(self.scene, camera_of(self.scene))
        )
        return json.dumps(plain, separators=(",", ":")).replace("</", "<\\/")

    # --- account ----------------------------------------------------------------------------------

    def summary(self) -> str:
        """The figures that matter, in one table."""
        run, system = self.run, self.run.system
        rows = sum(len(r) for r in system.groups.values())
        c, s = run.counts, run.settings
        energy = run.energy
        facts: list[tuple[str, str]] = []
        if self.scene is not None:
            parts = parts_of(run)
            plane = "in space" if parts.kind.plane is None else f"in the plane {parts.kind.name}"
            facts += [("bodies", f"{sum(b.kind.nv > 1 for b in parts.bodies)}, {plane}")]
            facts += [("joints", _kinds(parts))]
        facts += [
            ("coordinates, velocities", f"{len(system.coordinates)}, {len(system.velocities)}"),
            ("constraint rows", f"{rows}{self._rank()}"),
            ("simulated", f"{run.t[0]:g} to {run.t[-1]:.6g} s, {len(run)} states saved"),
            ("integrator", f"{s.integrator}, {_tolerance(s)}"),
            ("steps", f"{c.steps} accepted, {c.rejected} rejected"),
            ("evaluations", f"{c.evaluations}"),
            ("largest residual", f"{run.worst_residual:.1e}"),
        ]
        if run.potential_energy is not None:
            facts.append(("energy, largest change", f"{np.abs(energy - energy[0]).max():.3g} J"))
        return _table([], [[escape(k), escape(v)] for k, v in facts], kind="full")

    def _rank(self) -> str:
        rows = sum(len(r) for r in self.run.system.groups.values())
        dependent = self.run.ranks[0].dependent_rows if self.run.ranks else 0
        freedom = len(self.run.system.velocities) - rows + dependent
        redundant = f", {dependent} of them redundant" if dependent else ""
        return f"{redundant}; {_counted(freedom, 'freedom')} at the start"

    def notes(self) -> str:
        """Whatever is approximate or doubtful."""
        scene = () if self.scene is None else self.scene.notes
        every = (*self.run.notes, *scene)
        if not every:
            return ""
        items = "".join(f"<li>{escape(note)}</li>" for note in every)
        return f"<h2>Notes</h2><ul>{items}</ul>"

    def explanation(self) -> str:
        """`explain` at the start."""
        run = self.run
        if sum(len(r) for r in run.system.groups.values()) > PASSPORT_ROWS:
            return "<p>Too large to be explained here; ask explain() for it.</p>"
        try:
            told = run.segments[0].system.explain(
                run.q[0], run.v[0], float(run.t[0]), parameters=run.parameters
            )
        except ZwangError as error:
            return f"<p>{escape(str(error))}</p>"
        return f"<pre>{escape(str(told))}</pre>"

    def reactions(self) -> str:
        """Largest forces and moments of the joints, with their passport."""
        joints = reacting_joints(self.run) if self.scene is not None else ()
        if not joints:
            return ""
        known, parts = statuses(self.even), parts_of(self.run)
        rows = []
        try:
            for name in joints:
                joint, found = parts.joints[name], self.even.reaction(name)
                markers = [m for m in (joint.a, joint.b) if m is not None]
                sizes = [np.linalg.norm(x, axis=1) for x in (found.force, found.moment)]
                when = self.even.t[int(np.argmax(sizes[0]))]
                bodies = ["ground" if m.body < 0 else parts.bodies[m.body].name for m in markers]
                rows.append(
                    [
                        escape(name),
                        escape(_kind(parts, joint)),
                        escape(" – ".join(bodies)),
                        f"{sizes[0].max():.4g}",
                        f"{when:.3g}",
                        f"{sizes[1].max():.4g}",
                        _tag(known[name]),
                    ]
                )
        except ZwangError as error:
            return f"<h2>Reactions</h2><p>{escape(str(error))}</p>"
        heads = ["joint", "kind", "between", "largest force [N]", "at t [s]"]
        table = _table([*heads, "largest moment [N m]", "passport"], rows, (3, 4, 5), "full")
        return f'<h2>Reactions</h2><div class="wide">{table}</div>{_meaning(known.values())}'

    def ledger(self) -> str:
        """Where the energy came from and went to."""
        system = self.run.system
        rows = sum(len(r) for r in system.groups.values())
        if len(self.run) * (len(system.velocities) + rows) ** 2 > LEDGER_WORK:
            return "<p>Left out, as it would take long for so many states; run.work gives it.</p>"
        try:
            work = self.run.work
        except ZwangError as error:
            return f"<p>{escape(str(error))}</p>"
        T, V = self.run.kinetic_energy, self.run.potential_energy
        rows = [["kinetic energy, start", f"{T[0]:.6g}"], ["kinetic energy, end", f"{T[-1]:.6g}"]]
        if V is not None:
            rows += [
                ["potential energy, start", f"{V[0]:.6g}"],
                ["potential energy, end", f"{V[-1]:.6g}"],
            ]
        names = {
            "applied": "work of applied forces",
            "constraint": "work of ideal constraint forces",
            "nonideal": "work of non-ideal forces",
            "inertia": "taken up by changing masses",
            "impulses": "impulses at events",
        }
        for key, label in names.items():
            values = getattr(work, key)
            if key in ("applied", "constraint") or np.any(values):
                rows.append([label, f"{values[-1]:.6g}"])
        rows.append(["largest imbalance", f"{np.abs(work.balance).max():.1e}"])
        return _table(["", "J" if self.scene is not None else ""], rows, numbers=(1,))

    def history(self) -> str:
        """Changes of rank, and events, in order."""
        rows = [
            [f"{r.t:.6g}", f"{_counted(r.dependent_rows, 'constraint row')} dependent on others"]
            for r in self.run.ranks
        ]
        rows += [[f"{e.t:.6g}", f"event {escape(e.name)}"] for e in self.run.events]
        if not rows:
            return "<p>All constraint rows were independent throughout, and no event happened.</p>"
        return _table(["t [s]", ""], sorted(rows, key=lambda r: float(r[0])), numbers=(0,))

    def parameters(self) -> str:
        """Values of all parameters, folded away."""
        rows = [
            [escape(name), escape(np.array2string(np.asarray(value), precision=6, separator=", "))]
            for name, value in self.run.parameters.items()
        ]
        if not rows:
            return ""
        count = _counted(len(rows), "parameter")
        return f"<details><summary>{count}</summary>{_table([], rows)}</details>"

    def versions(self) -> str:
        """Packages that made the report, and the settings of the run."""
        # Of the processor its name; its features are a page by themselves.
        made = [[escape(k), escape(" ".join(v.split()[:2]))] for k, v in versions().items()]
        chosen = [[escape(k), escape(str(v))] for k, v in self.run.settings.to_dict().items()]
        return (
            f"<details><summary>settings</summary>{_table([], chosen)}</details>{_table([], made)}"
        )

    # --- charts -----------------------------------------------------------------------------------

    def charts(self) -> str:
        """Energy, residuals, coordinates of joints and reactions over time."""
        t, even = self.even.t, self.even
        drawn = []
        if self.scene is None:
            names = even.system.coordinates[:MOST_CHARTS]
            drawn += [chart(name, t, {name: even[name]}) for name in names]
        else:
            drawn += self._joint_charts()
        drawn.append(chart("energy", t, self._energies(), unit=self._joule))
        times, residuals = _residuals(self.run)
        if residuals:
            drawn.append(chart("largest residual", times, residuals, log=True))
        return "".join(f"<figure>{svg}</figure>" for svg in drawn)

    @property
    def _joule(self) -> str:
        return "" if self.scene is None else "J"

    def _energies(self) -> dict[str, FloatArray]:
        found = {"kinetic": self.even.kinetic_energy}
        V = self.even.potential_energy
        return found if V is None else {**found, "potential": V, "sum": self.even.energy}

    def _joint_charts(self) -> list[str]:
        even, t = self.even, self.even.t
        own = [c for c in even.system.channels if not c.endswith("_rate")]
        found = []
        for ending, label, unit in (("angle", "joint angles", "rad"), ("displacement", "", "m")):
            chosen = [c for c in own if c.endswith(f".{ending}")][:MOST_LINES]
            if chosen:
                series = {c: even[c] for c in chosen}
                found.append(chart(label or "joint displacements", t, series, unit=unit))
        try:
            forces = {
                name: np.linalg.norm(even.reaction(name).force, axis=1)
                for name in reacting_joints(even)[:MOST_LINES]
            }
        except ZwangError:
            forces = {}
        if forces:
            found.append(chart("reaction forces", t, forces, unit="N"))
        return found


# --- pieces ---------------------------------------------------------------------------------------


def _residuals(run: Run) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Largest |φ| and |φ̇|, |ψ| at the saved states, the largest of each bin where they are many."""
    bins = np.unique(np.linspace(0, len(run.t), MOST_POINTS + 1).astype(int)[:-1])
    found = {}
    for level in ("position", "velocity"):
        parts = [np.abs(getattr(r, level)).max(axis=1, initial=0.0) for r in run.residuals]
        values = np.concatenate([np.zeros(0), *parts])
        if np.any(values):
            found[level] = np.maximum.reduceat(values, bins)
    return run.t[bins], found


def _table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[int] = (),
    kind: str = "narrow",
) -> str:
    """A table of cells that are HTML already."""

    def line(cells: Sequence[str], tag: str) -> str:
        made = [
            f"<{tag}{' class=n' if k in numbers else ''}>{cell}</{tag}>"
            for k, cell in enumerate(cells)
        ]
        return f"<tr>{''.join(made)}</tr>"

    head = line(heads, "th") if heads else ""
    return f"<table class={kind}>{head}{''.join(line(row, 'td') for row in rows)}</table>"


def _tag(status: Status | None) -> str:
    text = "unknown" if status is None else status.value
    return f'<span class="tag {text}">{text}</span>'


def _meaning(known: Iterable[Status | None]) -> str:
    every = set(known)
    if None in every:
        return '<p class="soft">The mechanism is too large for a passport here.</p>'
    if every <= {Status.DETERMINATE}:
        return '<p class="soft">The motion determines all reactions.</p>'
    return (
        '<p class="soft">Where constraints are redundant the motion leaves open how joints share '
        "their load: of what is not determinate the numbers are those with the least norm, one "
        "choice among many.</p>"
    )


def _kinds(parts: Any) -> str:
    counts: dict[str, int] = {}
    for joint in parts.joints.values():
        name = _kind(parts, joint)
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"


def _kind(parts: Any, joint: Any) -> str:
    """What a joint is in the field's words: its kind, ``driver``, ``coupler``, ``constraint``."""
    if joint.kind is not None:
        return joint.kind.name.replace("_", " ")
    laws = (e.law.what for e in parts.constraints if e.name == joint.elements[0])
    what = next(laws, "constraint")  # of one that is switched off nothing more is known
    return what.removesuffix(" joint").replace("_", " ")


def _tolerance(settings: Any) -> str:
    if settings.step > 0.0:
        return f"step {settings.step:g} s"
    return f"tolerance {settings.tolerance:g}"


def _counted(number: int, thing: str, things: str | None = None) -> str:
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def _key(color: str, kind: str = "") -> str:
    return f'<i class="key {kind}" style="color:{color}"></i>'


def _box(name: str, text: str, key: str) -> str:
    return f'<label><input type="checkbox" id="{name}" checked>{key}{escape(text)}</label>'

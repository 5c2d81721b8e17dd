"""One HTML file on a run: the motion, the summary, charts, forces and their determinacy.

The file holds everything and asks for nothing: it opens from disk, without a network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from zwang.analysis.linearization import Linearization
from zwang.analysis.statics import Equilibrium
from zwang.display import counted
from zwang.multibody.connections import bodies_in_words, connections, connections_in_words
from zwang.results.held_means import nodes_of
from zwang.results.run import Run
from zwang.terms import FloatArray
from zwang.view import report_tables as tables
from zwang.view.chart import ChartSheet
from zwang.view.player import SCENE_SCRIPTS, Clip, player_figure
from zwang.view.points import point_scene
from zwang.view.report_charts import report_charts
from zwang.view.report_times import CHART_POINTS, all_states, chart_states
from zwang.view.scene import Scene, farthest_body, frame_count, frame_times, scene_of
from zwang.view.small_motions import equilibrium_clips, mode_clips
from zwang.view.static import page_text, write_page

__all__ = ["report", "report_html"]

#: Modes in a report, those of lowest frequency.
MOST_MODES = 12


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
    modes: Linearization | None = None,
    equilibria: Sequence[Equilibrium] = (),
) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    path : of the HTML file; an earlier report there is replaced.
    title : heading; the mechanism's size by default.
    overwrite : whether anything else there may be replaced.
    frames, start, end, forces : as for `zwang.view.scene.scene_of`.
    traces : the same; the body that gets about most by default.
    modes : a linearization whose modes are shown too, with a slider for their amplitude.
    equilibria : shown too, with their reactions.
    """
    text = report_html(
        run,
        title=title,
        frames=frames,
        start=start,
        end=end,
        traces=traces,
        forces=forces,
        modes=modes,
        equilibria=equilibria,
    )
    return write_page(path, text, "report", overwrite=overwrite)


def report_html(
    run: Run,
    *,
    title: str | None = None,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = True,
    modes: Linearization | None = None,
    equilibria: Sequence[Equilibrium] = (),
) -> str:
    """The report as text."""
    scene = _scene(run, frames, start, end, traces, forces=forces)
    whole = all_states(run, _even_times(run, scene, frames, start, end), start, end)
    drawn, nodes = chart_states(whole), nodes_of(run, whole.t)
    sheet = ChartSheet()
    charts = report_charts(sheet, run, drawn)
    head = title or _default_title(run)
    player = "" if scene is None else player_figure([Clip(scene)], name="The motion")
    kind = "top" if player else "top alone"
    body = f"""<header><h1>{escape(head)}</h1>
<button type="button" class="tool theme">light or dark</button></header>
<main>
<p class="soft">{escape(run.status)}</p>
<div class="{kind}">{player}<div class="card">{tables.summary(run)}</div></div>
{_notes(run, scene)}
<h2>Over time</h2><div class="charts">{charts}</div>
<p class="soft">{escape(_thinned(run, scene, whole, drawn))}
<button type="button" class="tool csv-all">all as CSV</button></p>
{tables.drivers(whole, nodes)}
{tables.springs(whole, nodes)}
{tables.reactions(run, whole)}
{tables.constraints(whole)}
{_at_rest(modes, equilibria)}
<h2>Degrees of freedom and redundancy</h2>{tables.explanation(run)}
<h2>Energy balance</h2>{tables.energy_balance(run)}
<h2>Rank and events</h2>{tables.history(run)}
<h2>Made with</h2>{tables.made_with(run)}
</main>
<script type="application/json" id="charts">{sheet.data()}</script>"""
    return page_text(head, ("scene.css", "report.css"), body, (*SCENE_SCRIPTS, "charts.js"))


def _at_rest(modes: Linearization | None, equilibria: Sequence[Equilibrium]) -> str:
    """Figures of equilibria and of small motions about them."""
    made = ""
    if equilibria:
        figure = player_figure(equilibrium_clips(equilibria), name="Rest", choice="equilibrium")
        made += f"<h2>Equilibria</h2>{figure}"
    if modes is not None:
        clips, amplitude = mode_clips(modes, MOST_MODES)
        figure = player_figure(clips, name="Modes", choice="mode", amplitude=amplitude)
        rows = [[c.label, escape(c.note)] for c in clips]
        made += f"<h2>Modes</h2>{figure}{tables.table(['mode', 'motion'], rows)}"
    return made


def _scene(
    run: Run,
    frames: int | None,
    start: float | None,
    end: float | None,
    traces: Sequence[str] | Mapping[str, Any] | None,
    *,
    forces: bool,
) -> Scene | None:
    """What is drawn: the mechanism, the points of a system of functions, or nothing."""
    if run.mechanism is None:
        return point_scene(run, frames=frames, start=start, end=end)
    return scene_of(
        run,
        frames=frame_count(run) if frames is None else frames,
        start=start,
        end=end,
        traces=farthest_body(run) if traces is None else traces,
        forces=forces,
    )


def _even_times(
    run: Run, scene: Scene | None, frames: int | None, start: float | None, end: float | None
) -> FloatArray:
    """Those of the pictures, unless they are many."""
    if scene is not None and len(scene.times) <= CHART_POINTS:
        return scene.run.t
    count = CHART_POINTS if frames is None else min(frames, CHART_POINTS)
    return frame_times(run, count, start, end)


def _default_title(run: Run) -> str:
    parts = run.mechanism
    if parts is None:
        count = counted(len(run.system.coordinates), "coordinate")
        return f"Run of a system in {count}"
    bodies = bodies_in_words(b.kind for b in parts.bodies)
    joined = connections(parts.joints.values())
    return f"Run of a mechanism of {bodies} and {connections_in_words(joined)}"


def _notes(run: Run, scene: Scene | None) -> str:
    """Whatever is approximate or doubtful."""
    every = (*run.notes, *(() if scene is None else scene.notes))
    if not every:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in every)
    return f"<h2>Notes</h2><ul>{items}</ul>"


def _thinned(run: Run, scene: Scene | None, whole: Run, drawn: Run) -> str:
    """How many of the states the page shows."""
    frames = "" if scene is None else f"the motion in {counted(len(scene.times), 'picture')}, "
    kept = ", those around extreme forces among them" if len(drawn) < len(whole) else ""
    return (
        f"Saved: {counted(len(run), 'state')}. The page shows {frames}charts at "
        f"{counted(len(drawn), 'time')}{kept}; tables of forces look at "
        f"{counted(len(whole), 'state')}. States between the saved ones have the accuracy of the "
        "run."
    )

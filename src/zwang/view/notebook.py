"""Runs and mechanisms in a notebook: a picture, and a table of what they are."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from zwang.display import html_table, power_of_ten, preformatted, residual_size
from zwang.errors import ZwangError
from zwang.view.camera import camera_of
from zwang.view.picture import still
from zwang.view.scene import scene_of

if TYPE_CHECKING:
    from zwang.mechanism import Mechanism
    from zwang.results.run import Run

__all__ = ["run_html", "with_picture"]

#: Bodies beyond which a mechanism is not assembled just to be shown.
MOST_BODIES = 60

#: Events listed by name; of more the number is given.
LISTED_EVENTS = 6
#: Width of the picture in a cell.
WIDTH = "16em"
#: Width of the text beside it from which on it stands below.
TEXT = "20em"


def run_html(run: Run) -> str:
    """A run: the mechanism at its start, how the simulation ended, and how well."""
    table = html_table(["run", ""], _facts(run))
    said = "\n".join(f"note: {note}" for note in run.notes)
    notes = preformatted(said, wrapped=True) if said else ""
    return _side_by_side(_picture(run), table + notes)


def with_picture(mechanism: Mechanism, tables: str) -> str:
    """A mechanism: as it is assembled from its placement, beside tables of its parts."""
    from zwang.analysis.equations_of import EquationsOf
    from zwang.analysis.mode_motion import still_run

    try:
        if len(mechanism.parts.bodies) > MOST_BODIES:
            return tables
        system, q = mechanism.system, mechanism.assemble().q
        run = still_run(EquationsOf(system, 0.0, None), np.asarray(q), "as assembled")
    except ZwangError:  # it is not complete yet, or contradicts itself: `explain` says how
        return tables
    return _side_by_side(_picture(run), tables)


def _facts(run: Run) -> list[tuple[str, str]]:
    facts = [("outcome", run.status)]
    if not len(run):
        return facts
    tolerance = power_of_ten(f"{run.settings.tolerance:g}")
    facts += [
        ("saved states", f"{len(run)}, from {run.t[0]:g} to {run.t[-1]:g} s"),
        ("integrator", f"{run.settings.integrator}, tolerance {tolerance}"),
        ("largest constraint residual", f"{residual_size(run.worst_residual)}, relative"),
    ]
    if run.events:
        names = [f"{e.name} at {e.t:.6g} s" for e in run.events[:LISTED_EVENTS]]
        more = len(run.events) - len(names)
        facts.append(("events", ", ".join(names) + (f" and {more} more" if more else "")))
    return facts


def _picture(run: Run) -> str:
    """The mechanism at the first saved state; nothing of what has no bodies to draw."""
    if run.mechanism is None or not len(run):
        return ""
    try:
        scene = scene_of(run, frames=1, end=float(run.t[0]), forces=False)
        return still(scene, camera_of(scene))
    except ZwangError as error:
        return f"<p>no picture: {escape(str(error))}</p>"


def _side_by_side(picture: str, text: str) -> str:
    if not picture:
        return text
    return (
        '<div style="display:flex; flex-wrap:wrap; gap:1em; align-items:center">'
        f'<div style="flex:0 1 {WIDTH}">{picture}</div>'
        f'<div style="flex:1 1 {TEXT}; min-width:0; overflow-x:auto">{text}</div></div>'
    )

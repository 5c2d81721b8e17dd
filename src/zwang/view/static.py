"""A scene as one HTML file: it opens from disk, without Python, a server or a network.

In notebooks the same page stands in a frame of its own, so that it works in JupyterLab, JupyterHub,
Colab and Visual Studio Code alike: nothing asks the machine that made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from zwang.arguments.values import path_of
from zwang.errors import InputError, shown
from zwang.results.run import Run
from zwang.view.player import (
    SCENE_SCRIPTS,
    Amplitude,
    Clip,
    asset,
    common_extent,
    common_newton,
    player_figure,
)
from zwang.view.points import scene_of_points
from zwang.view.scene import farthest_body, frame_count, scene_of

__all__ = ["MARK", "POLICY", "StaticScene", "show", "static_page"]

#: Nothing may be fetched from anywhere; what the page needs is in it.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
)
#: By which a page is known again as one that was written here.
MARK = '<meta name="generator" content="Zwang">'
#: Heading of a page that was given none.
UNTITLED = "The mechanism in motion"
#: Height of the frame in a notebook [pixels].
HEIGHT = 520


@dataclass(frozen=True)
class StaticScene:
    """A page with one scene or several, complete in itself.

    Attributes
    ----------
    html : the page.
    height : of the frame that a notebook shows it in [pixels].
    """

    html: str = field(repr=False)
    height: int = HEIGHT

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page; an earlier one there is replaced, anything else if `overwrite`."""
        return write_page(path, self.html, "page", overwrite=overwrite)

    def __repr__(self) -> str:
        return f"<StaticScene of {len(self.html) / 1000:.0f} kB>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{UNTITLED}" width="100%" '
            f'height="{self.height}" style="border:0" allow="fullscreen" allowfullscreen></iframe>'
        )


def show(
    runs: Sequence[Run],
    *,
    title: str | None = None,
    labels: Sequence[str] | None = None,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = True,
    height: int = HEIGHT,
) -> StaticScene:
    """Runs as a page that needs nothing else; several side by side, to one scale.

    Parameters
    ----------
    title : heading; a general one by default.
    labels : of the runs; numbers by default.
    frames, start, end, forces : as for `zwang.view.scene.scene_of`.
    traces : the same; the body that gets about most by default.
    height : of the frame in a notebook [pixels].
    """
    for run in runs:
        if not isinstance(run, Run):
            raise InputError(
                "what is shown beside a run",
                found=shown(run),
                expected="another run",
                advice='A file is written by run.show().save("motion.html").',
            )
    if labels is not None and (isinstance(labels, str) or len(labels) != len(runs)):
        raise InputError("labels", expected=f"a list of {len(runs)}, one for each run")
    names = labels or [f"run {k + 1}" for k in range(len(runs))]
    scenes = []
    for run in runs:
        if run.mechanism is None:
            scenes.append(scene_of_points(run, frames=frames, start=start, end=end))
            continue
        scene = scene_of(
            run,
            frames=frame_count(run) if frames is None else frames,
            start=start,
            end=end,
            traces=farthest_body(run) if traces is None else traces,
            forces=forces,
        )
        scenes.append(scene)
    figures, notes, newton = [], [], common_newton(scenes)
    extent = common_extent(scenes) if len(scenes) > 1 else None
    for scene, label in zip(scenes, names, strict=True):
        name = label if len(runs) > 1 else title or UNTITLED
        clip = Clip(scene, note=label if len(runs) > 1 else "")
        figure = player_figure([clip], name=name, newton=newton, extent=extent)
        figures.append(figure.replace("<figure", '<figure data-clock="shared"', 1))
        notes += scene.notes
    return StaticScene(static_page(figures, title, notes), height)


def choices(
    clips: Sequence[Clip],
    *,
    title: str | None = None,
    choice: str = "show",
    amplitude: Amplitude | None = None,
    height: int = HEIGHT,
) -> StaticScene:
    """A page with one picture and a menu of what it shows: modes, or equilibria."""
    figure = player_figure(clips, name=title or choice, choice=choice, amplitude=amplitude)
    notes = dict.fromkeys(note for clip in clips for note in clip.scene.notes)
    return StaticScene(static_page([figure], title, list(notes)), height)


def static_page(figures: Sequence[str], title: str | None, notes: Sequence[str] = ()) -> str:
    """The text of a page with figures."""
    theme = '<button type="button" class="tool theme">light or dark</button>'
    heading = f"<h1>{escape(title or UNTITLED)}</h1><p>{escape(' '.join(notes))}</p>"
    return page_text(
        title or UNTITLED,
        ("scene.css", "static.css"),
        f"<header>{heading}{theme}</header><main>{''.join(figures)}</main>",
        SCENE_SCRIPTS,
    )


def page_text(title: str, styles: Sequence[str], body: str, scripts: Sequence[str]) -> str:
    """A complete page."""
    style = "".join(asset(name) for name in styles)
    script = "".join(asset(name).replace('"use strict";\n', "", 1) for name in scripts)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
{MARK}
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{style}</style></head><body>
{body}
<script>"use strict";
{script}</script>
</body></html>
"""


def write_page(path: str | PathLike[str], text: str, what: str, *, overwrite: bool) -> Path:
    """Write a page where there is none, or one that was written here.

    Parameters
    ----------
    what : page or report, for messages.
    """
    target = path_of(path, what)
    if target.exists() and not overwrite and not _is_page(target):
        raise InputError(
            f"{what} {str(target)!r}",
            must=f"be a new file, or an earlier {what}",
            but="something else exists there",
            advice="Choose another name; overwrite=True (--force at the command line) replaces it.",
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{what} {str(target)!r}",
            must="be a file that can be written",
            but=(error.strerror or str(error)).lower(),
            advice="Choose another place.",
        ) from None
    return target


def _is_page(path: Path) -> bool:
    """Whether a file is a page that was written here."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(2000)
    except OSError:
        return False

"""Modes and equilibria to look at: a menu, a slider for the amplitude, reactions as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from zwang.analysis.linearization import Linearization
from zwang.analysis.statics import Equilibrium
from zwang.diagnosis.passport import Status
from zwang.errors import InputError
from zwang.view.forces import applied_forces
from zwang.view.player import Amplitude, Clip
from zwang.view.scene import Arrow, Scene, as_simulated, scene_of
from zwang.view.static import StaticScene, choices

__all__ = [
    "equilibrium_clips",
    "equilibrium_scene",
    "mode_clips",
    "show_equilibria",
    "show_modes",
]

#: Pictures of a cycle, and the seconds that it takes on the page.
CYCLE_FRAMES, CYCLE_SECONDS = 33, 2.0


def show_modes(
    lin: Linearization, *, count: int | None = None, title: str | None = None
) -> StaticScene:
    """The modes of a mechanism on one page, with a menu and a slider for the amplitude.

    Parameters
    ----------
    count : how many, those of lowest frequency; all by default.
    title : heading.
    """
    clips, amplitude = mode_clips(lin, count)
    return choices(clips, title=title, choice="mode", amplitude=amplitude)


def mode_clips(lin: Linearization, count: int | None) -> tuple[list[Clip], Amplitude]:
    """A cycle of each mode, and the state about which they move."""
    modes = lin.modes(count)
    if not modes:
        raise InputError("modes", must="exist to be drawn", but="the system cannot move")
    clips = []
    for k, mode in enumerate(modes):
        run = mode.animate(frames=CYCLE_FRAMES)
        scene = scene_of(run, frames=CYCLE_FRAMES, forces=False)
        period = float(run.t[-1] - run.t[0])
        clips.append(Clip(scene, f"mode {k + 1}", f"{mode}.", period / CYCLE_SECONDS))
    rest = scene_of(lin.as_run(), frames=1, forces=False)
    return clips, Amplitude(rest)


def show_equilibria(equilibria: Sequence[Equilibrium], *, title: str | None = None) -> StaticScene:
    """Equilibria of a mechanism with their reactions and applied forces, chosen from a menu."""
    if not equilibria:
        raise InputError("equilibria", must="exist to be drawn", but="there are none")
    return choices(equilibrium_clips(equilibria), title=title, choice="equilibrium")


def equilibrium_clips(equilibria: Sequence[Equilibrium]) -> list[Clip]:
    """Each equilibrium as a picture of its own."""
    return [
        Clip(equilibrium_scene(one), f"{k + 1}, {one.stability}", str(one).split("\n")[0])
        for k, one in enumerate(equilibria)
    ]


def equilibrium_scene(equilibrium: Equilibrium) -> Scene:
    """A mechanism at rest with the forces of statics as arrows."""
    run = equilibrium.as_run()
    scene = scene_of(run, frames=1, forces=False)
    parts = as_simulated(run)
    arrows = [
        Arrow(a.name, "applied", a.point, a.force)
        for a in applied_forces(scene.run, parts)
        if a.force is not None and np.any(a.force)
    ]
    for name in parts.joints:
        reaction = equilibrium.reaction(name)
        if reaction.force is None or reaction.point is None or not np.any(reaction.force):
            continue
        status = Status.DETERMINATE if reaction.determinate else Status.INDETERMINATE
        arrows.append(Arrow(name, "reaction", reaction.point[None], reaction.force[None], status))
    return replace(scene, arrows=tuple(arrows))

"""Forces to be drawn along a run: those of springs and other elements, element by element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from zwang.multibody.element import Element
from zwang.multibody.element_batches import Bulk
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["Applied", "applied_forces"]


@dataclass(frozen=True)
class Applied:
    """The force of an element on its last body.

    Attributes
    ----------
    point : where it acts, shape (nt, 3); the centre of mass where the element names no point.
    force : world axes, shape (nt, 3); None if it was not asked for.
    start : the other end of a spring, shape (nt, 3), else None.
    """

    name: str
    point: FloatArray
    force: FloatArray | None
    start: FloatArray | None


def applied_forces(run: Run, parts: Parts, *, evaluate: bool = True) -> list[Applied]:
    """Forces of springs, dampers and of the user, without gravity."""
    found = []
    bulk = Bulk(parts)
    configs = bulk.configs(run.q) if evaluate else {}
    for element in parts.forces:
        i = _moved_body(parts, element)
        if i < 0 or parts.bodies[i].kind is SCALAR:
            continue
        point = _end(run, parts, element, "b" if i == element.bodies[-1] else "a")
        start = _end(run, parts, element, "a") if element.law.what == "spring_damper" else None
        force = _force(run, parts, bulk, configs, element, i) if evaluate else None
        center = run.body(parts.bodies[i].name).center
        found.append(Applied(element.name, center if point is None else point, force, start))
    return found


def _moved_body(parts: Parts, element: Element) -> int:
    """The body whose force is drawn: the last; what the ground gets, its partner gets reversed.

    Of an actuator the last of its joint: a law may read the coordinates of others.
    """
    bodies, along = element.bodies, parts.actuated.get(element.name)
    if along is not None:
        bodies = parts.joints[along.partition(".")[0]].bodies
    return bodies[-1] if bodies[-1] >= 0 else next((k for k in bodies if k >= 0), -1)


def _force(
    run: Run,
    parts: Parts,
    bulk: Bulk,
    configs: Mapping[int, FloatArray],
    element: Element,
    body: int,
) -> FloatArray:
    """World force on one of the element's bodies, shape (nt, 3)."""
    total = np.zeros((len(run.t), 3))
    function = parts.traced[element.law.key].function
    for s in run.segments:
        rows = slice(s.first, s.last)
        p = run.system.parameter_vector(s.parameters)
        state = (run.q[rows], run.v[rows], run.t[rows])
        here = {i: config[rows] for i, config in configs.items()}
        _, *efforts = bulk.evaluate(element.law.key, function, [element], state, p, here)
        effort = efforts[element.bodies.index(body)][0]
        plane = parts.bodies[body].kind.plane
        axes = [0, 1, 2] if plane is None else list(plane[:2])
        total[rows, axes] = effort[:, : len(axes)]
    return total


def _end(run: Run, parts: Parts, element: Element, side: str) -> FloatArray | None:
    """World positions of an element's marker, or None if it has none."""
    if f"at_{side}" not in element.numbers:
        return None
    at = run.parameters[f"{element.name}.at_{side}"]
    i = element.bodies["ab".index(side)]
    arm = np.asarray(at, dtype=float)
    if arm.size == 2 and parts.kind.plane is not None:
        arm = np.insert(arm, parts.kind.plane[2], 0.0)
    if i < 0:
        return np.broadcast_to(arm, (len(run.t), 3))
    motion = run.body(parts.bodies[i].name)
    return motion.center + motion.rotation @ arm

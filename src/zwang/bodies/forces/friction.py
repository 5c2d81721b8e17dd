"""Friction in joints: forces that depend on the reaction, C in the equations of motion.

For a joint with reaction λ the force it exerts on its second body is f = A_bᵀλ. Across the axis z
it presses with N = |f − (f·z) z|, and what slides is held back by

    moment  −(μ r N σ(θ̇) + c θ̇) z     where the joint turns
    force   −(μ N σ(ṡ) + c ṡ) z        where it slides

with σ(u) = tanh(u/u₀), a smooth sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.bodies.element import Element, Law
from zwang.bodies.forces.laws import wrench
from zwang.bodies.inertia import number
from zwang.bodies.marker import Joint
from zwang.bodies.parts import Parts
from zwang.bodies.pose import pose_of, zeros
from zwang.errors import InputError
from zwang.functions.derive import Rows
from zwang.functions.symbol import SymbolArray, symbols_of
from zwang.functions.trace import vector

if TYPE_CHECKING:
    import casadi

    from zwang.bodies.element import Traced
    from zwang.bodies.model import Symbols

__all__ = ["friction_element", "friction_force"]

#: Joint kinds that may have friction.
WITH_FRICTION = ("revolute", "prismatic", "cylindrical")


def friction_element(joint: Joint, element: Element, given: Mapping[str, float]) -> Element:
    """The numbers of friction in a joint, checked."""
    what = f"friction in {joint.name!r}"
    if joint.kind is None or joint.kind.name not in WITH_FRICTION:
        found = "a constraint of your own" if joint.kind is None else f"a {joint.kind.name} joint"
        raise InputError(what, found=found, expected="a revolute, prismatic or cylindrical joint")
    numbers = {}
    for name, value in given.items():
        given_number = number(f"{name} of {what}", value)
        if given_number < 0.0:
            raise InputError(
                f"{name} of {what}", found=f"{given_number:g}", expected="zero or a positive number"
            )
        numbers[name] = np.asarray(given_number)
    if not numbers["velocity"] > 0.0:
        raise InputError(f"velocity of {what}", found="0", expected="a positive number")
    kinds = element.law.kinds
    shapes = dict.fromkeys(numbers, ())
    law = Law(("friction", joint.name), "friction", kinds, shapes, "friction", _never)
    return Element(f"{joint.name}.friction", law, joint.bodies, numbers)


def _never(*_: Any) -> Any:
    message = "friction is placed with its joint"
    raise AssertionError(message)


def friction_force(
    parts: Parts,
    s: Symbols,
    traced: Mapping[Any, Traced],
    blocks: Mapping[str, Rows],
    multipliers: casadi.SX,
    C: casadi.SX,
) -> casadi.SX:
    """C of all joints with friction."""
    starts, row = {}, 0
    for name, block in blocks.items():
        starts[name] = row
        row += block.A.shape[0]
    elements = {e.name: e for e in parts.constraints}
    _, v_starts = parts.places
    for friction in parts.friction:
        name = friction.name.removesuffix(".friction")
        if name not in blocks:
            continue  # switched off with its joint
        joint, element = parts.joints[name], elements[name]
        count = blocks[name].A.shape[0]
        own = multipliers[starts[name] : starts[name] + count]
        efforts = _joint_friction(s, joint, element, friction, traced[element.law.key], own)
        for i, effort in zip(element.bodies, efforts, strict=True):
            if i >= 0:
                C[v_starts[i] : v_starts[i + 1]] += effort
    return C


def _joint_friction(
    s: Symbols,
    joint: Joint,
    element: Element,
    friction: Element,
    traced: Traced,
    own: casadi.SX,
) -> list[casadi.SX]:
    import casadi as ca

    kinds = element.law.kinds
    columns = s.columns(element)
    _, _, _, A_a, A_b = traced.function.call(columns)
    side = 1 if kinds[1].nv else 0
    push = ca.mtimes((A_b if side else A_a).T, own)
    sign = 1.0 if side else -1.0
    data = _Numbers(
        {n: _of(s, f"{element.name}.{n}", shape) for n, shape in element.law.shapes.items()}
    )
    poses = [pose_of(k, c, v) for k, c, v in zip(kinds, columns[:2], columns[2:4], strict=True)]
    assert joint.layout is not None
    a, b = (joint.layout.frame(pose, data, x) for pose, x in zip(poses, "ab", strict=True))
    force = zeros(3)
    plane = kinds[side].plane
    for k, axis in enumerate((0, 1, 2) if plane is None else plane[:2]):
        force[axis] = sign * symbols_of(push)[k]
    own_number = {n: _of(s, f"{friction.name}.{n}", ()) for n in friction.law.shapes}
    along = force @ a.z
    across = force - along * a.z
    normal = np.sqrt(across @ across + 1e-30)  # smooth where nothing presses
    moment_b, force_b = zeros(3), zeros(3)
    assert joint.kind is not None
    if "angle" in joint.kind.coordinates:
        rate = joint.kind.coordinates["angle"](a, b, data)[-1]
        size = own_number["coefficient"] * own_number["radius"] * normal
        moment_b = (
            -(size * np.tanh(rate / own_number["velocity"]) + own_number["viscous"] * rate) * a.z
        )
    if "displacement" in joint.kind.coordinates:
        rate = joint.kind.coordinates["displacement"](a, b, data)[-1]
        size = own_number["coefficient"] * normal
        force_b = (
            -(size * np.tanh(rate / own_number["velocity"]) + own_number["viscous"] * rate) * a.z
        )
    pairs = ((a, -force_b, -moment_b), (b, force_b, moment_b))
    return [
        vector("friction", wrench(kind, f, b.origin, F, n)) if kind.nv else ca.SX(0, 1)
        for kind, (f, F, n) in zip(kinds, pairs, strict=True)
    ]


class _Numbers:
    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


def _of(s: Symbols, name: str, shape: tuple[int, ...]) -> Any:
    entries = symbols_of(s.parameter(name))
    return entries.reshape(shape).view(SymbolArray) if shape else entries[0]

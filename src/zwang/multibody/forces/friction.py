"""Friction in joints: forces that depend on the reaction, C in the equations of motion.

For a joint with reaction λ the force on its second body is f = A_bᵀλ. Perpendicular to its axis z
it presses with N = |f − (f·z) z|, and what slides is held back by

    moment  −(μ r N σ(θ̇) + c θ̇) z     where the joint rotates
    force   −(μ N σ(ṡ) + c ṡ) z        where it slides

with σ(u) = tanh(u/u₀), a smooth sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.numbers import number
from zwang.errors import InputError
from zwang.multibody.element import Arguments, Element, ElementLaw
from zwang.multibody.forces.laws import wrench
from zwang.multibody.marker import Joint
from zwang.multibody.pose import zeros
from zwang.tracing.symbol import symbols_of
from zwang.tracing.trace import vector
from zwang.tracing.traced_model import Pressures

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.element import TracedLaw
    from zwang.multibody.frozen import Parts
    from zwang.multibody.terms import MechanismSymbols

__all__ = ["JointFriction", "friction_element", "friction_force", "joint_frictions"]

#: Joint kinds that may have friction.
WITH_FRICTION = ("revolute", "prismatic", "cylindrical")
#: What friction is described by, in the order of its numbers.
NUMBERS = ("coefficient", "radius", "viscous", "velocity")


def friction_element(joint: Joint, element: Element, given: Mapping[str, Any]) -> Element:
    """The numbers of friction in a joint, checked; the radius may be None where nothing rotates."""
    what = f"friction in {joint.name!r}"
    if joint.kind is None or joint.kind.name not in WITH_FRICTION:
        found = "a constraint of your own" if joint.kind is None else f"a {joint.kind.name} joint"
        raise InputError(
            what, must="be in a revolute, prismatic or cylindrical joint", but=f"this is {found}"
        )
    numbers: dict[str, Any] = {}
    for name in NUMBERS:
        if name == "radius" and given[name] is None:
            continue
        given_number = number(f"{name} of {what}", given[name])
        if given_number < 0.0:
            raise InputError(
                f"{name} of {what}", found=f"{given_number:g}", expected="zero or a positive number"
            )
        numbers[name] = np.asarray(given_number)
    if "radius" not in numbers:
        if joint.kind.name != "prismatic" and numbers["coefficient"] > 0.0:
            raise InputError(
                what,
                must="have a radius=, that of the bearing, where a coefficient is given and the "
                "joint rotates",
            )
        numbers["radius"] = np.asarray(1.0)  # of a slide, or of a bearing without pressure: idle
    if not numbers["velocity"] > 0.0:
        raise InputError(f"velocity of {what}", found="0", expected="a positive number")
    kinds = element.law.kinds
    numbers = {name: numbers[name] for name in NUMBERS}
    shapes = dict.fromkeys(numbers, ())
    law = ElementLaw(("friction", joint.name), "friction", kinds, shapes, "friction", _never)
    return Element(f"{joint.name}.friction", law, joint.bodies, numbers)


def _never(*_: Any) -> Any:
    message = "friction is placed with its joint"
    raise AssertionError(message)


@dataclass(frozen=True)
class JointFriction:
    """Friction in one joint that acts.

    Attributes
    ----------
    constraint : number, among the constraints, of the element whose reaction it depends on.
    element : its own numbers.
    function : (columns of the joint's element…, own numbers, λ) → force on each body.
    pressure : the same arguments → N.
    under : (columns…, own numbers, N) → force on each body.
    """

    constraint: int
    element: Element
    function: casadi.Function
    pressure: casadi.Function
    under: casadi.Function


def joint_frictions(parts: Parts) -> list[JointFriction]:
    """Friction in all joints; joints of a kind share a function."""
    functions: dict[Any, tuple[casadi.Function, ...]] = {}
    places = {e.name: i for i, e in enumerate(parts.constraints)}
    found = []
    for friction in parts.friction:
        name = friction.name.removesuffix(".friction")
        if name not in places:
            continue  # switched off with its joint
        element = parts.constraints[places[name]]
        key = element.law.key
        if key not in functions:
            traced, parameters = parts.traced[key], parts.parameters
            functions[key] = _traced(parts.joints[name], element, friction, traced, parameters)
        found.append(JointFriction(places[name], friction, *functions[key]))
    return found


def friction_force(
    parts: Parts, s: MechanismSymbols, multipliers: casadi.SX, C: casadi.SX
) -> tuple[casadi.SX, Pressures]:
    """C of all joints with friction, as a function of λ, and by what presses in each of them."""
    import casadi as ca

    rows, (_, starts) = parts.row_starts, parts.places
    symbols, values = ca.SX.sym("pressure", len(parts.frictions)), []
    under = ca.SX(C)
    for k, friction in enumerate(parts.frictions):
        element = parts.constraints[friction.constraint]
        names = friction.element.law.shapes
        own = ca.vertcat(*(s.parameter(f"{friction.element.name}.{n}") for n in names))
        lam = multipliers[rows[friction.constraint] : rows[friction.constraint + 1]]
        given = [*s.columns(element), own]
        values += friction.pressure.call([*given, lam])
        for force, efforts in (
            (C, friction.function.call([*given, lam])),
            (under, friction.under.call([*given, symbols[k]])),
        ):
            for i, effort in zip(element.bodies, efforts, strict=True):
                if i >= 0:
                    force[starts[i] : starts[i + 1]] += effort
    return C, Pressures(symbols, ca.vertcat(*values), under)


def _traced(
    joint: Joint,
    element: Element,
    friction: Element,
    traced: TracedLaw,
    parameters: Mapping[str, np.ndarray],
) -> tuple[casadi.Function, ...]:
    """The functions of `JointFriction` for joints of one kind."""
    import casadi as ca

    symbols = Arguments.of(element.law, parameters)
    kinds, layout, coordinates = element.law.kinds, joint.layout, joint.kind
    assert layout is not None
    assert coordinates is not None
    own, lam = ca.SX.sym("own", len(NUMBERS)), ca.SX.sym("lam", traced.rows)
    number = dict(zip(NUMBERS, symbols_of(own), strict=True))
    _, _, _, *blocks = traced.function.call(symbols.columns)
    side = 1 if kinds[1].nv else 0
    push = symbols_of(ca.densify(ca.mtimes(blocks[side].T, lam)))
    plane, sign = kinds[side].plane, 1.0 if side else -1.0
    given = ca.SX.sym("N")
    normals: list[Any] = []

    def efforts(poses: Any, data: Any) -> list[Any]:
        a, b = (layout.frame(pose, data, x) for pose, x in zip(poses, "ab", strict=True))
        force = zeros(3)
        for k, axis in enumerate((0, 1, 2) if plane is None else plane[:2]):
            force[axis] = sign * push[k]
        across = force - (force @ a.z) * a.z
        normals.append(np.sqrt(across @ across + 1e-30))  # smooth where nothing presses
        (normal,) = symbols_of(given)

        def held(coordinate: str, arm: Any) -> Any:
            """Against a coordinate of the joint, along its axis; nothing where it has none."""
            if coordinate not in coordinates.coordinates:
                return zeros(3)
            rate = coordinates.coordinates[coordinate](a, b, data)[-1]
            dry = number["coefficient"] * arm * normal * np.tanh(rate / number["velocity"])
            return -(dry + number["viscous"] * rate) * a.z

        moment_b, force_b = held("angle", number["radius"]), held("displacement", 1.0)
        pairs = ((a, -force_b, -moment_b), (b, force_b, moment_b))
        return [
            vector("friction", wrench(kind, f, b.origin, F, n)) if kind.nv else ca.SX(0, 1)
            for kind, (f, F, n) in zip(kinds, pairs, strict=True)
        ]

    law = replace(element.law, function=efforts, what="friction in")
    found = [ca.densify(x) for x in symbols.evaluated(law, friction.name, parameters)]
    normal = vector("friction", normals[-1:])
    arguments = [*symbols.columns, own, lam]
    whole = [ca.substitute(x, given, normal) for x in found]
    return (
        ca.Function("friction", arguments, whole),
        ca.Function("pressure", arguments, [normal]),
        ca.Function("friction", [*symbols.columns, own, given], found),
    )

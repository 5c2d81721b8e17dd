"""Friction in joints: forces that depend on the reaction, C in the equations of motion.

For a joint with reaction λ the force on its second body is f = A_bᵀλ. Perpendicular to its axis z
it presses with N = |f − (f·z) z|, and what slides is held back by

    moment  −(μ r N σ(θ̇) + c θ̇) z     where the joint rotates
    force   −(μ N σ(ṡ) + c ṡ) z        where it slides

with σ(u) = tanh(u/u₀), a smooth sign; or by a law of the user's, of N and the rate. Without a
coefficient it is c alone, which no reaction has a part in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import number
from zwang.errors import InputError, shown
from zwang.multibody.checks import single
from zwang.multibody.element import Arguments, Element, ElementLaw
from zwang.multibody.forces.laws import wrench
from zwang.multibody.marker import Joint
from zwang.multibody.pose import zeros
from zwang.tracing.symbol import symbols_of
from zwang.tracing.trace import call, vector
from zwang.tracing.traced_model import Pressures

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.element import TracedLaw
    from zwang.multibody.frozen import Parts
    from zwang.multibody.terms import MechanismSymbols

__all__ = [
    "JointFriction",
    "friction_by_law",
    "friction_element",
    "friction_force",
    "joint_frictions",
    "kinds_for",
    "of_reaction",
]

#: Joint kinds that may have friction.
#: Joints that slide along a line and turn, in which friction has no model.
ON_LINES = ("point_on_line",)
WITH_FRICTION = ("revolute", "prismatic", "cylindrical")
#: Of these the ones whose friction may be a law of the user's.
WITH_A_LAW = ("revolute", "prismatic")
#: What friction is described by, in the order of its numbers.
NUMBERS = ("coefficient", "radius", "viscous", "velocity")
#: The same where it is viscous alone.
VISCOUS = ("viscous",)
#: What they are where they are not given.
DEFAULTS = {"coefficient": None, "radius": None, "viscous": None, "velocity": 1e-3}


def kinds_for(effort: object) -> tuple[str, ...]:
    """Joint kinds that may have friction, by a law of the user's if one is given."""
    return WITH_FRICTION if effort is None else WITH_A_LAW


def friction_element(joint: Joint, element: Element, given: Mapping[str, Any]) -> Element:
    """The numbers of friction in a joint, checked; the radius may be None where nothing rotates."""
    what = f"friction in {joint.name!r}"
    _require_kind(what, joint, WITH_FRICTION)
    assert joint.kind is not None
    if given["coefficient"] is None and given["viscous"] is None:
        raise InputError(
            what,
            must="have a coefficient=, viscous= or effort=",
            but="has none, and would have no effect",
        )
    numbers: dict[str, Any] = {"viscous": np.asarray(0.0)}
    for name in NUMBERS:
        if name != "velocity" and given[name] is None:
            continue
        given_number = number(f"{name} of {what}", given[name])
        if given_number < 0.0:
            raise InputError(
                f"{name} of {what}", found=f"{given_number:g}", expected="zero or a positive number"
            )
        numbers[name] = np.asarray(given_number)
    dry = "coefficient" in numbers
    if dry and "radius" not in numbers:
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
    numbers = {name: numbers[name] for name in (NUMBERS if dry else VISCOUS)}
    shapes = dict.fromkeys(numbers, ())
    law = ElementLaw(("friction", joint.name), "friction", kinds, shapes, "friction", _never)
    return Element(f"{joint.name}.friction", law, joint.bodies, numbers)


def friction_by_law(
    joint: Joint, element: Element, effort: Callable[..., Any], given: Mapping[str, Any]
) -> Element:
    """Friction in a joint by a law of the user's, effort(pressure, rate, t, p)."""
    what = f"friction in {joint.name!r}"
    _require_kind(f"{what} with an effort", joint, WITH_A_LAW)
    if not callable(effort):
        raise InputError(
            f"effort of {what}", found=shown(effort), expected="a function of pressure and rate"
        )
    beside = [
        name
        for name in NUMBERS
        if given[name] != DEFAULTS[name] and (name, given[name]) != ("viscous", 0.0)
    ]
    if beside:
        raise InputError(
            what,
            must="have an effort, or coefficient, radius, viscous and velocity",
            but=f"effort and {' and '.join(beside)} were given",
        )
    law = ElementLaw(
        ("friction", joint.name), "friction", element.law.kinds, {}, "friction", effort
    )
    return Element(f"{joint.name}.friction", law, joint.bodies, {})


def _require_kind(what: str, joint: Joint, kinds: tuple[str, ...]) -> None:
    if joint.kind is None or joint.kind.name not in kinds:
        found = "a constraint of your own" if joint.kind is None else f"a {joint.kind.name} joint"
        *first, last = kinds
        names = f"{', '.join(first)} or {last}"
        advice = None
        if joint.kind is not None and "prismatic" in kinds and joint.kind.name in ON_LINES:
            advice = (
                "Let a light body slide in a prismatic joint with friction, and join the other "
                "to it by a revolute or spherical joint."
            )
        raise InputError(what, must=f"be in a {names} joint", but=f"this is {found}", advice=advice)


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

    @property
    def of_reaction(self) -> bool:
        """Whether the reaction has a part in it, as it has in all that is not viscous alone."""
        return of_reaction(self.element)


def of_reaction(friction: Element) -> bool:
    """Whether the reaction has a part in friction, as it has in all that is not viscous alone."""
    return tuple(friction.law.shapes) != VISCOUS


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
        own = friction.law.function is not _never
        key = (element.law.key, friction.law.key if own else tuple(friction.law.shapes))
        if key not in functions:
            traced, parameters = parts.traced[element.law.key], parts.parameters
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


def _own_effort(friction: Element, pressure: Any, rate: Any, data: Any) -> Any:
    """What a law of the user's gives."""
    what = friction.name.removesuffix(".friction")
    what = f"effort of friction in {what!r}"
    given = {"pressure": pressure, "rate": rate, "t": data.t, "p": data.p}
    return single(what, call(what, friction.law.function, given))


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
    names = tuple(friction.law.shapes)
    own, lam = ca.SX.sym("own", len(names)), ca.SX.sym("lam", traced.rows)
    number = dict(zip(names, symbols_of(own), strict=True)) if names else {}
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
            if not number:  # the effort takes the place of N, in which the force is to be linear
                normals[-1] = _own_effort(friction, normals[-1], rate, data)
                return normal * a.z
            if "coefficient" not in number:
                return -number["viscous"] * rate * a.z
            dry = number["coefficient"] * arm * normal * np.tanh(rate / number["velocity"])
            return -(dry + number["viscous"] * rate) * a.z

        moment_b, force_b = held("angle", number.get("radius")), held("displacement", 1.0)
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

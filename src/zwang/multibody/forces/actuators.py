"""Actuators of joints: an effort along a joint's coordinate, by a law of the state.

With the rate J v of the coordinate the effort e is the generalized force Jᵀ e. The law sees
coordinates and rates of joints, so that a controller is one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import UnknownNameError
from zwang.multibody.checks import single
from zwang.multibody.element import Element, ElementLaw, numbers_of, own_numbers
from zwang.multibody.forces.angle_laws import AngleLaw
from zwang.multibody.marker import Joint
from zwang.multibody.pose import GROUND, BodyKind
from zwang.tracing.symbol import expression, symbols_of
from zwang.tracing.trace import ParameterSymbols, call

if TYPE_CHECKING:
    import casadi

__all__ = ["actuator_element", "law_read"]

RATE = "_rate"


class _ReadCoordinates(Mapping[str, Any]):
    """Joint coordinates by name as symbols, those that a law asks for."""

    def __init__(self, what: str, known: Mapping[str, Any]) -> None:
        self.what, self.known = what, known
        self.asked: dict[str, casadi.SX] = {}

    def __getitem__(self, name: str) -> Any:
        import casadi as ca

        if name not in self.known:
            raise UnknownNameError(f"channel of {self.what}", name, self.known)
        return symbols_of(self.asked.setdefault(name, ca.SX.sym("c")))[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def law_read(
    name: str, effort: Any, known: Mapping[str, Any], parameters: Mapping[str, np.ndarray]
) -> AngleLaw | None:
    """What a law reads of joint coordinates and rates, and its effort as a function of these.

    None where the effort is a number.
    """
    if not callable(effort):
        return None
    import casadi as ca

    what = f"actuator {name!r}"
    reads, t, p, columns = _ReadCoordinates(what, known), ca.SX.sym("t"), {}, []
    for key, value in parameters.items():
        columns.append(ca.SX.sym("p", value.size))
        entries = symbols_of(columns[-1])
        p[key] = entries.reshape(value.shape) if value.ndim else entries[0]
    found = call(what, effort, {"c": reads, "t": symbols_of(t)[0], "p": ParameterSymbols(p)})
    inputs = [ca.vertcat(ca.SX(0, 1), *reads.asked.values()), t, ca.vertcat(ca.SX(0, 1), *columns)]
    e = ca.Function("effort", inputs, [expression(single(what, found))])
    angles = tuple(x for x in reads.asked if "angle" in x.partition(".")[2] and x == known[x])
    return AngleLaw(name, tuple(reads.asked), angles, tuple(parameters), e)


def actuator_element(
    name: str,
    of: tuple[Joint, Element, str],
    reads: Mapping[str, tuple[Joint, Element, str]],
    effort: Any,
) -> Element:
    """An effort along a coordinate of a joint.

    Parameters
    ----------
    of : joint, its element, and its coordinate.
    reads : name of a coordinate or rate that the law uses → the same of its joint.
    effort : a function of (c, t, p), or a number, which becomes one of the element.
    """
    what = f"actuator {name!r}"
    joints = [of, *reads.values()]
    numbers, copied = numbers_of(joints)
    if not callable(effort):
        numbers["effort"] = np.asarray(effort, dtype=float)
    kinds = tuple(kind for _, element, _ in joints for kind in element.law.kinds)
    names = tuple(reads)

    def state(k: int, poses: Any, data: Any) -> list[Any]:
        joint, element, coordinate = joints[k]
        assert joint.kind is not None
        assert joint.layout is not None
        own = own_numbers(element, k, data)
        pair = poses[2 * k : 2 * k + 2]
        a, b = (joint.layout.frame(pose, own, s) for pose, s in zip(pair, "ab", strict=True))
        return joint.kind.coordinates[coordinate](a, b, own)

    def function(poses: Any, data: Any) -> list[Any]:
        c = {}
        for k, read in enumerate(names, start=1):
            found = state(k, poses, data)
            value = np.arctan2(found[0], found[1]) if len(found) == 3 else found[0]
            c[read] = found[-1] if read.endswith(RATE) else value
        e: Any = getattr(data, "effort", None)
        if callable(effort):
            e = single(what, call(what, effort, {"c": c, "t": data.t, "p": data.p}))
        rate = state(0, poses, data)[-1]
        forces = [
            _along(rate, e, kind, pose) for kind, pose in zip(kinds[:2], poses[:2], strict=True)
        ]
        return [0.0, *forces, *([0.0] * kind.nv for kind in kinds[2:])]

    shapes = {key: np.shape(value) for key, value in numbers.items()}
    law = ElementLaw(("actuator", name), "actuator", kinds, shapes, "force", function)
    bodies = tuple(i for joint, _, _ in joints for i in joint.bodies)
    return Element(name, law, bodies, numbers, copied)


def _along(rate: Any, effort: Any, kind: BodyKind, pose: Any) -> list[Any]:
    """Jᵀe on the velocities of a body, which the rate is linear in."""
    import casadi as ca

    if kind is GROUND:
        return []
    v = _velocities(kind, pose)
    J = ca.jacobian(expression(rate), v)
    return [effort * x for x in symbols_of(ca.densify(J).T)]


def _velocities(kind: BodyKind, pose: Any) -> casadi.SX:
    """The symbols of a body's velocities, as its pose has them."""
    import casadi as ca

    if kind.plane is None:
        return ca.vertcat(*map(expression, (*pose.velocity, *pose.omega)))
    i, j, k = kind.plane
    return ca.vertcat(*map(expression, (pose.velocity[i], pose.velocity[j], pose.omega[k])))

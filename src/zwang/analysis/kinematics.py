"""Kinematics of driven mechanisms: positions, velocities, accelerations, without masses.

    constraints + drivers ─► path of configurations ─► states at times, or at values of a driver

Where drivers and joints determine the motion, no mass and no force enters it. See `path_following`
for the path and `path_samples` for the states on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.analysis.dead_points import named
from zwang.analysis.idle_motions import require_driven
from zwang.analysis.kinematics_result import END, Kinematics
from zwang.analysis.path_equations import PathEquations
from zwang.analysis.path_following import DEAD, Follower, Path
from zwang.analysis.path_samples import Samples, sampled
from zwang.analysis.quantities import derivatives, quantity
from zwang.errors import AssemblyError, InputError, shown
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["Kinematics", "kinematics"]

#: Scaled singular values below this leave fewer than ten digits of velocities, and a note says so.
POOR = 1e-6


def kinematics(
    system: System,
    times: ArrayLike | None = None,
    along: tuple[str, ArrayLike] | None = None,
    start: Any = None,
    *,
    parameters: Mapping[str, Any] | None = None,
) -> Kinematics:
    """See `zwang.Mechanism.kinematics`."""
    if (times is None) == (along is None):
        raise InputError(
            "kinematics",
            must="be given times=[…], or along=(driver, values)",
            but="neither was given" if times is None else "both were given",
        )
    if along is None:
        s = _increasing("times", times)
        equations = PathEquations(system, parameters)
        x = np.append(_assembled(system, start, float(s[0]), parameters), s[0])
    else:
        name, s = _along(along)
        t = float(getattr(start, "t", 0.0) or 0.0)
        equations = PathEquations(system, parameters, name, t)
        x = _beginning(equations, start, parameters)
    follower = Follower(equations, x, float(s[-1] - s[0]) or 1.0)
    notes = require_driven(follower, x)
    if along is not None:
        x = _brought(follower, x, float(s[0]))
        follower = Follower(equations, x, float(s[-1] - s[0]) or 1.0)
    path = _followed(follower, x, s)
    return _result(system, follower, path, s, notes, parameters)


def _along(along: Any) -> tuple[str, FloatArray]:
    try:
        name, values = along
    except (TypeError, ValueError):
        name, values = None, None
    if not isinstance(name, str) or values is None:
        raise InputError(
            "along", found=shown(along), expected="a pair: (driver or coordinate, values)"
        )
    return name, _increasing(f"values of {name}", values, falling=True)


def _increasing(what: str, given: Any, *, falling: bool = False) -> FloatArray:
    """Finite numbers in order, at least one."""
    try:
        s = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        s = np.array([np.nan])
    steps = np.diff(s)
    ordered = bool((steps > 0.0).all()) or (falling and bool((steps < 0.0).all()))
    if s.ndim != 1 or not len(s) or not np.isfinite(s).all() or not ordered:
        way = "that grow, or fall, from one to the next" if falling else "that grow"
        raise InputError(what, found=shown(given), expected=f"finite numbers {way}")
    return s


def _assembled(
    system: System, start: Any, t: float, parameters: Mapping[str, Any] | None
) -> FloatArray:
    """Coordinates that satisfy all constraints at a time, near the start."""
    return np.array(system.assemble(start=start, t=t, parameters=parameters).q)


def _beginning(
    equations: PathEquations, start: Any, parameters: Mapping[str, Any] | None
) -> FloatArray:
    """A configuration and the value that the driven coordinate has in it."""
    system, driver = equations.system, equations.driver
    free = system if driver is None else system.without([driver])
    q = _assembled(free, start, equations.frozen, parameters)
    of = quantity(system, equations.variable)
    zero = np.zeros(len(system.velocities))
    value = derivatives(system, of, q, zero, np.asarray(equations.frozen), equations.p).value
    assert value is not None
    return np.append(q, value[..., 0])


def _brought(follower: Follower, x: FloatArray, value: float) -> FloatArray:
    """The configuration at a value of the driver, on the branch of the start."""
    angle = quantity(follower.equations.system, follower.equations.variable).angle
    if angle:  # a full turn is no way to go
        x = np.append(x[:-1], x[-1] + 2.0 * np.pi * np.round((value - x[-1]) / (2.0 * np.pi)))
    if x[-1] == value:
        return x
    path = follower.follow(follower.start(x, value - x[-1]), value)
    if not path.reached:
        raise _not_reached(follower, path, value)
    return np.append(sampled(follower, path, np.array([value])).q[0], value)


def _not_reached(follower: Follower, path: Path, value: float) -> AssemblyError:
    variable = follower.equations.variable
    dead = [named(follower, p) for p in path.singular if p.kind == DEAD]
    why = str(dead[0]) if dead else f"{path.reason} at {variable} = {path.nodes[-1].s:.9g}"
    return AssemblyError(
        f"kinematics along {variable}",
        must="begin at a value that the mechanism reaches from its placement",
        but=f"there is no way from the start to {variable} = {value:.9g}: {why}",
        advice="k.reachable() gives the range of a driver.",
    )


def _followed(follower: Follower, x: FloatArray, s: FloatArray) -> Path:
    direction = float(s[-1] - s[0]) or 1.0
    node = follower.start(x, direction)
    if abs(node.tangent[-1]) < 1e-9:
        raise InputError(
            f"kinematics over {follower.equations.variable}",
            must="start away from dead points",
            but=f"{follower.equations.variable} = {s[0]:.9g} is one, with several ways to leave it",
            advice="Begin a little off it, on the side of the intended branch.",
        )
    return follower.follow(node, float(s[-1]))


def _result(
    system: System,
    follower: Follower,
    path: Path,
    s: FloatArray,
    notes: list[str],
    parameters: Mapping[str, Any] | None,
) -> Kinematics:
    """States at the values that were reached, and the account."""
    variable = follower.equations.variable
    places = tuple(named(follower, p) for p in path.singular)
    reached = s
    status = f"reached {variable} = {s[-1]:.9g}"
    if not path.reached:
        dead = next((p for p in places if p.kind == DEAD), None)
        end = path.nodes[-1].s if dead is None else dead.value
        direction = np.sign(s[-1] - s[0])
        reached = s[(s - end) * direction < -END * max(abs(s[-1] - s[0]), abs(end))]
        status = (
            f"stopped at {variable} = {end:.9g}: {path.reason}"
            if dead is None
            else f"locked at {variable} = {end:.9g}, a dead point: "
            f"the driver can go no further with {', '.join(dead.names)} on this branch"
        )
    found = sampled(follower, path, reached)
    notes = [*notes, *_inaccurate(found, reached, variable, bridged=len(places) > 0)]
    return Kinematics(
        system,
        variable,
        reached,
        found.q,
        found.v,
        found.acceleration,
        places,
        found.branch,
        path.reached,
        status,
        tuple(notes),
        parameters,
        _follower=follower,
        _path=path,
    )


def _inaccurate(found: Samples, s: FloatArray, variable: str, *, bridged: bool) -> list[str]:
    """A note on states so near to singular positions that digits are lost."""
    poor = found.spread < POOR
    if bridged:  # those next to change points were interpolated
        poor &= found.residual > 1e-9
    if not poor.any():
        return []
    where = float(s[np.argmin(np.where(poor, found.spread, np.inf))])
    digits = max(0.0, 16.0 + float(np.log10(found.spread.min())))
    place = f"{variable} = {where:.6g}; velocities have about {digits:.0f} digits there"
    return [f"{int(poor.sum())} of {len(s)} states are next to a singular position, at {place}"]

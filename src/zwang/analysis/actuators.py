"""Actuators of inverse dynamics and servo analyses by name, each with its column of B.

An actuator on a quantity c exerts an effort τ, positive along c, and does the work τ ċ: on the
velocities it acts as Jᵀ τ with J = ∂ċ/∂v.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.path_equations import driven_coordinate
from zwang.analysis.quantities import Quantity, derivatives, parts_of, quantity, quantity_names
from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.analysis.given_motion import GivenMotion
    from zwang.system import System

__all__ = ["Actuators", "acts_along", "actuators_of"]


@dataclass(frozen=True)
class Actuators:
    """Named actuators of a system.

    Attributes
    ----------
    system : without the drivers that they take the place of.
    names : as they were given: quantities, drivers, or actuators of the mechanism, whose own laws
        act as well.
    quantities : what they work on.
    """

    system: System
    names: tuple[str, ...]
    quantities: tuple[Quantity, ...]

    def rates(self, at: GivenMotion, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """B (nt, nv, k) and the rates along which they work (nt, k)."""
        columns, rates = [], []
        for of in self.quantities:
            d = derivatives(self.system, of, at.q, at.v, at.t, p)
            k = "xyz".index(of.part) if of.part else 0
            columns.append(d.jacobian[:, k])
            rates.append(d.rate[:, k])
        shape = at.v.shape
        B = np.stack(columns, axis=-1) if columns else np.zeros((*shape, 0))
        return B, (np.stack(rates, axis=-1) if rates else np.zeros((len(at.v), 0)))


def acts_along(system: System, name: str) -> str:
    """The coordinate of an actuator of a mechanism; of other names the name itself."""
    parts = parts_of(system)
    return name if parts is None else parts.actuated.get(name, name)


def actuators_of(system: System, given: Any) -> Actuators:
    """Actuators by the names of quantities or drivers, without drivers of the same coordinates."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            "actuators", found=shown(given), expected="a list of names, such as ['pin.angle']"
        )
    names = tuple(given)
    if not names:
        raise InputError("actuators", found="none", expected="at least one name")
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise InputError("actuators", found=f"{twice!r} twice", expected="each name once")
    parts = parts_of(system)
    drivers: Mapping[str, Any] = {} if parts is None else parts.joints
    let_go, works_on = [], []
    for name in names:
        # An actuator of the mechanism is named for the coordinate that it acts along.
        what = acts_along(system, name)
        if isinstance(name, str) and name in drivers and drivers[name].drives:
            what, driver = driven_coordinate(system, name)
            let_go.append(driver or name)
        else:
            let_go += [d for d, joint in drivers.items() if joint.drives == what]
        of = quantity(system, what, "actuator")
        if of.order == 2 or of.part == "magnitude" or (of.rate.numel() > 1 and not of.part):
            raise InputError(
                f"actuator {name!r}",
                found="a vector" if of.order < 2 else "an acceleration",
                expected="one coordinate, or one component such as 'slider.position.x'",
            )
        works_on.append(what)
    acting = [d for d in let_go if d in system.constraints]
    if any(not isinstance(n, str) for n in names):
        raise UnknownNameError("actuator", shown(names), quantity_names(system))
    own = system.without(acting) if acting else system
    return Actuators(own, names, tuple(quantity(own, what) for what in works_on))

"""Root loci: eigenvalues of small motions while a parameter or a rate of steady motion changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.quantities import parts_of
from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["RootLocus", "root_locus"]

#: Eigenvalues below this share of the largest are zero: double ones are known to √ε.
ZERO = 1e-6


@dataclass(frozen=True)
class RootLocus:
    """Eigenvalues over a parameter.

    Attributes
    ----------
    parameter : its name.
    values : shape (k,).
    eigenvalues : complex, shape (k, f); each column follows one of them.
    notes : what changes with time, so that eigenvalues say nothing on growth, as sentences.
    """

    parameter: str
    values: FloatArray
    eigenvalues: FloatArray
    notes: tuple[str, ...] = ()

    def crossings(self, zero: float = 1e-6) -> list[float]:
        """Values at which an eigenvalue crosses the imaginary axis, between those computed.

        By a straight line between two values; eigenvalues that are zero at both are left out.

        Parameters
        ----------
        zero : eigenvalues below this, relative to the largest, are zero.
        """
        small = zero * float(np.abs(self.eigenvalues).max(initial=0.0))
        found: set[float] = set()
        for branch in self.eigenvalues.T:
            for k in range(len(branch) - 1):
                a, b = branch[k].real, branch[k + 1].real
                if max(abs(branch[k]), abs(branch[k + 1])) > small and a * b < 0.0:
                    share = a / (a - b)
                    x = self.values[k] + share * (self.values[k + 1] - self.values[k])
                    found.add(round(float(x), 12))
        return sorted(found)

    def plot(self, path: Any = None) -> Any:
        """The loci in the complex plane, as a Matplotlib figure.

        Parameters
        ----------
        path : a file to write it to.
        """
        from zwang.analysis.plots import locus

        return locus(self, path)

    def __str__(self) -> str:
        crossed = ", ".join(f"{x:.6g}" for x in self.crossings()) or "none"
        text = (
            f"Root locus over {self.parameter}, {self.values[0]:.6g} to {self.values[-1]:.6g}: "
            f"{self.eigenvalues.shape[1]} eigenvalues; crossings of the imaginary axis: {crossed}."
        )
        return "\n".join([text, *self.notes])


def root_locus(
    system: System,
    parameter: str,
    values: Any,
    start: Any = None,
    rates: Mapping[str, float] | None = None,
    hold: Mapping[str, Any] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> RootLocus:
    """Eigenvalues over a parameter; see `zwang.System.root_locus`."""
    if not isinstance(parameter, str):
        raise InputError("parameter", found=shown(parameter), expected="a name")
    try:
        wanted = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        wanted = np.zeros(0)
    if wanted.ndim != 1 or not len(wanted) or not np.isfinite(wanted).all():
        raise InputError(
            f"values of {parameter!r}", found=shown(values), expected="a list of finite numbers"
        )
    of_rate = parameter not in system.definition.parameters
    if of_rate and rates is None:
        owner, _, part = parameter.rpartition(".")
        of_rate = not (owner in system.definition.parameters and part in ("x", "y", "z"))
    if of_rate:
        _require_rate(system, parameter)
    found: list[FloatArray] = []
    notes: dict[str, None] = {}
    for value in wanted:
        given, moving = dict(parameters or {}), None if rates is None else dict(rates)
        if of_rate:
            moving = {**(moving or {}), parameter: float(value)}
        else:
            given = _replaced(system, given, parameter, float(value))
        if moving is not None:
            at: Any = system.steady_motion(moving, start, hold, t, given)
        else:
            at = system.equilibrium(start, None, None, t, given)
        found.append(at.linearization.eigenvalues)
        notes |= dict.fromkeys(at.linearization.notes_on_time)
        start = at.state
    counts = {len(x) for x in found}
    if len(counts) > 1:
        raise InputError(
            f"values of {parameter!r}",
            must="have the same number of eigenvalues at each",
            but=f"have from {min(counts)} to {max(counts)}",
            advice="The number of degrees of freedom changes in between; take a narrower range.",
        )
    return RootLocus(parameter, wanted, _followed(np.array(found)), tuple(notes))


def _require_rate(system: System, name: str) -> None:
    """Refuse a name that is neither a parameter nor the rate of anything."""
    parts = parts_of(system)
    turns = [] if parts is None else ["yaw", *(f"{b.name}.spin" for b in parts.bodies)]
    rates = [c for c in system.channels if not c.endswith("_rate")]
    known = [*rates, *turns, *system.velocities, *system.coordinates]
    if name not in known:
        names = [*system.definition.parameters, *known]
        raise UnknownNameError("parameter or rate of a root locus", name, names)


def _replaced(
    system: System, given: dict[str, Any], parameter: str, value: float
) -> dict[str, Any]:
    if parameter in system.definition.parameters:
        EquationsOf(system, 0.0, given).parameter_place(parameter)  # refuses vectors
        return {**given, parameter: value}
    owner, _, part = parameter.rpartition(".")
    whole = np.array(given.get(owner, system.definition.parameters[owner]), dtype=float)
    whole["xyz".index(part)] = value
    return {**given, owner: whole}


def _followed(found: FloatArray) -> FloatArray:
    """Eigenvalues in the order that changes least from one value to the next.

    Those that are zero at all values come last: one that passes zero does not change place with
    them.
    """
    sizes = np.abs(found)
    always = int((sizes <= ZERO * sizes.max(initial=0.0)).sum(axis=1).min())
    order = np.argsort(-sizes, axis=1, kind="stable")
    every = np.take_along_axis(found.astype(complex), order, axis=1)
    result, last = every[:, : found.shape[1] - always], every[:, found.shape[1] - always :]
    for k in range(1, len(result)):
        before = result[k - 1] if k < 2 else 2.0 * result[k - 1] - result[k - 2]
        cost = np.abs(before[:, None] - result[k][None, :])
        result[k] = result[k][linear_sum_assignment(cost)[1]]
    return np.hstack([result, last])

"""Outputs of the user's: functions of channels, coordinates, time and parameters, traced once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zwang.arguments.values import check_name
from zwang.errors import InputError, UnknownNameError, shown
from zwang.tracing.outputs import arguments_in
from zwang.tracing.symbol import symbols_of
from zwang.tracing.trace import call, vector

if TYPE_CHECKING:
    import casadi
    import numpy as np

    from zwang.tracing.differentiate import Symbols

__all__ = [
    "ENERGIES",
    "OwnOutput",
    "TracedOutput",
    "circular_output",
    "of_parameter",
    "outputs_of",
    "require_no_energy",
    "traced_output",
]

#: Endings that give a part of a vector.
_PARTS = ("x", "y", "z", "magnitude")
#: What the energies of a run are called, of every system.
ENERGIES = {
    "energy": "kinetic plus potential energy",
    "kinetic_energy": "kinetic energy",
    "potential_energy": "potential energy",
}


@dataclass(frozen=True)
class OwnOutput:
    """A quantity that the user declares.

    Attributes
    ----------
    name : as in ``run[name]``.
    function : of (c, q, v, t, p), or of some of these by name; ``c["pin.force.x"]`` is a channel.
    unit, description : for tables and labels.
    """

    name: str
    function: Callable[..., Any]
    unit: str = ""
    description: str = "output"


def outputs_of(given: Any) -> dict[str, OwnOutput]:
    """Outputs by name, as a user gives them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            "outputs", found=shown(given), expected="a dictionary of names and functions"
        )
    result = {}
    for name, f in given.items():
        check_name("output", name)
        if not isinstance(f, OwnOutput) and not callable(f):
            raise InputError(
                f"output {name!r}",
                found=shown(f),
                expected="a function of (c, q, v, t, p), or of some of these",
            )
        result[name] = f if isinstance(f, OwnOutput) else OwnOutput(name, f)
    return result


def require_no_energy(kind: str, name: str) -> None:
    """Refuse a name under which every run has an energy: what is called so has none then."""
    if name in ENERGIES:
        raise InputError(
            f"{kind} {name!r}",
            must="have a name of its own",
            but=f"the {ENERGIES[name]} of every run has the same name",
            advice="Give it another name.",
        )


def circular_output(name: str, path: Sequence[str]) -> InputError:
    """The refusal of an output that is a function of itself, by way of others."""
    return InputError(
        f"output {name!r}",
        must="be a function of other quantities",
        but=f"depends on itself: {' → '.join([*path[list(path).index(name) :], name])}",
    )


def of_parameter(name: str) -> str:
    """How functions read a parameter that was taken for a channel."""
    read = f"p.{name}" if name.isidentifier() else f"p[{name!r}]"
    return f"{name!r} is a parameter, which functions with the argument p read as {read}."


class _ChannelSymbols(Mapping[str, Any]):
    """Channels by name as symbols, those that are asked for."""

    def __init__(self, what: str, known: Mapping[str, bool], parameters: Iterable[str]) -> None:
        self._what, self._known, self._parameters = what, known, parameters
        self.asked: dict[str, casadi.SX] = {}

    def __getitem__(self, name: str) -> Any:
        import casadi as ca

        owner, _, part = name.rpartition(".")
        is_part = name not in self._known and part in _PARTS and self._known.get(owner, False)
        if name not in self._known and not is_part:
            more = of_parameter(name) if name in self._parameters else ""
            raise UnknownNameError(f"channel of {self._what}", name, self._known, more)
        if name not in self.asked:
            size = 3 if self._known.get(name, False) else 1
            self.asked[name] = ca.SX.sym(f"c{len(self.asked)}", size)
        entries = symbols_of(self.asked[name])
        return entries if self._known.get(name, False) else entries[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


@dataclass(frozen=True)
class TracedOutput:
    """A function of channels and of the state as an expression.

    Attributes
    ----------
    value : the expression.
    channels : name → its symbols in the expression.
    """

    value: casadi.SX
    channels: Mapping[str, casadi.SX]


def traced_output(
    what: str,
    function: Callable[..., Any],
    s: Symbols,
    parameters: Mapping[str, np.ndarray],
    known: Mapping[str, bool],
) -> TracedOutput:
    """A user's function of (c, q, v, t, p).

    Parameters
    ----------
    known : channel that may be used → whether it is a vector.
    """
    c = _ChannelSymbols(what, known, parameters)
    value = vector(what, call(what, function, {"c": c, **arguments_in(s, parameters)}), 1)
    return TracedOutput(value, c.asked)

"""States, times and parameters that users give, as checked arrays: numbers, or mappings by name."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.errors import InputError, UnknownNameError, counted, shown
from zwang.terms import FloatArray, finite

__all__ = [
    "Parameters",
    "named_vector",
    "parameter_value",
    "refuse_pair",
    "single_time",
    "state_arrays",
]


def state_arrays(
    q: Any, v: Any, t: Any, coordinates: tuple[str, ...], velocities: tuple[str, ...]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Arrays q (…, nq), v (…, nv), t (…) with the same leading axes.

    Parameters
    ----------
    q, v, t : numbers, v None for rest; or in place of q a state that has all three.
    coordinates, velocities : names of the entries.
    """
    if type(q) is not np.ndarray and hasattr(q, "q") and hasattr(q, "v"):  # a State, an Assembly
        if v is None:
            v = q.v
        t = getattr(q, "t", t)
        q = q.q
    elif v is None:
        refuse_pair(q)
    q = named_vector("q", q, coordinates)
    v = np.zeros(len(velocities)) if v is None else named_vector("v", v, velocities)
    if type(t) is float and isfinite(t) and q.ndim == v.ndim == 1:
        return q, v, np.array(t)  # by far the most frequent case
    try:
        t = np.asarray(t, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("time t", found=shown(t), expected="numbers") from error
    if not (finite(t) if t.ndim else isfinite(t.item())):
        raise InputError("time t", found=shown(t), expected="a finite number")
    if q.ndim == v.ndim == 1 and not t.ndim:
        return q, v, t
    shapes = q.shape[:-1], v.shape[:-1], t.shape
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise InputError(
            "q, v, t",
            must="have shapes that are equal or fit each other",
            but=f"are batches of shapes {shapes[0]}, {shapes[1]} and {shapes[2]}",
        ) from error
    q = np.broadcast_to(q, (*batch, q.shape[-1]))
    v = np.broadcast_to(v, (*batch, v.shape[-1]))
    return q, v, np.broadcast_to(t, batch)


def refuse_pair(q: Any, call: str = "solve") -> None:
    """Refuse (q, v) or (q, v, t) in place of q, which would be read as two positions at rest.

    Many states are an array or a list; a tuple of numbers is one state.

    Parameters
    ----------
    call : the call that takes them one by one, with what comes before them.
    """
    kinds = [_is_vector(part) for part in q] if isinstance(q, tuple) else []
    if kinds not in ([True, True], [True, True, False]):
        return
    said = "(q, v)" if len(q) == 2 else "(q, v, t)"
    before = f"{call}, " if "(" in call else f"{call}("
    raise InputError(
        "q",
        must="be the coordinates alone",
        but=f"is a tuple like {said}",
        advice=f"Give each by itself, as in {before}{said[1:]}; many states are an array.",
    )


def _is_vector(value: Any) -> bool:
    return isinstance(value, list | tuple | Mapping) or getattr(value, "ndim", 0) > 0


def _of_joints(letter: str, name: Any) -> str:
    """Where to give a name that looks like a coordinate or a rate of a joint."""
    if not isinstance(name, str) or "." not in name:
        return ""
    held = f"hold={{{name!r}: …}}" if letter == "q" else f"velocity={{'hold': {{{name!r}: …}}}}"
    kind = "coordinates" if letter == "q" else "rates"
    return f"assemble({held}) takes {kind} of joints, and gives the state to begin with."


def named_vector(letter: str, value: Any, names: tuple[str, ...]) -> FloatArray:
    """Finite numbers (…, n) for n names, from an array or a mapping by name."""
    usual = type(value) is np.ndarray and value.dtype == np.float64
    if usual and value.shape == (len(names),) and finite(value):
        return value
    if type(value) is not np.ndarray and isinstance(value, Mapping):
        for name in value:
            if name not in names:
                raise UnknownNameError(letter, name, names, _of_joints(letter, name))
        missing = [name for name in names if name not in value]
        if missing:
            raise InputError(
                letter,
                must="have a value for each name",
                but=f"has no value for {', '.join(missing)}",
                advice="system.assemble computes the values that constraints determine.",
            )
        value = [value[name] for name in names]
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(letter, found=shown(value), expected="numbers") from error
    if array.ndim == 0 or array.shape[-1] != len(names):
        found = f"shape {array.shape}" if array.ndim != 1 else counted(array.size)
        raise InputError(
            letter, must=f"have {len(names)} values ({', '.join(names)})", but=f"has {found}"
        )
    if not finite(array):
        where = tuple(np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"{letter} of {names[where[-1]]!r}",
            found=str(array[where]),
            expected="a finite number",
        )
    return array


def single_time(t: Any) -> float:
    """A single finite time."""
    if isinstance(t, float) and isfinite(t):
        return float(t)  # by far the most frequent case
    try:
        time = np.asarray(t, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("time t", found=shown(t), expected="a finite number") from error
    if time.ndim or not np.isfinite(time):
        raise InputError("time t", found=str(t), expected="a finite number")
    return float(time)


def parameter_value(name: str, value: ArrayLike) -> FloatArray:
    """The value of a parameter as an array of finite numbers."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"parameter {name!r}", found=shown(value), expected="numbers") from error
    if not np.isfinite(array).all():
        raise InputError(f"parameter {name!r}", found=shown(value), expected="finite numbers")
    return array


class Parameters:
    """Defaults of parameters, and where each of them is in the flat array p.

    Parameters
    ----------
    defaults : name → value.
    copied : of these the names of copies, which follow what they are copies of and are not shown.
    """

    def __init__(
        self, defaults: Mapping[str, np.ndarray], copied: Mapping[str, str] | None = None
    ) -> None:
        self._values: dict[str, Any] = {}
        self._slots: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        start = 0
        self._copied = dict(copied or {})
        for name, value in defaults.items():
            self._slots[name] = (start, start + value.size, value.shape)
            start += value.size
            if name in self._copied:
                continue
            # Arrays that cannot be written to: runs share them.
            self._values[name] = float(value) if value.ndim == 0 else value.copy()
            if value.ndim:
                self._values[name].setflags(write=False)
        places = [range(*self._slots[name][:2]) for pair in self._copied.items() for name in pair]
        self._copies = np.array([i for place in places[::2] for i in place], dtype=int)
        self._sources = np.array([i for place in places[1::2] for i in place], dtype=int)
        self._vector = np.concatenate([np.zeros(0), *(x.ravel() for x in defaults.values())])

    def by_name(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All values by name, defaults replaced by those given."""
        given = {name: x for name, x in (given or {}).items() if name not in self._copied}
        return {**self._values, **given}

    def is_default(self, name: str, value: Any) -> bool:
        """Whether a value is the very default that `by_name` gave."""
        return name in self._values and value is self._values[name]

    def are_defaults(self, given: Mapping[str, Any]) -> bool:
        """Whether values are all of the very defaults that `by_name` gave, in their order."""
        return given.keys() == self._values.keys() and all(
            map(is_, given.values(), self._values.values())
        )

    def vector(self, given: Mapping[str, Any] | None = None) -> FloatArray:
        """All values as one flat array; names and shapes that do not fit are refused."""
        result = self._vector.copy()
        if given is None:
            return result
        if not isinstance(given, Mapping):
            raise InputError(
                "parameters", found=shown(given), expected="a dictionary of names and values"
            )
        if not given or self.are_defaults(given):
            return result
        for name, value in given.items():
            if name not in self._slots:
                raise UnknownNameError("parameter", name, self._values)
            if self.is_default(name, value):
                continue
            start, end, shape = self._slots[name]
            if not shape and type(value) is float and isfinite(value):
                result[start] = value  # by far the most frequent case
                continue
            array = parameter_value(name, value)
            if array.shape != shape:
                raise InputError(
                    f"parameter {name!r}",
                    must=f"have shape {shape}, as in the model",
                    but=f"has shape {array.shape}",
                )
            result[start:end] = array.ravel()
        if len(self._copies):
            self._copy(result, given)
        return result

    def _copy(self, p: FloatArray, given: Mapping[str, Any]) -> None:
        """Copies of what has been given.

        Raises
        ------
        InputError : a copy is given with a value that its source has not.
        """
        wanted = p.copy()
        wanted[self._copies] = p[self._sources]
        for name in given.keys() & self._copied.keys():
            source, value = self._copied[name], self.of(p, name)
            if not np.array_equal(value, self.of(wanted, name)):
                raise InputError(
                    f"parameter {name!r}",
                    must=f"be that of the joint, {source!r}",
                    but=f"is given as {value.tolist()} beside {self.of(p, source).tolist()}",
                    advice=f"Change {source!r} instead, and omit it.",
                )
        p[:] = wanted

    def of(self, p: FloatArray, name: str) -> FloatArray:
        """One of them out of a flat array."""
        start, end, shape = self._slots[name]
        return p[start:end].reshape(shape)

    def changed(self, p: FloatArray, values: Mapping[str, Any]) -> FloatArray:
        """A flat array with other values of some."""
        result = p.copy()
        for name, value in values.items():
            start, end, _ = self._slots[name]
            result[start:end] = np.ravel(value)
        result[self._copies] = result[self._sources]
        return result

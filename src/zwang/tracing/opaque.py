"""Functions that cannot be traced: called numerically, inside traced ones.

    h = zwang.opaque(f)                 h(q[0], q[1]) gives a symbol

A traced model does not look into f. Each call o = f(w) is recorded, and the model goes on with
symbols for o, for f_w and for f_ww; the chain rule in `derive` needs no more than these:

    ȯ = f_w ẇ,      (f_w)˙ = f_ww ẇ

A kernel that contains such symbols is run in stages (`mixed_kernel`): w is computed by a compiled
kernel, f and its derivatives by `finite_differences`, the rest by another kernel. An argument may
depend on other opaque calls.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zwang.arguments.keywords import known_keywords
from zwang.errors import InputError, ZwangError
from zwang.tracing.symbol import Symbol, SymbolArray, expression, symbols_of
from zwang.tracing.trace import being_traced, opaque_calls

if TYPE_CHECKING:
    import casadi

__all__ = ["Method", "Opaque", "OpaqueCall", "opaque", "recording"]

Method = Literal["auto", "complex step", "finite differences"]


@contextmanager
def recording(calls: list[OpaqueCall]) -> Iterator[None]:
    """While this is open, opaque calls with symbols are added to the list."""
    token = opaque_calls.set(calls)
    try:
        yield
    finally:
        opaque_calls.reset(token)


@known_keywords()
def opaque(
    f: Callable[..., Any],
    outputs: int | tuple[int, ...] | None = None,
    *,
    name: str | None = None,
    derivatives: Method = "auto",
) -> Opaque:
    """A function that is called numerically where it cannot be traced.

    Use it for table look-ups, iterations, or code of others inside the functions of a
    `zwang.System`. It must depend on its arguments alone. Derivatives are taken by complex step
    where f accepts complex numbers and is differentiable in them (this is checked against a
    difference quotient at every point), else by central differences with Richardson's
    extrapolation; the notes of a solution report which, and how accurate they are. It is slower:
    some dozens of calls of f for each evaluation of a constraint.

    Parameters
    ----------
    f : takes numbers and arrays as they are passed; a function of one argument that is passed
        several numbers gets them as one array.
    outputs : None when f returns one number, else the length or the shape of what it returns.
    name : for messages; by default the name of f.
    derivatives : ``"complex step"`` or ``"finite differences"`` to leave no choice.

    Examples
    --------
    A bead on a wire whose height is looked up:

    >>> import numpy as np, zwang as zw
    >>> from scipy.interpolate import CubicSpline
    >>> x = np.linspace(-2.0, 2.0, 81)
    >>> height = zw.opaque(CubicSpline(x, x**2), name="height")
    >>> bead = zw.System(
    ...     coordinates=["x", "y"],
    ...     mass=lambda: np.eye(2),
    ...     force=lambda: [0.0, -9.81],
    ...     constraints={"wire": zw.position(lambda q: q[1] - height(q[0]))},
    ... )
    >>> bead.opaque
    ('height',)
    >>> bead.solve(q=[0.0, 0.0], v=[1.0, 0.0]).acceleration.round(9) + 0.0
    array([0., 2.])
    """
    if not callable(f):
        raise InputError("opaque function", found=repr(f), expected="a function")
    if derivatives not in ("auto", "complex step", "finite differences"):
        raise InputError(
            "derivatives of an opaque function",
            found=repr(derivatives),
            expected="'auto', 'complex step' or 'finite differences'",
        )
    shape = () if outputs is None else tuple(np.atleast_1d(outputs).tolist())
    if not all(isinstance(size, int) and size > 0 for size in shape):
        raise InputError(
            "outputs of an opaque function",
            found=repr(outputs),
            expected="None, a length or a shape",
        )
    given = name if name is not None else getattr(f, "__name__", type(f).__name__)
    return Opaque(f, shape, "" if given == "<lambda>" else given, derivatives)


@dataclass(frozen=True, eq=False)
class Opaque:
    """What `opaque` returns: f, called with numbers; with symbols, a recorded call."""

    function: Callable[..., Any]
    shape: tuple[int, ...]
    name: str
    method: Method

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The value of f, or symbols for it."""
        parts = [*arguments, *options.values()]
        symbolic = [_holds_symbols(part) for part in parts]
        if not any(symbolic):
            return self.function(*self.packed(arguments), **options)
        calls = opaque_calls.get()
        if calls is None:
            where = being_traced.get()
            raise InputError(
                f"opaque function {self.name or 'lambda'!r}",
                must="be called with numbers, or in a force or constraint of a zw.System",
                but="was called with symbols outside of one" + (f", in {where}" if where else ""),
                advice="Write a table as np.interp(x, points, values), a smooth one as "
                "np.polynomial.Chebyshev.fit(points, values, degree), or let a sampled "
                "zw.controller compute it, which is called with numbers.",
            )
        return self._record(calls, arguments, options, symbolic)

    def _record(
        self, calls: list[OpaqueCall], arguments: Any, options: Any, symbolic: list[bool]
    ) -> Symbol | SymbolArray:
        import casadi as ca

        slots: list[Slot] = []
        entries: list[casadi.SX] = []
        for part, varies in zip([*arguments, *options.values()], symbolic, strict=True):
            if not varies:
                slots.append(Slot(part, None, 0, 0))
                continue
            array = _boxed(part)
            slots.append(Slot(None, array.shape, len(entries), len(entries) + array.size))
            entries += [expression(entry) for entry in array.flat]
        w = ca.vertcat(*entries)
        layout = ArgumentLayout(tuple(slots), len(arguments), tuple(options))
        call = next((c for c in calls if c.same(self, w, layout)), None)
        if call is None:
            call = OpaqueCall.of(
                self, self.name or f"lambda in {being_traced.get()}", layout, w, len(calls)
            )
            calls.append(call)
        values = symbols_of(call.values)
        return values.reshape(self.shape).view(SymbolArray) if self.shape else values[0]

    def packed(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The arguments as f takes them: several numbers as one array if it takes one argument."""
        if len(arguments) > 1 and _takes_one(self.function):
            return [np.asarray(arguments)]
        return arguments


@dataclass(frozen=True)
class Slot:
    """One argument of a call: a fixed value, or the part start…stop of w in some shape."""

    fixed: Any
    shape: tuple[int, ...] | None
    start: int
    stop: int

    def fill(self, w: np.ndarray) -> Any:
        """The argument for the numbers w."""
        if self.shape is None:
            return self.fixed
        return (
            w[self.start].item()
            if not self.shape
            else w[self.start : self.stop].reshape(self.shape)
        )


@dataclass(frozen=True)
class ArgumentLayout:
    """How the numbers w become the arguments of a call."""

    slots: tuple[Slot, ...]
    positional: int
    keywords: tuple[str, ...]

    def arguments(self, w: np.ndarray) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments."""
        values = [slot.fill(w) for slot in self.slots]
        named = dict(zip(self.keywords, values[self.positional :], strict=True))
        return values[: self.positional], named


@dataclass(frozen=True, eq=False)
class OpaqueCall:
    """One recorded call o = f(w), with the symbols that stand for its results.

    Attributes
    ----------
    function, name : what is called, and its name in messages.
    layout : how w becomes arguments.
    arguments : w, expressions of the model's symbols, shape (n, 1).
    values : symbols of o, shape (m, 1).
    jacobian : symbols of f_w, shape (m, n).
    hessian : symbols of f_ww, shape (m, n(n+1)/2), one column for each of `pairs`.
    """

    function: Opaque
    name: str
    layout: ArgumentLayout
    arguments: casadi.SX
    values: casadi.SX
    jacobian: casadi.SX
    hessian: casadi.SX

    @classmethod
    def of(
        cls, function: Opaque, name: str, layout: ArgumentLayout, w: casadi.SX, number: int
    ) -> OpaqueCall:
        """A new call with new symbols."""
        import casadi as ca

        m, n = int(np.prod(function.shape, dtype=int)), w.numel()
        stem = f"opaque{number}"
        return cls(
            function,
            name,
            layout,
            w,
            ca.SX.sym(stem, m),
            ca.SX.sym(f"{stem}_w", m, n),
            ca.SX.sym(f"{stem}_ww", m, n * (n + 1) // 2),
        )

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Arguments (j, l), j ≤ l, of the columns of `hessian`."""
        return list(itertools.combinations_with_replacement(range(self.arguments.numel()), 2))

    def same(self, function: Opaque, w: casadi.SX, layout: ArgumentLayout) -> bool:
        """Whether this is a call of the same function with equal arguments."""
        import casadi as ca

        if self.function is not function or self.arguments.shape != w.shape:
            return False
        try:
            alike = bool(self.layout == layout)
        except ValueError:  # fixed arguments that are arrays
            alike = False
        return alike and ca.is_equal(self.arguments, w, 10)

    def chain(self, w_x: casadi.SX) -> list[tuple[casadi.SX, casadi.SX]]:
        """Symbols and their derivatives, given those of the arguments, shape (n, k).

        o_x = f_w w_x, and for each column j of f_w, (f_w)_x = f_ww[j, :] w_x.
        """
        import casadi as ca

        place = {pair: k for k, pair in enumerate(self.pairs)}
        n = self.arguments.numel()
        columns = [
            ca.horzcat(*(self.hessian[:, place[min(j, l), max(j, l)]] for l in range(n)))
            for j in range(n)
        ]
        return [
            (self.values, ca.mtimes(self.jacobian, w_x)),
            (ca.vec(self.jacobian), ca.vertcat(*(ca.mtimes(c, w_x) for c in columns))),
        ]

    def evaluate(self, w: np.ndarray) -> np.ndarray:
        """f at real or complex numbers w (n,), as an array (m,)."""
        positional, named = self.layout.arguments(w)
        if not named:
            positional = self.function.packed(positional)
        result = np.asarray(self.function.function(*positional, **named))
        if result.dtype == object or not np.issubdtype(result.dtype, np.number):
            raise InputError(
                f"opaque function {self.name!r}",
                must="return numbers",
                but=f"returned values of type {result.dtype}",
            )
        if result.shape != self.function.shape and result.size != self.values.numel():
            raise InputError(
                f"opaque function {self.name!r}",
                must=f"return an array of shape {self.function.shape}"
                if self.function.shape
                else "return one number",
                but=f"returned shape {result.shape}",
                advice="State what it returns: zw.opaque(f, outputs=…).",
            )
        return result.reshape(-1)

    def value(self, w: np.ndarray) -> np.ndarray:
        """f at real numbers w, finite, or an error with the point where it failed."""
        what = f"opaque function {self.name!r}"
        at = ", ".join(f"{x:g}" for x in w)
        try:
            result = self.evaluate(w)
        except ZwangError:
            raise
        except Exception as error:
            raise InputError(
                what,
                must="return a value",
                but=f"raised {type(error).__name__}: {error}, at ({at})",
            ) from error
        if np.iscomplexobj(result):
            raise InputError(
                what, must="return a real number", but=f"returned a complex one at ({at})"
            )
        if not np.isfinite(result).all():
            raise InputError(
                what,
                must="return finite numbers",
                but=f"returned a value that is not finite at ({at})",
            )
        return result.astype(float)


def _holds_symbols(value: Any) -> bool:
    if isinstance(value, Symbol):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(entry, Symbol) for entry in value.flat)
    if isinstance(value, list | tuple):
        return any(_holds_symbols(entry) for entry in value)
    return False


def _boxed(value: Any) -> np.ndarray:
    """Symbols and numbers, alone or nested, as an object array."""
    if isinstance(value, Symbol):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    parts = [_boxed(entry) if _holds_symbols(entry) else np.asarray(entry) for entry in value]
    return np.stack([part.astype(object) for part in parts])


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = [p.kind for p in parameters if p.kind is not p.KEYWORD_ONLY]
    return len(kinds) == 1 and kinds[0] in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )

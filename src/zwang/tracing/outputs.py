"""Further functions traced in a system's own symbols: events, outputs, prescribed motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from zwang.tracing.symbol import Symbol, symbols_of
from zwang.tracing.trace import ParameterSymbols, call, vector

if TYPE_CHECKING:
    import casadi
    import numpy as np

    from zwang.tracing.differentiate import Symbols
    from zwang.tracing.traced_model import TracedModel

__all__ = ["arguments_of", "trace_extra"]


def arguments_of(model: TracedModel) -> dict[str, Any]:
    """q, v, t, p of a model as a user's function sees them."""
    return arguments_in(model.state, model.definition.parameters)


def arguments_in(s: Symbols, parameters: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The same of symbols without a model."""
    parts: dict[str, Any] = {}
    start = 0
    for name, value in parameters.items():
        entries = symbols_of(s.p[start : start + value.size])
        parts[name] = entries[0] if value.ndim == 0 else entries.reshape(value.shape)
        start += value.size
    return {
        "q": symbols_of(s.q),
        "v": symbols_of(s.v),
        "t": Symbol(s.t),
        "p": ParameterSymbols(parts),
    }


def trace_extra(
    s: Symbols,
    parameters: Mapping[str, np.ndarray],
    what: str,
    function: Callable[..., Any],
    length: int | None = None,
) -> casadi.SX:
    """A user's function of (q, v, t, p) as an expression of these symbols."""
    return vector(what, call(what, function, arguments_in(s, parameters)), length)

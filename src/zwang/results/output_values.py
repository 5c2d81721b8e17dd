"""User-defined outputs at the saved states of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from zwang.results.channel_catalog import catalog
from zwang.terms import FloatArray
from zwang.tracing.own_output import OwnOutput, TracedOutput, circular_output, traced_output

if TYPE_CHECKING:
    import casadi

    from zwang.results.run import Run
    from zwang.system import System

__all__ = ["channels_used", "output_values", "written_out"]


def output_values(run: Run, output: OwnOutput) -> FloatArray:
    """Values of an output, (nt,): its function of the channels that it uses."""
    import casadi as ca

    system, s = run.system, run.system.equations.symbols
    known = {name: e.vector for name, e in catalog(system, run.mechanism).items()}
    traced = _traced(system, output, known, ())
    inputs = [s.q, s.v, s.t, s.p, *traced.channels.values()]
    function = ca.Function("output", inputs, [ca.densify(traced.value)])
    columns = [np.atleast_2d(run[name].T) for name in traced.channels]
    result = np.empty(len(run))
    for segment in run.segments:
        here = slice(segment.first, segment.last)
        count = segment.last - segment.first
        if count <= 0:
            continue
        p = np.tile(system.parameter_vector(segment.parameters)[:, None], (1, count))
        given = [run.q[here].T, run.v[here].T, run.t[here][None], p, *(c[:, here] for c in columns)]
        found = function(*(np.ascontiguousarray(x) for x in given))
        result[here] = np.array(found).reshape(-1)
    return result


def channels_used(run: Run, output: OwnOutput) -> frozenset[str]:
    """Names of the channels that an output is a function of, by way of other outputs too."""
    system = run.system
    known = {name: e.vector for name, e in catalog(system, run.mechanism).items()}
    used: set[str] = set()
    for name in _traced(system, output, known, ()).channels:
        if name in system.outputs:
            used |= channels_used(run, system.outputs[name])
        else:
            used.add(name if name in known else name.rpartition(".")[0])
    return frozenset(used)


def written_out(run: Run, output: OwnOutput) -> tuple[casadi.SX, dict[str, casadi.SX]]:
    """An output as an expression of channels that are no outputs, and the symbols of these."""
    import casadi as ca

    system = run.system
    known = {name: e.vector for name, e in catalog(system, run.mechanism).items()}
    traced = _traced(system, output, known, ())
    value = traced.value
    channels: dict[str, casadi.SX] = {}
    for name, symbol in traced.channels.items():
        if name not in system.outputs:
            channels[name] = symbol
            continue
        inner, used = written_out(run, system.outputs[name])
        # A channel that both use has one symbol.
        both = [(x, channels[of]) for of, x in used.items() if of in channels]
        if both:
            inner = ca.substitute(
                inner, ca.vertcat(*(x for x, _ in both)), ca.vertcat(*(x for _, x in both))
            )
        channels |= {of: x for of, x in used.items() if of not in channels}
        value = ca.substitute(value, symbol, inner)
    return value, channels


def _traced(
    system: System, output: OwnOutput, known: Mapping[str, bool], path: tuple[str, ...]
) -> TracedOutput:
    """An output as an expression; it may use others, but not itself by way of them."""
    if output.name in path:
        raise circular_output(output.name, path)
    s, parameters = system.equations.symbols, system.definition.parameters
    what = f"output {output.name!r}"
    traced = traced_output(what, output.function, s, parameters, known)
    for name in traced.channels:
        if name in system.outputs:
            _traced(system, system.outputs[name], known, (*path, output.name))
    return traced

"""User-defined outputs at the saved states of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.results.channel_catalog import catalog
from zwang.terms import FloatArray
from zwang.tracing.own_output import OwnOutput, traced_output

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["output_values"]


def output_values(run: Run, output: OwnOutput) -> FloatArray:
    """Values of an output, (nt,): its function of the channels that it uses."""
    import casadi as ca

    system, s = run.system, run.system.equations.symbols
    known = {n: e.vector for n, e in catalog(system, run.mechanism).items() if n != output.name}
    what = f"output {output.name!r}"
    traced = traced_output(what, output.function, s, system.definition.parameters, known)
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

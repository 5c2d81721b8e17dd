"""Whether an event may have happened within a step: looked at in the compiled loops.

Steps are long where the motion is smooth, and a function of it may cross zero and come back within
one. So its sign is looked at not only at the end of a step but at points in between as well; where
exactly it crosses is found afterwards, from states that are integrated to there.
"""

from __future__ import annotations

from zwang.kernels.call import call, part
from zwang.kernels.jit import inlined, loop

__all__ = ["PARTS", "changed", "crosses"]

#: Parts of a step at whose ends the signs of event functions are looked at.
PARTS = 8


@inlined
def changed(g, now, accepted, events, lanes):
    """Whether a function has another sign than before in some lane."""
    found = False
    for lane in range(len(lanes)):
        for k in range(events):
            was, value = g[k, lane], now[k, lane]
            if accepted[lane] and (was * value < 0.0 or (value == 0.0 and was != 0.0)):
                found = True
    return found


@loop
def crosses(
    kernels, y, rate, new, new_rate, t, ts, p, g, g_new, accepted, state, moment, work, nq, events,
    lanes,
):  # fmt: skip
    """Whether a function changes its sign from y at t to `new` at ts, or does so in between.

    In between, states are those of the cubic through both ends with their rates: near enough to
    see signs. Writes the values at `new` to g_new; `state` and `moment` are to work with.
    """
    call(kernels[3], new, part(new, nq), ts, p, g_new, work)
    if changed(g, g_new, accepted, events, lanes):
        return True
    for k in range(1, PARTS):
        s = k / PARTS
        rest = 1.0 - s
        for lane in range(len(lanes)):
            h = ts[0, lane] - t[0, lane]
            moment[0, lane] = t[0, lane] + s * h
            for i in range(y.shape[0]):
                state[i, lane] = (
                    y[i, lane]
                    + s * s * (3.0 - 2.0 * s) * (new[i, lane] - y[i, lane])
                    + h * s * rest * (rest * rate[i, lane] - s * new_rate[i, lane])
                )
        call(kernels[3], state, part(state, nq), moment, p, g_new, work)
        if changed(g, g_new, accepted, events, lanes):
            call(kernels[3], new, part(new, nq), ts, p, g_new, work)
            return True
    call(kernels[3], new, part(new, nq), ts, p, g_new, work)
    return False

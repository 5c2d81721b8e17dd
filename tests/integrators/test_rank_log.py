"""Changes of rank are written to the log and not beyond it, however many a step passes."""

import numpy as np
import pytest

import zwang as zw
from zwang.integrators import memory as sh
from zwang.integrators.output import LoopOutput
from zwang.integrators.registry import start_loop
from zwang.simulation.options import choices_of
from zwang.simulation.select_program import ProgramStart, select_program

#: Rows of the log in this test, and what is beyond them.
ROWS, BEYOND = 10, -7.0


def loop_of(integrator):
    """Six rows sin(5x − k/3) yₖ = 0 that vanish one after the other as x swings."""
    count = 6
    system = zw.System(
        ["x", *(f"y{k}" for k in range(count))],
        mass=lambda: np.eye(count + 1),
        force=lambda q: [-q[0], *[0.0] * count],
        constraints={
            f"row{k}": zw.position(lambda q, k=k: np.sin(5.0 * q[0] - k / 3.0) * q[k + 1])
            for k in range(count)
        },
    )
    choices = {"until": 40.0, "start": 0.0, "tolerance": 1e-6, "integrator": integrator}
    settings, times, scales = choices_of(system, **choices)
    y, p = np.eye(2 * count + 2)[0], system.parameter_vector()
    program = select_program(system.equations, ProgramStart(y, 0.0, p), settings)
    return start_loop(program, settings, 0.0, y[:, None], p[:, None], times=times, scales=scales)


@pytest.mark.parametrize("integrator", ["gauss", "order8", "radau5"])
def test_nothing_is_written_beyond_the_log(integrator):
    whole, loop = loop_of(integrator), loop_of(integrator)
    ranks, code = [], sh.FULL
    while code == sh.FULL:
        out = LoopOutput(4096, *loop.state.shape, 2 * ROWS)
        room, out.ranks = out.ranks, out.ranks[:ROWS]
        room[...] = BEYOND
        code = loop.run(out, 100_000)
        assert (room[ROWS:] == BEYOND).all()
        ranks += out.ranks[: out.rank_rows[0], 0, 0].tolist()
    assert code == sh.DONE
    assert len(ranks) > ROWS
    assert ranks == [log.t for log in whole.advance().ranks()]

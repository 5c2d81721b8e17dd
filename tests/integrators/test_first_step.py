"""The first step has a length, whatever the derivatives are: a step of none would never end."""

import numpy as np
import pytest

import zwang as zw
from zwang.integrators import shared as sh
from zwang.integrators.choose import start_loop
from zwang.simulation.choices import choices_of
from zwang.simulation.programs import program_of

#: Steps within which each of these runs ends, one way or another; without a length none does.
ENOUGH = 100_000

STEEP = {
    "the force overflows a little ahead": (lambda q: [np.exp(1e9 * q[0]) - 1.0], 0.0, 1.0),
    "the square of the force overflows": (lambda: [1e200], 0.0, 0.0),
    "that of the state does, too": (lambda q: [-1e200 * q[0]], 1e200, 0.0),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of loops in plain Python
@pytest.mark.parametrize("integrator", ["order8", "order5", "gauss", "radau5"])
@pytest.mark.parametrize("what", STEEP)
def test_a_step_of_no_length_is_never_chosen(what, integrator):
    force, q, v = STEEP[what]
    system = zw.System(["x"], mass=lambda: [[1.0]], force=force)
    settings, times, scales = choices_of(system, until=1.0, start=0.0, integrator=integrator)
    y, p = np.array([q, v]), system.parameter_vector()
    program = program_of(system, y, 0.0, p, settings)
    loop = start_loop(program, settings, 0.0, y[:, None], p[:, None], times=times, scales=scales)
    assert 0.0 < loop.memory[sh.H, 0] <= 1.0
    assert loop.advance(ENOUGH, 2 * ENOUGH).code in (sh.DONE, sh.TOO_SMALL, sh.NOT_FINITE)

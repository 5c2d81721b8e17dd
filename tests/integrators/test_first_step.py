"""Steps have a length, whatever the derivatives are: runs with steps of none would never end."""

import numpy as np
import pytest

import zwang as zw
from zwang.integrators import memory as sh
from zwang.integrators.registry import start_loop
from zwang.simulation.options import choices_of
from zwang.simulation.select_program import ProgramStart, select_program

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
    program = select_program(system.equations, ProgramStart(y, 0.0, p), settings)
    loop = start_loop(program, settings, 0.0, y[:, None], p[:, None], times=times, scales=scales)
    assert 0.0 < loop.memory[sh.H, 0] <= 1.0
    assert loop.advance(ENOUGH, 2 * ENOUGH).code in (sh.DONE, sh.TOO_SMALL, sh.NOT_FINITE)


#: At t = 1e9 s times are 1.2e-7 s apart, and this swing takes 6e-9 s.
LATE, FAST = 1e9, 1e9


@pytest.mark.parametrize("integrator", ["order8", "order5", "gauss", "radau5"])
def test_a_motion_too_fast_for_its_times_stops(integrator):
    system = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [-(FAST**2) * q[0]])
    choices = {"start": LATE, "until": LATE + 1.0, "integrator": integrator}
    settings, times, scales = choices_of(system, **choices)
    y, p = np.array([1.0, 0.0]), system.parameter_vector()
    program = select_program(system.equations, ProgramStart(y, LATE, p), settings)
    loop = start_loop(program, settings, LATE, y[:, None], p[:, None], times=times, scales=scales)
    assert loop.advance(ENOUGH, 2 * ENOUGH).code == sh.TOO_SMALL


def test_one_of_many_that_is_too_fast_stops_no_other():
    system = zw.System(
        ["x"], parameters={"w": 1.0}, mass=lambda: [[1.0]], force=lambda q, p: [-(p.w**2) * q[0]]
    )
    given = {"w": [1.0, FAST, 2.0]}
    runs = system.simulate_many([1.0], start=LATE, until=LATE + 1.0, parameters=given, threads=1)
    assert runs.finished.tolist() == [True, False, True]
    assert "no step is small enough" in runs.status[1]
    for run, w in zip(runs[::2], given["w"][::2], strict=True):
        alone = system.simulate(
            [1.0], start=LATE, until=LATE + 1.0, parameters={"w": w}, integrator="order8"
        )
        assert run.q.tobytes() == alone.q.tobytes()

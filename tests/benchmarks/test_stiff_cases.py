"""The stiff cases of the benchmarks with defaults: seen to be stiff, told, and right."""

import pytest
from benchmarks.cases import WORKS
from benchmarks.engines.zwang import model

from zwang.integrators.stiffness import cost_of_implicit_step

#: Explicit steps in which a motion is seen to be stiff, and those of the implicit method, at most;
#: explicit steps alone are 50,000 for the governor and 5,400 for the vehicle.
STEPS = {"governor": {1e-3: 600, 1e-6: 1200}, "vehicle": {1e-3: 400, 1e-6: 900}}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
@pytest.mark.parametrize("name", STEPS)
def test_stiff_cases_go_on_by_the_implicit_method(name, tolerance):
    work = WORKS[name]()
    m, start, points = model(work)
    run = m.simulate(start, until=work.until, tolerance=tolerance, save=work.times)
    assert run.finished
    assert any(note.startswith("stiff from t = ") for note in run.notes)
    assert run.counts.steps < STEPS[name][tolerance]
    assert work.error(points(run)) < 10.0 * tolerance  # errors at the start grow with time


def test_implicit_steps_cost_less_beside_long_equations():
    # A vehicle on bushings, measured 2.1 to 3.5, and as many entries beside short ones.
    assert 2.0 < cost_of_implicit_step(47, 4360, 12) < 4.0
    assert cost_of_implicit_step(47, 600, 12) > 8.0
    # Ten rods, whose Jacobian is made column by column, measured 24.
    assert 10.0 < cost_of_implicit_step(70, 3480, 12) < 30.0
    # An explicit method with half the stages takes half the work for a step.
    half = cost_of_implicit_step(47, 4360, 6) / cost_of_implicit_step(47, 4360, 12)
    assert half == pytest.approx(2.0, rel=0.05)

"""Runs of mechanisms that are evaluated element by element: stored, verified, asked for work."""

from dataclasses import replace

import numpy as np
import pytest

import zwang as zw
from zwang.equations.elements import ElementEquations
from zwang.equations.mechanism import MechanismExpression
from zwang.mechanism import MechanismSystem
from zwang.results.model_digest import describe_model
from zwang.results.verify import Verdict


def chain(n=4, *, stiffness=2.0, tie=(2, 4)):
    """Bars on pins; a driver turns the first one, a spring ties two of them."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bars = [m.ground]
    for i in range(n):
        made = zw.inertia.principal(1.0, (0.01, 0.1, 0.1))
        bars.append(m.body(f"b{i}", inertia=made, position=(i + 0.5, 0, 0)))
        m.revolute(f"j{i}", bars[-2], bars[-1], at=(i, 0, 0), axis="y")
    m.drive("motor", "j0.angle", lambda t: 0.3 * t**2)
    a, b = tie
    at = ((a - 0.5, 0, 0.1), (b - 0.5, 0, 0.1))
    m.spring_damper("spring", bars[a], bars[b], at=at, stiffness=stiffness, damping=0.3)
    return m


def by_elements(m):
    """A small mechanism, carried as large ones are."""
    return MechanismSystem(m.parts, ElementEquations)


@pytest.fixture(scope="module")
def run():
    system = by_elements(chain())
    return system.simulate(system.assemble(), until=0.3, tolerance=1e-9)


def test_nothing_is_written_down_as_a_whole(run, tmp_path):
    path = tmp_path / "run"
    run.save(path)
    verdict = zw.verify(path, run.system)
    assert verdict.ok, str(verdict)
    assert set(verdict.figures) == {"residual", "step", "energy", "Gauss"}
    again = zw.load(path, run.system)
    assert np.array_equal(again.q, run.q)
    assert run["j3.angle"].shape == run.t.shape
    assert np.isfinite(run.work.applied).all()
    assert "model" not in run.system.equations.__dict__


def test_work_and_channels_are_those_of_the_whole_expression(run):
    small = MechanismSystem(run.system.parts, MechanismExpression)
    start = zw.State(run.q[0], run.v[0], 0.0)
    other = small.simulate(start, until=0.3, tolerance=1e-9, save=run.t)
    for name in ("applied", "constraint", "balance"):
        mine, theirs = (getattr(x.work, name) for x in (run, other))
        assert np.abs(mine - theirs).max() < 1e-7
    assert np.abs(run.work.constraint).max() > 1e-3  # the motor does work
    for name in ("j2.angle", "j2.angle_rate"):
        assert np.abs(run[name] - other[name]).max() < 1e-8


def test_an_edit_of_a_large_run_is_found(run, tmp_path):
    path = tmp_path / "run"
    v = run.v.copy()
    v[len(v) // 2, 7] += 1e-5
    replace(run, v=v).save(path)
    assert zw.verify(path, run.system).verdict in (Verdict.NO_MOTION, Verdict.INACCURATE)


def test_a_wrong_multiplier_breaks_the_balance(run, monkeypatch):
    """What `verify` takes for Gauss's principle: both sides of the equations, by elements."""
    equations = run.system.equations
    state = (run.q[-3:], run.v[-3:], run.t[-3:], run.parameters)
    good = equations.balance(*state)
    assert max(good.force.max(), good.constraint.max()) < 1e-11
    right = equations.fast_forces

    def wrong(*given):
        a, lam = right(*given)
        lam[:, 0] *= 1.0 + 1e-6
        return a, lam

    monkeypatch.setattr(equations, "fast_forces", wrong)
    assert equations.balance(*state).force.max() > 1e-10


def test_the_digest_knows_laws_and_connections():
    def digest(m):
        return describe_model(by_elements(m))["digest"]

    first = digest(chain())
    assert digest(chain()) == first
    assert digest(chain(stiffness=3.0)) == first  # a parameter
    assert digest(chain(tie=(2, 3))) != first
    other = chain()
    other.force("wind", "b3", lambda t: (t, 0.0, 0.0))
    assert digest(other) != first


def test_a_stored_run_is_opened_with_its_mechanism(tmp_path):
    m = chain(2, tie=(1, 2))
    run = m.simulate(until=0.1, store=tmp_path / "run")
    assert np.array_equal(zw.load(tmp_path / "run", m).energy, run.energy)
    assert zw.resume(tmp_path / "run", m).q.tobytes() == run.q.tobytes()
    assert zw.verify(tmp_path / "run", m)
    with pytest.raises(zw.InputError, match="Mechanism that made it"):
        zw.verify(tmp_path / "run", "pendulum")

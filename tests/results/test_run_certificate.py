"""A run certified: every formulation at saved states, the worst of it told and kept."""

import numpy as np
import pytest
from pendulums import EVENTS, START, pendulum

import zwang as zw
from compiling import without_llvm

SYSTEM = pendulum()

#: Rounding of six solves of a system of two velocities and a row.
ROUNDING = 1e-12


def test_a_pendulum_is_certified_to_rounding_by_all():
    run = SYSTEM.simulate(*START, until=5.0, certify=True)
    found = run.certificate
    assert sorted(found.formulations) == sorted(zw.FORMULATIONS)
    assert found.states == len(run)
    for worst in (found.acceleration_spread, found.force_spread, found.gauss_residual):
        assert 0.0 <= worst.value < ROUNDING
    assert found.acceleration_error.value < ROUNDING
    assert found.force_error.t in run.t
    assert without_llvm(run.notes)[-1].startswith(
        f"certified at {len(run)} saved states: 6 formulations agree"
    )
    assert found == run.certify()


def test_an_interval_chooses_states_that_far_apart():
    run = SYSTEM.simulate(*START, until=5.0, save=0.01, certify=0.5)
    assert run.certificate.states == 11
    assert SYSTEM.simulate(*START, until=5.0, save=0.001, certify=True).certificate.states == 200
    assert SYSTEM.simulate(*START, until=1.0).certificate is None


def test_the_worst_state_is_told():
    """M degenerates as x goes to zero, and with it what all formulations can know of v̇."""
    slider = zw.System(
        ["x", "y"],
        mass=lambda q: np.diag([1.0, 1e-9 + q[0] ** 4]),
        force=lambda q: [0.0, np.cos(3.0 * q[0])],
        constraints={"c": zw.acceleration(lambda q: [[1.0, q[0] ** 3]], lambda: [0.0])},
    )
    q = [1.0, 0.0]
    run = slider.simulate(q, [-0.9, 0.0], until=1.0, save=0.1, certify=True)
    alone = [
        slider.certify(q, v, t).spread.acceleration
        for q, v, t in zip(run.q, run.v, run.t, strict=True)
    ]
    assert run.certificate.acceleration_spread.t == run.t[int(np.argmax(alone))]
    assert run.certificate.acceleration_spread.value == pytest.approx(max(alone), rel=0.5)


def test_it_is_stored_with_the_run(tmp_path):
    run = SYSTEM.simulate(
        *START, until=3.0, events=EVENTS, certify=0.1, store=tmp_path / "a", store_every=0.0
    )
    run.save(tmp_path / "b")
    for path in (tmp_path / "a", tmp_path / "b"):
        again = zw.load(path)
        assert again.certificate == run.certificate
        assert again.notes == run.notes
    plain = SYSTEM.simulate(*START, until=3.0, events=EVENTS)
    assert plain.q.tobytes() == run.q.tobytes()


def test_an_ensemble_is_certified_run_by_run():
    runs = SYSTEM.simulate_many(*START, until=1.0, parameters={"g": [1.0, 9.81]}, certify=True)
    assert (
        runs[1].certificate
        == SYSTEM.simulate(*START, until=1.0, certify=True, integrator="order8").certificate
    )


def test_it_prints_what_was_found():
    text = str(SYSTEM.simulate(*START, until=1.0, certify=True).certificate)
    assert "largest Gauss residual" in text
    assert "at t = " in text


@pytest.mark.parametrize("certify", ["yes", -1.0, None, 0])
def test_what_is_no_interval_is_refused(certify):
    with pytest.raises(zw.InputError, match=r"certify.*seconds between states"):
        SYSTEM.simulate(*START, until=1.0, certify=certify)

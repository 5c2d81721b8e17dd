"""What runs and rest say of themselves: figures with names, and no rounding."""

import numpy as np
import pytest

import zwang as zw


def cart_pole() -> zw.Mechanism:
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    cart = m.body("cart", mass=0.8, inertia=0.01)
    rod = zw.inertia.rod(0.25, 0.6, axis="z")
    pole = m.body("pole", inertia=rod, position=(0, 0.3))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    return m


@pytest.fixture(scope="module")
def run():
    m = cart_pole()
    return m.simulate(m.assemble(hold={"pin.angle": 0.3}), until=1.0, save=0.05)


def test_an_error_estimate_names_its_worst_with_the_time(run):
    estimate = run.error_estimate()
    told = str(estimate)
    assert "array of shape" not in told
    i, k = np.unravel_index(np.abs(estimate.v).argmax(), estimate.v.shape)
    name = run.system.velocities[k]
    assert f"{abs(estimate.v[i, k]):.2g} of {name} at t = {run.t[i]:.6g} s" in told


def test_work_that_is_rounding_is_not_told():
    assert "none; balance" in str(cart_pole().simulate(until=0.1).work)


def test_work_that_is_none_is_told():
    m = cart_pole()
    work = m.simulate(m.assemble(hold={"pin.angle": 0.3}), until=1.0, save=0.05).work
    assert f"{work.applied[-1]:.6g} J by applied forces" in str(work)
    assert "constraints" not in str(work)


def test_friction_that_holds_a_family_is_told_once():
    m = cart_pole()
    m.friction("rail", coefficient=0.05)
    rest = m.equilibrium()
    assert len(rest.families) == rest.family_directions.shape[1] == 1
    assert str(rest).count("One of a family") == 1
    assert "which friction in rail holds against up to" in rest.families[0]
    assert "rail.displacement = 0 m" in str(rest)


def test_limits_in_a_law_lead_to_those_of_numpy():
    m = cart_pole()
    with pytest.raises(zw.ZwangError, match=r"np\.clip for limits"):
        m.actuator("motor", "rail.displacement", lambda c: min(max(c["pin.angle"], -1.0), 1.0))
    m.actuator("motor", "rail.displacement", lambda c: np.clip(c["pin.angle"], -1.0, 1.0))


def test_a_held_angle_in_degrees_leads_to_radians():
    with pytest.raises(zw.InputError, match=r"np\.deg2rad\(12\)"):
        cart_pole().assemble(hold={"pin.angle": "12 deg"})


def test_an_unknown_name_of_a_grid_leads_to_m_parameter(tmp_path):
    plan = {"grid": {"length": [0.1, 0.2]}, "until": 0.1, "outputs": ["pin.angle"]}
    with pytest.raises(zw.ZwangError, match=r"m\.parameter\('length', …\)"):
        zw.study(cart_pole(), plan, tmp_path / "store")

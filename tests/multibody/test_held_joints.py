"""Held joint coordinates: other joints stay as they were placed, as far as loops allow."""

from itertools import pairwise

import numpy as np
import pytest
from tests.multibody.test_large_assembly import chain

import zwang as zw

#: Coordinates that stay, to rounding of lengths of a metre.
STAYS = 1e-12


def values(m, state, names):
    return np.array([float(m.system.joint_states(name, state.q)[0]) for name in names])


def cart(plane="xz"):
    """A cart on a rail with a rod."""
    m = zw.Mechanism(plane=plane, gravity=(0, -9.81))
    carriage = m.body("cart", mass=2.0, inertia=0.1)
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 0.8, axis="z"), position=(0, -0.4))
    m.prismatic("rail", m.ground, carriage, at=(0, 0), axis="x")
    m.revolute("pin", carriage, rod, at=(0, 0))
    return m, carriage, rod


@pytest.mark.parametrize("angle", [0.3, 1.0, -3.0])
def test_a_cart_stays_where_its_pendulum_is_turned(angle):
    m, *_ = cart()
    state = m.assemble(hold={"pin.angle": angle})
    found = values(m, state, ["rail.displacement", "pin.angle"])
    assert np.abs(found - [0.0, angle]).max() < STAYS
    assert state.notes == ()


def test_a_pendulum_keeps_its_angle_where_its_cart_is_moved():
    m, *_ = cart()
    turned = m.assemble(hold={"pin.angle": 0.7})
    found = values(
        m,
        m.assemble(hold={"rail.displacement": 0.5}, start=turned),
        ["rail.displacement", "pin.angle"],
    )
    assert np.abs(found - [0.5, 0.7]).max() < STAYS


def test_joints_of_all_kinds_move_one_at_a_time():
    """A chain in space of a sleeve, a cross, a slide, a screw and a pin."""
    m = zw.Mechanism()
    rng = np.random.default_rng(5)
    at = rng.normal(size=(5, 3))
    axes = rng.normal(size=(5, 3))
    bodies = [m.ground]
    for k in range(5):
        place = at[k] + 0.3 * rng.normal(size=3)
        bodies.append(m.body(f"b{k}", mass=1.0, inertia=(0.1, 0.2, 0.25), position=place))
    m.cylindrical("sleeve", bodies[0], bodies[1], at=at[0], axis=axes[0])
    across = np.cross(axes[1], [1.0, 0.0, 0.0])
    m.universal("cross", bodies[2], bodies[1], at=at[1], axis=axes[1], axis_b=across)
    m.prismatic("slide", bodies[2], bodies[3], at=at[2], axis=axes[2])
    m.screw("nut", bodies[3], bodies[4], at=at[3], axis=axes[3], pitch=0.02)
    m.revolute("pin", bodies[5], bodies[4], at=at[4], axis=axes[4])
    names = [name for name in m.system.channels if name.split(".")[0] in m.system.parts.joints]
    names = [n for n in names if n.endswith(("angle", "displacement", "angle_a", "angle_b"))]
    placed = values(m, m.assemble(), names)
    for k, name in enumerate(names):
        state = m.assemble(hold={name: placed[k] + 0.8 if "angle" in name else placed[k] + 0.013})
        change = values(m, state, names) - placed
        own = {n for n in names if n.startswith("nut")} if name.startswith("nut") else {name}
        others = [i for i, n in enumerate(names) if n not in own]
        assert np.abs(change[others]).max() < STAYS, name
        assert abs(change[k] - (0.8 if "angle" in name else 0.013)) < STAYS, name


@pytest.mark.parametrize("plane", ["xz", None])
def test_a_long_chain_turns_at_one_pin(plane):
    m, _ = chain(plane)
    state = m.assemble(hold={"pin20.angle": 2.0})
    found = values(m, state, [f"pin{k}.angle" for k in range(50)])
    assert np.abs(found - 2.0 * (np.arange(50) == 20)).max() < 1e-10


def on_a_cart(bars):
    """A four-bar, or a five-bar, whose cranks are pinned to a cart."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    carriage = m.body("cart", mass=2.0, inertia=0.1)
    m.prismatic("rail", m.ground, carriage, at=(0, 0), axis="x")
    points = [(0.0, 0.0), (0.2, 0.9), (1.6, 1.2), (2.2, 0.7), (2.0, 0.0)]
    points = points if bars == 5 else [*points[:3], points[4]]
    before = carriage
    for k, (P, Q) in enumerate(pairwise(points)):
        bar = m.body(f"bar{k}", mass=1.0, inertia=0.1, position=(np.add(P, Q) / 2))
        m.revolute(f"pin{k}", before, bar, at=P)
        before = bar
    m.revolute("last", before, carriage, at=points[-1])
    return m


@pytest.mark.parametrize("bars", [4, 5])
def test_what_carries_a_loop_stays(bars):
    m = on_a_cart(bars)
    state = m.assemble(hold={"pin0.angle": 0.2})
    assert np.abs(values(m, state, ["rail.displacement", "pin0.angle"]) - [0, 0.2]).max() < STAYS
    if bars == 4:  # all others follow from the one that is held
        assert state.notes == ()
    else:
        (note,) = state.notes
        moved = values(m, state, ["pin1.angle"])[0]
        assert f"pin1.angle by {moved:.4g} rad" in note
        assert "rail" not in note


def test_driven_and_tied_joints_move_as_they_must():
    """A driver decides where the cart is; the tip of the rod stays on a line through the world."""
    m, *_ = cart()
    m.drive("push", "rail.displacement", lambda t: 0.3 + t)
    state = m.assemble(hold={"pin.angle": 0.5})
    found = values(m, state, ["rail.displacement", "pin.angle"])
    assert np.abs(found - [0.3, 0.5]).max() < STAYS
    m, _, rod = cart()
    m.constraint("line", [rod], lambda bodies: bodies[0].point((0, -0.4))[0] - 0.1)
    found = values(m, m.assemble(hold={"pin.angle": 0.5}), ["rail.displacement", "pin.angle"])
    # Angles about y turn what hangs down towards −x.
    assert np.abs(found - [0.1 + 0.8 * np.sin(0.5), 0.5]).max() < STAYS


def test_starts_of_a_study_keep_the_joints_that_are_not_named(tmp_path):
    m, *_ = cart()
    plan = {
        "list": {"start.pin.angle": [0.5, 1.0]},
        "until": 0.01,
        "outputs": ["x0 = start(rail.displacement)"],
    }
    study = zw.study(m, plan, output=tmp_path / "s.zarr").run(progress=False)
    assert np.abs(study.dataset["x0"].values).max() < STAYS

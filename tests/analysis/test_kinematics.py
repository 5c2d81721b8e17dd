"""Driven mechanisms against closed forms: positions, rates, accelerations, dead points."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import zwang as zw
from analysis.driven_linkages import circles, four_bar, rssr, rssr_output, slider_crank

#: Closed forms and Newton's method both work with rounding, of numbers up to ten.
ROUNDING = 1e-12
#: Second derivatives divide rounding by the square of what links have in hand.
OF_ACCELERATIONS = 1e-11
#: Next to a change point states are interpolated with errors of order eight.
ACROSS_A_CHANGE_POINT = 1e-10


def by_mpmath(f, values, order):
    """Derivatives of a closed form with 40 digits, so that no step has to be chosen."""
    with mpmath.workdps(40):
        return np.array([float(mpmath.diff(f, mpmath.mpf(float(s)), order)) for s in values])


def close(found, expected, tolerance=ROUNDING):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)


def test_slider_crank():
    r, length, offset = 1.0, 3.0, 0.4
    k = slider_crank(r, length, offset).kinematics(
        along=("main.angle", np.linspace(0.0, 2.0 * np.pi, 73) - offset)
    )
    assert k.finished
    assert k.dead_points == ()
    theta = k.t + offset

    def x(a):
        return r * mpmath.cos(a) + mpmath.sqrt(length**2 - (r * mpmath.sin(a)) ** 2)

    close(k["slider.position"][:, 0], [float(x(a)) for a in theta])
    close(k["slider.velocity.x"], by_mpmath(x, theta, 1))
    close(k["slider.acceleration.x"], by_mpmath(x, theta, 2), OF_ACCELERATIONS)
    close(k.velocity_ratio("slider.position.x"), by_mpmath(x, theta, 1))
    close(k["main.angle"], k.t)
    # cos μ = |r sin θ| / l, and dead centers of the slider at 0 and π.
    close(np.cos(k.transmission_angle("gudgeon", "pin", "guide")), abs(r / length * np.sin(theta)))
    inside = slider_crank(r, length, offset).kinematics(
        along=("main.angle", np.linspace(-0.5, 6.0, 40))
    )
    close(inside.limit_positions("slider.position.x") + offset, [0.0, np.pi, 2 * np.pi])
    assert inside.reachable().full_turn


def test_slider_crank_over_time_by_two_routes():
    m = slider_crank()
    m.drive("motor", "main.angle", lambda t: 3.0 * t + 0.5 * t**2)
    k = m.kinematics(times=np.linspace(0.0, 2.0, 21))
    along = slider_crank().kinematics(along=("main.angle", 3.0 * k.t + 0.5 * k.t**2))
    rate = 3.0 + k.t
    close(k["slider.position"], along["slider.position"])
    close(k["slider.velocity.x"], rate * along["slider.velocity.x"], 1e-11)
    expected = rate**2 * along["slider.acceleration.x"] + along["slider.velocity.x"]
    close(k["slider.acceleration.x"], expected, 1e-10)
    close(k.velocity_ratio("slider.position.x", of="motor"), along["slider.velocity.x"])
    close(k.mechanical_advantage("slider.position.x")[1:-1] * along["slider.velocity.x"][1:-1], 1.0)
    # What simulation finds, which needs masses.
    run = _with_masses().simulate(until=2.0, save=k.t, tolerance=1e-12)
    close(run["slider.x"], k["slider.position.x"], 1e-9)
    close(run.acceleration[:, 6], k["slider.acceleration.x"], 1e-8)


def _with_masses() -> zw.Mechanism:
    r, length, angle = 1.0, 3.0, 0.4
    pin = r * np.array([np.cos(angle), np.sin(angle)])
    tilt = -np.arcsin(pin[1] / length)
    x = pin[0] + length * np.cos(tilt)
    m = zw.Mechanism(plane="xy")
    crank = m.body("crank", mass=1.0, inertia=0.3, position=(0, 0), angle=angle)
    rod = m.body("rod", mass=2.0, inertia=0.2, position=pin, angle=tilt)
    slider = m.body("slider", mass=1.0, inertia=1.0, position=(x, 0))
    m.revolute("main", m.ground, crank, at=(0, 0))
    m.revolute("pin", crank, rod, at=pin)
    m.revolute("gudgeon", rod, slider, at=(x, 0))
    m.prismatic("guide", m.ground, slider, at=(x, 0), axis="x")
    m.drive("motor", "main.angle", lambda t: 3.0 * t + 0.5 * t**2)
    return m


def test_dead_point_of_a_slider_that_drives():
    r, length, offset = 1.0, 3.0, 0.4
    m = slider_crank(r, length, offset)
    x0 = r * np.cos(offset) + np.sqrt(length**2 - (r * np.sin(offset)) ** 2)
    k = m.kinematics(along=("guide.displacement", np.linspace(3.5, 4.5, 30) - x0))
    assert not k.finished
    (dead,) = k.dead_points
    assert dead.kind == "dead point"
    assert set(dead.names) == {"crank", "rod"}
    close(dead.value + x0, r + length)
    angle = m.system.joint_coordinate("main.angle", dead.q) + offset
    close(angle, 0.0)
    assert k.t[-1] + x0 < r + length
    assert "dead point" in k.status
    reach = k.reachable()
    close([reach.low + x0, reach.high + x0], [length - r, length + r])
    # Speed of the crank grows without bound: θ̇ = 1/x′(θ).
    theta = k["main.angle"] + offset
    w = np.sqrt(length**2 - (r * np.sin(theta)) ** 2)
    slope = -r * np.sin(theta) * (1.0 + r * np.cos(theta) / w)
    np.testing.assert_allclose(k["main.angle_rate"], 1.0 / slope, rtol=1e-10)


def test_rocker_that_drives_locks_with_crank_and_coupler_in_line():
    a, b, c, d = 1.0, 3.0, 2.5, 3.2
    m = four_bar(a, b, c, d)
    start = m.assemble()
    angle0 = m.system.joint_coordinate("A.angle", start.q)
    reach = m.kinematics(along=("D.angle", [0.0])).reachable()
    ends = []
    for dead in reach.dead_points:
        B = dead.q[4:6]
        bar = np.arctan2(B[1], B[0])
        close(np.hypot(*B), a, 1e-12)
        ends.append(bar)
    # Crank and coupler in line: triangles with sides b ± a, c, d; angle at A by the cosine rule.
    straight = [
        np.arccos(((b + s * a) ** 2 + d**2 - c**2) / (2 * (b + s * a) * d)) for s in (1, -1)
    ]
    wanted = sorted([straight[0], straight[1] - np.pi])
    close(np.sort(ends), wanted, 1e-11)
    assert abs(float(angle0)) < 1e-12
    assert reach.low < 0.0 < reach.high


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_four_bar_keeps_its_branch(side):
    a, b, c, d = 1.0, 3.0, 2.5, 3.2
    m = four_bar(a, b, c, d, side=side)
    k = m.kinematics(along=("A.angle", np.linspace(0.0, 4.0 * np.pi, 61)))
    theta = k.t + 0.7
    C = np.array(
        [
            circles(a * np.array([np.cos(x), np.sin(x)]), b, np.array([d, 0.0]), c, side)
            for x in theta
        ]
    )
    close(k.coupler_curve("coupler", (b, 0.0))[:, :2], C)
    assert (k.branch == 1.0).all()
    # μ between coupler and rocker by the cosine rule, folded to the first quadrant.
    diagonal = a**2 + d**2 - 2 * a * d * np.cos(theta)
    close(np.cos(k.transmission_angle("C", "B", "D")), abs((b**2 + c**2 - diagonal) / (2 * b * c)))


@pytest.mark.parametrize("cranks", [1, 3])
def test_parallelogram_goes_straight_through_its_change_points(cranks):
    m = four_bar(1.0, 3.0, 1.0, 3.0, cranks=cranks)  # with three cranks, a redundant row
    # Samples on the change points themselves, at π and 2π, and next to them.
    theta = np.sort(
        np.concatenate([np.linspace(0.1, 7.0, 60), np.pi * np.array([1.0, 1.0 + 1e-9, 1.001, 2.0])])
    )
    k = m.kinematics(along=("A.angle", theta - 0.7))
    assert k.finished
    assert [p.kind for p in k.dead_points] == ["change point"] * 2
    close([p.value + 0.7 for p in k.dead_points], [np.pi, 2.0 * np.pi], 1e-8)
    close(k["D.angle"], k["A.angle"], ACROSS_A_CHANGE_POINT)
    close(k["D.angle_rate"], 1.0, ACROSS_A_CHANGE_POINT)
    close(k["D.angle_acceleration"], 0.0, 1e-7)
    assert set(k.branch) == {1.0, -1.0}
    assert k.branch[0] == 1.0


def test_four_bar_that_lies_flat_once_a_turn_unfolds_to_the_other_side():
    a, b, c, d = 1.0, 2.2, 1.8, 3.0  # a + d = b + c: all links in line at π
    m = four_bar(a, b, c, d)
    k = m.kinematics(along=("A.angle", np.linspace(0.0, 4.0 * np.pi, 97) + 0.01))
    theta = k.t + 0.7
    assert k.finished
    close([p.value + 0.7 for p in k.dead_points], [np.pi, 3.0 * np.pi], 1e-7)
    ground = np.array([d, 0.0])
    C = np.array(
        [
            circles(a * np.array([np.cos(x), np.sin(x)]), b, ground, c, np.sign(np.cos(0.5 * x)))
            for x in theta
        ]
    )
    near = np.abs(np.cos(0.5 * theta)) < 0.1
    close(k.coupler_curve("coupler", (b, 0.0))[~near, :2], C[~near])
    close(k.coupler_curve("coupler", (b, 0.0))[near, :2], C[near], 1e-9)  # roots of rounding in C


def test_quick_return_and_ram():
    """Whitworth's shaper, a six-bar: crank, slotted lever, link and ram."""
    r, d, lever, link, height = 0.3, 0.8, 1.3, 0.6, 1.2
    angle = 0.2

    def closed(a):
        beta = np.arctan2(r * np.cos(a), d + r * np.sin(a))  # lever from the vertical
        tip = lever * np.stack([np.sin(beta), np.cos(beta)])
        return beta, tip, tip[0] + np.sqrt(link**2 - (height - tip[1]) ** 2)

    beta, tip, x = closed(np.array(angle))
    pin = np.array([r * np.cos(angle), d + r * np.sin(angle)])
    m = zw.Mechanism(plane="xy")
    crank = m.body("crank", position=(0, d))
    block = m.body("block", position=pin)
    bar = m.body("lever", position=(0, 0))
    rod = m.body("link", position=tip)
    ram = m.body("ram", position=(x, height))
    m.revolute("drive", m.ground, crank, at=(0, d))
    m.revolute("pin", crank, block, at=pin)
    m.prismatic("slot", bar, block, at=pin, axis=(*pin, 0.0))
    m.revolute("foot", m.ground, bar, at=(0, 0))
    m.revolute("tip", bar, rod, at=tip)
    m.revolute("head", rod, ram, at=(x, height))
    m.prismatic("bed", m.ground, ram, at=(x, height), axis="x")
    k = m.kinematics(along=("drive.angle", np.linspace(0.0, 2.0 * np.pi, 91)))
    angles = closed(k.t + angle)
    close(k["foot.angle"], -(angles[0] - beta))
    close(k["ram.position.x"], angles[2])
    # The lever stands still with the crank at right angles to it: quick return by cos = r/d.
    turn = k.limit_positions("foot.angle") + angle
    close(np.sort(turn), [np.pi + np.arcsin(r / d), 2 * np.pi - np.arcsin(r / d)], 1e-11)


def test_six_bar_of_two_dyads():
    a, b, c, d = 1.0, 3.0, 2.5, 3.2
    e, f, ground = 2.6, 2.8, np.array([5.5, 0.4])

    def closed(x):
        B = a * np.array([np.cos(x), np.sin(x)])
        C = circles(B, b, np.array([d, 0.0]), c, 1.0)
        return C, circles(C, e, ground, f, 1.0)

    m = four_bar(a, b, c, d)
    C, E = closed(0.7)
    fifth = m.body("fifth", position=C)
    sixth = m.body("sixth", position=ground)
    m.revolute("P", "rocker", fifth, at=C)
    m.revolute("E", fifth, sixth, at=E)
    m.revolute("F", m.ground, sixth, at=ground)
    k = m.kinematics(along=("A.angle", np.linspace(0.0, 2.0 * np.pi, 61)))
    assert k.finished
    expected = np.array([closed(x + 0.7)[1] for x in k.t])
    close(k.coupler_curve("sixth", E - ground)[:, :2], expected)


def test_geneva_wheel_by_a_constraint_of_ones_own():
    R, distance = 1.0, np.sqrt(2.0)  # four slots
    m = zw.Mechanism(plane="xy")
    crank = m.body("crank", position=(0, 0), angle=-0.5)
    tilt = np.arctan2(R * np.sin(-0.5), distance - R * np.cos(-0.5))
    wheel = m.body("wheel", position=(distance, 0), angle=-tilt)
    m.revolute("input", m.ground, crank, at=(0, 0))
    m.revolute("output", m.ground, wheel, at=(distance, 0))

    def on_slot(bodies):
        pin = bodies[0].point([R, 0.0, 0.0]) - bodies[1].position
        return bodies[1].vector([0.0, 1.0, 0.0]) @ pin

    m.constraint("slot", [crank, wheel], on_slot)
    k = m.kinematics(along=("input.angle", np.linspace(-0.25, 1.25, 31)))

    def beta(x):
        return -mpmath.atan2(R * mpmath.sin(x), distance - R * mpmath.cos(x))

    theta = k.t - 0.5
    close(k["output.angle"] - tilt, [float(beta(x)) for x in theta])
    close(k["output.angle_rate"], by_mpmath(beta, theta, 1))
    close(k["output.angle_acceleration"], by_mpmath(beta, theta, 2), OF_ACCELERATIONS)


def test_rssr_with_its_idle_rod():
    a, length, b, foot = 0.5, 3.0, 2.0, np.array([0.6, 2.2, 0.8])
    k = rssr(a, length, b, foot).kinematics(along=("input.angle", np.linspace(0.0, 6.2, 63)))
    assert k.finished
    expected = rssr_output(a, length, b, foot, k.t + 0.3)
    close(k["output.angle"], expected - expected[0])
    assert "idly" in k.notes[0]
    P = a * np.stack([np.cos(k.t + 0.3), np.sin(k.t + 0.3), 0 * k.t], axis=1)
    S = foot + b * np.stack([0 * k.t, np.cos(expected), np.sin(expected)], axis=1)
    close(np.linalg.norm(S - P, axis=1), length)


def test_gears_and_screws_are_integrated():
    m = zw.Mechanism(plane="xy")
    a, b = m.body("a", position=(0, 0)), m.body("b", position=(3, 0))
    m.revolute("A", m.ground, a, at=(0, 0))
    m.revolute("B", m.ground, b, at=(3, 0))
    m.gear("mesh", a, b, at=((0, 0), (3, 0)), radius_a=1.0, radius_b=2.0)
    m.drive("motor", "A.angle", lambda t: 2.0 * t**2)
    k = m.kinematics(times=np.linspace(0.0, 2.0, 11))
    close(k["B.angle"], -(k.t**2))
    close(k["B.angle_acceleration"], -2.0, OF_ACCELERATIONS)


def test_system_of_functions_over_time_and_over_a_coordinate():
    """A ladder that slides along two walls: x² + y² = L²."""
    s = zw.System(
        ["x", "y"],
        parameters={"L": 5.0},
        mass=lambda: np.zeros((2, 2)),
        constraints={"ladder": lambda q, p: q @ q - p.L**2},
    )
    k = s.kinematics(along=("x", np.linspace(3.0, 5.5, 26)), start={"x": 3.0, "y": 4.0})
    close(k["y"], np.sqrt(25.0 - k.t**2))
    close(k.dead_points[0].value, 5.0)
    assert k.dead_points[0].names == ("y_dot",)
    driven = zw.System(
        ["x", "y"],
        mass=lambda: np.zeros((2, 2)),
        constraints={
            "ladder": lambda q: q @ q - 25.0,
            "wall": lambda q, t: q[0] - 3.0 - np.sin(t),
        },
    )
    k = driven.kinematics(times=np.linspace(0.0, 3.0, 7), start={"x": 3.0, "y": -4.0})
    close(k["y"], -np.sqrt(25.0 - (3.0 + np.sin(k.t)) ** 2))


def test_values_between_are_asked_for_by_at():
    k = slider_crank().kinematics(along=("main.angle", [0.0, 3.0]))
    close(
        k.at([1.0, 2.0])["slider.position"],
        slider_crank().kinematics(along=("main.angle", [1.0, 2.0]))["slider.position"],
    )
    with pytest.raises(zw.ZwangError, match="values from 0 to 3"):
        k.at(4.0)


def _pendulum() -> zw.Mechanism:
    m = zw.Mechanism(plane="xy")
    rod = m.body("rod", position=(1, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    return m


MISTAKES = {
    "neither": (slider_crank, {}, "but neither was given"),
    "both": (slider_crank, {"times": [0, 1], "along": ("main.angle", [0])}, "but both were given"),
    "unknown driver": (slider_crank, {"along": ("mainn.angle", [0])}, "Did you mean 'main.angle'"),
    "no pair": (slider_crank, {"along": "main.angle"}, "a pair"),
    "times fall": (slider_crank, {"times": [1.0, 0.0]}, "numbers that grow"),
    "there and back": (slider_crank, {"along": ("main.angle", [0, 1, 0])}, "grow, or fall"),
    "not finite": (slider_crank, {"times": [0.0, np.nan]}, "finite"),
    "no driver": (_pendulum, {"times": [0, 1]}, "no driver determines 1 motion, of rod"),
    "out of reach": (
        slider_crank,
        {"along": ("guide.displacement", [3.0])},
        "dead point at guide.displacement",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_told_in_one_sentence(case):
    make, arguments, words = MISTAKES[case]
    with pytest.raises(zw.ZwangError) as error:
        make().kinematics(**arguments)
    assert words in str(error.value)


def test_unknown_names_of_results():
    k = slider_crank().kinematics(along=("main.angle", [0.0, 1.0]))
    for ask, words in (
        (lambda: k["slider.place"], "one of"),
        (lambda: k.coupler_curve("rodd", (0, 0)), "rod"),
        (lambda: k.velocity_ratio("x"), "one of"),
        (lambda: k.transmission_angle("pin", "main", "nowhere"), "guide"),
    ):
        with pytest.raises(zw.ZwangError, match=words):
            ask()


@pytest.mark.parametrize("axis", [(0.31, 0.57, 0.76), (-0.2, 0.9, 0.4), (0.7, -0.1, 0.7)])
def test_spin_of_a_skew_rod_that_only_rounding_sees_is_idle(axis):
    """The column of its spin is 1e-17, not zero, and must not become a scale."""
    u = np.array(axis) / np.linalg.norm(axis)
    across = np.cross(u, (0.2, 0.3, 0.9))
    across /= np.linalg.norm(across)
    ends = np.array([[0.2, 0.1, 0.0], np.array([0.2, 0.1, 0.0]) + 0.83 * u])
    m = zw.Mechanism()
    crank = m.body("crank", position=(0.1, 0.05, 0.0))
    rod = m.body(
        "rod", position=ends.mean(axis=0), orientation=np.array([across, np.cross(u, across), u]).T
    )
    slider = m.body("slider", position=ends[1])
    m.revolute("main", m.ground, crank, at=(0, 0, 0), axis="z")
    m.spherical("near", crank, rod, at=ends[0])
    m.spherical("far", rod, slider, at=ends[1])
    m.prismatic("guide", m.ground, slider, at=ends[1], axis="x")
    m.drive("motor", "main.angle", lambda t: t)
    k = m.kinematics(times=np.linspace(0.0, 0.3, 4))
    turned = np.array([[np.cos(k.t), -np.sin(k.t)], [np.sin(k.t), np.cos(k.t)]])
    knee = np.einsum("ijt,j->ti", turned, ends[0, :2])
    gap = ends[1, 1:] - np.column_stack([knee[:, 1], np.zeros(4)])
    expected = knee[:, 0] + np.sign(u[0]) * np.sqrt(0.83**2 - (gap**2).sum(axis=1))
    assert np.abs(k["slider.position.x"] - expected).max() < 1e-12

"""A massless link in an overconstrained loop: rows that come to depend are told by geometry.

Bennett's linkage has three equations too many. Of those that act, two come near to dependence on
the way, at 0.755 s and again later, in a position that is not singular; the link beside them has no
mass. A run had stopped there for constraints that contradict each other, or for want of a step.
"""

import numpy as np
import pytest

import zwang as zw

A, ALPHA, B, START = 1.0, 0.6, 1.4, 1.0  # lengths [m], twist, angle at the start [rad]
GRAVITY = (0.0, -3.0, -9.0)
#: The angle at P after 1, 2, … 5 s: from the equation in this angle alone, with tan ½θ tan ½φ
#: constant and derivatives by SymPy, by SciPy's DOP853 with a relative tolerance of 2.3e-14.
ANGLES = [-1.6378424091516, -1.9810757058441, -0.167895262291, -1.4921541019554, -2.0311761252138]
#: Errors at the saved times, in tolerances: order5 has about 6; radau5 had had 85.
ERRORS = 30.0


def screw(angle, length, twist):
    """From one hinge's frame to the next: a turn about z, a link along x, a twist about x."""
    c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
    return np.array(
        [
            [c, -s * ct, s * st, length * c],
            [s, c * ct, -c * st, length * s],
            [0, st, ct, 0],
            [0, 0, 0, 1],
        ]
    )


@pytest.fixture(scope="module", params=[False, True], ids=["spring", "friction"])
def loop(request):
    """Bennett's linkage with two heavy links and a massless one, and with friction or not."""
    beta = np.arcsin(B * np.sin(ALPHA) / A)
    ratio = np.sin(0.5 * (beta + ALPHA)) / np.sin(0.5 * (beta - ALPHA))
    other = 2.0 * np.arctan(ratio / np.tan(0.5 * START))
    links = [(START, A, ALPHA), (other, B, beta), (-START, A, ALPHA)]
    inertias = [(1.0, (0.02, 0.12, 0.13)), (1.5, (0.03, 0.2, 0.21)), (0.0, (0.0, 0.0, 0.0))]
    m, T, bodies, hinges = zw.Mechanism(gravity=GRAVITY), np.eye(4), [], []
    for k, ((angle, length, twist), (mass, inertia)) in enumerate(
        zip(links, inertias, strict=True), 1
    ):
        hinges.append((T[:3, 3], T[:3, 2]))
        R = T @ screw(angle, 0.0, 0.0)
        center = R[:3, 3] + 0.5 * length * R[:3, 0]
        bodies.append(
            m.body(f"link{k}", mass=mass, inertia=inertia, position=center, orientation=R[:3, :3])
        )
        T = T @ screw(angle, length, twist)
    hinges.append((T[:3, 3], T[:3, 2]))
    chain = [m.ground, *bodies, m.ground]
    for name, a, b, (point, axis) in zip("PQRS", chain, chain[1:], hinges, strict=False):
        m.revolute(name, a, b, at=point, axis=axis)
    m.torsion_spring("spring", m.ground, bodies[0], axis="z", stiffness=3.0, damping=0.05)
    if request.param:
        m.friction("P", coefficient=0.2, radius=0.05)
    return m, request.param


@pytest.mark.parametrize("integrator", ["gauss", "order8", "order5", "radau5"])
def test_it_passes_where_rows_that_act_come_near_to_dependence(loop, integrator):
    m, rubs = loop
    tolerance, times = 1e-8, np.arange(6.0)
    choices = {"integrator": integrator, "coordinates": "absolute", "save": times}
    run = m.simulate(until=5.0, tolerance=tolerance, **choices)
    assert run.finished, run.status
    if not rubs:
        assert np.abs(run["P.angle"][1:] - ANGLES).max() < ERRORS * tolerance


def test_the_rows_that_act_are_not_taken_for_dependent_ones(loop):
    m, rubs = loop
    run = m.simulate(until=0.7, tolerance=1e-8, integrator="gauss", coordinates="absolute")
    # Nothing happens before 0.75 s; the old code came to 0.579 s, and to no end there.
    assert run.finished, run.status
    assert rubs or run.counts.rejected <= 2

"""Linkages stay on their branch through positions where all bars lie flat, at every tolerance.

N four-bars of equal rods, the cranks at θ from the upward vertical and turning with ω there, have
sin(θ/2) = sn(ωt/2 | −4κ/ω²), κ = g ((N+1)/2 + N)/((N+1)/3 + N), while they are parallelograms.

A four-bar with the links 1.8 (ground), 1, 3 (coupler) and 2.2 lies flat when its crank points along
the ground, θ = 2kπ. There the triangle of coupler, rocker and the line between crank and rocker
turns over: on the branch its angle at the crank is ±α(θ), the sign that of sin(θ/2). All angles are
functions of θ then; energy gives θ̇, and a quadrature the time at which θ is reached.

    python -m pytest -m campaign tests/simulation/test_branches.py        all of it, some minutes
"""

from functools import cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad

import zwang as zw
from zwang import library

G = 9.81
TOLERANCES = 10.0 ** -np.arange(5.0, 11.1)
#: Each passage magnifies the error of a step, and errors grow over ten seconds; on another branch
#: states are off by metres.
MAGNIFIED = 3e3
#: Cranks of a row of four-bars are parallel, the coupler is where the crank asks it to be [m, rad].
PARALLEL = 1e-9
ACCURATE = 1e-6
#: Of states between steps, in tolerances.
OFF_CONSTRAINTS = 300.0
#: The energy of the links standing up, about; what energies near zero are compared with [J].
WEIGHT = 30.0


def campaign(*values, quick):
    return [
        pytest.param(*value, marks=() if value in quick else pytest.mark.campaign)
        for value in values
    ]


# --- N four-bars ----------------------------------------------------------------------------------


def crank_angle(t, n, rate=1.0):
    kappa = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    sn, cn = (mpmath.ellipfun(f, rate * t / 2, m=-4 * kappa / rate**2) for f in ("sn", "cn"))
    return 2.0 * float(mpmath.atan2(mpmath.re(sn), mpmath.re(cn)))


@cache
def linkage(n, kind):
    return library.n_four_bar(n) if kind == "system" else library.four_bars(n)


def tops(n, kind, tolerance, **others):
    """Times, and ends of the cranks relative to their feet: (nt, n + 1, 2)."""
    choices = {"until": 10.0, "tolerance": tolerance, "save": 0.1, **others}
    model = linkage(n, kind)
    if kind == "system":
        run = model.simulate(library.start("n_four_bar", n=n), **choices)
        places = run.q.reshape(len(run.t), n + 1, 2)
    else:
        run = model.simulate(**choices)
        feet = np.array([[i, 0.0] for i in range(n + 1)])
        centers = [run.body(f"crank{i}").center[:, [0, 2]] for i in range(n + 1)]
        places = 2.0 * np.stack(centers, axis=1) - feet
    assert run.finished, run.status
    return run.t, places - np.arange(n + 1)[:, None] * [1.0, 0.0]


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize(
    ("n", "kind"),
    campaign(
        *((n, kind) for n in (1, 2, 40) for kind in ("system", "mechanism")),
        quick=[(2, "mechanism")],
    ),
)
@pytest.mark.parametrize("integrator", ["order8", "gauss"])
def test_four_bars_stay_parallelograms(n, kind, tolerance, integrator):
    t, found = tops(n, kind, tolerance, integrator=integrator)
    angles = np.array([crank_angle(moment, n) for moment in t])
    expected = np.stack([np.sin(angles), np.cos(angles)], axis=1)[:, None]
    assert np.abs(found - found[:, :1]).max() < PARALLEL
    assert np.abs(found - expected).max() < max(ACCURATE, MAGNIFIED * tolerance)


# --- a change point in general --------------------------------------------------------------------

GROUND, CRANK, COUPLER, ROCKER = 1.8, 1.0, 3.0, 2.2
START, RATE = 1.0, 8.0


def others(theta):
    """Angles of coupler and rocker on the branch of the start."""
    B = np.array([CRANK * np.cos(theta), CRANK * np.sin(theta)])
    x, y = GROUND - B[0], -B[1]
    d = np.hypot(x, y)
    cosine = (COUPLER**2 + d**2 - ROCKER**2) / (2.0 * COUPLER * d)
    alpha = np.copysign(np.arccos(np.minimum(cosine, 1.0)), np.sin(theta / 2.0))
    beta = np.arctan2(y, x) + alpha
    C = B + COUPLER * np.array([np.cos(beta), np.sin(beta)])
    return beta, np.arctan2(C[1], C[0] - GROUND)


def potential(theta):
    beta, psi = others(theta)
    middle = CRANK * np.sin(theta) + 0.5 * COUPLER * np.sin(beta)
    crank, rocker = 0.5 * CRANK**2 * np.sin(theta), 0.5 * ROCKER**2 * np.sin(psi)
    return G * (crank + COUPLER * middle + rocker)


def inertia(theta):
    """Twice the kinetic energy where the crank turns with 1 rad/s; rods of 1 kg a metre."""
    beta, psi = others(theta)
    turn = CRANK * np.sin(psi - theta) / (COUPLER * np.sin(beta - psi))
    swing = CRANK * np.sin(beta - theta) / (ROCKER * np.sin(beta - psi))
    middle = CRANK**2 + 0.25 * (COUPLER * turn) ** 2
    middle += CRANK * COUPLER * turn * np.cos(beta - theta)
    rods = CRANK**3 / 3.0 + COUPLER**3 * turn**2 / 12.0 + ROCKER**3 * swing**2 / 3.0
    return rods + COUPLER * middle


def time_at(theta):
    energy = 0.5 * inertia(START) * RATE**2 + potential(START)

    def slowness(angle):
        return np.sqrt(0.5 * inertia(angle) / (energy - potential(angle)))

    flat = 2.0 * np.pi * np.arange(1, int(theta / (2.0 * np.pi)) + 1)
    ends = [START, *flat, theta]
    return sum(
        quad(slowness, a, b, epsabs=1e-11, epsrel=1e-11, limit=200)[0] for a, b in pairwise(ends)
    )


@cache
def change_point(kind):
    if kind == "mechanism":
        return library.four_bar(
            ground=GROUND, crank=CRANK, coupler=COUPLER, rocker=ROCKER, angle=START, rate=RATE
        )

    def kinetic(q, v):
        # The middle of the coupler moves with the crank's end and turns about it.
        x = -CRANK * np.sin(q[0]) * v[0] - 0.5 * COUPLER * np.sin(q[1]) * v[1]
        y = CRANK * np.cos(q[0]) * v[0] + 0.5 * COUPLER * np.cos(q[1]) * v[1]
        spin = COUPLER**3 * v[1] ** 2 / 12.0
        ends = (CRANK**3 * v[0] ** 2 + ROCKER**3 * v[2] ** 2) / 3.0
        return 0.5 * (ends + spin + COUPLER * (x**2 + y**2))

    def height(q):
        middle = CRANK * np.sin(q[0]) + 0.5 * COUPLER * np.sin(q[1])
        ends = 0.5 * (CRANK**2 * np.sin(q[0]) + ROCKER**2 * np.sin(q[2]))
        return G * (ends + COUPLER * middle)

    return zw.System.from_lagrangian(
        ["crank", "coupler", "rocker"],
        T=kinetic,
        V=height,
        constraints={
            "loop": zw.position(
                lambda q: [
                    CRANK * np.cos(q[0]) + COUPLER * np.cos(q[1]) - ROCKER * np.cos(q[2]) - GROUND,
                    CRANK * np.sin(q[0]) + COUPLER * np.sin(q[1]) - ROCKER * np.sin(q[2]),
                ]
            )
        },
    )


def motion(kind, tolerance, start=START, rate=RATE, **more):
    """Times, and angles of crank and coupler from x upwards."""
    model, choices = change_point(kind), {"until": 5.0, "tolerance": tolerance, "save": 0.02}
    choices |= more
    if kind == "system":
        beta, psi = others(start)
        swing = np.array([np.sin(psi - start) / COUPLER, np.sin(beta - start) / ROCKER])
        rates = rate * np.array([1.0, *(CRANK * swing / np.sin(beta - psi))])
        run = model.simulate([start, beta, psi], rates, **choices)
        theta, beta = run["crank"], run["coupler"]
    else:
        return angles_of_bodies(model.simulate(**choices))
    return run, theta, beta


def angles_of_bodies(run):
    """A run of a mechanism, and angles of crank and coupler."""
    crank, coupler = (run.body(name).center[:, [0, 2]] for name in ("crank", "coupler"))
    theta = np.unwrap(np.arctan2(crank[:, 1], crank[:, 0]))
    along = coupler - 2.0 * crank
    return run, theta, np.arctan2(along[:, 1], along[:, 0])


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("kind", ["system", "mechanism"])
@pytest.mark.parametrize("integrator", ["order8", "gauss"])
def test_a_change_point_is_passed_on_the_branch(kind, integrator, tolerance):
    run, theta, beta = motion(kind, tolerance, integrator=integrator)
    expected, _ = others(theta)
    assert np.abs(np.sin(0.5 * (beta - expected))).max() < PARALLEL
    assert abs(time_at(theta[-1]) - run.t[-1]) < max(ACCURATE, MAGNIFIED * tolerance)
    assert run.finished, run.status
    assert theta[-1] - theta[0] > 8.0 * np.pi


#: In angles all entries of a row vanish where the links lie flat, and rounding is divided by what
#: is left of them: some starts lead steps to where it decides, unless these keep away.
CLOSE_STARTS = [(tolerance, k) for tolerance in (1e-5, 1e-7, 1e-9, 3e-11, 1e-11) for k in range(40)]


@pytest.mark.parametrize(
    ("tolerance", "k"),
    campaign(*CLOSE_STARTS, quick=[(3e-11, 13), (3e-11, 18), (1e-11, 0), (1e-11, 12)]),
)
def test_a_row_that_vanishes_is_passed_from_any_start(tolerance, k):
    run, theta, beta = motion("system", tolerance, START + 0.01 * k, RATE - 0.02 * k)
    assert run.finished, run.status
    expected, _ = others(theta)
    assert np.abs(np.sin(0.5 * (beta - expected))).max() < PARALLEL
    drift = np.abs(run.energy - run.energy[0]).max() / np.abs(run.energy).max()
    assert drift < MAGNIFIED * tolerance


@pytest.mark.parametrize(
    ("tolerance", "k"),
    campaign(*CLOSE_STARTS, quick=[(1e-9, 33), (3e-11, 18), (1e-11, 12), (1e-11, 37)]),
)
def test_rows_that_become_dependent_are_passed_from_any_start(tolerance, k):
    """In the places of bodies no row vanishes; one depends on others where the links lie flat."""
    mechanism = library.four_bar(
        ground=GROUND,
        crank=CRANK,
        coupler=COUPLER,
        rocker=ROCKER,
        angle=START + 0.01 * k,
        rate=RATE - 0.15 * k,
    )
    choices = {"until": 5.0, "tolerance": tolerance, "save": 0.05, "integrator": "order8"}
    run, theta, beta = angles_of_bodies(mechanism.simulate(**choices))
    assert run.finished, run.status
    expected, _ = others(theta)
    assert np.abs(np.sin(0.5 * (beta - expected))).max() < PARALLEL
    drift = np.abs(run.energy - run.energy[0]).max() / np.abs(run.energy).max()
    assert drift < MAGNIFIED * tolerance


# --- random starts --------------------------------------------------------------------------------


def coupler_on_branch(theta):
    """Angle of the coupler as a smooth function of θ, also where the links lie flat.

    With d the way from crank to rocker, sin²(α/2) = (ROCKER² − (COUPLER − d)²)/(4 COUPLER d), and
    d² − (COUPLER − ROCKER)² = 4 GROUND CRANK sin²(θ/2).
    """
    half, least = np.sin(0.5 * theta), COUPLER - ROCKER
    x, y = GROUND - CRANK * np.cos(theta), -CRANK * np.sin(theta)
    d = np.hypot(x, y)
    factor = GROUND * CRANK * (ROCKER + COUPLER - d) / (COUPLER * d * (d + least))
    return np.arctan2(y, x) + 2.0 * np.arcsin(half * np.sqrt(factor))


def random_start(k):
    """Angle and rate of the crank: on either side of the flat position, slow and fast, both ways.

    Some turn back right after it, which leaves the least room for steps.
    """
    rng = np.random.default_rng([2026, k])
    start = 2.0 * np.pi * rng.integers(2) + rng.uniform(0.15, 2.0 * np.pi - 0.15)
    return start, rng.uniform(0.5, 12.0) * rng.choice([-1.0, 1.0])


#: Most are starts from which runs left their branch, jumped in energy or stopped while steps were
#: placed around singular positions only after one was rejected.
HARD = {
    ("order8", 5, 86),
    ("order8", 5, 113),
    ("order8", 5, 294),
    ("order8", 6, 118),
    ("order8", 11, 144),
    ("order5", 6, 249),
    ("order5", 11, 0),
    ("gauss", 5, 216),
    ("gauss", 8, 214),
    ("gauss", 10, 113),
    ("gauss", 11, 4),
    ("gauss", 11, 6),
}


@pytest.mark.parametrize(
    ("integrator", "tolerance", "k"),
    [
        pytest.param(i, 10.0**-n, k, marks=() if (i, n, k) in HARD else pytest.mark.campaign)
        for i in ("order8", "order5", "gauss")
        for n in (5, 6, 8, 10, 11)
        for k in range(300)
    ],
)
def test_no_start_leads_to_another_branch(integrator, tolerance, k):
    start, rate = random_start(k)
    choices = {"until": 10.0, "save": 0.05, "integrator": integrator}
    run, theta, beta = motion("system", tolerance, start, rate, **choices)
    assert run.finished, run.status
    # A state next to the flat position is not projected where that could lead it astray.
    missed = np.abs(np.sin(0.5 * (beta - coupler_on_branch(theta)))).max()
    assert missed < max(PARALLEL, OFF_CONSTRAINTS * tolerance)
    drift = np.abs(run.energy - run.energy[0]).max() / max(np.abs(run.energy).max(), WEIGHT)
    assert drift < MAGNIFIED * tolerance


@pytest.mark.parametrize("tolerance", [1e-8, 1e-9, 1e-11])
def test_a_bead_goes_straight_on_where_two_wires_cross(tolerance):
    # On y² = x² the whole of the one row vanishes at the crossing.
    bead = zw.System(
        ["x", "y"],
        mass=lambda q: np.eye(2),
        force=lambda q, v: [1.0, 0.0],
        constraints={"wires": zw.position(lambda q: q[1] ** 2 - q[0] ** 2)},
    )
    run = bead.simulate([-1.0, -1.0], [1.0, 1.0], until=3.0, tolerance=tolerance, save=0.1)
    expected = -1.0 + run.t + 0.25 * run.t**2
    assert np.abs(run.q - expected[:, None]).max() < tolerance
    (passed,) = run.ranks
    # It is looked for on a cubic over a step of a second.
    assert abs(passed.t - 2.0 * (np.sqrt(2.0) - 1.0)) < 3e-5

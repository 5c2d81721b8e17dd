"""References of the benchmarks against derivations of another kind."""

import numpy as np
import pytest
from benchmarks.cases import WORKS
from benchmarks.cases.model import GRAVITY
from benchmarks.cases.vehicle import SUSPENSION
from benchmarks.references.chain import angular_accelerations
from benchmarks.references.lagrange import LagrangianMotion
from benchmarks.references.make import CASES
from benchmarks.references.one_freedom import slider_crank_angles
from benchmarks.references.tree import Tree

#: Rounding of the dense solution with an ill-conditioned mass matrix.
ROUNDING = 1e-11


def by_lagrange(angle, rate):
    """θ̈ of the chain from its Lagrangian: Σ_j c_ij cos(θ_i − θ_j) θ̈_j = …"""
    n = len(angle)
    i = np.arange(n)
    coupling = n - np.maximum.outer(i, i) - 0.5
    coupling[i, i] = n - i - 1 + 1.0 / 3.0
    d = angle[:, None] - angle[None, :]
    right = GRAVITY * (n - i - 0.5) * np.cos(angle) - (coupling * np.sin(d)) @ rate**2
    return np.linalg.solve(coupling * np.cos(d), right)


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_forces_in_the_pins_give_what_lagrange_gives(n):
    rng = np.random.default_rng(n)
    angle, rate = rng.uniform(-3.0, 3.0, n), rng.standard_normal(n)
    expected = by_lagrange(angle, rate)
    found = angular_accelerations(angle, rate, GRAVITY)
    np.testing.assert_allclose(found, expected, atol=ROUNDING * np.abs(expected).max())


def test_the_recursion_of_trees_gives_what_lagrange_gives():
    work = WORKS["chain(10)"]()
    tree = Tree(list(work.joints), list(work.bodies), work.gravity)
    rng = np.random.default_rng(3)
    angle, rate = rng.uniform(-3.0, 3.0, 10), rng.standard_normal(10)
    terms = tree.terms(np.diff(angle, prepend=0.0), np.diff(rate, prepend=0.0))
    found = np.cumsum(np.linalg.solve(terms.M, -terms.h))
    expected = by_lagrange(angle, rate)
    np.testing.assert_allclose(found, expected, atol=ROUNDING * np.abs(expected).max())


def test_lagranges_equations_of_trees_give_what_those_of_the_chain_do():
    motion = LagrangianMotion(WORKS["chain(10)"]())
    rng = np.random.default_rng(5)
    angle, rate = rng.uniform(-3.0, 3.0, 10), rng.standard_normal(10)
    y = np.concatenate([np.diff(angle, prepend=0.0), np.diff(rate, prepend=0.0)])
    expected = by_lagrange(angle, rate)
    found = np.cumsum(motion.rate(0.0, y)[10:])
    np.testing.assert_allclose(found, expected, atol=ROUNDING * np.abs(expected).max())


def test_the_vehicle_rests_where_its_forces_are_in_balance():
    # Free bodies, springs, bushings and tires: at the end hardly anything moves, and none of it up.
    work = WORKS["vehicle"]()
    assert np.abs(work.reference[-1] - work.reference[-2]).max() < 1e-4
    motion = LagrangianMotion(work)
    np.testing.assert_allclose(motion.centers(motion.start), work.start, atol=1e-15)
    lifted = motion.rate(0.0, np.zeros(44))[22:25]
    np.testing.assert_allclose(lifted[:2], 0.0, atol=1e-9)
    stiffness, _, length = SUSPENSION
    height, side = 0.8 - 0.32, 0.1
    long = np.hypot(height, side)
    push = 4.0 * stiffness * (length - long) * height / long
    assert lifted[2] == pytest.approx(push / 1200.0 - GRAVITY, rel=1e-9)


def test_the_slider_crank_keeps_its_energy():
    times = np.linspace(0.0, 1.0, 1001)
    phi, psi = slider_crank_angles(0.5, 1.0, 1 / 12, GRAVITY, (1.0, 2.0), times)
    np.testing.assert_allclose(np.sin(psi), -0.5 * np.sin(phi), atol=1e-14)
    one, two = 0.5 * np.exp(1j * phi), np.exp(1j * psi)
    centers = np.stack([one / 2, one + two / 2, one + two])
    speed = np.gradient(centers, times, axis=1, edge_order=2)
    turning = np.gradient(phi, times) ** 2 / 48 + np.gradient(psi, times) ** 2 / 12
    energy = (abs(speed) ** 2).sum(axis=0) / 2 + turning / 2 + GRAVITY * centers.imag.sum(axis=0)
    # Central differences err by the square of the step times the third derivative, some 1e3.
    assert np.ptp(energy[1:-1]) < 1e-3


#: Chains of some length take long, and for one there is no reference: it is only evaluated.
LONG = {"chain(10)", "chain(100)", "chain(1000)", "chain(10000)", "skew_chain(100)"}


@pytest.mark.parametrize("name", [name for name in WORKS if name not in LONG])
def test_works_start_where_their_references_do(name):
    work = WORKS[name]()
    assert work.reference.shape == (len(work.times), work.reference.shape[1], 3)
    if work.bodies:
        np.testing.assert_allclose(work.reference[0], work.start, atol=1e-15)
    assert work.error(work.reference) == 0.0
    assert work.error(work.reference + np.nan) == np.inf


def test_trees_are_told_branch_by_branch():
    work = WORKS["four_bars(2)"]()
    met = {-1}
    for joint in work.tree:
        assert joint.a in met
        met.add(joint.b)
    assert met == set(range(-1, 5))
    assert len(work.loops) == 2


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["skew_chain(10)", "bricard", "bicycle"])
def test_stored_places_are_what_the_script_writes(name):
    # Integrators of two versions of SciPy may differ by their tolerance, grown with the motion.
    np.testing.assert_allclose(WORKS[name]().reference, CASES[name](), atol=1e-10)

"""The geometric portrait: projections on N(A) and N(A)⊥ and their bounds."""

import sys

import numpy as np
import pytest

from samples import assert_close, assert_zero, motion, plus, sample, tangent, with_any_mass
from zwang.diagnosis.portrait import portrait, portrait_terms, side_by_side
from zwang.errors import MissingExtraError
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.formulations.udwadia_mogharabin import particle

#: Room for rounding in inequalities that may hold with equality.
EQUALITY = 1e-12


@pytest.mark.inventory("UM-14")
@with_any_mass
def test_every_vector_is_the_sum_of_its_parts_in_both_subspaces(given):
    for s in given.systems():
        found = portrait_terms(s.terms)
        P = tangent(s.A)
        fixed = s.M @ plus(s.A) @ s.b
        expected = {
            "acceleration": motion(s),
            "reduced_force": s.Q + s.C - fixed,
            "fixed_inertia": fixed,
            "given_force": s.Q + s.C,
            "constraint_force": s.M @ motion(s) - s.Q,
        }
        for name, vector in expected.items():
            sides = getattr(found, name)
            assert_close(sides.vector, vector)
            assert_close(sides.tangent, P @ vector)
            assert_close(sides.normal, vector - P @ vector)


@pytest.mark.inventory("UM-14")
@with_any_mass
def test_the_parts_of_the_acceleration_are_those_of_29_and_30(given):
    for s in given.systems():
        found = portrait_terms(s.terms)
        P = tangent(s.A)
        M_s_plus = plus(P @ s.M @ P, size=max(np.linalg.norm(s.M, 2), 1.0))
        assert_close(found.acceleration.tangent, M_s_plus @ found.reduced_force.vector)
        assert_close(found.acceleration.normal, plus(s.A) @ s.b)
        assert_close(found.constraint_force.tangent, P @ s.C)


@pytest.mark.inventory("UM-14")
@with_any_mass
def test_the_two_bounds_hold(given):
    for s in given.systems():
        found = portrait_terms(s.terms)
        along, across = found.acceleration.lengths
        assert along <= found.tangent_bound * (1 + EQUALITY) + EQUALITY
        assert across >= found.normal_bound * (1 - EQUALITY) - EQUALITY
        P = tangent(s.A)
        M_s_plus = plus(P @ s.M @ P, size=max(np.linalg.norm(s.M, 2), 1.0))
        delta = np.linalg.norm(found.reduced_force.vector)
        assert_close(found.tangent_bound, np.linalg.norm(M_s_plus, 2) * delta)
        if s.M.any():
            fixed = np.linalg.norm(found.fixed_inertia.vector)
            assert_close(found.normal_bound, fixed / np.linalg.norm(s.M, 2))


@pytest.mark.inventory("UM-13", "UM-14")
@pytest.mark.parametrize("seed", range(5))
def test_the_portrait_of_a_particle_is_that_of_28(seed):
    rng = np.random.default_rng(seed)
    mass, A = 2.5, rng.standard_normal((2, 3))
    a, d, b = rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal(2)
    found = portrait(mass * np.eye(3), mass * a, A, b, mass * d)
    assert_close(found.acceleration.vector, particle(mass, a, A, b, d))
    assert_close(found.acceleration.tangent, tangent(A) @ (a + d))
    # One mass for all directions: the second bound is met exactly.
    assert_close(found.normal_bound, found.acceleration.lengths[1])
    assert_zero(found.fixed_inertia.tangent)


@pytest.mark.inventory("UM-14")
def test_a_force_along_the_lightest_direction_meets_the_first_bound():
    found = portrait(np.diag([1.0, 4.0, 9.0]), [6.0, 0, 0], [[0, 0, 1.0]], [0.0])
    assert found.tangent_bound == pytest.approx(6.0)
    assert found.acceleration.lengths == pytest.approx((6.0, 0.0))


@pytest.mark.inventory("UK-24")
@with_any_mass
def test_constrained_and_free_acceleration_side_by_side(given):
    for s in given.systems():
        found = side_by_side(s.terms)
        assert_close(found.constrained, motion(s))
        if np.linalg.matrix_rank(s.M) < s.n:
            assert found.free is None
            assert found.difference is None
            assert "M is singular" in str(found)
            continue
        assert_close(found.free, np.linalg.solve(s.M, s.Q))
        assert_close(found.difference, UdwadiaKalaba(s.terms).deviation)
        assert "difference" in str(found).splitlines()[0]


# --- the figure -----------------------------------------------------------------------------------


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.mark.inventory("UM-13", "UM-14")
@pytest.mark.parametrize("kind", ["redundant rows", "no rows", "full column rank"])
def test_the_figure_draws_the_lengths_it_names(pyplot, tmp_path, kind):
    found = portrait_terms(sample(kind).terms)
    figure = found.plot()
    left, right = figure.axes
    along, across = found.acceleration.lengths
    text = " ".join(t.get_text() for t in left.texts)
    for length in (along, across, np.hypot(along, across)):
        assert length < 1e-9 or f"{length:.3g}" in text
    tips = np.array([p._posA_posB[1] for p in left.patches if hasattr(p, "_posA_posB")])
    assert_close(tips[-1], [along, across])
    assert f"{np.linalg.norm(found.given_force.vector):.3g}" in " ".join(
        t.get_text() for t in right.texts
    )
    figure.savefig(tmp_path / "portrait.png")
    assert (tmp_path / "portrait.png").stat().st_size > 10_000


def test_the_figure_draws_into_given_axes(pyplot):
    found = portrait_terms(sample("redundant rows").terms)
    figure, ax = pyplot.subplots()
    assert found.plot(ax) is figure
    assert ax.get_title(loc="left") == "Acceleration"
    figure, axes = pyplot.subplots(1, 2)
    assert found.plot(axes) is figure
    assert axes[1].get_title(loc="left").startswith("Force")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "zwang.diagnosis.portrait_figure", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"zwang\[plot\]"):
        portrait_terms(sample("one row").terms).plot()


def test_the_portrait_in_words_shows_both_bounds():
    text = str(portrait_terms(sample("redundant rows").terms))
    assert "in N(A)⊥" in text
    assert "≤ ‖M_s⁺‖‖Δ‖" in text
    assert "≥ ‖M A⁺b‖/‖M‖" in text

"""The same system by every formulation: motion, force and multipliers by every route."""

import numpy as np
import pytest

from samples import (
    assert_close,
    constraint_force,
    motion,
    plus,
    sample,
    with_any_mass,
    with_definite_mass,
)
from zwang.errors import NotApplicableError
from zwang.formulations.contract import Facts, Formulation
from zwang.formulations.projection import Projection
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.linalg.rank import RowGeometry
from zwang.solvers.certify import certify
from zwang.solvers.dense import FORMULATIONS, solve

DEFINITE = Facts(positive_definite=True, unique=True)
SINGULAR = Facts(positive_definite=False, unique=True)
ILL_POSED = Facts(positive_definite=False, unique=False)


def facts(given):
    definite = np.all(np.linalg.matrix_rank(given.M, tol=1e-9) == given.n)
    return DEFINITE if definite else SINGULAR


def applicable(given):
    return {name: k for name, k in FORMULATIONS.items() if k.obstacle(facts(given)) is None}


@with_any_mass
@pytest.mark.inventory("XX-01")
def test_every_formulation_gives_the_same_motion(given):
    found = applicable(given)
    assert len(found) == (6 if facts(given) is DEFINITE else 5)
    for kind in found.values():
        as_published = kind(given.terms)
        assert_close(as_published.acceleration, given.each(motion))
        assert_close(as_published.respond(given.Q + given.C, given.b)[0], given.each(motion))
        assert_close(as_published.constraint_residual, np.zeros_like(given.b))


@with_any_mass
@pytest.mark.inventory("XX-02")
def test_every_route_to_force_and_multipliers_agrees(given):
    least = given.each(lambda s: plus(s.A.T) @ (constraint_force(s) - s.C))
    for kind in applicable(given).values():
        as_published = kind(given.terms)
        assert_close(as_published.constraint_force, given.each(constraint_force))
        assert_close(as_published.multipliers, least)
        lam = as_published.respond(given.Q + given.C, given.b)[1]  # any λ with the right force
        force = (np.swapaxes(given.A, -1, -2) @ lam[..., None])[..., 0] + given.C
        assert_close(force, given.each(constraint_force))


@with_definite_mass
@pytest.mark.inventory("XX-02")
def test_multipliers_of_independent_rows_by_all_closed_forms(given):
    if given.rank < given.m:  # λ is not unique
        return
    uk = UdwadiaKalaba(given.ideal.terms)
    by_gain = (uk.multiplier_gain @ uk.dissatisfaction[..., None])[..., 0]  # UK (23)
    by_projection = Projection(given.ideal.terms).orthogonal_multipliers  # BL (3.6)
    assert_close(by_gain, by_projection)
    assert_close(by_gain, solve(given.M, given.Q, given.A, given.b).multipliers)


@with_any_mass
@pytest.mark.inventory("XX-01", "XX-02")
def test_certify_tables_the_differences(given):
    c = certify(given.M, given.Q, given.A, given.b, given.C)
    assert set(c.answers) == set(applicable(given))
    assert set(c.answers) | set(c.not_applicable) == set(FORMULATIONS)
    assert_close(c.solution.acceleration, given.each(motion))
    for spread in (c.spread.acceleration, c.spread.constraint_force, c.spread.multipliers):
        assert np.shape(spread) == given.batch
        assert np.all(np.asarray(spread) < 1e-10)
    assert np.shape(c.gauss_residual) == given.batch
    assert np.all(np.asarray(c.gauss_residual) < 1e-12)
    table = str(c)
    for name in FORMULATIONS:
        assert name in table


@pytest.mark.inventory("XX-01")
def test_certify_measures_a_formulation_that_errs(monkeypatch):
    given = sample("redundant rows")
    right = Projection.respond

    def wrong(self, force, rhs):
        acceleration, lam = right(self, force, rhs)
        return acceleration * (1.0 + 1e-5), lam

    monkeypatch.setattr(Projection, "respond", wrong)
    c = certify(given.M, given.Q, given.A, given.b, given.C)
    assert 1e-6 < float(c.spread.acceleration) < 1e-4
    assert 1e-6 < float(c.differences("projection").acceleration) < 1e-4
    assert float(c.differences("saddle_point").acceleration) < 1e-12


# --- the contract ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMULATIONS.values(), ids=list(FORMULATIONS))
def test_response_is_linear_in_force_and_right_side(kind):
    given = sample("redundant rows")
    formulation = kind(given.terms)
    rng = np.random.default_rng(3)
    f, g = rng.standard_normal((2, given.n))
    x, y = given.A @ rng.standard_normal(given.n), given.A @ rng.standard_normal(given.n)
    for part in (0, 1):
        together = formulation.respond(2.0 * f - g, 2.0 * x - y)[part]
        apart = 2.0 * formulation.respond(f, x)[part] - formulation.respond(g, y)[part]
        assert_close(together, apart)


@pytest.mark.parametrize("kind", FORMULATIONS.values(), ids=list(FORMULATIONS))
def test_a_geometry_that_is_given_is_used(kind):
    given = sample("redundant rows")
    geometry = RowGeometry.of(given.A)
    assert kind(given.terms, geometry).geometry is geometry


@pytest.mark.parametrize(("name", "kind"), FORMULATIONS.items(), ids=list(FORMULATIONS))
def test_names_and_obstacles(name, kind):
    assert kind.name == name
    assert issubclass(kind, Formulation)
    assert kind.obstacle(DEFINITE) is None
    why = kind.obstacle(ILL_POSED)
    assert why is not None
    assert "M is singular" in why if name == "udwadia_kalaba" else "not unique" in why


def test_obstacles_are_told_with_what_applies_instead():
    s = sample("singular mass")
    with pytest.raises(NotApplicableError) as caught:
        solve(s.M, s.Q, s.A, s.b, formulation="udwadia_kalaba")
    message = str(caught.value)
    assert "'udwadia_kalaba' does not apply: it needs a positive definite mass matrix" in message
    for name in FORMULATIONS:
        if name != "udwadia_kalaba":
            assert name in message

"""explain, passport and solve of large mechanisms: sparse matrices against dense ones."""

import numpy as np
import pytest

import zwang as zw
from zwang.equations import elements
from zwang.library.mechanisms.states import mechanism_states
from zwang.programs.cost import COST, CostModel

#: Accelerations, multipliers and forces of well-conditioned linkages, both ways good to rounding.
AGREE = 1e-8


def doubled(count):
    """A planar chain each pin of which is there twice: every pin is indeterminate."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    before = m.ground
    for k in range(count):
        bar = m.body(f"bar{k}", inertia=zw.inertia.rod(1.0, 1.0), position=(k + 0.5, 0, 0))
        for copy in "ab":
            m.revolute(f"pin{k}{copy}", before, bar, at=(k, 0, 0))
        before = bar
    return m


def balls(count):
    """A chain on ball joints, which have no coordinates to tell its motions by."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    before = m.ground
    for k in range(count):
        bar = m.body(f"bar{k}", inertia=zw.inertia.box(1.0, (1.0, 0.1, 0.2)), position=(k, 0, 0))
        m.spherical(f"ball{k}", before, bar, at=(k - 0.5, 0, 0))
        before = bar
    return m


CASES = {
    "four-bars in space": lambda: zw.library.four_bars(4, planar=False),
    "doubled pins": lambda: doubled(16),
    "net": lambda: zw.library.net(4, 4),
    "chain": lambda: zw.library.chain(24),
    "balls": lambda: balls(13),
}


@pytest.fixture(params=CASES)
def both(request, monkeypatch):
    """The mechanism, a state, and a way to ask it by sparse matrices."""
    m = CASES[request.param]()
    assert m.system.equations.by_elements
    states = mechanism_states(m, np.random.default_rng(4), 1)
    state = zw.State(states.q[0], states.v[0], 0.0)

    def sparsely(ask):
        with monkeypatch.context() as patched:
            patched.setattr(elements, "COST", CostModel(dense_velocities=0))
            return ask()

    return m, state, sparsely


def test_ranks_loops_and_dependent_joints_are_the_same(both):
    m, state, sparsely = both
    dense, sparse = m.explain(state), sparsely(lambda: m.explain(state))
    assert sparse.ranks == dense.ranks
    assert sparse.loops == dense.loops
    assert {frozenset(s.joints) for s in sparse.dependent_joints} == {
        frozenset(s.joints) for s in dense.dependent_joints
    }
    assert [s.redundancy for s in sparse.dependent_joints] == [
        s.redundancy for s in dense.dependent_joints
    ]
    assert sparse.consistent == dense.consistent
    assert len(sparse.motions) == len(dense.motions)
    A = m.terms(state).constraint_matrix
    V = sparse.freedoms
    assert np.linalg.matrix_rank(V) == V.shape[1] == sparse.degrees_of_freedom
    assert np.abs(A @ V).max(initial=0.0) < AGREE * max(1.0, np.abs(V).max(initial=0.0))


def test_accelerations_multipliers_and_determinacy_are_the_same(both):
    m, state, sparsely = both
    dense, sparse = m.solve(state), sparsely(lambda: m.solve(state))
    for name in ("acceleration", "constraint_force", "multipliers"):
        x, y = getattr(dense, name), getattr(sparse, name)
        assert np.abs(x - y).max() < AGREE * max(1.0, np.abs(x).max()), name
    assert sparse.ranks.constraint == dense.ranks.constraint
    assert sparse.ranks.mass == dense.ranks.mass
    one, other = m.passport(state), sparsely(lambda: m.passport(state))
    assert other.statuses == one.statuses
    assert other.basis.shape == one.basis.shape
    A = m.terms(state).constraint_matrix
    assert np.abs(A.T @ other.basis).max(initial=0.0) < AGREE
    for name, group in one.groups.items():
        found = other.groups[name]
        assert found.status is group.status
        assert np.array_equal(found.determinate_components, group.determinate_components)
        assert np.abs(found.force - group.force).max() < AGREE * max(1.0, np.abs(group.force).max())
        P, R = (x.determinate_directions for x in (found, group))
        assert np.abs(P @ P.T - R @ R.T).max() < AGREE


def test_hundreds_of_bodies_are_explained_by_their_joints():
    m = zw.library.chain(300)
    told = m.explain()
    assert told.degrees_of_freedom == 300
    assert told.motions[:2] == ("joint1.angle changes at 1", "joint2.angle changes at 1")
    assert str(told).endswith("… and 288 more")
    solution = m.solve()
    assert np.abs(solution.constraint_residual).max() < AGREE
    assert m.passport().determinate


def test_drivers_that_disagree_in_a_large_mechanism_are_found():
    told = []
    for factor in (0.1, 0.2):
        m = zw.library.chain(105)
        m.drive("motor", "joint3.angle", lambda t: 0.1 * t**2)
        m.drive("other", "joint3.angle", lambda t, factor=factor: factor * t**2)
        assert len(m.system.velocities) > COST.dense_velocities
        told.append(m.explain())
    assert [x.consistent for x in told] == [True, False]
    assert told[1].conflicts == (("driver motor", "driver other"),)

"""Equilibria of large mechanisms, searched with sparse matrices."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.analysis.sparse_statics import SparseEquilibrium
from zwang.library import chain

COUNT = 110


@pytest.fixture(scope="module")
def hanging() -> SparseEquilibrium:
    found: Any = chain(COUNT).equilibrium()
    assert isinstance(found, SparseEquilibrium)
    return found


def test_a_long_chain_hangs_straight_down(hanging: SparseEquilibrium) -> None:
    assert hanging.stability == "stable"
    assert hanging.residual < 1e-11
    q = hanging.q.reshape(COUNT, -1)
    np.testing.assert_allclose(q[:, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.diff(q[:, 1]), -1.0 / COUNT, atol=1e-12)


def test_its_reactions_carry_what_hangs_below(hanging: SparseEquilibrium) -> None:
    parts = hanging.system.mechanism
    assert parts is not None
    masses = np.array([body.inertia.mass for body in parts.bodies])
    for k, name in enumerate(list(parts.joints)[:5]):
        reaction = hanging.reaction(name)
        assert reaction.determinate
        np.testing.assert_allclose(reaction.force, [0.0, 0.0, 9.81 * masses[k:].sum()], atol=1e-8)


def test_upside_down_it_is_unstable(hanging: SparseEquilibrium) -> None:
    down = hanging.q.reshape(COUNT, -1)
    up = down.copy()
    up[:, 1], up[:, 2:] = -down[:, 1], -down[:, 2:]
    eq = hanging.system.equilibrium(start=up.ravel())
    assert eq.steps == 0
    assert eq.stability == "unstable"


def test_a_chain_between_two_supports_is_a_discrete_catenary() -> None:
    # Each link carries its weight in its middle, and the horizontal force is the same in all:
    # tangents of the slopes are an arithmetic progression.
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    angles = np.linspace(np.pi, 2.0 * np.pi, COUNT + 1)
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    before = m.ground
    for k, (a, b) in enumerate(pairwise(points)):
        d = b - a
        link = m.body(
            f"link{k}",
            mass=0.1,
            inertia=0.1 * float(d @ d) / 12.0,
            position=tuple(0.5 * (a + b)),
            angle=float(-np.arctan2(d[1], d[0])),
        )
        m.revolute(f"pin{k}", before, link, at=tuple(a))
        before = link
    m.revolute("last", before, m.ground, at=tuple(points[-1]))
    eq = m.equilibrium()
    assert eq.stability == "stable"
    force = eq.reaction("last").force
    assert force is not None
    assert force[2] / 2 == pytest.approx(-0.1 * COUNT * 9.81 / 4, rel=1e-9)
    q = eq.q.reshape(COUNT, -1)
    slopes = q[:, 3] / q[:, 2]
    np.testing.assert_allclose(np.diff(slopes, 2), 0.0, atol=1e-8)
    assert abs(np.diff(slopes)).mean() == pytest.approx(0.1 * 9.81 / abs(force[0]), rel=1e-8)


def test_a_chain_that_nothing_holds_is_refused() -> None:
    m = chain(COUNT)
    m.body("ball", mass=1.0, inertia=0.1, position=(3.0, 0.0), free=True)
    with pytest.raises(zw.NoEquilibriumError, match="nothing holds the motion"):
        m.equilibrium()


def test_held_coordinates_are_refused() -> None:
    m = chain(COUNT)
    with pytest.raises(zw.NotApplicableError, match="held coordinates"):
        m.equilibrium(hold={"joint3.angle": 0.0})

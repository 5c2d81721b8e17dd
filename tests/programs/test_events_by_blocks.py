"""Events in large mechanisms: what the single expression meets, from the bodies concerned alone."""

import numpy as np
import pytest

import zwang as zw
from zwang.equations.elements import ElementEquations
from zwang.equations.mechanism import MechanismExpression
from zwang.mechanism import MechanismSystem

#: Times and states of the same motion at this tolerance, by two programs.
TOLERANCE, SAME = 1e-11, 1e-9


def chain(planar):
    """Pendulums one below the other, swinging; the last one on a spring to the ground."""
    m = zw.Mechanism(
        gravity=(0, 0, -9.81), plane="xz" if planar else None, parameters={"level": -2.9}
    )
    last = m.ground
    for i in range(3):
        moments = 0.2 if planar else (0.1, 0.2, 0.25)
        body = m.body(f"b{i}", mass=1.0 + i, inertia=moments, position=(i + 0.5, 0, 0))
        m.revolute(f"j{i}", last, body, at=(i, 0, 0), axis="y")
        last = body
    m.spring_damper("spring", m.ground, last, at=((0, 0, 1), (2.5, 0, 0)), stiffness=20.0)
    return m


EVENTS = {
    "an angle": {"met": zw.event("j1.angle", at=-0.3)},
    "a rate": {"met": zw.event("j2.angle_rate", at=-0.5)},
    "a coordinate": {"met": zw.event("b2.z", at=-0.4, direction=-1)},
    "a function": {"met": zw.event(lambda q, t, p: q[0] - 0.01 * t + 0.14 * p.level)},
    "a bounce": {"met": zw.event("b2.z", zw.bounce(0.7), at=-0.6, direction=-1)},
    "a switch": {"met": zw.event("b2.z", zw.switch(off="j2"), at=-0.5)},
    "several": {
        "first": zw.event("j0.angle", "record", at=0.2),
        "last": zw.event("b1.z", "stop", at=-1.2),
    },
}


@pytest.mark.parametrize(
    ("name", "planar"), [*((name, True) for name in EVENTS), ("an angle", False)]
)
def test_events_are_met_when_the_whole_expression_meets_them(name, planar):
    parts = chain(planar).parts
    whole, blocks = (MechanismSystem(parts, k) for k in (MechanismExpression, ElementEquations))
    given = {"until": 0.6, "tolerance": TOLERANCE, "events": EVENTS[name], "save": 0.1}
    start = whole.assemble()
    one, other = (s.simulate(start, coordinates="absolute", **given) for s in (whole, blocks))
    assert one.events
    assert [e.name for e in one.events] == [e.name for e in other.events]
    for a, b in zip(one.events, other.events, strict=True):
        assert a.t == pytest.approx(b.t, abs=SAME)
        for key in ("q", "v", "v_after"):
            np.testing.assert_allclose(getattr(a, key), getattr(b, key), atol=1e3 * SAME)
    np.testing.assert_allclose(one.q[-1], other.q[-1], atol=SAME)
    assert "model" not in blocks.equations.__dict__  # nothing was written down as a whole


def test_the_impulse_of_a_large_mechanism_is_that_of_dense_matrices():
    parts = chain(planar=False).parts
    whole, blocks = (MechanismSystem(parts, k) for k in (MechanismExpression, ElementEquations))
    state, rng = whole.assemble(), np.random.default_rng(2)
    p, normal = whole.parameter_vector(), rng.standard_normal(len(state.v))
    given = (state.q, state.v, np.asarray(0.0), p, normal, 0.3)
    ours, theirs = blocks.equations.after_impulse(*given), whole.equations.after_impulse(*given)
    np.testing.assert_allclose(ours, theirs, atol=1e-11)
    assert normal @ (ours - state.v) == pytest.approx(0.3)
    A = whole.terms(state).constraint_matrix
    np.testing.assert_allclose(A @ ours, A @ state.v, atol=1e-11)
    held = A[0]  # an impulse along a constraint changes nothing
    assert np.array_equal(blocks.equations.after_impulse(*given[:4], held, 0.3), state.v)

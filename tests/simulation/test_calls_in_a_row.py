"""Calls in a row: the program of the last one is taken only where all that decides is the same."""

import numpy as np

import zwang as zw
from zwang.simulation import select_program as selection


def ball_pendulum():
    """In a plane or not, as it is pushed."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=(0.02, 0.1, 0.11), position=(0.5, 0, 0))
    m.spherical("ball", m.ground, rod, at=(0, 0, 0))
    return m


def test_other_starts_and_parameters_have_programs_of_their_own(monkeypatch):
    m = ball_pendulum()
    system, placed = m.system, m.assemble()
    at_rest = placed.q, placed.v
    pushed = placed.q, np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.6])
    choices = {"until": 0.5, "save": 0.1}
    asked = []
    select = selection.select_program
    monkeypatch.setattr(
        selection, "select_program", lambda *a, **k: asked.append(1) or select(*a, **k)
    )
    for start, more in (
        (at_rest, {}),
        (pushed, {}),
        (at_rest, {"parameters": {"gravity": [0.0, 3.0, -9.81]}}),
        (at_rest, {"coordinates": "absolute"}),
        (at_rest, {}),
    ):
        found = system.simulate(*start, **choices, **more)
        alone = ball_pendulum().system.simulate(*start, **choices, **more)
        assert np.array_equal(found.q, alone.q)
        assert found.notes == alone.notes
    before = len(asked)
    again = system.simulate(*at_rest, **choices)
    assert len(asked) == before
    assert np.array_equal(again.q, found.q)

"""Calls in a row: the program of the last one is taken only where all that decides is the same."""

import sys
from threading import Thread
from typing import Any

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


def test_calls_of_several_threads_do_not_share_a_loop_or_its_end() -> None:
    """One system, one loop that is kept, and threads that each want another end."""
    system = zw.System(["x"], mass=lambda: np.eye(1), force=lambda q: [-q[0]])
    ends = [0.1, 0.2, 0.3, 0.4]
    expected = {end: system.simulate([1.0], until=end).q[-1, 0] for end in ends}
    wrong: list[str] = []

    def call(end: float) -> None:
        for _ in range(100):
            try:
                run = system.simulate([1.0], until=end)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
                wrong.append(repr(error))
            else:
                if run.t[-1] != end or run.q[-1, 0] != expected[end]:
                    wrong.append(f"{run.t[-1]} in place of {end}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=call, args=(end,)) for end in ends]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_what_loops_keep_with_a_program_may_be_emptied_at_any_time() -> None:
    """By another thread, which has too many of them."""

    class Emptied(dict[Any, Any]):
        def __setitem__(self, key: Any, value: Any) -> None:
            super().__setitem__(key, value)
            self.clear()

    system = zw.System(["x"], mass=lambda: np.eye(1), force=lambda q: [-q[0]])
    right = system.simulate([1.0], until=0.1, integrator="gauss")
    (program,) = system.equations.cache.programs.values()
    vars(program)["frames"] = Emptied()
    run = system.simulate([1.0], until=0.2, integrator="gauss", tolerance=1e-8)
    assert run.finished
    assert right.finished

"""Systems, mechanisms and runs go to other processes, and are copied, before and after use."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.model_files.examples import example_names, example_path


def mass(p):
    return np.diag([p.m, p.m])


def force(p):
    return [0.0, -p.m * p.g]


def rod(q, p):
    return q[0] ** 2 + q[1] ** 2 - p.L**2


def turned(s, p):
    return [p.L * np.sin(s[0]), -p.L * np.cos(s[0])]


def low(q):
    return q[1] + 0.5


def pendulum():
    """Of functions that have a name in a module, as pickle asks for."""
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.0},
        mass=mass,
        force=force,
        constraints={"rod": zw.position(rod)},
    )


def pull(body, t, p):
    return [0.0, 0.0, -p.k * body.position[2]]


def swing():
    m = zw.Mechanism(gravity=(0, 0, -9.81), parameters={"k": 3.0})
    body = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, axis="x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, body, at=(0, 0, 0), axis="y")
    ends = ((0, 0, 1.0), (1.0, 0, 0))
    m.spring_damper("spring", m.ground, body, at=ends, stiffness=2.0, length=1.0)
    m.force("pull", body, pull)
    return m


MAKERS = {
    "system": pendulum,
    "mechanism": swing,
    "system of a mechanism": lambda: swing().system,
    "without": lambda: pendulum().without(["rod"]),
    "library system": library.chaplygin_sleigh,
    "library mechanism": library.four_bar,
    "large mechanism": lambda: library.chain(12).system,
    "model": lambda: zw.read_model(example_path("bouncing_pendulum")),
}
WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy}


def moved(x):
    """Where it is a little later; a mechanism from its placement."""
    if isinstance(x, zw.System) and not hasattr(x, "parts"):
        n = len(x.coordinates)
        q = np.zeros(n)
        q[0] = 1.0
        start = x.assemble(prefer=dict(zip(x.coordinates, q, strict=True)))
        return x.simulate(start, until=0.1, save=0.1).q[-1]
    if hasattr(x, "parts") and isinstance(x, zw.System):
        return x.simulate(x.assemble(), until=0.05, save=0.05).q[-1]
    return x.simulate(until=0.05, save=0.05).q[-1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_copied_moves_like_what_it_was_copied_from(kind, way):
    made = MAKERS[kind]()
    before = WAYS[way](made)
    expected = moved(made)
    after = WAYS[way](made)  # with everything compiled
    for other in (before, after):
        assert moved(other).tobytes() == expected.tobytes()


@pytest.mark.parametrize("way", WAYS)
def test_runs_are_copied_with_all_they_can_do(way, tmp_path):
    system = pendulum()
    events = {"low": zw.event(low, zw.switch(off="rod"))}
    run = system.simulate([1.0, 0.0], until=1.0, events=events)
    assert len(run.segments) > 1
    copied = WAYS[way](run)
    for name in ("t", "q", "v"):
        assert getattr(copied, name).tobytes() == getattr(run, name).tobytes()
    assert copied.status == run.status
    assert copied.at(0.123).q.tobytes() == run.at(0.123).q.tobytes()
    assert copied.constraint_force("rod").tobytes() == run.constraint_force("rod").tobytes()
    assert copied.error_estimate().worst == run.error_estimate().worst
    run.save(tmp_path / "run")
    stored = zw.load(tmp_path / "run", system, events=events)
    again = WAYS[way](stored)
    assert again.q.tobytes() == run.q.tobytes()
    assert again.error_estimate().worst == run.error_estimate().worst


@pytest.mark.parametrize("way", WAYS)
def test_runs_of_ensembles_and_mechanisms_are_copied(way):
    m = swing()
    for run in (m.simulate(until=0.2), *m.simulate_many(parameters={"k": [1.0, 2.0]}, until=0.2)):
        copied = WAYS[way](run)
        assert copied.q.tobytes() == run.q.tobytes()
        assert copied.reaction("pin").force.tobytes() == run.reaction("pin").force.tobytes()


def test_reduced_systems_are_copied():
    system = pendulum().reduce(["angle"], map=turned)
    copied = pickle.loads(pickle.dumps(system))
    given = {"q": [0.6], "v": [1.0]}
    np.testing.assert_array_equal(copied.way_back(**given).q, system.way_back(**given).q)


@pytest.mark.parametrize("name", example_names())
def test_every_example_goes_to_another_process(name):
    model = zw.read_model(example_path(name))
    kept = pickle.loads(pickle.dumps(model.system))
    assert kept.coordinates == model.system.coordinates


def simulated(x):
    return moved(x)


def test_a_spawned_process_simulates_what_it_is_sent_and_sends_back_a_run():
    system = pendulum()
    system.simulate([1.0, 0.0], until=0.1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:  # a Pool waits for ever for the dead
        run = pool.submit(system.simulate, [1.0, 0.0], until=0.5, save=0.1).result()
        there = pool.submit(simulated, swing()).result()
    assert run.q.tobytes() == system.simulate([1.0, 0.0], until=0.5, save=0.1).q.tobytes()
    assert there.tobytes() == moved(swing()).tobytes()


def longer(t):
    return 1.0 + 0.2 * t


def test_a_link_that_is_driven_goes_along():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    body = m.body("block", 1.0, (1.0, 1.0, 1.0), position=(1.0, 0, 0))
    m.spherical_link("cylinder", m.ground, body, at=((0, 0, 0), (1.0, 0, 0)), length=longer)
    for again in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert list(again.parts.joints) == ["cylinder"]
        np.testing.assert_array_equal(again.solve().acceleration, m.solve().acceleration)
    with pytest.raises(
        zw.InputError,
        match=r"length of joint 'cylinder' must be an expression to be.*but is a Python function",
    ):
        zw.write_model(m, "never-written.toml")

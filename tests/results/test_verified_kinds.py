"""Runs of many kinds: untouched they are verified, edited they are not, and the place is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.errors import NotIntegratedError
from zwang.model_files.examples import example_names, example_path
from zwang.simulation import interpolate, stored_runs

Kind = Callable[[np.random.Generator], tuple[Any, Any]]


def particle(force: Callable[..., Any], mass: float = 1.0) -> zw.System:
    """A pendulum with a further force."""
    return zw.System(
        coordinates=["x", "y"],
        mass=lambda: mass * np.eye(2),
        force=force,
        constraints={"rod": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)},
    )


def turned(rng: np.random.Generator) -> dict[str, Any]:
    """A start of a pendulum at random."""
    angle, speed = rng.uniform(-3.0, 3.0), rng.uniform(-3.0, 3.0)
    direction = np.array([np.sin(angle), -np.cos(angle)])
    return {"q": direction, "v": speed * np.array([-direction[1], direction[0]])}


def stiff(rng: np.random.Generator) -> tuple[Any, Any]:
    damping = 10.0 ** rng.uniform(2, 4)
    system = particle(lambda q, v: [-damping * v[0], -9.81 - damping * v[1]])
    name = str(rng.choice(["radau5", "order8"]))
    return system, system.simulate(
        **turned(rng), until=0.5, integrator=name, tolerance=10.0 ** rng.uniform(-9, -5), save=0.02
    )


def abrupt(rng: np.random.Generator) -> tuple[Any, Any]:
    push = rng.uniform(5.0, 50.0)
    # A jump where the velocity turns would hold it there, in millions of steps.
    system = particle(lambda q: [zw.where(q[0] < 0.1, push, 0.0), -9.81])
    return system, system.simulate(
        **turned(rng),
        until=2.0,
        tolerance=10.0 ** rng.uniform(-9, -5),
        save=rng.choice([0.01, 0.1]),
    )


def rough(rng: np.random.Generator) -> tuple[Any, Any]:
    mu = rng.uniform(0.05, 0.4)

    def friction(v: Any, reaction: Any) -> Any:
        return -mu * np.sqrt(reaction @ reaction) * v / np.sqrt(v @ v + 1e-4)

    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"wire": zw.position(lambda q: q[1] - q[0] ** 2)},
        nonideal={"wire": friction},
    )
    x, u = rng.uniform(0.5, 1.5), rng.uniform(-1.0, 1.0)
    return system, system.simulate([x, x * x], [u, 2 * x * u], until=1.0, save=0.02)


def bouncing(rng: np.random.Generator) -> tuple[Any, Any]:
    wall = zw.event(lambda q: q[0] - 0.3, zw.bounce(rng.uniform(0.3, 0.9)), direction=1)
    system = particle(lambda: [0.0, -9.81])
    return system, system.simulate(
        [-np.sin(1.0), -np.cos(1.0)], until=3.0, events={"wall": wall}, save=0.05
    )


def by_steps(rng: np.random.Generator) -> tuple[Any, Any]:
    system = particle(lambda: [0.0, -9.81])
    names = ["order5", "order8", "gauss", "radau5", "rattle", "generalized_alpha"]
    return system, system.simulate(
        **turned(rng),
        until=1.0,
        integrator=str(rng.choice(names)),
        step=float(rng.choice([0.002, 0.01])),
        save=rng.choice([None, 0.05]),
    )


def linkage(rng: np.random.Generator) -> tuple[Any, Any]:
    mechanism = library.four_bar(rate=rng.uniform(1.0, 6.0), angle=rng.uniform(0.3, 2.5))
    return mechanism.system, mechanism.simulate(
        until=1.0, tolerance=10.0 ** rng.uniform(-11, -6), save=0.02
    )


def at_rest(rng: np.random.Generator) -> tuple[Any, Any]:
    """A plate on ball joints, more of them than it needs: all accelerations are rounding."""
    size, mass = 10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(-3, 3)
    m = zw.Mechanism(gravity=rng.normal(size=3) * 5.0)
    plate = m.body("plate", inertia=zw.inertia.box(mass, size * rng.uniform(0.1, 1.0, 3)))
    for k in range(int(rng.integers(3, 7))):
        m.spherical(f"leg{k}", m.ground, plate, at=size * rng.normal(size=3))
    return m.system, m.simulate(until=0.5, save=0.05)


def spinning(rng: np.random.Generator) -> tuple[Any, Any]:
    """Shafts in doubled bearings with constant-velocity joints, few or many: a uniform motion."""
    m = zw.Mechanism(gravity=rng.choice([0.0, 9.81]) * np.array([0.0, 0.0, -1.0]))
    for k in range(int(rng.choice([1, 2, 20]))):
        rate, angle = rng.uniform(1.0, 50.0), rng.uniform(0.1, 0.6)
        place, along = np.array([0.0, 2.0 * k, 0.0]), np.array([np.cos(angle), 0, np.sin(angle)])
        ends = {"a": (-0.25, np.array([1.0, 0.0, 0.0])), "b": (0.25, along)}
        shafts = []
        for name, (offset, axis) in ends.items():
            at = place + offset * axis
            inertia = zw.inertia.cylinder(rng.uniform(0.5, 2.0), 0.05, 0.5, axis=axis)
            turn = tuple(rate * axis)
            shaft = m.body(f"{name}{k}", inertia=inertia, position=at, angular_velocity=turn)
            m.revolute(f"bearing_{name}{k}", m.ground, shaft, at=at, axis=axis)
            shafts.append(shaft)
        a, b = shafts
        m.revolute(f"second{k}", m.ground, a, at=place - (0.4, 0, 0), axis="x")
        m.constant_velocity(f"joint{k}", a, b, at=place, axis="x", axis_b=along)
    return m.system, m.simulate(until=0.5, save=0.05)


def from_library(rng: np.random.Generator) -> tuple[Any, Any]:
    """A mechanism of the library, as it is placed."""
    m = getattr(library, str(rng.choice(library.mechanism_names())))()
    return m.system, m.simulate(until=0.3, save=0.03, tolerance=10.0 ** rng.uniform(-10, -6))


def example(name: str) -> Kind:
    def make(rng: np.random.Generator) -> tuple[Any, Any]:
        model = zw.read_model(example_path(name))
        return model.system, model.simulate(tolerance=10.0 ** rng.uniform(-10, -7))

    return make


KINDS: dict[str, Kind] = {
    "stiff": stiff,
    "abrupt": abrupt,
    "friction": rough,
    "events": bouncing,
    "fixed steps": by_steps,
    "linkage": linkage,
    "at rest": at_rest,
    "uniform": spinning,
    "library": from_library,
}
EXAMPLES = {f"example {name}": example(name) for name in example_names()}

#: An edit is so many tolerances, or parts of the state where steps are fixed.
EDIT, EDIT_OF_STEPS = 1e4, 1e-2


def edited(run: Any, rng: np.random.Generator) -> tuple[Any, float]:
    """The run with one velocity changed in one row, and the time of that."""
    row = int(rng.integers(1, len(run) - 1))
    size = EDIT_OF_STEPS if run.settings.step > 0.0 else min(EDIT * run.settings.tolerance, 1e-2)
    v = run.v.copy()
    v[row, int(rng.integers(v.shape[1]))] += size * (1.0 + np.abs(v[row]).max())
    return replace(run, v=v), float(run.t[row])


def told_at(outcome: Any, t: float) -> bool:
    """Whether all findings of motion are about intervals that meet the time of the edit."""
    times = [
        (float(a), float(b))
        for a, b in re.findall(
            r"from t = (\S+) s .*? (?:at|to) (\S+?) s", "\n".join(outcome.findings)
        )
    ]
    near = 1e-4 * max(abs(t), 1.0) + 1e-5
    return bool(times) and all(a - near <= t <= b + near for a, b in times)


def check(kind: Kind, rng: np.random.Generator, folder: Path) -> None:
    """An untouched run and an edited one."""
    system, run = kind(rng)
    assert len(run) > 3, run.status
    run.save(folder / "run")
    outcome = zw.verify(folder / "run", system)
    assert outcome, outcome
    other, t = edited(run, rng)
    other.save(folder / "edited")
    outcome = zw.verify(folder / "edited", system)
    assert not outcome
    found = [x for x in outcome.findings if f"{t:.6g}" in x]
    assert found or told_at(outcome, t), (t, outcome.findings[:3])


@pytest.mark.parametrize("name", KINDS)
def test_untouched_runs_are_verified_and_edited_ones_are_not(name: str, tmp_path: Path) -> None:
    check(KINDS[name], np.random.default_rng(3), tmp_path)


def test_what_takes_too_many_steps_again_is_noted_and_not_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_runs, "MOST_STEPS", 0)
    monkeypatch.setattr(stored_runs, "LEAST_STEPS", 0)
    system, run = abrupt(np.random.default_rng(3))
    run.save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", system)
    assert outcome
    assert any("could not be integrated anew" in note for note in outcome.notes)


def not_integrated(monkeypatch: pytest.MonkeyPatch, *, by: Callable[[Any], bool]) -> None:
    """Let no motion lead on from t = 0.5 with settings that are told."""
    goes = interpolate.propagate

    def stops(run: Any, segment: Any, settings: Any, t: float, *rest: Any, **more: Any) -> Any:
        if abs(t - 0.5) < 1e-9 and by(settings):
            raise NotIntegratedError("state between saved times", but="cannot be reached")
        return goes(run, segment, settings, t, *rest, **more)

    monkeypatch.setattr(interpolate, "propagate", stops)


@pytest.mark.parametrize("edit", ["", "position", "velocity"])
def test_what_cannot_be_integrated_anew_is_noted_and_not_accused(
    edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = library.four_bar()
    run = m.simulate(until=1.0, save=0.1, tolerance=1e-9)
    row = int(np.argmin(np.abs(run.t - 0.5)))
    if edit == "velocity":  # one that all constraints allow
        v = run.v.copy()
        v[row] *= 1.0 + 1e-5
        run = replace(run, v=v)
    elif edit == "position":
        q = run.q.copy()
        q[row, 0] += 1e-5
        run = replace(run, q=q)
    run.save(tmp_path / "run")
    # More accurately it cannot, but as the run did.
    not_integrated(monkeypatch, by=lambda settings: settings.tolerance < 1e-9)
    outcome = zw.verify(tmp_path / "run", m)
    assert bool(outcome) == (edit == ""), outcome
    assert outcome.checked["intervals"] == len(run) - 1
    assert any("the energy is not checked after t = 0.5 s" in note for note in outcome.notes)
    # In no way.
    not_integrated(monkeypatch, by=lambda settings: True)
    outcome = zw.verify(tmp_path / "run", m)
    assert bool(outcome) == (edit == ""), outcome
    assert outcome.checked["intervals"] == len(run) - 2
    assert any("could not be integrated anew from t = 0.5 s" in note for note in outcome.notes)


def test_a_state_to_which_no_motion_leads_is_none_of_its_system(tmp_path: Path) -> None:
    """A mass that falls into a pole at t = 1.11 s, and a state that was put after it."""

    def falling(strength: float) -> zw.System:
        return zw.System(
            ["x"],
            mass=[[1.0]],
            parameters={"c": strength},
            force=lambda q, p: [-p.c / q[0] ** 2],
        )

    times, strong = [*np.arange(10) * 0.1, 1.2], falling(1.0)
    run = falling(0.1).simulate(q=[1.0], v=[0.0], until=1.2, save=times)
    before = strong.simulate(q=[1.0], v=[0.0], until=0.9, save=times[:-1])
    segment = replace(run.segments[0], system=strong, parameters={"c": 1.0})
    run = replace(
        run,
        q=np.vstack([before.q, [[37.0]]]),
        v=np.vstack([before.v, [[5.0]]]),
        segments=(segment,),
        system=strong,
    )
    run.save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", strong)
    assert outcome.verdict == "no motion of its system", outcome
    assert "from t = 0.9 s no motion leads to the state saved at 1.2 s" in outcome.findings


@pytest.mark.campaign
@pytest.mark.parametrize("name", KINDS)
def test_two_hundred_untouched_and_edited_runs(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for k in range(32):
        check(KINDS[name], rng, tmp_path / str(k))


@pytest.mark.campaign
@pytest.mark.parametrize("name", EXAMPLES)
def test_all_examples_are_verified(name: str, tmp_path: Path) -> None:
    check(EXAMPLES[name], np.random.default_rng(5), tmp_path)

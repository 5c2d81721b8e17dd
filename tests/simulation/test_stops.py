"""Where no motion goes on a run stops, soon and with a sentence; nothing wrong is saved before."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.integrators.lane_queue import LaneQueue
from zwang.results.segments import RankChange
from zwang.results.status import start_at_dead_center, stuck_at_start
from zwang.simulation import hopeless
from zwang.simulation.reach import drivers_beyond_reach

EXPLICIT = ("order5", "order8", "gauss")
ALL = (*EXPLICIT, "radau5", "rattle", "generalized_alpha")


def pendulum(**changes: Any) -> zw.System:
    """A unit pendulum in Cartesian coordinates."""
    given: dict[str, Any] = {"mass": lambda: np.eye(2), "force": lambda: [0.0, -9.81]}
    rod = zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)
    return zw.System(coordinates=["x", "y"], constraints={"rod": rod}, **{**given, **changes})


# --- steps that end off the constraints -----------------------------------------------------------


@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("step", [0.05, 0.3, 0.6, 0.9])
def test_a_fixed_step_that_cannot_be_projected_is_not_accepted(
    integrator: str, step: float
) -> None:
    """Order 5 reached |q| = 2e38 with steps of 0.6 s, `finished`."""
    run = pendulum().simulate([1, 0], until=4.0, step=step, integrator=integrator)
    assert np.abs(np.hypot(*run.q.T) - 1.0).max() < 1e-9
    if not run.finished:
        assert "take a smaller one" in run.status
    if step == 0.05:
        assert run.finished


def test_a_step_too_long_to_be_projected_says_so_in_lanes_too() -> None:
    choices = {"until": 4.0, "step": 0.6, "integrator": "order5"}
    alone = pendulum().simulate([1, 0], **choices)
    assert "ends so far from the constraints" in alone.status
    many = pendulum().simulate_many([[1.0, 0.0]] * 3, **choices)
    assert many.status == (alone.status,) * 3


@pytest.mark.parametrize("integrator", ["order5", "order8"])
def test_the_loosest_tolerance_does_not_let_a_motion_grow(integrator: str) -> None:
    """Of order 5 at 0.1 the gyroscope's energy grew sixteen-fold."""
    run = library.gyroscope().simulate(
        until=2.0, tolerance=0.1, integrator=integrator, coordinates="absolute"
    )
    assert run.finished
    assert abs(run.energy[-1] / run.energy[0] - 1.0) < 0.1


# --- masses that are lost -------------------------------------------------------------------------


def fading(t: Any) -> Any:
    """A mass that becomes negative at half a second."""
    return zw.where(t < 0.5, 1.0, -1.0)


LOST = {
    "a free particle": lambda mass: zw.System(
        coordinates=["x"], mass=lambda t: [[mass(t)]], force=lambda: [1.0]
    ),
    "an oscillator": lambda mass: zw.System(
        coordinates=["x"], mass=lambda t: [[mass(t)]], force=lambda q: [-4.0 * q[0]]
    ),
}


@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("name", LOST)
def test_a_mass_that_becomes_negative_stops_the_run(name: str, integrator: str) -> None:
    step = {"step": 0.01} if integrator in ("rattle", "generalized_alpha") else {}
    run = LOST[name](fading).simulate([1.0], until=1.0, integrator=integrator, **step)
    assert not run.finished
    assert "the mass of 'x_dot' is -1" in run.status
    assert run.t[-1] <= 0.5 + 1e-6


def test_a_mass_that_fades_stops_the_run_where_it_is_gone() -> None:
    run = LOST["a free particle"](lambda t: 1.0 - t).simulate([0.0], until=2.0)
    assert "the mass of 'x_dot'" in run.status
    assert run.t[-1] == pytest.approx(1.0, abs=1e-6)


def test_a_pendulum_that_loses_its_mass_stops_for_that_reason() -> None:
    run = pendulum(mass=lambda t: np.eye(2) * fading(t)).simulate([1, 0], until=1.0)
    assert "the mass of 'x_dot' is -1" in run.status


def test_a_mass_matrix_that_becomes_indefinite_is_noticed() -> None:
    """Its diagonal stays positive, so that only the guard sees it."""

    def mass(t: Any) -> Any:
        c = zw.where(t < 0.5, 0.2, 3.0)
        return np.array([[1.0, c], [c, 1.0]])

    system = zw.System(coordinates=["x", "y"], mass=mass, force=lambda: [1.0, 0.0])
    run = system.simulate([0.0, 0.0], until=1.0)
    assert "negative eigenvalue" in run.status
    many = system.simulate_many([[0.0, 0.0]] * 2, until=1.0)
    assert not many.finished.any()


# --- events without a value -----------------------------------------------------------------------


@pytest.mark.parametrize("integrator", [*EXPLICIT, "radau5"])
def test_an_event_function_that_is_no_number_any_more_stops_the_run(integrator: str) -> None:
    odd = zw.event(lambda q: np.sqrt(q[1] + 0.5) + 1.0)
    run = pendulum().simulate([1, 0], until=2.0, events={"odd": odd}, integrator=integrator)
    assert not run.finished
    assert "function of event 'odd'" in run.status
    assert "is not a number" in run.status


def test_an_event_function_that_is_no_number_at_the_start_is_refused() -> None:
    odd = zw.event(lambda q: np.log(q[1] - 5.0))
    with pytest.raises(zw.ZwangError, match="function of event 'odd'"):
        pendulum().simulate([1, 0], until=2.0, events={"odd": odd})


# --- steps that collapse, and memory --------------------------------------------------------------


def test_constraints_that_no_motion_meets_are_refused_at_the_start() -> None:
    """A rod on a pin, level, whose centre is to move along it: steps of 1e-10 s filled 24 GB."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    a = m.body("a", inertia=zw.inertia.rod(1.0, 1.0, axis=(1, 0, 0)), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, a, at=(0, 0, 0), axis="y")
    m.constraint("v", [a], lambda bodies, t: bodies[0].velocity[0] - t)
    for coordinates in ("auto", "absolute"):
        with pytest.raises(zw.InconsistentConstraintsError, match="v"):
            m.simulate(until=1.0, coordinates=coordinates)


def test_a_run_stops_where_its_steps_have_collapsed() -> None:
    system = zw.System(coordinates=["x"], mass=lambda: [[1.0]], force=lambda q: [-1e22 * q[0]])
    run = system.simulate([1.0], until=1.0, save=[1.0])
    assert not run.finished
    assert "steps have become as short as" in run.status
    assert run.counts.steps < 5_000_000


def test_a_run_stops_before_its_states_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hopeless, "machine_memory", lambda: 4e6)
    run = pendulum().simulate([1, 0], until=1e4)
    assert not run.finished
    assert "states saved so far take 0.0 GB" in run.status
    assert "save=" in run.status
    assert len(run) > 1000


def appell() -> tuple[zw.System, tuple[list[float], list[float]]]:
    """Appell's constraint ż = k √(ẋ² + ẏ²), with gravity: the particle slows down to rest."""
    system = zw.System(
        ["x", "y", "z"],
        parameters={"k": 0.5},
        mass=lambda: np.eye(3),
        potential=lambda q: 9.81 * q[2],
        constraints={
            "appell": zw.velocity(lambda v, p: v[2] - p.k * np.sqrt(v[0] ** 2 + v[1] ** 2))
        },
    )
    return system, ([0.0, 0.0, 0.0], [2.0, 1.0, 0.5 * np.sqrt(5.0)])


#: |v| (1 + k²)/(g k): the speed along the ground falls by g k/(1 + k²) a second.
AT_REST = np.sqrt(5.0) * 1.25 / (9.81 * 0.5)


def test_a_constraint_that_has_no_direction_at_rest_is_not_stepped_over() -> None:
    """Behind the last node of a step the constraint turns round: the end of the step shows it."""
    system, start = appell()
    for until in (0.5, AT_REST + 1e-4):
        run = system.simulate(*start, until=until, save=[until], tolerance=1e-6)
    assert run.finished
    assert np.abs(run.v[-1]).max() < 1e-5  # 4e-4 beyond rest, turned round


def test_steps_that_become_next_to_nothing_stop_a_run_though_only_minutes_are_left() -> None:
    system, start = appell()
    run = system.simulate(*start, until=0.6, save=0.01)
    assert not run.finished
    assert run.status.startswith("stopped at t = 0.5698")
    assert "steps have become as short as" in run.status


def test_a_driver_that_does_not_leave_its_dead_center_is_told_of_soon(tmp_path: Path) -> None:
    """Half a million steps led some hundredths of a second on, and a study five times as many."""
    model = zw.read_model(Path(__file__).with_name("flat_lift.toml"))
    run = model.simulate()
    assert not run.finished
    assert run.counts.steps + run.counts.rejected < 60_000
    assert "the motion begins at a dead center of driver spindle, where constraints" in run.status
    assert "foot, middle, spindle depend on each other. Begin a little away from it" in run.status
    assert "more than the mechanism can reach" not in run.status
    begun = time.process_time()
    plan = {"grid": {"lead": [0.005]}, "outputs": ["peak(spindle.effort)"]}
    study = zw.study(model, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    # It took 80 s; now one, on a machine of today.
    assert time.process_time() - begun < 20.0
    assert "a dead center of driver spindle" in study.failed[0]
    # The force of the start alone is no peak, and none of this position: it is unbounded.
    assert np.isnan(study.dataset["peak(spindle.effort)"].item())


@pytest.mark.parametrize(("change", "found"), [(-0.01, ()), (0.01, ("ram",))])
def test_a_start_at_a_dead_center_is_told_from_one_at_the_end_of_reach(
    change: float, found: tuple[str, ...]
) -> None:
    """Two bars in one line: the block is drawn in, or pushed further than they reach."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    first = m.body("first", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, 0))
    second = m.body("second", inertia=zw.inertia.rod(1.0, 1.0), position=(1.5, 0))
    block = m.body("block", mass=1.0, inertia=0.1, position=(2, 0))
    m.revolute("A", m.ground, first, at=(0, 0))
    m.revolute("B", first, second, at=(1, 0))
    m.revolute("C", second, block, at=(2, 0))
    m.prismatic("rail", m.ground, block, at=((0, 0), (2, 0)), axis="x")
    m.drive("ram", "rail.displacement", lambda t: 2.0 + change * t**2)
    equations = m.system.equations
    q, p = m.assemble().q, m.system.parameter_vector({})
    assert drivers_beyond_reach(equations, q, 0.0, p) == ()
    assert drivers_beyond_reach(equations, q, 1.0, p) == found
    change_of_rank = RankChange(0.0, 1, lasting=False, find=lambda: ("A", "B", "ram"))
    told = start_at_dead_center([change_of_rank], 0.0, 0, ["ram"], lambda: found)
    assert ("may ask for more than the mechanism can reach" in told) == bool(found)
    assert ("begins at a dead center of driver ram" in told) != bool(found)
    assert stuck_at_start(f"stopped at t = 0 s: {told}")


def test_a_driver_is_named_that_is_not_among_the_dependent_constraints() -> None:
    """The arms of a lift stand upright, and its platform is to rise: two bars, and a slide each."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    half, angle = 0.6, np.radians(25)
    at = half * np.array([np.cos(angle), np.sin(angle)])
    rod = zw.inertia.rod(12.0, 1.2)
    a = m.body("a", inertia=rod, position=at, angle=-angle)
    b = m.body("b", inertia=rod, position=at, angle=angle)
    slider = m.body("slider", mass=5, inertia=0.1, position=(2 * at[0], 0))
    top = m.body("top", mass=80, inertia=10, position=(half, 2 * at[1]))
    fan = m.body("fan", mass=1, inertia=0.1, position=(5, 0))
    m.revolute("axle", m.ground, fan, at=(5, 0))
    m.drive("motor", "axle.angle", lambda t: t)
    m.revolute("foot", m.ground, a, at=((0, 0), a.marker((-half, 0))))
    m.revolute("middle", a, b, at=(a.marker(), b.marker()))
    m.prismatic("guide", m.ground, slider, at=((0, 0), slider.marker()), axis="x")
    m.revolute("pin", slider, b, at=(slider.marker(), b.marker((half, 0))))
    m.revolute("hinge", top, b, at=(top.marker((-half, 0)), b.marker((-half, 0))))
    m.point_on_line("slide", top, a, at=(top.marker((-half, 0)), a.marker((half, 0))), axis="x")
    m.drive("ram", "top.position", lambda t: [half, 2 * at[1] + 0.3 * t])
    run = m.simulate(until=4.0)
    assert not run.finished
    assert run.t[-1] == pytest.approx((1.2 - 2 * at[1]) / 0.3, abs=1e-2)
    assert "driver ram may ask for more than the mechanism can reach" in run.status


@pytest.mark.parametrize("many", [False, True])
def test_a_long_run_that_leaves_its_dead_center_goes_on(
    monkeypatch: pytest.MonkeyPatch, *, many: bool
) -> None:
    """A crank that turns for weeks and begins at a dead center of its driver was stopped."""
    for module in ("integrators.chunk_size", "simulation.ensemble"):  # minutes of steps, and some
        monkeypatch.setattr(f"zwang.{module}.TEDIOUS", 1e3)
        monkeypatch.setattr(f"zwang.{module}.DRAGGING", 500)
    left: list[int] = []
    drop = LaneQueue.drop
    monkeypatch.setattr(LaneQueue, "drop", lambda *given: left.append(1) or drop(*given))
    rate = 6.28
    m = zw.Mechanism(plane="xy")
    crank = m.body("crank", mass=1.0, inertia=0.5)
    bar = m.body("bar", mass=1.0, inertia=0.5, position=(1, 0))
    m.revolute("pin", m.ground, crank, at=(0, 0))
    m.prismatic("rail", m.ground, bar, at=(1, 0), axis="x")
    at = (bar.marker((0, 0)), crank.marker((1, 0)))
    m.point_on_line("slot", bar, crank, at=at, axis="y")
    m.drive("d", "rail.displacement", lambda t: np.cos(rate * t) - 1)
    state = m.assemble(velocity={"hold": {"pin.angle_rate": rate}})
    if many:
        runs = m.simulate_many([state.q] * 4, [state.v] * 4, until=200.0, save=[0, 200.0])
        assert not left
    else:
        runs = [m.simulate(state, until=200.0, save=[0, 200.0])]
    for run in runs:
        assert run.finished, run.status
        assert abs(run["pin.angle"][-1] - rate * 200.0) < 1e-4

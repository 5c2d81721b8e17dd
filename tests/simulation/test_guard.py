"""The guard: programs broken on purpose are noticed, right ones are not, whatever the mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.coordinates import folded
from zwang.coordinates.joint import system as joint_system
from zwang.coordinates.planar import equations
from zwang.equations.active_rows import ActiveRows
from zwang.equations.program_expressions import expressions_of
from zwang.mechanism import LATEST
from zwang.programs.coordinate_change import CoordinateChangeByExpression
from zwang.programs.factor import ProgramExpressions
from zwang.programs.whole import fuse
from zwang.simulation import ensemble, ensemble_check, guard, program_check, select_program

DISAGREES = "stopped by a check, which compares the equations as they are integrated"
ABSOLUTE = "integrated in absolute coordinates: in "

# --- models, each with its start and a choice of coordinates --------------------------------------


def pendulums() -> tuple[Any, dict[str, Any]]:
    """Two masses on rods, in Cartesian coordinates."""

    def rods(q: Any, p: Any) -> Any:
        return [
            q[0] ** 2 + q[1] ** 2 - p.a**2,
            (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - p.b**2,
        ]

    system = zw.System(
        coordinates=["x", "y", "u", "w"],
        parameters={"a": 1.0, "b": 1.0, "m": 2.0, "g": 9.81},
        mass=lambda p: np.diag([p.m, p.m, 1.0, 1.0]),
        force=lambda p: [0.0, -p.m * p.g, 0.0, -p.g],
        constraints={"rods": zw.position(rods)},
    )
    q, v = [0.6, -0.8, 1.6, -0.8], [0.8, 0.6, 0.8, 1.1]
    return system, {"q": q, "v": v}


def bead() -> tuple[Any, dict[str, Any]]:
    """A bead on a rough wire, whose friction depends on the reaction."""

    def friction(v: Any, reaction: Any) -> Any:
        return -0.3 * np.sqrt(reaction @ reaction) * v / np.sqrt(v @ v + 1e-4)

    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"wire": zw.position(lambda q: q[1] - q[0] ** 2)},
        nonideal={"wire": friction},
    )
    return system, {"q": [1.0, 1.0], "v": [-0.5, -1.0]}


def mechanism(
    name: str, coordinates: str = "auto", **options: Any
) -> Callable[[], tuple[Any, dict[str, Any]]]:
    """A mechanism of the library, moving; a new one with each call."""

    @cache
    def start() -> tuple[Any, Any]:
        made = getattr(library, name)(**options)
        run = made.simulate(until=0.02, save=[0.02], coordinates="absolute")
        return run.q[-1], run.v[-1]

    def build() -> tuple[Any, dict[str, Any]]:
        q, v = start()
        made = getattr(library, name)(**options)
        return made.system, {"q": q, "v": v, "coordinates": coordinates}

    return build


MODELS: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "pendulums": pendulums,
    "bead": bead,
    "four-bar": mechanism("four_bar", rate=2.0),
    "four-bar in its plane": mechanism("four_bar", "planar", rate=2.0, planar=False),
    "chain in joints": mechanism("chain", "joint", n=3, planar=False),
    "chain": mechanism("chain", "absolute", n=3, planar=False),
    "coin": mechanism("rolling_coin", "absolute"),
    "shaft in joints": mechanism("universal_joint_shaft", "joint"),
    "Bricard": mechanism("bricard", "absolute"),
    "top": mechanism("spinning_top", "absolute"),
}

# --- ways to break a program ----------------------------------------------------------------------


def _entry(x: Any, k: int, change: Callable[[Any], Any]) -> Any:
    """A matrix with its k-th structural nonzero changed."""
    x = ca.SX(x)
    rows, columns = x.sparsity().get_triplet()
    if not rows:
        return x
    i, j = rows[k % len(rows)], columns[k % len(rows)]
    x[i, j] = change(x[i, j])
    return x


def _without_row(e: ProgramExpressions, k: int) -> ProgramExpressions:
    count = e.A.shape[0]
    if not count:
        return e
    gone = k % count

    def left(x: Any) -> Any:
        return x[[i for i in range(x.shape[0]) if i != gone], :] if x.shape[0] == count else x

    names = ("A", "b", "phi", "A_position", "psi", "A_rate", "value_of_row", "rate_of_row")
    levels = tuple(level for i, level in enumerate(e.levels) if i != gone)
    return replace(e, levels=levels, **{name: left(getattr(e, name)) for name in names})


def _stale(e: ProgramExpressions, k: int) -> ProgramExpressions:
    """A parameter is not the one that is handed over."""
    count = e.p.numel()
    if not count:
        return e
    p = ca.SX(e.p)
    p[k % count] = 1.37 * p[k % count] + 0.21
    names = ("M", "force", "A", "b", "acceleration")
    given = {name: getattr(e, name) for name in names if getattr(e, name) is not None}
    return replace(e, **{name: ca.substitute(x, e.p, p) for name, x in given.items()})


def _accelerations(e: ProgramExpressions, k: int) -> ProgramExpressions:
    if e.acceleration is None:
        return e
    return replace(e, acceleration=_entry(e.acceleration, k, lambda x: -x))


BREAKS: dict[str, Callable[[ProgramExpressions, int], ProgramExpressions]] = {
    "a row dropped": _without_row,
    "a force with the other sign": lambda e, k: replace(e, force=_entry(e.force, k, lambda x: -x)),
    "another mass": lambda e, k: replace(e, M=_entry(e.M, k, lambda x: 1.3 * x)),
    "a row with another sign": lambda e, k: replace(e, A=_entry(e.A, k, lambda x: -x)),
    "another right side": lambda e, k: replace(e, b=_entry(e.b, k, lambda x: -x - 0.1)),
    "a stale parameter": _stale,
    "other rates": lambda e, k: replace(e, q_dot=_entry(e.q_dot, k, lambda x: 1.5 * x)),
    "an acceleration with the other sign": _accelerations,
}


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Break all programs that are written down from now on."""

    def apply(how: str, k: int) -> None:
        def fused(e: ProgramExpressions, **choices: Any) -> Any:
            return fuse(BREAKS[how](e, k), **choices)

        for module in (select_program, folded, joint_system):
            monkeypatch.setattr(module, "fuse", fused)
        LATEST.clear()  # of equal mechanisms, programs are there

    return apply


def matters(system: Any, start: dict[str, Any]) -> bool:
    """Whether a program does something else than the right one, told without the guard."""
    state, choices = _split(start)
    q, v, _, p = system.arguments(state.get("q"), state.get("v"), 0.0, None)
    settings = zw.integrators.settings.Settings(until=1.0, **choices)
    y = np.concatenate([q, v])
    program = select_program.select_program(
        system.equations, select_program.ProgramStart(y, 0.0, p), settings
    )
    hat, inner = (y, p) if program.carrier is None else program.carrier.entered(y, 0.0, p)
    found = program_check.motion_of(system.equations, program, hat, 0.0, inner)
    right = np.concatenate([_rates_of(system, q, v, p), _right(system, q, v, p)])
    return bool(np.abs(found.rates - right).max() > 1e-3 * max(1.0, np.abs(right).max()))


def _split(start: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    state = {k: x for k, x in start.items() if k in "qv"}
    return state, {
        k: zw.integrators.settings.Coordinates(x) for k, x in start.items() if k not in "qv"
    }


def _right(system: Any, q: Any, v: Any, p: Any) -> np.ndarray:
    return system.equations.solve_at(q, v, np.asarray(0.0), p).acceleration


def _rates_of(system: Any, q: Any, v: Any, p: Any) -> np.ndarray:
    (found,) = system.equations.evaluator(
        "q_dot", lambda m: {"q_dot": m.state.q_dot}, q, v, np.asarray(0.0), p
    )
    return found


def noticed(run: Any) -> bool:
    """Whether a run says that its program was not right."""
    return run.status.startswith(DISAGREES) or any(n.startswith(ABSOLUTE) for n in run.notes)


def simulated(system: Any, start: dict[str, Any], **choices: Any) -> Any:
    """A short run."""
    return system.simulate(**start, until=0.01, **choices)


# --- broken programs are noticed ------------------------------------------------------------------

SLICE = [
    ("pendulums", "a row dropped", 1),
    ("pendulums", "a force with the other sign", 1),
    ("pendulums", "another mass", 2),
    ("pendulums", "a row with another sign", 0),
    ("pendulums", "another right side", 0),
    ("pendulums", "a stale parameter", 3),
    ("pendulums", "other rates", 2),
    ("four-bar", "a row dropped", 5),
    ("four-bar", "another mass", 4),
    ("chain in joints", "an acceleration with the other sign", 1),
]


@pytest.mark.parametrize(("model", "how", "k"), SLICE)
def test_a_broken_program_is_noticed(
    model: str, how: str, k: int, broken: Callable[[str, int], None]
) -> None:
    MODELS[model]()  # its start is found by what is whole
    broken(how, k)
    assert matters(*MODELS[model]()), "the break must change something"
    assert noticed(simulated(*MODELS[model]()))


@pytest.mark.campaign
@pytest.mark.parametrize("model", MODELS)
def test_programs_broken_in_many_places_are_all_noticed(
    model: str, broken: Callable[[str, int], None]
) -> None:
    MODELS[model]()
    places, missed = 0, []
    # In joints a program is handed its rows again, and a law of reactions its multipliers, so that
    # dropping one leaves no room.
    handed = "in joints" in model or model == "bead"
    for how in [name for name in BREAKS if not (handed and "dropped" in name)]:
        for k in (0, 1, 2, 5, 11):
            broken(how, k)
            if not matters(*MODELS[model]()):
                continue
            places += 1
            if not noticed(simulated(*MODELS[model]())):
                missed.append((how, k))
    print(f"{model}: {places} places")
    assert places >= 3
    assert not missed


def test_a_parameter_that_is_stale_from_the_second_run_on_is_noticed(
    broken: Callable[[str, int], None],
) -> None:
    """The first run with new parameters is looked at, however many there were before."""
    system, start = pendulums()
    right = [simulated(system, start) for _ in range(50)]
    assert all(run.finished for run in right)
    program = next(iter(system.equations.cache.programs.values()))
    kernel = program.kernel("derivative")
    p = system.parameter_vector()
    stale = fuse_with_constants(system, p)
    program.compiled["derivative"] = stale
    program._calls.clear()
    program.frames.clear()
    assert not noticed(simulated(system, start))  # with the old values nothing is wrong
    assert noticed(simulated(system, start, parameters={"g": 1.62}))
    program.compiled["derivative"] = kernel


def fuse_with_constants(system: Any, p: np.ndarray) -> Any:
    """The derivative with the parameters that are now written into it."""
    from zwang.codegen.kernel import compile as compile_kernel

    e = expressions_of(system.equations, ActiveRows(), singular=False)
    derivative = fuse(e).outputs["derivative"]()
    fixed = [ca.densify(ca.substitute(x, e.p, ca.SX(p))) for x in derivative]
    return compile_kernel(ca.Function("derivative", [e.q, e.v, e.t, e.p], fixed))


@pytest.mark.parametrize("part", ["q", "v"])
def test_coordinates_that_lead_astray_are_given_up(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is made in absolute coordinates, says so, and is right."""
    system, start = MODELS["four-bar in its plane"]()
    right = simulated(system, {**start, "coordinates": "absolute"})

    def crooked(*arguments: Any) -> CoordinateChangeByExpression:
        *others, q, v = arguments
        changed = {"q": q, "v": v}
        changed[part] = ca.SX(changed[part])
        changed[part][7] = 1.001 * changed[part][7] + 0.001
        return CoordinateChangeByExpression(*others, changed["q"], changed["v"])

    monkeypatch.setattr(equations, "CoordinateChangeByExpression", crooked)
    system, start = MODELS["four-bar in its plane"]()
    run = simulated(system, start)
    assert any(note.startswith(ABSOLUTE + "planar ones") for note in run.notes)
    assert run.finished
    assert run.settings.coordinates == "absolute"
    assert np.abs(run.q[-1] - right.q[-1]).max() < 1e-9
    later = simulated(system, start)  # it is remembered
    assert any(note.startswith(ABSOLUTE) for note in later.notes)
    many = system.simulate_many(start["q"], start["v"], until=0.01)
    assert any(note.startswith(ABSOLUTE) for note in many[0].notes)


def test_a_broken_program_of_an_ensemble_is_noticed(broken: Callable[[str, int], None]) -> None:
    system, start = pendulums()
    broken("a force with the other sign", 1)
    runs = system.simulate_many([start["q"]] * 3, [start["v"]] * 3, until=0.01)
    assert all(run.status.startswith(DISAGREES) for run in runs)


def _wrong_on_the_moon(e: ProgramExpressions) -> ProgramExpressions:
    """Gravity below 2 m/s² is taken for that of the earth."""
    g = e.p[3]
    return replace(e, force=ca.substitute(e.force, g, ca.if_else(g < 2.0, 9.81, g)))


def test_one_set_of_parameters_among_many_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is wrong for one member of an ensemble alone."""

    def fused(e: ProgramExpressions, **choices: Any) -> Any:
        return fuse(_wrong_on_the_moon(e), **choices)

    monkeypatch.setattr(select_program, "fuse", fused)
    system, start = pendulums()
    g = np.linspace(9.0, 10.0, 300)
    g[137] = 1.62
    runs = system.simulate_many(**start, until=0.01, parameters={"g": g})
    assert [i for i, run in enumerate(runs) if not run.finished] == [137]
    assert runs[137].status.startswith(DISAGREES)


@pytest.mark.parametrize("model", ["pendulums", "four-bar", "four-bar in its plane"])
def test_no_start_of_a_right_ensemble_is_suspicious(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []

    def watched(*arguments: Any) -> np.ndarray:
        found.append((len(arguments[2].y), ensemble_check.suspicious(*arguments)))
        return found[-1][1]

    monkeypatch.setattr(ensemble, "suspicious", watched)
    system, start = MODELS[model]()
    state, choices = start["q"], {k: x for k, x in start.items() if k not in "qv"}
    masses = [name for name in system.definition.parameters if name.endswith("mass")] or ["m"]
    runs = system.simulate_many(
        state,
        start.get("v"),
        until=0.01,
        parameters={masses[0]: np.geomspace(0.1, 10.0, 100)},
        threads=1,
        **choices,
    )
    assert runs.finished.all()
    assert sum(count for count, _ in found) == 100
    assert not any(len(some) for _, some in found)


def test_what_had_ended_before_a_program_was_doubted_is_made_again(
    broken: Callable[[str, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def late(_: guard.Guard, count: int) -> list[int]:
        calls.append(count)
        return [0] if len(calls) == 2 else []  # of the second part alone

    monkeypatch.setattr(ensemble, "suspicious", lambda *_: np.zeros(0, dtype=int))
    monkeypatch.setattr(ensemble.Guard, "rows", late)
    system, start = pendulums()
    broken("a force with the other sign", 1)
    count = 40
    runs = system.simulate_many([start["q"]] * count, [start["v"]] * count, until=0.01, threads=1)
    assert len(calls) > 2
    assert not runs.finished.any()


def _with_row(e: ProgramExpressions, k: int) -> ProgramExpressions:
    """A velocity may not change any more, which no constraint says."""
    row = ca.SX.zeros(1, e.v.numel())
    row[k] = 1.0
    added = {"A": row, "b": 0, "psi": e.v[k], "A_rate": row, "value_of_row": 0}
    added["rate_of_row"] = 0.5 * e.v[k]
    changed = {name: ca.vertcat(getattr(e, name), x) for name, x in added.items()}
    return replace(e, levels=(*e.levels, "velocity"), **changed)


@pytest.mark.parametrize("k", range(4))
def test_a_freedom_that_is_missing_is_noticed_where_nothing_moves(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At rest and without forces accelerations are zero, whatever a program rules out."""

    def fused(e: ProgramExpressions, **choices: Any) -> Any:
        return fuse(_with_row(e, k), **choices)

    system, start = pendulums()
    start = {"q": start["q"], "v": np.zeros(4), "parameters": {"g": 0.0}}
    assert simulated(system, start).finished
    monkeypatch.setattr(select_program, "fuse", fused)
    system, _ = pendulums()
    assert "could change by all constraints" in simulated(system, start).status


def test_what_stands_still_though_it_is_free_is_seen_by_the_balance_alone() -> None:
    """So a Sarrus linkage hung under gravity: residuals, rows and energy saw nothing."""
    system, start = pendulums()
    y = np.array([*start["q"], 0.0, 0.0, 0.0, 0.0])
    still = program_check.ProgramState(y, np.zeros(8), np.zeros(8))
    settings = zw.integrators.settings.Settings(until=1.0)
    *others, balance = program_check.looks(
        system.equations, still, 0.0, system.parameter_vector(), settings
    )
    assert all(miss.ratio < 1e-3 for miss in others)
    assert balance.ratio > 1e3
    assert "'w_dot'" in balance.what or "'y_dot'" in balance.what


# --- right programs are not -----------------------------------------------------------------------


def everything(
    run_of: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, float, int]:
    """A run with all its saved states looked at, the largest ratio to a limit, and how many."""
    worst, count = 0.0, 0

    def looked(*arguments: Any) -> None:
        nonlocal worst, count
        found = program_check.looks(*arguments)
        count += bool(found)
        worst = max([worst, *(miss.ratio for miss in found)])

    monkeypatch.setattr(guard, "look", looked)
    monkeypatch.setattr(
        guard.Guard, "rows", lambda self, n, **_: list(range(0, n, max(1, n // 40)))
    )
    monkeypatch.setattr(guard.Guard, "wanted", lambda self, most: most)
    return run_of(), worst, count


#: Right programs stay this far below the limits of the guard.
FAR_BELOW = 0.1


@pytest.mark.parametrize("model", ["pendulums", "bead", "four-bar", "chain"])
def test_a_right_program_is_far_from_every_limit(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, start = MODELS[model]()
    run, worst, count = everything(lambda: system.simulate(**start, until=0.5), monkeypatch)
    assert run.finished
    assert count > 5
    assert worst < FAR_BELOW


def particles(**more: Any) -> Any:
    """A pendulum in Cartesian coordinates."""
    return zw.System(
        coordinates=["x", "y"],
        mass=more.pop("mass", lambda: np.eye(2)),
        force=more.pop("force", lambda: [0.0, -9.81]),
        constraints={"rod": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)},
        **more,
    )


def hanging() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Runs of kinds that a guard could take for wrong."""
    drifts = ("projection", "baumgarte", "none")
    for drift in drifts:
        yield drift, lambda drift=drift: particles().simulate([1, 0], until=3.0, drift=drift)
    yield "at rest", lambda: particles().simulate([0, -1], until=3.0)
    methods = ("order5", "order8", "gauss", "radau5", "rattle", "generalized_alpha")
    for name in methods:
        yield (
            f"fixed steps, {name}",
            lambda name=name: particles().simulate([1, 0], until=1, integrator=name, step=0.01),
        )
    yield "loose", lambda: particles().simulate([1, 0], until=3.0, tolerance=1e-2)
    stiff = lambda q, v: [-1e8 * q[0] - 1e4 * v[0], -9.81]  # noqa: E731
    yield "stiff", lambda: particles(force=stiff).simulate([0, 1], until=0.1, integrator="radau5")
    yield (
        "light beside heavy",
        lambda: particles(mass=lambda: np.diag([1e-9, 1e6])).simulate([0.6, 0.8], until=0.2),
    )
    yield "door", lambda: library.door().simulate(until=0.5, coordinates="absolute")
    twice = {
        "one": zw.position(lambda q: q[0] + q[1]),
        "two": zw.position(lambda q: 2e-20 * (q[0] + q[1])),
    }
    yield (
        "a row of other units",
        lambda: zw.System(
            coordinates=["x", "y"],
            mass=lambda: np.eye(2),
            force=lambda: [1.0, -3.0],
            constraints=twice,
        ).simulate([0, 0], until=1.0),
    )
    lying = {"ground": 1.8, "crank": 1.0, "coupler": 3.0, "rocker": 2.2, "rate": 3.0}
    yield "flat once a turn", lambda: library.four_bar(**lying).simulate(until=3.0)
    opaque = zw.opaque(lambda x: float(np.sin(x)), name="table", derivatives="finite differences")
    yield (
        "called functions",
        lambda: zw.System(
            coordinates=["x", "y"],
            mass=lambda: np.eye(2),
            force=lambda: [0.0, -9.81],
            constraints={"wire": zw.position(lambda q: q[1] - opaque(q[0]))},
        ).simulate([0.3, np.sin(0.3)], until=0.3),
    )
    yield (
        "a formulation by name",
        lambda: particles().simulate([1, 0], until=0.5, formulation="udwadia_kalaba"),
    )


HANGING = dict(hanging())


@pytest.mark.parametrize("name", HANGING)
def test_no_run_is_stopped_that_is_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run, worst, count = everything(HANGING[name], monkeypatch)
    assert run.finished, run.status
    assert count >= min(3, len(run))
    assert worst < FAR_BELOW


def test_looks_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand short runs few are looked at, and those with new parameters are."""
    system, start = pendulums()
    taken = []
    look = guard.look
    monkeypatch.setattr(guard, "look", lambda *a: taken.append(a) or look(*a))
    simulated(system, start)
    first = len(taken)
    assert first >= 2
    for _ in range(100):
        simulated(system, start)
    assert len(taken) - first < 60
    before = len(taken)
    simulated(system, start, parameters={"m": 3.0})
    assert len(taken) > before


def test_time_that_others_use_the_processor_adds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs that take long by the clock on the wall are short; long ones pay for looks."""
    system, _ = pendulums()
    wall, used = [0.0], [0.0]
    monkeypatch.setattr(guard, "perf_counter", lambda: wall[0])
    monkeypatch.setattr(guard, "thread_time", lambda: used[0])
    account = guard.Account.of(system.equations)
    account.cost = 1e-3

    def earned(seconds: float, processor: float) -> float:
        settings = zw.integrators.settings.Settings(until=1.0)
        one = guard.Guard(system.equations, settings)
        before = account.allowance
        for _ in range(3):
            wall[0], used[0] = wall[0] + seconds / 3, used[0] + processor / 3
            one.wanted(1)
        return account.allowance - before

    for _ in range(10):
        assert earned(1.0, 3e-3) == 0.0
    earned(1.0, 0.5)
    for _ in range(3):  # each measured from its start, as the one before was long
        assert earned(1.0, 0.5) == pytest.approx(guard.SHARE * (0.5 - guard.SHORT))
        account.allowance = 0.0


def held_scissors(seed: int) -> zw.Mechanism:
    """Two pairs of arms, held by a small idle shoe; sizes, masses and orders drawn at random."""
    rng = np.random.default_rng(seed)
    length, angle, mass = (
        10.0 ** rng.uniform(-3, 3),
        rng.uniform(0.15, 1.2),
        10.0 ** rng.uniform(-3, 3),
    )
    x, h = length * np.cos(angle), length * np.sin(angle)
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    arm = zw.inertia.rod(18.0 * mass, length)
    small = mass * length**2
    parts: dict[str, dict[str, Any]] = {
        "a1": {"inertia": arm, "position": (x / 2, h / 2), "angle": angle},
        "b1": {"inertia": arm, "position": (x / 2, h / 2), "angle": -angle},
        "a2": {"inertia": arm, "position": (x / 2, 1.5 * h), "angle": angle},
        "b2": {"inertia": arm, "position": (x / 2, 1.5 * h), "angle": -angle},
        "platform": {
            "mass": 350.0 * mass,
            "inertia": 75.0 * small,
            "position": (0.4 * length, 2 * h),
        },
        "shoe": {
            "mass": 2.0 * mass,
            "inertia": 1e-5 * small * 10.0 ** rng.uniform(-6, 3),
            "position": (x, 0),
        },
        "up": {"mass": 2.0 * mass, "inertia": 0.01 * small, "position": (x, 2 * h)},
    }
    names = list(parts)
    bodies = {names[k]: m.body(names[k], **parts[names[k]]) for k in rng.permutation(len(names))}
    bodies["ground"] = m.ground
    pins = [
        ("ground", "a1", (0, 0)),
        ("a1", "b1", (x / 2, h / 2)),
        ("a2", "b2", (x / 2, 1.5 * h)),
        ("b1", "a2", (0, h)),
        ("a1", "b2", (x, h)),
        ("b2", "platform", (0, 2 * h)),
        ("b1", "shoe", (x, 0)),
        ("a2", "up", (x, 2 * h)),
        ("ground", "shoe", (x, 0)),
    ]
    for k in rng.permutation(len(pins)):
        one, other, at = pins[k]
        m.revolute(f"pin{k}", bodies[one], bodies[other], at=at)
    m.prismatic("guide", bodies["platform"], bodies["up"], at=(x, 2 * h), axis="x")
    return m


@pytest.mark.parametrize("seed", range(12))
def test_a_structure_with_an_idle_part_is_not_stopped_by_rounding(seed: int) -> None:
    """Reactions of heavy parts have no arm on the shoe but that of rounding, which turns it."""
    run = held_scissors(seed).simulate(until=0.05)
    assert run.finished, run.status
    assert not any("integrated in absolute coordinates" in note for note in run.notes)
    assert np.ptp(run.body("platform").position, axis=0).max() < 1e-9 * np.abs(run.q).max()

"""Mechanisms of one description share what is traced and compiled, and nothing else."""

import copy
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Thread
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang import mechanism as mechanisms
from zwang.equations import mechanism as equations
from zwang.model_files.examples import example_path
from zwang.multibody.call_log import BuilderCall
from zwang.multibody.equal_descriptions import (
    LatestOfEach,
    NotComparableError,
    exact_key,
    recipe_key,
)
from zwang.multibody.handles import BodyHandle, MarkerHandle
from zwang.multibody.inertia import Inertia
from zwang.multibody.pickling import Recipe
from zwang.simulation.program_check import Disagreement


def pendulum(length: float = 1.0) -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -9.81), parameters={"k": 2.0})
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, length), position=(length / 2, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    return m


def doubled() -> zw.Mechanism:
    """Rods on pins that are given twice."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    last = m.ground
    for k in range(3):
        rod = m.body(f"rod{k}", inertia=zw.inertia.rod(1.0, 1.0), position=(k + 0.5, 0, 0))
        for name in (f"pin{k}", f"again{k}"):
            m.revolute(name, last, rod, at=(k, 0, 0), axis="y")
        last = rod
    return m


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Mechanisms whose equations were put together."""
    made: list[object] = []
    write = equations.model_of
    monkeypatch.setattr(equations, "model_of", lambda *a: made.append(a[0]) or write(*a))
    return made


@pytest.fixture
def unshared(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets mechanisms from here on share nothing."""
    return lambda: monkeypatch.setattr(mechanisms, "recipe_key", lambda _: None)


def bits(run: zw.Run) -> tuple[Any, ...]:
    arrays = tuple(x.tobytes() for x in (run.t, run.q, run.v))
    return *arrays, run.notes, run.ranks, run.counts, run.status


# --- what is shared -------------------------------------------------------------------------------


def test_equal_mechanisms_share_equations_and_programs(traced: list[object]) -> None:
    first, second = pendulum(), pendulum()
    runs = [m.simulate(until=0.2) for m in (first, second)]
    assert len(traced) == 1
    a, b = first.system.equations, second.system.equations
    assert a.model is b.model
    assert a.evaluator is b.evaluator
    assert a.cache.programs is b.cache.programs
    assert a is not b
    assert bits(runs[0]) == bits(runs[1])


@pytest.mark.parametrize(
    ("make", "until"),
    [
        (library.four_bar, 0.3),
        (library.bricard, 0.2),
        (library.stewart_platform, 0.05),
        (lambda: library.chain(6), 0.2),
        (lambda: library.chain(40), 0.02),
        (doubled, 0.2),
        (lambda: zw.read_model(example_path("four_bar")), 0.2),
        (lambda: zw.read_model(example_path("gear_train")), 0.1),
        (lambda: zw.read_model(example_path("friction")), 0.1),
    ],
)
def test_bits_are_those_of_one_alone(
    make: Callable[[], Any], until: float, unshared: Callable[[], None]
) -> None:
    runs = [make().simulate(until=until) for _ in range(3)]
    unshared()
    alone = make().simulate(until=until)
    assert [bits(run) for run in runs] == [bits(alone)] * 3


def test_bits_do_not_depend_on_what_equal_ones_did_before(unshared: Callable[[], None]) -> None:
    """The plane that another run met first, for one, is fixed in its last bits."""

    def go(m: zw.Mechanism, start: Any) -> tuple[Any, ...]:
        return bits(m.simulate(*start, until=0.1, coordinates="planar"))

    def made() -> zw.Mechanism:
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        rod = m.body("rod", 1.0, (0.02, 0.1, 0.11), orientation=(1.0, 0.5, 0.25, 0.125))
        m.revolute("pin", m.ground, rod, at=(0.5, 0, 0), axis=(0.3, 0.5, 0.1))
        return m

    one = made()
    placed = one.assemble()
    tilted = placed.q.copy()
    tilted[4] += 1e-11  # within rounding of the plane, and another one in its last bits
    starts = [(placed.q, placed.v), (tilted, placed.v)]
    shared = [go(made(), start) for start in (*starts, *reversed(starts))]
    unshared()
    assert shared == [go(made(), start) for start in (*starts, *reversed(starts))]


def test_ensembles_of_equal_ones_are_those_of_one_alone(unshared: Callable[[], None]) -> None:
    masses = np.linspace(0.5, 2.0, 9)

    def made() -> list[tuple[Any, ...]]:
        runs = pendulum().simulate_many(until=0.2, save=0.1, parameters={"rod.mass": masses})
        return [(run.q.tobytes(), run.v.tobytes(), run.notes) for run in runs]

    shared = [made() for _ in range(3)]
    unshared()
    assert shared == [made()] * 3


def test_events_that_switch_joints_off_do_so_in_one_alone(
    unshared: Callable[[], None], traced: list[object]
) -> None:
    def made() -> tuple[Any, ...]:
        m = pendulum()
        drop = zw.event("pin.angle", zw.switch(off="pin"), at=0.05)
        run = m.simulate(until=0.4, events={"drop": drop}, save=0.1)
        assert len(run.segments) == 2
        assert run["pin.angle"][-1] > 0.05  # of bodies that the joint no longer holds
        return bits(run)

    shared = [made() for _ in range(3)]
    assert len(traced) == 2  # with the joint and without
    unshared()
    assert shared == [made()] * 3


def test_joints_that_are_given_twice_are_looked_for_once(traced: list[object]) -> None:
    for _ in range(3):
        doubled().simulate(until=0.1)
    assert len(traced) == 2  # the mechanism, and the same with each joint once


def test_reactions_energies_and_analyses_are_shared_and_right(unshared: Callable[[], None]) -> None:
    def answers(m: zw.Mechanism) -> list[Any]:
        run = m.simulate(until=0.1)
        found = [run.reaction("pin").force, run.energy, m.solve().acceleration]
        return [*found, m.linearize(m.equilibrium().state).A, str(m.explain()), m.assemble().q]

    first, second = answers(pendulum()), answers(pendulum())
    unshared()
    for one, other, alone in zip(first, second, answers(pendulum()), strict=True):
        assert np.array_equal(one, alone)
        assert np.array_equal(other, alone)


# --- what is not ----------------------------------------------------------------------------------


def everything() -> zw.Mechanism:
    """A mechanism by all methods that take numbers, with numbers for all their arguments."""
    m = zw.Mechanism(gravity=(0.1, 0.2, -9.81), parameters={"k": 2.0, "w": [1.0, 2.0]})
    shape = zw.inertia.rod(1.0, 0.7) + zw.inertia.box(0.5, (0.1, 0.2, 0.3)).at((0.1, 0, 0))
    names = "abcdefgh"
    bodies = [
        m.body(
            name,
            inertia=shape,
            position=(0.5 * k, 0.25, 0.125),
            orientation=(1.0, 0.5, 0.25, 0.125),
            velocity=(0.5, 0.25, 0.75),
            angular_velocity=(0.1, 0.2, 0.3),
        )
        for k, name in enumerate(names)
    ]
    a, b, c, d, e, f, g, h = bodies
    m.body("i", mass=2.0, inertia=np.diag([1.0, 1.5, 2.0]), relative_to=a, free=True)
    m.body("j", mass=2.0, inertia=(1.0, 1.5, 2.0), relative_to=b.marker((0.5, 0, 0)))
    m.coordinate("s", mass=0.5, value=0.25, rate=0.125)
    m.revolute("hinge", m.ground, a, at=(0.5, 0.25, 0.75), axis=(0.3, 0.5, 0.7))
    m.prismatic("slide", a, b, at=(0.5, 0.25, 0.75), axis="x")
    m.screw("thread", b, c, at=(0.5, 0.25, 0.75), axis="z", pitch=0.25)
    m.universal("cross", c, d, at=(0.5, 0.25, 0.75), axis=(1, 0, 0), axis_b=(0, 0.6, 0.8))
    m.spherical_link("link", d, e, at=((0.5, 0.25, 0.1), (1.5, 0.25, 0.1)), length=1.0)
    m.rolling_sphere("ball", m.ground, f, at=((0, 0, 0), f.marker((0, 0, 0))), axis="z", radius=0.5)
    m.gear("teeth", g, h, axis="z", axis_b="z", radius_a=0.5, radius_b=0.25)
    m.drive("motor", "hinge.angle", 0.25)
    m.couple("belt", "hinge.angle", "slide.displacement", 0.5)
    m.spring_damper("spring", a, c, at=((0.1, 0, 0), (0.2, 0, 0)), stiffness=3.0, damping=0.5)
    m.torsion_spring("coil", a, c, axis=(0.3, 0.5, 0.7), stiffness=3.0, damping=0.5, angle=0.1)
    m.bushing(
        "rubber", d, e, at=(0.5, 0.25, 0.75), stiffness=(1.0, 2.0, 3.0), damping=[0.5, 0.6, 0.7]
    )
    m.cartesian_spring("soft", e, f, at=((0.1, 0, 0), (0.2, 0, 0)), stiffness=(1.0, 2.0, 3.0))
    m.actuator("servo", "hinge.angle", 0.5)
    m.force("push", g, (0.1, 0.2, 0.3), at=(0.4, 0.5, 0.6))
    m.friction("slide", coefficient=0.25, viscous=0.125, velocity=0.002)
    return m


def changed(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Where, and the same value with one number or name changed there."""
    if isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int):
        yield path, value + 1
        yield path, float(value)
    elif isinstance(value, float):
        yield path, float(np.nextafter(value, np.inf))
        if value == 0.0:
            yield path, -value
    elif isinstance(value, str):
        yield path, value + "x"
    elif isinstance(value, np.ndarray):
        for k in range(value.size):
            other = value.copy()
            other.flat[k] = np.nextafter(other.flat[k], np.inf)
            yield (*path, k), other
        yield path, value.astype(np.float32)
        if value.ndim == 2:
            yield path, np.asfortranarray(value)
    elif isinstance(value, list | tuple):
        for k, entry in enumerate(value):
            for where, new in changed(entry, (*path, k)):
                yield where, type(value)([*value[:k], new, *value[k + 1 :]])
        yield path, (list if isinstance(value, tuple) else tuple)(value)
    elif isinstance(value, dict):
        for k, entry in value.items():
            for where, new in changed(entry, (*path, k)):
                yield where, {**value, k: new}
        if len(value) > 1:
            yield path, dict(reversed(value.items()))
    elif isinstance(value, BodyHandle):
        yield path, BodyHandle(value.name + "x", value.owner)
    elif isinstance(value, MarkerHandle):
        for where, new in changed(value.at, path):
            yield where, MarkerHandle(value.body, new, value.axes)
        for where, new in changed(value.axes, path):
            yield where, MarkerHandle(value.body, value.at, new)
    elif isinstance(value, Inertia):
        yield path, replace(value, mass=value.mass + 1e-9)
        yield path, replace(value, tensor=value.tensor * (1 + 1e-12))
        yield path, replace(value, center=value.center + 1e-12)
        yield path, replace(value, shapes=value.shapes[:1])
        yield path, replace(value, check=False)
    else:
        assert value is None, value


def changes(recipe: Recipe) -> Iterator[tuple[Any, Recipe]]:
    """The recipe with one thing changed, and where."""
    for where, given in changed(recipe.given):
        yield where, Recipe(given, recipe.calls)
    for k, call in enumerate(recipe.calls):
        before, after = recipe.calls[:k], recipe.calls[k + 1 :]
        yield (k, "gone"), Recipe(recipe.given, (*before, *after))
        yield (k, "twice"), Recipe(recipe.given, (*before, call, call, *after))
        if after:
            yield (k, "order"), Recipe(recipe.given, (*before, after[0], call, *after[1:]))
        method = BuilderCall(call.method + "x", call.arguments)
        yield (k, "method"), Recipe(recipe.given, (*before, method, *after))
        for where, arguments in changed(dict(call.arguments)):
            other = BuilderCall(call.method, arguments)
            yield (call.method, *where), Recipe(recipe.given, (*before, other, *after))


def test_any_single_difference_is_one() -> None:
    recipe = everything()._recipe
    key = recipe_key(recipe)
    assert key is not None
    assert key == recipe_key(everything()._recipe)
    assert hash(key) == hash(recipe_key(everything()._recipe))
    found = dict.fromkeys(where for where, _ in changes(recipe))
    for where, other in changes(recipe):
        assert recipe_key(other) != key, where
    methods = {c.method for c in recipe.calls}
    of_functions = {"constraint", "user_force", "point_on_curve", "output"}
    described = {n for n in dir(zw.Mechanism) if hasattr(getattr(zw.Mechanism, n), "notes_calls")}
    assert methods | of_functions == described
    assert len(found) > 200


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        (1.0, np.float64(1.0)),
        (np.float32(1.0), np.float64(1.0)),
        ([1.0], (1.0,)),
        (np.eye(3), np.asfortranarray(np.eye(3))[::-1][::-1]),
        ("a", b"a"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_keys_are_exact(one: Any, other: Any) -> None:
    assert exact_key(one) == exact_key(copy.deepcopy(one))
    assert exact_key(one) != exact_key(other)


@pytest.mark.parametrize(
    "value", [abs, lambda t: t, object(), np.array([object()]), {1, 2}, np.ma.array([1.0]), zw]
)
def test_what_may_hide_a_difference_has_no_key(value: Any) -> None:
    with pytest.raises(NotComparableError):
        exact_key([value])


def test_numbers_that_are_not_numbers_are_compared_by_bits() -> None:
    assert exact_key(np.nan) == exact_key(np.nan)


rate = 1.0


def driven() -> zw.Mechanism:
    m = pendulum()
    m.drive("motor", "pin.angle", turning)
    return m


def turning(t: Any) -> Any:
    return rate * t


def test_functions_are_not_shared_as_what_they_read_may_change(
    monkeypatch: pytest.MonkeyPatch, traced: list[object]
) -> None:
    first = driven().simulate(until=0.1)
    monkeypatch.setitem(globals(), "rate", 2.0)
    second = driven().simulate(until=0.1)
    assert len(traced) == 2
    assert second.body("rod").angular_velocity[-1, 1] == pytest.approx(2.0)
    assert first.body("rod").angular_velocity[-1, 1] == pytest.approx(1.0)


def test_a_class_of_ones_own_is_not_shared(traced: list[object]) -> None:
    class Own(zw.Mechanism):
        pass

    for _ in range(2):
        m = Own(gravity=(0, 0, -9.81))
        rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, 0, 0))
        m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        m.simulate(until=0.05)
    assert len(traced) == 2


def test_a_mesh_file_may_change(tmp_path: Any) -> None:
    file = tmp_path / "part.obj"

    def made(of: Any) -> zw.Mechanism:
        m = zw.Mechanism()
        m.body("part", mass=1.0, inertia=(1, 1, 1), mesh=of, free=True)
        return m

    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {}\nf 1 2 3\nf 1 2 4\n"
    file.write_text(corners.format(1.0))
    keys = [recipe_key(made(zw.mesh(file))._recipe) for _ in range(2)]
    file.write_text(corners.format(2.0))
    keys.append(recipe_key(made(zw.mesh(file))._recipe))
    assert keys[0] == keys[1] != keys[2]
    assert recipe_key(made(file)._recipe) is None


def test_settings_of_the_environment_are_part_of_it(
    monkeypatch: pytest.MonkeyPatch, traced: list[object]
) -> None:
    monkeypatch.delenv("ZWANG_LLVM", raising=False)
    pendulum().simulate(until=0.05)
    monkeypatch.setenv("ZWANG_LLVM", "off")
    run = pendulum().simulate(until=0.05)
    assert len(traced) == 2
    assert any("ZWANG_LLVM=off" in note for note in run.notes)


# --- what one does is nothing to the other --------------------------------------------------------


def test_a_mechanism_that_is_changed_leaves_the_others_alone(traced: list[object]) -> None:
    first, second = pendulum(), pendulum()
    before = bits(first.simulate(until=0.1))
    second.simulate(until=0.1)
    load = second.body("load", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    second.fixed("weld", "rod", load, at=(1, 0, 0))
    assert bits(second.simulate(until=0.1)) != before
    assert bits(first.simulate(until=0.1)) == bits(pendulum().simulate(until=0.1))
    assert len(traced) == 2


def test_answers_may_be_written_to() -> None:
    first = pendulum()
    expected = first.assemble().q.copy(), bits(first.simulate(until=0.1))
    for m in (first, pendulum()):
        system = m.system
        placed = m.assemble()
        placed.q[:] = placed.v[:] = 7.0
        placed.moved["pin"] = 1.0
        system.parameters["gravity"][:] = 0.0
        system.groups.clear()
        system.levels.clear()
        system.row_levels().clear()
        run = m.simulate(until=0.1)
        run.q[:] = 0.0
    assert np.array_equal(pendulum().assemble().q, expected[0])
    assert bits(pendulum().simulate(until=0.1)) == expected[1]
    with pytest.raises(ValueError, match="read-only"):
        zw.inertia.rod(1.0, 1.0).tensor[0, 0] = 2.0


def test_arrays_and_tables_of_the_caller_are_kept_as_they_were() -> None:
    m = zw.Mechanism()
    where, moments = np.array([0.5, 0.0, 0.0]), [1.0, 1.0, 1.0]
    m.body("a", mass=1.0, inertia=moments, position=where, free=True)
    key = recipe_key(m._recipe)
    where[0], moments[0] = 7.0, 1.5
    assert recipe_key(m._recipe) == key


def test_copies_are_mechanisms_of_their_own(traced: list[object]) -> None:
    first = pendulum()
    expected = bits(first.simulate(until=0.1))
    for other in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert bits(other.simulate(until=0.1)) == expected
        assert other.system is not first.system
        other.body("more", mass=1.0, inertia=(1, 1, 1), free=True)
        assert len(other.parts.bodies) == 2
        assert other.ground.owner is other
    assert len(first.parts.bodies) == 1
    assert len(traced) == 1
    system = pickle.loads(pickle.dumps(pendulum().system))
    assert bits(system.simulate(*first.assemble(), until=0.1)) == expected


def test_each_is_guarded_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """At its start and at its end, as one alone is."""
    from zwang.simulation import guard

    looks: list[object] = []
    look = guard.look
    monkeypatch.setattr(guard, "look", lambda *a: looks.append(a[0]) or look(*a))
    counts = []
    for _ in range(3):
        before = len(looks)
        pendulum().simulate(until=0.1)
        counts.append(len(looks) - before)
    assert min(counts) >= 2  # more where a run takes long


def test_what_one_doubts_the_other_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    from zwang.simulation import guard

    plain = pendulum()
    plain.simulate(until=0.1)
    doubted = pendulum()
    with monkeypatch.context() as patch:
        wrong = iter([Disagreement("nothing is met", 0.0)])
        patch.setattr(guard, "look", lambda *_: next(wrong, None))
        assert any("absolute" in n for n in doubted.simulate(until=0.1).notes)
    assert bits(pendulum().simulate(until=0.1)) == bits(plain.simulate(until=0.1))


def test_threads_share_nothing_that_they_make(traced: list[object]) -> None:
    expected = bits(pendulum().simulate(until=0.1))
    found: list[Any] = []

    def work() -> None:
        found.extend(bits(pendulum().simulate(until=0.1)) for _ in range(5))

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 15
    assert len(traced) == 4


def test_equal_ones_may_run_in_threads() -> None:
    made = [pendulum() for _ in range(4)]
    expected = [bits(m.simulate(until=0.1)) for m in made]
    wrong: list[Any] = []

    def work(m: zw.Mechanism) -> None:
        for _ in range(20):
            run = m.simulate(until=0.1)
            if bits(run) != expected[0] or not np.isfinite(run.reaction("pin").force).all():
                wrong.append(m)

    threads = [Thread(target=work, args=(m,)) for m in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert expected == [expected[0]] * 4


# --- memory ---------------------------------------------------------------------------------------


def test_few_are_kept_and_large_ones_are_not() -> None:
    kept: LatestOfEach[str] = LatestOfEach(most=2, largest=10)
    for key, size in (("a", 3), ("b", 3), ("a", 4), ("c", 3)):
        kept.keep(key, key.upper(), size)
    assert [kept.find(k) for k in "abc"] == ["A", None, "C"]
    kept.keep("d", "D", 8)
    assert [kept.find(k) for k in "acd"] == [None, None, "D"]
    kept.keep("e", "E", 11)
    assert len(kept) == 1


def test_memory_is_given_back() -> None:
    most = mechanisms.LATEST.most
    gone = []
    for k in range(most + 4):
        m = pendulum(1.0 + k)
        gone.append((weakref.ref(m), weakref.ref(m.system)))
        del m
    gc.collect()
    assert len(mechanisms.LATEST) == most
    assert not any(m() for m, _ in gone)
    assert sum(system() is not None for _, system in gone) == most


def test_one_at_a_time_does_not_pile_up() -> None:
    """Of equal mechanisms the first, which kernels were made with, and the latest stay."""
    systems = []
    for _ in range(6):
        m = pendulum()
        m.simulate(until=0.05)
        systems.append(weakref.ref(m.system))
        del m
    gc.collect()
    assert sum(system() is not None for system in systems) <= 2


def test_long_descriptions_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "MOST_CALLS", 1)
    assert pendulum().system is not None
    assert len(mechanisms.LATEST) == 0


# --- files ----------------------------------------------------------------------------------------


def test_a_file_that_is_read_again_is_not_parsed(
    monkeypatch: pytest.MonkeyPatch, traced: list[object], tmp_path: Any
) -> None:
    from zwang.model_files import read_again

    parsed: list[str] = []
    read = read_again.model_of
    monkeypatch.setattr(read_again, "model_of", lambda *a: parsed.append(a[0]) or read(*a))
    file = tmp_path / "four_bar.toml"
    text = example_path("four_bar").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    runs = [zw.read_model(file).simulate(until=0.1) for _ in range(3)]
    assert len(parsed) == len(traced) == 1
    assert len({bits(run)[:3] for run in runs}) == 1
    file.write_text(text.replace("30 rpm", "31 rpm"), encoding="utf-8")
    other = zw.read_model(file).simulate(until=0.1)
    assert len(parsed) == len(traced) == 2
    assert bits(other)[:3] != bits(runs[0])[:3]
    moved = tmp_path / "moved.toml"
    moved.write_text(text, encoding="utf-8")
    zw.read_model(moved)
    assert len(parsed) == 3
    zw.read_model(moved, values={"base": 2.1}).simulate(until=0.1)
    assert len(parsed) == 4


@pytest.mark.parametrize("change", ["speed * t", "t * speed", "speed * t + 0.0"])
def test_formulas_are_compared_by_their_file(
    change: str, tmp_path: Any, traced: list[object]
) -> None:
    text = example_path("four_bar").read_text(encoding="utf-8")
    files = [tmp_path / "a.toml", tmp_path / "b.toml"]
    files[0].write_text(text, encoding="utf-8")
    files[1].write_text(text.replace("speed * t", change), encoding="utf-8")
    for file in files:
        zw.read_model(file).simulate(until=0.05)
    assert len(traced) == 2


def test_models_of_one_file_may_be_changed() -> None:
    first, second = (zw.read_model(example_path("four_bar")) for _ in range(2))
    assert second.mechanism is not None
    second.mechanism.body("more", mass=1.0, inertia=1.0, free=True)
    second.simulation.choices["tolerance"] = 1e-3
    second.tables["constants"]["base"] = 7.0
    third = zw.read_model(example_path("four_bar"))
    for model in (first, third):
        assert model.mechanism is not None
        assert len(model.mechanism.parts.bodies) == 3
        assert "tolerance" not in model.simulation.choices
        assert model.tables["constants"]["base"] == 2.0


def test_stored_runs_of_equal_models_verify_and_resume(tmp_path: Any) -> None:
    runs = []
    for k in range(2):
        model = zw.read_model(example_path("four_bar"))
        run = model.simulate(until=0.3, store=tmp_path / f"run{k}")
        assert zw.verify(tmp_path / f"run{k}", model.system)
        runs.append(run)
    assert bits(runs[0])[:3] == bits(runs[1])[:3]
    for k in range(2):
        model = zw.read_model(tmp_path / f"run{k}")
        again = zw.resume(tmp_path / f"run{k}", model.system)
        assert bits(again)[:3] == bits(runs[0])[:3]


def rocker(length: float = 0.3, wide: float = 0.1) -> zw.Mechanism:
    """Dimensions that follow from a parameter, in every kind of expression."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    L = m.parameter("L", length)
    shape = zw.inertia.box(1.0, [L, 0.1, wide]) + zw.inertia.rod(0.5, L).at((L / 3, 0, 0))
    rod = m.body("rod", inertia=shape, position=np.array([L / 2, 0, 0]))
    m.revolute(
        "pin", m.ground, rod, at=(m.ground.marker((0, 0, 0)), rod.marker((-L / 2, 0, 0))), axis="y"
    )
    m.spring_damper("spring", m.ground, rod, at=((L * np.cos(0.1), 0, 1), (0, 0, 0)), stiffness=2.0)
    return m


def test_dimensions_of_parameters_are_compared(traced: list[object]) -> None:
    runs = [rocker().simulate(until=0.1, parameters={"L": x}) for x in (0.3, 0.35, 0.3, 0.35)]
    assert len(traced) == 1
    assert [bits(run) for run in runs[:2]] == [bits(run) for run in runs[2:]]
    rocker(0.31).simulate(until=0.1)
    rocker(0.3, 0.1 + 1e-16 * 8).simulate(until=0.1)
    assert len(traced) == 3


def test_a_function_of_ones_own_in_a_dimension_is_not() -> None:
    from zwang.multibody.parameter_expression import deferred

    m = zw.Mechanism()
    L = m.parameter("L", 0.3)
    m.body("a", mass=deferred(lambda x: 2.0 * x, L), inertia=(1, 1, 1), free=True)
    assert recipe_key(m._recipe) is None


def test_dimensions_of_files_are_compared(tmp_path: Any, traced: list[object]) -> None:
    file = tmp_path / "rod.toml"
    text = (
        "parameters = { L = 0.4 }\nmechanism = { gravity = [0, 0, -9.81] }\n[body.rod]\n"
        'mass = 1.0\nshape = { type = "rod", length = "L" }\nposition = ["L / 2", 0, 0]\n'
        '[joint.pin]\ntype = "revolute"\nbodies = ["ground", "rod"]\nat = [0, 0, 0]\naxis = "y"\n'
    )
    for change in ("L / 2", "L / 2", "0.5 * L"):
        file.write_text(text.replace("L / 2", change), encoding="utf-8")
        zw.read_model(file).simulate(until=0.1)
    assert len(traced) == 2

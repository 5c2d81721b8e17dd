"""Forces of all saved states by compiled kernels, beside the reference solution of each state.

The reference is `system.solve`: dense matrices, ranks by singular values, residuals in doubled
precision. It shares no elimination, no order and no regularisation with the kernels.
"""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.multibody.wrench import joint_wrench
from zwang.programs import at_states
from zwang.programs.at_states import told_at_states
from zwang.programs.blocks.forces import WRENCH
from zwang.results.forces import (
    LIMITS,
    FunctionForces,
    MechanismForces,
    ReferenceForces,
    dependent_rows,
    forces_along,
    forces_of,
)

#: What is promised: relative to the largest value along the run.
AGREED = 1e-10

MECHANISMS = {
    "four_bar": ({}, 1.0),
    "parallelogram": ({}, 1.0),
    "slider_crank": ({}, 0.3),
    "bricard": ({}, 2.0),
    "door": ({}, 1.0),
    "stewart_platform": ({}, 0.3),
    "universal_joint_shaft": ({}, 0.5),
    "spinning_top": ({}, 0.3),
    "rolling_coin": ({}, 0.5),
    "ball_governor": ({}, 0.1),
    "andrews": ({}, 0.01),
    "theo_jansen_leg": ({}, 0.5),
    "double_wishbone": ({}, 0.2),
    "chain": ({"n": 4, "planar": False}, 0.5),
    "net": ({"n": 2, "m": 3}, 0.3),
}


def _off(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, relative to the largest value."""
    size = np.abs(wanted).max(initial=0.0)
    return float(np.abs(found - wanted).max(initial=0.0) / (size or 1.0))


def _require_same(run: zw.Run, stretch: slice = slice(None)) -> None:
    q, v, t = run.q[stretch], run.v[stretch], run.t[stretch]
    s = run.system.solve(q, v, t, parameters=run.parameters)
    names = list(run.system.groups)
    order = np.concatenate([run.system.groups[n] for n in names]).astype(int)
    free = np.abs(s.constraint_force).max() + np.abs(s.terms.applied_force).max()
    assert np.abs(run.multipliers()[stretch] - s.multipliers[:, order]).max(initial=0.0) <= (
        AGREED * max(np.abs(s.multipliers).max(initial=0.0), 1e-3 * free)
    )
    assert np.abs(run.constraint_force()[stretch] - s.constraint_force).max() <= AGREED * free
    assert _off(run.acceleration[stretch], s.acceleration) <= AGREED
    if not hasattr(run.system, "parts"):
        return
    parts = run.system.parts
    for name, joint in parts.joints.items():
        if joint.a is None or (joint.kind is not None and joint.kind.contact is not None):
            continue
        rows = run.system.groups[name]
        A, lam = s.terms.constraint_matrix[:, rows], s.multipliers[:, rows]
        force, moment, point = joint_wrench(parts, joint, np.einsum("tij,ti->tj", A, lam), q)
        found = run.reaction(name)
        size = max(np.abs(force).max(), np.abs(moment).max(), 1e-3 * free)
        assert np.abs(found.force[stretch] - force).max() <= AGREED * size, name
        assert np.abs(found.moment[stretch] - moment).max() <= AGREED * size, name
        assert np.allclose(found.point[stretch], point, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", MECHANISMS)
def test_forces_of_library_mechanisms_are_those_of_the_reference(name: str) -> None:
    options, until = MECHANISMS[name]
    run = getattr(library, name)(**options).simulate(until=until, tolerance=1e-7, save=until / 40)
    assert isinstance(forces_along(run)[0][1], MechanismForces)
    _require_same(run)


def _fan(rods: int, *, planar: bool, seed: int) -> zw.Mechanism:
    """Rods of any mass between two plates that turn about the ground: redundant from two on."""
    rng = np.random.default_rng(seed)
    m = zw.Mechanism(gravity=(0, 0, -9.81), **({"plane": "xz"} if planar else {}))
    bar = m.body("bar", mass=2.0, inertia=(0.3, 0.4, 0.5), position=(0.0, 0.0, 1.0))
    for k in range(rods):
        x = float(k) + rng.uniform(0.0, 0.4)
        mass = rng.uniform(0.2, 2.0)
        leg = m.body(f"leg{k}", mass=mass, inertia=(0.1, 0.2, 0.3), position=(x, 0.0, 0.5))
        m.revolute(f"low{k}", m.ground, leg, at=(x, 0, 0), axis="y")
        m.revolute(f"high{k}", leg, bar, at=(x, 0, 1), axis="y")
    return m


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("rods", [2, 3, 5])
def test_redundant_joints_share_their_force_with_least_norm(rods: int, *, planar: bool) -> None:
    m = _fan(rods, planar=planar, seed=rods)
    start = m.assemble(velocity={"hold": {"low0.angle_rate": 1.5}})
    run = m.system.simulate(start, until=0.4, tolerance=1e-7, save=0.01)
    s = run.system.solve(run.q, run.v, run.t)
    assert np.min(s.redundancy) >= (rods - 2 if planar else 3 * (rods - 1))
    _require_same(run)


def _in_doubt(forces: MechanismForces, rank: int | None) -> np.ndarray:
    """States that the kernel of a number of dependent rows does not tell of."""
    kernel, numbers = forces._ends.kernel("wrenches", rank, forces.p)
    return told_at_states(kernel, forces.y, forces.t, numbers, LIMITS, WRENCH)[1]


@pytest.mark.parametrize("states", [8, 21, 40])
def test_tables_that_go_past_the_caches_hold_the_same(
    monkeypatch: pytest.MonkeyPatch, states: int
) -> None:
    """Three states of the fan are in doubt, which places and marks tell."""
    run = _fan(3, planar=True, seed=3).simulate(until=0.2, save=0.2 / (states - 1))
    q, v = run.q.copy(), run.v.copy()
    v[[0, 5, states - 1]] = np.nan
    forces = forces_of(run.system.equations, q, v, run.t, run.parameters)
    assert isinstance(forces, MechanismForces)
    found = []
    for rank in forces._ends.ranks:
        kernel, numbers = forces._ends.kernel("wrenches", rank, forces.p)
        told = []
        for large in (0.0, np.inf):
            monkeypatch.setattr(at_states, "LARGE", large)
            told.append(told_at_states(kernel, forces.y, forces.t, numbers, LIMITS, WRENCH))
        for one, other in zip(*told, strict=True):
            assert np.array_equal(one, other, equal_nan=True)
        found.append(told[0][1].tolist())
    assert sorted({0, 5, states - 1}) in found


#: Of multipliers where constraints that are missed by 1e-4 are all that keeps rows apart.
NEXT_TO_SINGULAR = 1e-5

#: Mechanism → the kernel that tells of its states, by how many rows depend on others.
RANKS = {
    "none": (library.four_bar, 0),
    "one in space": (library.bricard, 1),
    "one in the plane": (lambda: _fan(3, planar=True, seed=3), 1),
    "three": (lambda: _fan(5, planar=True, seed=5), None),
    "five": (library.door, None),
}


@pytest.mark.parametrize("name", RANKS)
def test_every_state_is_that_of_one_kernel_whichever_is_asked_first(name: str) -> None:
    make, rank = RANKS[name]
    run = make().simulate(until=0.4, tolerance=1e-7, save=0.02)
    forces = forces_along(run)[0][1]
    assert isinstance(forces, MechanismForces)
    told = {r: len(run) - len(_in_doubt(forces, r)) for r in (0, 1, None)}
    assert told == {r: len(run) if r == rank else 0 for r in told}
    wanted = forces.multipliers
    for first in told:
        again = forces_of(run.system.equations, run.q, run.v, run.t, run.parameters)
        again._ends.ask_first(first)
        assert np.array_equal(again.multipliers, wanted)
        assert again._ends.ranks[0] == rank


def test_states_of_several_ranks_have_their_forces_in_company() -> None:
    """A parallelogram with a third crank, at states on its constraints and far from them.

    Off the constraints the third crank is no dependency any more, and is next to one closer by.
    """
    run = _fan(3, planar=True, seed=2).simulate(until=0.4, tolerance=1e-7, save=0.01)
    q = run.q.copy()
    rng = np.random.default_rng(0)
    for stretch, size in ((slice(5, 12), 0.3), (slice(20, 25), 1e-4)):
        q[stretch] += size * rng.standard_normal(q[stretch].shape)
    equations = run.system.equations
    forces = forces_of(equations, q, run.v, run.t, run.parameters)
    assert isinstance(forces, MechanismForces)
    left = [set(_in_doubt(forces, rank).tolist()) for rank in (0, 1, None)]
    assert all(len(some) < len(run) for some in left)  # each has states of its own
    s = run.system.solve(q, run.v, run.t)
    for i in range(len(run)):
        allowed = AGREED if i not in left[0] & left[1] else NEXT_TO_SINGULAR
        assert _off(forces.multipliers[i], s.multipliers[i]) <= allowed
        if i in left[0] & left[1] & left[2]:
            continue  # by dense matrices, of which several round in another way than one
        alone = forces_of(equations, *(x[i : i + 1] for x in (q, run.v, run.t)), run.parameters)
        assert np.array_equal(alone.multipliers[0], forces.multipliers[i])


@pytest.mark.parametrize("planar", [True, False])
def test_determinacy_is_that_of_the_passport(*, planar: bool) -> None:
    m = _fan(3, planar=planar, seed=1)
    start = m.assemble(velocity={"hold": {"low0.angle_rate": 1.5}})
    run = m.system.simulate(start, until=0.4, tolerance=1e-7, save=0.02)
    for i in (0, 7, 20):
        told = m.system.determinate(run.q[i], run.v[i], float(run.t[i]), run.parameters)
        found = {name: bool(run.reaction(name).determinate[i]) for name in told}
        assert found == told
    assert not all(told.values())


def test_massless_rods_have_their_forces() -> None:
    """A singular mass matrix, and rows that depend on others beside it."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    last, first = m.ground, None
    for k in range(3):
        inertia = zw.inertia.rod(1.0, 1.0, axis="x")
        body = m.body(f"b{k}", mass=1.0, inertia=inertia, position=(k + 0.5, 0, 0))
        m.revolute(f"pin{k}", last, body, at=(k, 0, 0), axis="y")
        last = body
        first = first or body
    m.revolute("doubled", m.ground, first, at=(0, 0.2, 0), axis="y")
    run = m.simulate(until=0.5, tolerance=1e-7, save=0.0125)
    M = run.system.terms(run.q[0], run.v[0]).mass_matrix
    assert np.linalg.matrix_rank(M) < len(M)
    _require_same(run)


def test_large_mechanisms_have_the_same_forces_as_small_ones() -> None:
    m = library.chain(24)
    assert m.system.equations.by_elements
    run = m.simulate(until=0.2, tolerance=1e-7, save=0.01)
    _require_same(run)


def _functions(kind: str) -> tuple[zw.System, zw.Run]:
    if kind == "redundant":
        system = zw.System(
            ["x", "y", "z"],
            mass=lambda q: np.diag([1.0 + 0.1 * q[0] ** 2, 2.0, 0.7]),
            force=lambda v: [0.0, -0.1 * v[1], -9.81],
            constraints={
                "sphere": zw.position(lambda q: q @ q - 1.0),
                "twice": zw.position(lambda q: 3.0 * (q @ q - 1.0)),
                "plane": zw.position(lambda q: q[1] - 0.3),
            },
        )
        q, v = [np.sqrt(0.91), 0.3, 0.0], [0.0, 0.0, 0.4]
        return system, system.simulate(q, v, until=1.0, tolerance=1e-8, save=0.02)
    if kind == "law of the reaction":
        system = zw.System(
            ["x", "y"],
            mass=np.eye(2),
            force=[0.0, -9.81],
            constraints={"slope": zw.position(lambda q: q[1] + 0.8 * q[0])},
            nonideal={
                "slope": lambda v, reaction: (
                    -0.2 * np.sqrt(reaction @ reaction) * v / np.sqrt(v @ v)
                )
            },
        )
        return system, system.simulate(
            [0.0, 0.0], [1.0, -0.8], until=0.5, tolerance=1e-8, save=0.01
        )
    system = library.two_mass_chain()
    state = library.states("two_mass_chain", np.random.default_rng(3), 1)
    return system, system.simulate(state.q[0], state.v[0], until=0.5, tolerance=1e-8, save=0.01)


KINDS = ("redundant", "singular mass", "law of the reaction")


@pytest.mark.parametrize("kind", KINDS)
def test_forces_of_functions_are_those_of_the_reference(kind: str) -> None:
    _, run = _functions(kind)
    assert isinstance(forces_along(run)[0][1], FunctionForces)
    _require_same(run)


def test_states_in_doubt_are_left_to_the_reference() -> None:
    """A folding parallelogram, looked at where it is flat: there a row more is dependent."""
    run = library.parallelogram().simulate(until=3.0, tolerance=1e-9, save=0.01)
    system = run.system
    q, v, t = run.q.copy(), run.v.copy(), run.t
    forces = forces_of(system.equations, q, v, t, run.parameters)
    s = system.solve(q, v, t)
    assert _off(forces.multipliers, s.multipliers) <= AGREED
    y = np.concatenate([q, v], axis=1)
    reference = ReferenceForces(system.equations, y, t, run.parameters)
    assert np.array_equal(reference.multipliers, s.multipliers)


@pytest.mark.parametrize("spoiled", ["q", "v", "t"])
def test_every_state_counts(spoiled: str) -> None:
    """One state in the middle of others is changed: its forces change, the others keep their bits.

    Seventeen states make two blocks and one more.
    """
    system = library.bricard().system if spoiled != "t" else _driven().system
    run = system.simulate(system.assemble(), until=1.0, tolerance=1e-7, save=1.0 / 16)
    states = {"q": run.q.copy(), "v": run.v.copy(), "t": run.t.copy()}
    before = forces_of(system.equations, *states.values(), run.parameters).multipliers.copy()
    # Velocities that are all a little faster go on to satisfy the constraints.
    states[spoiled][11] = (
        states[spoiled][11] * 1.001 if spoiled == "v" else states[spoiled][11] + 1e-3
    )
    after = forces_of(system.equations, *states.values(), run.parameters).multipliers
    changed = np.abs(after - before).max(axis=1) > 0.0
    assert changed[11]
    assert changed.sum() == 1


def _driven() -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    arm = m.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0), axis="y")
    m.drive("motor", "pin.angle", lambda t: 0.5 * np.sin(3.0 * t))
    return m


def test_rows_that_depend_on_others_are_found() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.standard_normal((4, 6))
        mixed = np.concatenate([A, rng.standard_normal((3, 4)) @ A])[rng.permutation(7)]
        gone = dependent_rows(np.diag(rng.uniform(0.1, 10.0, 6)), mixed)
        assert len(gone) == 3
        assert np.linalg.matrix_rank(np.delete(mixed, gone, axis=0)) == 4


def test_a_row_of_zeros_depends_on_nothing_and_is_gone() -> None:
    assert dependent_rows(np.eye(2), np.array([[0.0, 0.0], [1.0, 0.0]])) == (0,)


def test_stored_runs_and_ensembles_have_the_same_forces(tmp_path) -> None:
    system = library.four_bar().system
    start = system.assemble()
    run = system.simulate(start, until=0.5, tolerance=1e-7, integrator="order8", save=0.0125)
    run.save(tmp_path / "run.zarr")
    loaded = zw.load(tmp_path / "run.zarr", system)
    joint = next(iter(system.parts.joints))
    assert np.array_equal(loaded.multipliers(), run.multipliers())
    assert np.array_equal(loaded.reaction(joint).force, run.reaction(joint).force)
    runs = system.simulate_many(
        np.tile(start.q, (3, 1)), np.tile(start.v, (3, 1)), until=0.5, tolerance=1e-7, save=0.0125
    )
    assert np.allclose(runs[2].multipliers(), run.multipliers(), rtol=1e-9, atol=1e-9)


def test_joints_that_are_switched_off_have_no_force_then() -> None:
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    arm = m.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0), axis="y")
    release = zw.event(lambda t: t - 0.2, zw.switch(off="pin"))
    run = m.simulate(until=0.4, tolerance=1e-7, save=0.01, events={"release": release})
    force = run.reaction("pin").force
    assert np.all(force[run.t > 0.2] == 0.0)
    assert np.all(np.linalg.norm(force[run.t < 0.2], axis=1) > 1.0)
    assert run.reaction("pin").determinate.all()


@pytest.mark.parametrize("plane", [None, "xz"])
@pytest.mark.parametrize("forces", [False, True])
def test_reactions_are_about_the_point_that_parameters_give(plane: str | None, forces: bool):
    """A pin exerts no moment about its axis, wherever the rod is drilled."""
    inertia = zw.inertia.rod(1.0, 1.0, axis=(1, 0, 0))
    if plane is None:
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        rod = m.body("rod", inertia=inertia, position=(0.5, 0, 0))
        m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        hole = [-0.4, 0.1, 0.05]
    else:
        m = zw.Mechanism(plane=plane, gravity=(0, -9.81))
        rod = m.body("rod", inertia=inertia, position=(0.5, 0))
        m.revolute("pin", m.ground, rod, at=(0, 0))
        hole = [-0.4, 0.05]
    run = m.simulate(until=0.5, save=0.1, parameters={"pin.at_b": hole}, forces=forces)
    pin = run.reaction("pin")
    assert np.abs(pin.moment[:, 1]).max() < 1e-12 * np.abs(pin.force).max()
    np.testing.assert_allclose(pin.point, 0.0, atol=1e-12)
    np.testing.assert_allclose(run["pin.moment"], pin.moment, atol=1e-12)


def test_forces_have_the_same_bits_in_small_parts():
    """A store keeps them in parts of any size, and an ensemble by its members."""
    system = zw.System(
        ["x", "y", "u", "w"],
        parameters={"a": 1.0, "b": 0.7},
        mass=lambda: np.diag([2.0, 2.0, 1.0, 1.0]),
        force=lambda: [0.0, -19.62, 0.0, -9.81],
        constraints={
            "first": lambda q, p: q[0] ** 2 + q[1] ** 2 - p.a**2,
            "second": lambda q, p: (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - p.b**2,
        },
    )
    run = system.simulate([1.0, 0.0, 1.7, 0.0], until=1.0, save=0.02)
    parts = []
    for few in (3, 7, 40):  # the smallest first, before anything is known of the system
        first = sum(len(part) for part in parts)
        here = slice(first, first + few)
        found = forces_of(system.equations, run.q[here], run.v[here], run.t[here], run.parameters)
        parts.append(found.multipliers)
    np.testing.assert_array_equal(np.concatenate(parts), run.multipliers()[: 3 + 7 + 40])


def test_what_is_wrong_at_a_saved_state_is_told_with_its_time():
    system = zw.System(
        ["x"],
        mass=[[1.0]],
        force=lambda q: [0.0],
        constraints={
            "still": zw.velocity(lambda v: v[0]),
            "moved": zw.velocity(lambda v, t: v[0] - np.maximum(t - 0.25, 0.0) ** 2),
        },
    )
    t = np.linspace(0.0, 0.5, 6)
    forces = ReferenceForces(system.equations, np.zeros((6, 2)), t, {})
    with pytest.raises(zw.InconsistentConstraintsError) as caught:
        _ = forces.multipliers
    told = str(caught.value)
    assert told.startswith("saved state at t = 0.3 (and at 2 more): constraints still and moved")
    assert "batch" not in told

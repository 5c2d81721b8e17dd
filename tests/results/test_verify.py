"""Honest files pass; damaged and edited ones do not, and are told apart."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zarr
from pendulums import EVENTS, START, driven, pendulum

import zwang as zw
from zwang import library
from zwang.results.store import digest, read_store, sealed
from zwang.results.verify import Verdict

RECORD = Path("time", "record")
SYSTEMS = {"pendulum": pendulum(), "driven": driven()}


#: What is said of edited states whose hashes were written anew; nobody is accused.
NOT_A_MOTION = [Verdict.NO_MOTION, Verdict.INACCURATE]


def random_run(rng):
    """A run with random system, parameters, start, tolerance and save times."""
    name = str(rng.choice(list(SYSTEMS)))
    L, angle = rng.uniform(0.5, 2.0), rng.uniform(-np.pi, np.pi)
    direction = np.array([np.sin(angle), -np.cos(angle)])
    speed = rng.uniform(-4.0, 4.0)
    run = SYSTEMS[name].simulate(
        L * direction,
        speed * np.array([direction[1], -direction[0]]),
        until=rng.uniform(1.0, 4.0),
        tolerance=10.0 ** rng.uniform(-11, -5),
        save=rng.choice([None, 0.02, 0.1]),
        parameters={"L": L, "g": rng.uniform(1.0, 20.0)},
        events=EVENTS if rng.random() < 0.3 else None,
    )
    return SYSTEMS[name], run


def edit(path, change, *, reseal):
    """Change the arrays of a store; with new hashes if asked for."""
    stored = read_store(path)
    group = zarr.open_group(path, mode="r+", use_consolidated=False)
    arrays = {name: group[name][:] for name in ("time", "q", "v")}
    change(arrays)
    for name, values in arrays.items():
        group[name][:] = values
    if not reseal:
        return
    previous = digest((path / RECORD / "header.json").read_bytes())
    for k, commit in enumerate(stored.commits):
        rows = slice(commit["first"], commit["last"])
        hashes = {name: digest(values[rows]) for name, values in arrays.items()}
        content = sealed({**commit, "sha256": hashes, "previous": previous})
        (path / RECORD / f"commit-{k:06d}.json").write_bytes(content)
        previous = digest(content)


def tampering(rng, run):
    """A random edit above ten tolerances."""
    size = run.settings.tolerance * 10.0 ** rng.uniform(np.log10(10.5), 5)
    name = str(rng.choice(["q", "v"]))
    row = int(rng.integers(1, len(run)))
    column = int(rng.integers(getattr(run, name).shape[1]))
    sign = rng.choice([-1.0, 1.0])

    def one_entry(arrays):
        arrays[name][row, column] += sign * size * (1.0 + abs(arrays[name][row, column]))

    def all_later_rows(arrays):
        later = arrays[name][row:, column]
        later += sign * size * (1.0 + np.abs(later).max())

    def along_the_constraint(arrays):
        # q and v turned about the pivot: no residual shows it.
        angle = sign * size * 3.0
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s], [s, c]])
        for key in ("q", "v"):
            arrays[key][row] = turn @ arrays[key][row]

    return rng.choice([one_entry, all_later_rows, along_the_constraint])


def check_many(count, seed, path):
    rng = np.random.default_rng(seed)
    for k in range(count):
        system, run = random_run(rng)
        folder = path / str(k)
        run.save(folder)
        honest = zw.verify(folder, system)
        assert honest, f"honest run {k}: {honest}"
        reseal = bool(rng.random() < 0.7)
        edit(folder, tampering(rng, run), reseal=reseal)
        tampered = zw.verify(folder, system)
        assert tampered.verdict in (NOT_A_MOTION if reseal else [Verdict.DAMAGED]), k


def test_ten_honest_and_ten_tampered_files(tmp_path):
    check_many(10, 1, tmp_path)


@pytest.mark.campaign
def test_a_hundred_honest_and_a_hundred_tampered_files(tmp_path):
    check_many(100, 2, tmp_path)


def test_states_between_the_steps_of_a_stiff_spring_are_honest(tmp_path):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(0.8, 0.6), position=(0.3, 0, 0))
    m.revolute("pin", m.ground, rod, axis="y")
    ends = ((0.6, 0, 0.5), (0.6, 0, 0))
    m.spring_damper("spring", m.ground, rod, at=ends, stiffness=60.0, damping=0.4)
    start = m.assemble(hold={"pin.angle": 0.35})
    m.simulate(start, until=10.0, tolerance=1e-8, save=0.02).save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", m.system)
    assert outcome.verdict is Verdict.VERIFIED, outcome


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_a_run_through_singular_positions_is_honest(tolerance, tmp_path):
    links = {"ground": 1.8, "crank": 1.0, "coupler": 3.0, "rocker": 2.2}
    m = library.four_bar(**links, angle=1.0, rate=8.0)
    run = m.simulate(until=2.0, tolerance=tolerance, save=0.02)
    assert len(run.ranks) > 1
    run.save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", m.system)
    assert outcome.verdict is Verdict.VERIFIED, outcome


@pytest.fixture(scope="module")
def run():
    return SYSTEMS["pendulum"].simulate(*START, until=2.0)


def test_an_honest_file_says_what_was_checked(run, tmp_path):
    run.save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", SYSTEMS["pendulum"])
    assert outcome.verdict is Verdict.VERIFIED
    assert outcome.checked["states"] == len(run)
    assert outcome.checked["intervals"] == len(run) - 1
    assert set(outcome.figures) == {"residual", "step", "energy", "Gauss"}
    assert max(outcome.figures.values()) < 0.1
    assert str(outcome).startswith("verified")


def test_an_edit_is_told_with_its_time(run, tmp_path):
    run.save(tmp_path / "run")

    def faster(arrays):
        arrays["v"][20] *= 1.0 + 1e-7

    edit(tmp_path / "run", faster, reseal=True)
    outcome = zw.verify(tmp_path / "run", SYSTEMS["pendulum"])
    assert outcome.verdict in NOT_A_MOTION
    assert f"the state saved at {run.t[20]:.6g} s" in str(outcome)


def test_an_edit_below_the_tolerance_is_no_finding(run, tmp_path):
    run.save(tmp_path / "run")

    def hardly(arrays):
        arrays["v"][20] *= 1.0 + 1e-10

    edit(tmp_path / "run", hardly, reseal=True)
    assert zw.verify(tmp_path / "run", SYSTEMS["pendulum"])


def test_damage_is_told_from_tampering(run, tmp_path):
    run.save(tmp_path / "run")

    def slightly(arrays):
        arrays["q"][3, 0] = np.nextafter(arrays["q"][3, 0], 2.0)

    edit(tmp_path / "run", slightly, reseal=False)
    outcome = zw.verify(tmp_path / "run", SYSTEMS["pendulum"])
    assert outcome.verdict is Verdict.DAMAGED
    assert "q in rows 0 to" in str(outcome)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a["q"].__setitem__((5, 0), np.nan), "not finite"),
        (lambda a: a["time"].__setitem__(5, a["time"][3]), "time runs backwards"),
    ],
)
def test_states_that_are_no_states(change, words, run, tmp_path):
    run.save(tmp_path / "run")
    edit(tmp_path / "run", change, reseal=True)
    outcome = zw.verify(tmp_path / "run", SYSTEMS["pendulum"])
    assert outcome.verdict is Verdict.MISMATCH
    assert words in str(outcome)


def test_a_run_of_another_system_is_not_accepted(run, tmp_path):
    run.save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", SYSTEMS["driven"])
    assert not outcome
    assert outcome.verdict is Verdict.OTHER_MODEL
    assert "differs in its expressions" in str(outcome)


@pytest.mark.parametrize(
    ("share", "offset", "words"),
    [(3.0, 1.0, "'p.at_b' must follow from a"), (2.0, -1.0, "must be a nonzero direction")],
)
def test_dimensions_that_follow_otherwise_are_another_model(share, offset, words, tmp_path):
    """The equations are the same, and the numbers of the run cannot come from the parameter."""

    def built(share, offset):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        a = m.parameter("a", 1.0 if offset > 0.0 else 0.5)
        rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(a / share, 0, 0))
        m.revolute("p", m.ground, rod, at=(0, 0, 0), axis=(0, a + offset, 0))
        return m

    made = built(2.0, 1.0)
    made.simulate(until=0.1).save(tmp_path / "run")
    assert zw.verify(tmp_path / "run", made)
    outcome = zw.verify(tmp_path / "run", built(share, offset))
    assert outcome.verdict is Verdict.OTHER_MODEL
    assert words in str(outcome)
    assert str(outcome).startswith("another model: nothing checked")


def test_other_dimensions_are_told(tmp_path):
    """A mechanism of the same structure: the run is checked with its own numbers, which is said."""

    def built(length, mass):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        inertia = zw.inertia.rod(mass, length, axis=(1, 0, 0))
        rod = m.body("rod", inertia=inertia, position=(length / 2, 0, 0))
        m.revolute("p", m.ground, rod, at=(0, 0, 0), axis="y")
        return m

    made = built(1.0, 1.0)
    made.simulate(until=0.5, save=0.1).save(tmp_path / "run")
    assert zw.verify(tmp_path / "run", made).notes == ()
    assert zw.verify(tmp_path / "run", built(1.0, 1.0 + 1e-15)).notes == ()
    outcome = zw.verify(tmp_path / "run", built(2.0, 3.0))
    (note,) = outcome.notes
    assert note.startswith("checked with the numbers stored with the run; the system given has oth")
    assert "rod.mass is 1, not 3" in note
    assert "p.at_b" in note
    made.simulate(until=0.5, save=0.1, parameters={"rod.mass": 2.0}).save(tmp_path / "heavier")
    assert "rod.mass is 2, not 1" in str(zw.verify(tmp_path / "heavier", made))


def test_states_saved_seldom_in_a_quick_motion_are_honest(tmp_path):
    system = pendulum()
    run = system.simulate(*START, until=12.0, tolerance=1e-9, save=6.0)
    run.save(tmp_path / "seldom")
    assert zw.verify(tmp_path / "seldom", system).verdict is Verdict.VERIFIED


def test_states_saved_thousands_of_steps_apart_are_honest(tmp_path):
    system = pendulum()
    run = system.simulate(*START, until=600.0, tolerance=1e-7, save=200.0)
    run.save(tmp_path / "honest")
    outcome = zw.verify(tmp_path / "honest", system)
    assert outcome, outcome
    assert "energy is not checked" in str(outcome)
    v = run.v.copy()
    v[2] *= 1.01
    replace(run, v=v).save(tmp_path / "edited")
    assert not zw.verify(tmp_path / "edited", system)


def part(run, rows):
    """The run with some of its rows."""
    kept = {k: getattr(run, k)[rows] for k in ("t", "q", "v")}
    return replace(run, **kept, segments=(replace(run.segments[0], last=len(kept["t"])),))


@pytest.mark.parametrize("save", [None, 0.05])
@pytest.mark.parametrize(
    "rows",
    [np.s_[:30], np.s_[3:], np.r_[0:12, 14:41]],
    ids=["cut short", "without its beginning", "with a gap"],
)
def test_rows_that_are_missing_are_missed(rows, save, tmp_path):
    whole = SYSTEMS["pendulum"].simulate(*START, until=2.0, save=save, integrator="order8")
    part(whole, rows).save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", SYSTEMS["pendulum"])
    assert outcome.verdict is Verdict.MISMATCH
    assert outcome.figures["step"] < 1.0  # what is left is a motion


def test_a_status_that_tells_of_another_run_is_found(run, tmp_path):
    replace(run, status="reached t = 200 s: 4 steps").save(tmp_path / "run")
    assert "settings and counts give" in str(zw.verify(tmp_path / "run", SYSTEMS["pendulum"]))


@pytest.mark.parametrize("edited", ["parameters", "coordinate"])
def test_a_description_that_other_tools_would_read_wrongly_is_found(edited, run, tmp_path):
    run.save(tmp_path / "run")
    group = zarr.open_group(tmp_path / "run", mode="r+", use_consolidated=False)
    if edited == "parameters":
        group.attrs["parameters"] = {**group.attrs["parameters"], "g": 1.62}
    else:
        group["coordinate"][:] = np.array(["y", "x"], dtype=object)
    outcome = zw.verify(tmp_path / "run", SYSTEMS["pendulum"])
    assert outcome.verdict is Verdict.DAMAGED
    assert edited in str(outcome)


@pytest.mark.parametrize("save", [None, 0.05, 0.013], ids=["steps", "multiples", "between"])
@pytest.mark.parametrize("integrator", ["rattle", "generalized_alpha", "order5"])
def test_motion_by_fixed_steps_is_checked_too(integrator, save, tmp_path):
    system = SYSTEMS["driven"]
    choices = {"until": 0.5, "integrator": integrator, "step": 0.005, "save": save}
    honest, other = (system.simulate([1.0, 0.0], [0.0, u], **choices) for u in (0.0, 0.2))
    honest.save(tmp_path / "honest")
    assert zw.verify(tmp_path / "honest", system), zw.verify(tmp_path / "honest", system)
    half = len(honest) // 2
    q, v = honest.q.copy(), honest.v.copy()
    q[half:], v[half:] = other.q[half:], other.v[half:]
    replace(honest, q=q, v=v).save(tmp_path / "spliced")
    outcome = zw.verify(tmp_path / "spliced", system)
    assert outcome.verdict in NOT_A_MOTION
    assert f"the state saved at {honest.t[half]:.6g} s" in str(outcome)


def test_states_next_to_an_event_that_is_not_saved_are_checked(tmp_path):
    system = SYSTEMS["pendulum"]
    run = system.simulate(*START, until=2.0, events=EVENTS, save=0.1)
    hit = next(e.t for e in run.events if e.name == "wall")
    row = int(np.searchsorted(run.t, hit))
    v = run.v.copy()
    v[row] *= 1.0 + 1e-6
    run.save(tmp_path / "honest")
    replace(run, v=v).save(tmp_path / "edited")
    assert zw.verify(tmp_path / "honest", system)
    edited = str(zw.verify(tmp_path / "edited", system))
    assert f"from t = {hit:.6g} s the motion does not lead" in edited


def test_thin_rods_that_spin_about_themselves_are_honest(tmp_path):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(0.8, 0.6), position=(0.3, 0, 0))
    m.spherical("ball", m.ground, rod, at=(0, 0, 0))
    m.simulate(until=0.5).save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", m)
    assert outcome, outcome
    assert "accelerations are not unique" in str(outcome)

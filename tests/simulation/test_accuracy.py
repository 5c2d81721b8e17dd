"""Simulated motions against `reference/motions.json`, known to 30 digits without the package.

Errors are those of the final q and v, each entry relative to its size where that is above one: the
measure in which the tolerance is given.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mpmath import mpf

from reference.published import ANDREWS_Q, ANDREWS_TIME, CAR_AXIS
from zwang import library

FILE = Path(__file__).parents[1] / "reference" / "motions.json"
MOTIONS = {motion["name"]: motion for motion in json.loads(FILE.read_text(encoding="utf-8"))}

#: What "accurate" means here, and the tolerance that gives it, for each case.
ACCURATE = 1e-8
TOLERANCES = {
    "spherical_pendulum": 1e-9,
    "kepler": 1e-10,
    "nonholonomic_particle": 1e-7,
    "constant_speed": 1e-7,
    "knife_edge": 1e-8,
    "chaplygin_sleigh": 1e-7,
    "rough_wire": 1e-7,
    "two_mass_chain": 1e-9,
    "three_mass_chain": 1e-9,
    "rolling_disk": 1e-9,
    "rolling_disk_steady": 1e-8,
    "rotating_body": 1e-10,
}
CONSERVATIVE = {
    *("spherical_pendulum", "knife_edge", "chaplygin_sleigh", "two_mass_chain"),
    *("three_mass_chain", "rolling_disk", "rolling_disk_steady", "rotating_body"),
    *("andrews_squeezer", "one_four_bar", "two_four_bars"),
}
BENCHMARKS = {"andrews_squeezer": 1e-10, "car_axis": 1e-10}
LINKAGES = ("one_four_bar", "two_four_bars")

#: Rounding of a quadratic motion of some ten metres, which the method follows exactly.
EXACT = 1e-13
#: Limit of a projected state's residual, relative to the size of the row's terms.
RESIDUAL_LIMIT = 1e-13
#: How well the error estimate must hit.
ESTIMATE_FACTOR = 10.0
#: Error of the energy, in tolerances relative to its larger part.
ENERGY_TOLERANCES = 100.0
#: How near published final states must be met.
PUBLISHED = 1e-9
#: Tolerances between which the error must be proportional: below, rounding joins in.
DECADES = 10.0 ** -np.arange(6.0, 12.0)


@cache
def system(name):
    motion = MOTIONS[name]
    return getattr(library, motion["system"])(**motion["options"])


def simulate(name, tolerance, **options):
    motion = MOTIONS[name]
    run = system(name).simulate(
        motion["q"], motion["v"], until=motion["until"], tolerance=tolerance, **options
    )
    assert run.finished, run.status
    return run


def difference(actual, exact):
    """Entry by entry, before rounding the exact value."""
    return np.array([float(mpf(float(a)) - mpf(e)) for a, e in zip(actual, exact, strict=True)])


def sizes(name):
    motion = MOTIONS[name]
    return np.maximum(1.0, np.abs([float(x) for x in motion["q_end"] + motion["v_end"]]))


def error(name, run):
    motion = MOTIONS[name]
    apart = difference([*run.q[-1], *run.v[-1]], motion["q_end"] + motion["v_end"])
    return (np.abs(apart) / sizes(name)).max()


def slope(tolerances, errors):
    return np.polyfit(np.log(tolerances), np.log(errors), 1)[0]


def estimated_error(name, run):
    estimate = run.error_estimate()
    return np.abs(np.concatenate([estimate.q[-1], estimate.v[-1]]) / sizes(name)).max()


def assert_estimate_holds(name, run):
    estimated, actual = estimated_error(name, run), error(name, run)
    assert actual / ESTIMATE_FACTOR < estimated < actual * ESTIMATE_FACTOR


def assert_on_constraints(run):
    """|φᵢ| ≤ 1e-13 max(1, |φ_q,ᵢ| |q|), and the same for φ̇ and ψ with v; v = q̇ in all cases."""
    (residuals,) = run.residuals
    A = run.system.terms(run.q, run.v, run.t).constraint_matrix
    rows = list(residuals.velocity_names)
    position = [rows.index(name) for name in residuals.position_names]
    lengths = np.linalg.norm(A, axis=-1)
    for values, length, size in (
        (residuals.position, lengths[:, position], run.q),
        (residuals.velocity, lengths, run.v),
    ):
        limit = np.maximum(1.0, length * np.linalg.norm(size, axis=-1)[:, None])
        assert (np.abs(values) / limit).max(initial=0.0) <= RESIDUAL_LIMIT


def assert_energy_is_kept(run):
    size = np.abs(run.kinetic_energy).max()
    if run.potential_energy is not None:
        size = max(size, np.abs(run.potential_energy).max())
    change = np.abs(run.energy - run.energy[0]).max()
    assert change <= ENERGY_TOLERANCES * run.settings.tolerance * size


@pytest.mark.parametrize("name", TOLERANCES)
def test_final_state_is_accurate_at_the_stated_tolerance(name):
    run = simulate(name, TOLERANCES[name])
    assert error(name, run) <= ACCURATE
    assert_estimate_holds(name, run)


@pytest.mark.inventory("BL-49")
def test_rolling_disk_in_three_free_velocities_ends_where_it_should():
    motion = MOTIONS["rolling_disk"]
    disk = library.rolling_disk(**{**motion["options"], "form": "velocities"})
    free = motion["v"][2:]  # rates of heading, lean and spin; rolling gives the others
    run = disk.simulate(motion["q"], free, until=motion["until"], tolerance=1e-9)
    apart = difference([*run.q[-1], *run.v[-1]], motion["q_end"] + motion["v_end"][2:])
    assert np.abs(apart).max() <= ACCURATE * sizes("rolling_disk").max()


@pytest.mark.parametrize("tolerance", [1e-12, 1e-13, 1e-14])
def test_error_is_not_underestimated_where_rounding_decides(tolerance):
    run = simulate("knife_edge", tolerance)
    assert estimated_error("knife_edge", run) > error("knife_edge", run) / ESTIMATE_FACTOR


@pytest.mark.parametrize("name", TOLERANCES)
def test_error_falls_with_the_tolerance(name):
    errors = [error(name, simulate(name, tolerance)) for tolerance in DECADES]
    assert 0.8 < slope(DECADES, errors) < 1.2


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_quadratic_motion_of_appell_and_hamels_machine_is_exact(tolerance):
    run = simulate("appell_hamel", tolerance)
    assert error("appell_hamel", run) <= EXACT
    assert_energy_is_kept(run)


@pytest.mark.parametrize("save", [None, 37.3])  # every step, or so many times in between
@pytest.mark.parametrize("name", [*TOLERANCES, "appell_hamel", *BENCHMARKS, *LINKAGES])
def test_constraints_and_energy_are_kept_at_every_saved_state(name, save):
    for tolerance in (1e-5, 1e-8):
        interval = None if save is None else MOTIONS[name]["until"] / save
        run = simulate(name, tolerance, save=interval)
        assert_on_constraints(run)
        if name in CONSERVATIVE:
            assert_energy_is_kept(run)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_mechanisms_end_where_they_should(name):
    run = simulate(name, BENCHMARKS[name])
    assert error(name, run) <= ACCURATE
    assert_estimate_holds(name, run)


def test_squeezer_ends_at_the_published_state():
    start = library.start("andrews_squeezer")
    run = system("andrews_squeezer").simulate(start, until=ANDREWS_TIME, tolerance=1e-11)
    assert np.abs(run.q[-1] - ANDREWS_Q).max() <= PUBLISHED


def test_car_axis_ends_at_the_published_state():
    run = system("car_axis").simulate(library.start("car_axis"), until=3.0, tolerance=1e-11)
    assert np.abs([*run.q[-1], *run.v[-1]] - np.array(CAR_AXIS)).max() <= PUBLISHED


def assert_parallelograms(run):
    """All couplers are level: on another branch they turn by radians."""
    heights = run.q[:, 1::2]
    assert np.abs(heights - heights[:, :1]).max() < 1e-9


def assert_near_parallelograms(name, run):
    """The benchmark asks for 1e-6 m; a step across a flat position costs more than others."""
    assert_parallelograms(run)
    apart = difference(run.q[-1], MOTIONS[name]["q_end"])
    assert np.abs(apart).max() <= max(1e-6, 300 * run.settings.tolerance)


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-11])
def test_linkages_stay_parallelograms_through_flat_positions(name, tolerance):
    assert_near_parallelograms(name, simulate(name, tolerance))


@pytest.mark.parametrize("name", LINKAGES)
def test_error_across_flat_positions_is_estimated(name):
    # With 1e-9 for the second run, far above the rounding that flat positions magnify.
    assert_estimate_holds(name, simulate(name, 1e-7))


# --- campaigns ------------------------------------------------------------------------------------


@pytest.mark.campaign
@pytest.mark.parametrize("name", [*TOLERANCES, *BENCHMARKS, *LINKAGES])
def test_complete_sweep_of_tolerances(name):
    """Every half decade: the estimate, the constraints, the energy; and the slope over all.

    Estimates of the linkages end where their second run is at the rounding that flat positions
    magnify.
    """
    tolerances = 10.0 ** np.arange(-5.0, -11.1, -0.5)
    errors = []
    for tolerance in tolerances:
        run = simulate(name, tolerance)
        errors.append(error(name, run))
        if name not in LINKAGES or tolerance > 1e-8:
            assert_estimate_holds(name, run)
        assert_on_constraints(run)
        assert_on_constraints(simulate(name, tolerance, save=MOTIONS[name]["until"] / 211.0))
        if name in CONSERVATIVE:
            assert_energy_is_kept(run)
    if name in TOLERANCES:
        assert 0.8 < slope(tolerances[2:], errors[2:]) < 1.2


@pytest.mark.campaign
def test_forty_linkages_stay_parallelograms_through_flat_positions():
    for tolerance in 10.0 ** -np.arange(5.0, 12.0):
        assert_near_parallelograms("forty_four_bars", simulate("forty_four_bars", tolerance))


@pytest.mark.campaign
@pytest.mark.parametrize("name", LINKAGES)
def test_linkages_pass_flat_positions_at_any_speed_and_tolerance(name):
    motion = MOTIONS[name]
    for speed in np.linspace(0.5, 2.0, 16):
        for tolerance in 10.0 ** np.arange(-5.0, -12.1, -0.5):
            v = speed * np.array(motion["v"])
            run = system(name).simulate(motion["q"], v, until=10.0, tolerance=tolerance)
            assert run.finished, run.status
            assert_parallelograms(run)

"""Holonomic in disguise or not, alone or with others: Frobenius."""

import numpy as np
import pytest
from linkages import rolling_disk

import zwang as zw


def particle(count=3, **constraints):
    """A particle in x, y, z, w with velocity constraints, or others if they are made so."""
    return zw.System(
        coordinates=["x", "y", "z", "w"][:count],
        mass=lambda: np.eye(count),
        constraints={
            name: c if isinstance(c, type(zw.velocity(lambda v: v))) else zw.velocity(c)
            for name, c in constraints.items()
        },
    )


def kinds(report):
    return {name: row.kind for name, row in report.rows.items()}


def test_rolling_disk_has_two_nonholonomic_constraints():
    report = rolling_disk().integrability()
    assert kinds(report) == {"rolling[0]": "nonholonomic", "rolling[1]": "nonholonomic"}
    assert (report.holonomic, report.nonholonomic) == (0, 2)
    # Three angles turn freely; brackets reach x and y one after the other. Time adds one.
    assert report.growth == (4, 5, 6)
    assert "0 can be integrated, 2 cannot" in str(report)


def test_a_wheel_on_a_line_is_holonomic_and_on_a_curve_too():
    line = particle(2, wheel=lambda v: v[0] - 0.3 * v[1]).integrability()
    assert kinds(line) == {"wheel": "holonomic"}
    assert line.growth == (2,)
    # Rolling disk with its heading held by a position constraint: both conditions integrate.
    disk = rolling_disk()
    held = zw.System(
        coordinates=disk.coordinates,
        velocities=disk.velocities,
        kinematics=disk.definition.kinematics,
        parameters=disk.parameters,
        mass=disk.definition.mass,
        force=disk.definition.force,
        constraints={**disk.definition.constraints, "rail": zw.position(lambda q: q[3] - 0.4)},
    )
    report = held.integrability()
    assert report.nonholonomic == 0
    assert report.holonomic == 2
    assert report.rows["rolling[0]"].kind == "holonomic with others"
    assert "rail" in report.rows["rolling[0]"].others
    assert "contact" not in report.rows["rolling[0]"].others


@pytest.mark.parametrize(
    "form",
    [
        lambda q, v: v[0] * q[1] + q[0] * v[1],  # d(xy)
        lambda q, v: v[0] * q[1] - q[0] * v[1],  # y² d(x/y)
        lambda q, v: np.exp(q[2]) * (v[0] * np.cos(q[0]) + 2 * q[1] * v[1]),  # a factor of z
        lambda q, v, t: v[0] * q[1] + q[0] * v[1] - np.cos(t),  # d(xy − sin t)
        lambda q, v, t: t * v[0] + q[0] + v[1] * q[1],  # d(t x + y²/2)
    ],
)
def test_exact_differentials_and_integrating_factors_are_found(form):
    report = particle(3, form=form).integrability()
    assert kinds(report) == {"form": "holonomic"}
    assert (report.holonomic, report.nonholonomic) == (1, 0)


@pytest.mark.parametrize(
    "form",
    [
        lambda q, v: v[2] - q[1] * v[0],
        lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2]),
        lambda q, v: v[0] - q[1],  # dx − y dt
        lambda q, v, t: v[0] - t * v[1],  # exact at each instant, not in time
    ],
)
def test_forms_that_no_factor_integrates_are_told_apart(form):
    report = particle(3, form=form).integrability()
    assert kinds(report) == {"form": "nonholonomic"}
    assert (report.holonomic, report.nonholonomic) == (0, 1)
    assert report.growth == (4 - 1, 4)


def test_a_pair_that_is_integrable_only_together():
    report = particle(
        3,
        a=lambda q, v: np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1],
        b=lambda q, v: -np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1],
    ).integrability()
    assert kinds(report) == {"a": "holonomic with others", "b": "holonomic with others"}
    assert report.rows["a"].others == ("b",)
    assert report.rows["b"].others == ("a",)
    assert (report.holonomic, report.nonholonomic) == (2, 0)
    assert "a: a position constraint in disguise together with b" in str(report)


def test_only_the_constraints_that_help_are_named():
    report = particle(
        4,
        contact=lambda q, v: v[2] - q[1] * v[0],
        stop=lambda v: v[1],
        spare=lambda v: v[3],
    ).integrability()
    assert kinds(report)["stop"] == kinds(report)["spare"] == "holonomic"
    assert report.rows["contact"].kind == "holonomic with others"
    assert report.rows["contact"].others == ("stop",)


def test_a_position_constraint_can_make_a_velocity_constraint_integrable():
    constraints = {"contact": zw.velocity(lambda q, v: v[2] - q[1] * v[0])}
    report = particle(
        4,
        sphere=zw.position(lambda q: q[1] ** 2 - q[0] - 2.0),
        other=zw.position(lambda q: q[3] - np.sin(q[2])),
        **constraints,
    ).integrability()
    assert report.rows["contact"].kind == "holonomic with others"
    assert report.rows["contact"].others == ("sphere",)


def test_combinations_are_found_where_no_row_is_integrable():
    report = particle(
        4,
        a=lambda q, v: v[2] - q[1] * v[0] + 2 * v[3],
        b=lambda q, v: v[2] - q[1] * v[0],
    ).integrability()
    assert kinds(report) == {"a": "nonholonomic", "b": "nonholonomic"}
    assert (report.holonomic, report.nonholonomic) == (1, 1)
    (combination,) = report.combinations
    assert combination.constant
    assert str(combination) == "a − b"
    varying = particle(
        4,
        a=lambda q, v: np.exp(q[0]) * (v[2] - q[1] * v[0]) + v[3],
        b=lambda q, v: v[2] - q[1] * v[0],
    ).integrability()
    assert not varying.combinations[0].constant
    assert varying.combinations[0].names == ("a", "b")


def test_redundant_rows_do_not_count_twice():
    report = particle(
        3,
        edge=lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2]),
        again=lambda q, v: 1e3 * (v[0] * np.sin(q[2]) - v[1] * np.cos(q[2])),
    ).integrability()
    assert (report.holonomic, report.nonholonomic) == (0, 1)


def test_nonlinear_constraints_are_reported_as_such():
    report = particle(3, speed=lambda v: v @ v - 4.0, wheel=lambda v: v[0] - v[1]).integrability()
    assert kinds(report) == {"speed": "nonlinear", "wheel": "holonomic"}
    assert str(particle(2).integrability()) == "There are no velocity constraints."


def test_quaternions_with_more_coordinates_than_velocities():
    # A body that may not spin about its third axis: ω₃ = 0 is nonholonomic on the unit sphere.
    body = zw.System(
        coordinates=["e0", "e1", "e2", "e3"],
        velocities=["w1", "w2", "w3"],
        kinematics=lambda q: (
            0.5
            * np.array(
                [
                    [-q[1], -q[2], -q[3]],
                    [q[0], -q[3], q[2]],
                    [q[3], q[0], -q[1]],
                    [-q[2], q[1], q[0]],
                ]
            )
        ),
        mass=lambda: np.eye(3),
        constraints={"no_spin": zw.velocity(lambda v: v[2])},
    )
    assert kinds(body.integrability()) == {"no_spin": "nonholonomic"}
    assert body.integrability().growth == (3, 4)
    assert body.quasi_velocities().quasi == ("w1", "w2", "w3")

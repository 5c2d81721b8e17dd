"""The level of a constraint given as a bare expression is found from what it depends on."""

import numpy as np
import pytest

import zwang as zw


def system(constraint, **more):
    return zw.System(
        coordinates=["x", "y"],
        parameters={"L": 2.0},
        mass=lambda: np.eye(2),
        constraints={"c": constraint},
        **more,
    )


@pytest.mark.inventory("BL-04")
@pytest.mark.parametrize(
    ("function", "level"),
    [
        (lambda q, v, t, p: q @ q - p.L**2, "position"),
        (lambda q: q[0] - q[1], "position"),
        (lambda q, t: q[0] - np.sin(t), "position"),
        (lambda q, v: 0.0 * v[0] + q[0] - 1.0, "position"),  # no true dependence on v
        (lambda v: v[0] - v[1], "velocity"),
        (lambda q, v, t, p: v[0] ** 2 + v[1] ** 2 - p.L, "velocity"),
        (lambda q, v, a: a[0] - q[1] * v[0], "acceleration"),
        (lambda v, a: v[0] * a[1] - v[1] * a[0], "acceleration"),
        (lambda q, v, a: q[0] * v[1] + 0.0 * a[0] - 1.0, "velocity"),
    ],
)
def test_the_level_is_found(function, level):
    for given in (function, zw.constraint(function)):
        assert system(given).levels == {"c": level}


def test_the_detected_level_differentiates_like_the_stated_one():
    q, v, t = [0.3, -0.7], [1.1, 0.4], 0.2
    pairs = [
        (zw.position, lambda q, t, p: q @ q - p.L * t),
        (zw.velocity, lambda q, v, t: v[0] * v[1] - q[0] * t),
    ]
    for stated, f in pairs:
        ours, theirs = system(zw.constraint(f)).terms(q, v, t), system(stated(f)).terms(q, v, t)
        assert np.array_equal(ours.constraint_matrix, theirs.constraint_matrix)
        assert np.array_equal(ours.constraint_rhs, theirs.constraint_rhs)
    detected = system(lambda q, v, t, a: q[0] * a[0] + a[1] - v[0] * t).terms(q, v, t)
    assert detected.constraint_matrix == pytest.approx(np.array([[0.3, 1.0]]))
    assert detected.constraint_rhs == pytest.approx([1.1 * 0.2])


def test_levels_are_found_through_quasi_velocities_too():
    moving = system(
        zw.constraint(lambda q, v: v[0] - q[1]),
        velocities=["u1", "u2"],
        kinematics=lambda q: [[1.0, q[0]], [0.0, 1.0]],
    )
    assert moving.levels == {"c": "velocity"}
    # A = ψ_u, b = ẏ = u2.
    terms = moving.terms([0.5, 0.1], [1.0, 2.0])
    assert terms.constraint_matrix == pytest.approx(np.array([[1.0, 0.0]]))
    assert terms.constraint_rhs == pytest.approx([2.0])


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (
            lambda q, v, a: a[0] ** 2 - q[0],
            "constraint 'c' must be linear in the accelerations, but is not",
        ),
        (lambda p: p.L - 1.0, "does not depend on q"),
        (lambda t: t, "does not depend on q"),
        (zw.velocity(lambda q: q[0]), r"does not depend on v.*state it with zw\.position"),
        (lambda q: [q[0], 1.0], "'c', equation 1"),
    ],
)
def test_what_has_no_level_is_refused(constraint, message):
    with pytest.raises(zw.InputError, match=message):
        system(constraint)

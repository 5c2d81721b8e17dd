"""Parameters are inputs: changing one gives the system built with it, and compiles nothing."""

import numpy as np
import pytest

import zwang as zw
from zwang.codegen import cache_hits, compilations

Q, V, T = np.array([0.3, -0.8, 0.2]), np.array([1.0, 0.5, -0.4]), 0.7


def top(**parameters):
    """Every function uses parameters: numbers, a vector and a matrix."""
    given = {"m": 2.0, "k": 0.5, "axis": np.array([1.0, 2.0, 3.0]), "J": np.diag([1.0, 2.0, 3.0])}
    return zw.System(
        coordinates=["x", "y", "z"],
        velocities=["u", "v", "w"],
        kinematics=(lambda q, p: np.eye(3) + p.k * np.outer(q, p.axis), lambda t, p: p.axis * t),
        parameters={**given, **parameters},
        mass=lambda q, p: p.J + p.m * np.eye(3) * (1.0 + q[0] ** 2),
        force=lambda q, v, p: p.J @ q - p.k * v,
        potential=lambda q, p: 0.5 * q @ p.J @ q,
        constraints={
            "plane": zw.position(lambda q, t, p: p.axis @ q - p.k * t),
            "rail": zw.velocity(lambda q, v, p: v[0] - p["k"] * v[1] ** 2 - p.J[2, 2] * q[2]),
        },
        nonideal={
            "plane": lambda v, p, reaction: -p.k * v * abs(reaction.multipliers[0]),
        },
    )


CHANGES = [
    {"m": 3.5},
    {"k": -0.2, "m": 1.0},
    {"axis": [0.5, -1.0, 2.0]},
    {"J": [[2.0, 0.1, 0.0], [0.1, 3.0, 0.0], [0.0, 0.0, 1.0]], "axis": (1, 1, 1)},
]


def everything(system, **how):
    s = system.solve(Q, V, T, **how)
    r = system.residuals(Q, V, T, **how)
    return [
        *(s.terms.mass_matrix, s.terms.applied_force, s.terms.constraint_matrix),
        *(s.terms.constraint_rhs, s.terms.nonideal_force, s.acceleration, s.multipliers),
        *(r.position, r.velocity, *system.energy(Q, V, T, **how)),
        system.position_rate(Q, V, T, **how),
    ]


@pytest.mark.parametrize("change", CHANGES)
def test_an_override_equals_a_system_built_with_the_value(change):
    for got, want in zip(
        everything(top(), parameters=change), everything(top(**change)), strict=True
    ):
        np.testing.assert_array_equal(got, want)


def test_an_override_changes_every_term():
    before, after = everything(top()), everything(top(), parameters={**CHANGES[3], "k": 0.9})
    for a, b in zip(before, after, strict=True):
        assert np.max(np.abs(a - b)) > 1e-3


def test_changing_a_parameter_never_recompiles():
    system = top()
    everything(system)
    compiled, loaded = compilations(), cache_hits()
    for change in CHANGES * 3:
        everything(system, parameters=change)
    assert (compilations(), cache_hits()) == (compiled, loaded)


def test_a_system_built_with_other_values_shares_the_kernels():
    system = top()
    everything(system)
    compiled, loaded = compilations(), cache_hits()
    for change in CHANGES:
        everything(top(**change))
    assert (compilations(), cache_hits()) == (compiled, loaded)


def test_an_override_lasts_for_one_call():
    system = top()
    before = system.terms(Q, V, T)
    system.terms(Q, V, T, parameters=CHANGES[0])
    np.testing.assert_array_equal(system.terms(Q, V, T).mass_matrix, before.mass_matrix)
    assert system.parameters["m"] == 2.0


def test_parameters_are_one_flat_vector_in_the_order_given():
    system = top()
    np.testing.assert_array_equal(
        system.parameter_vector({"k": 9.0}),
        [2.0, 9.0, 1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0],
    )
    assert zw.System(["x"], mass=lambda: [[1.0]]).parameter_vector().shape == (0,)


def test_parameters_keep_their_shape_inside_functions():
    seen = {}

    def force(p):
        seen.update(m=np.shape(p.m), axis=p.axis.shape, J=p.J.shape)
        return p.J @ p.axis * p.m

    system = zw.System(
        ["x", "y", "z"],
        parameters={"m": 2, "axis": [1, 2, 3], "J": np.eye(3)},
        mass=lambda: np.eye(3),
        force=force,
    )
    assert seen == {"m": (), "axis": (3,), "J": (3, 3)}
    np.testing.assert_array_equal(system.terms(np.zeros(3)).applied_force, [2.0, 4.0, 6.0])


def test_array_parameters_are_read_only_inside_functions():
    def spoils(p):
        p.axis[0] = 0.0
        return p.axis

    with pytest.raises(zw.TraceError, match=r"force .*p\.axis\[0\] = 0\.0.*read-only"):
        zw.System(["x", "y"], parameters={"axis": [1.0, 2.0]}, mass=lambda: np.eye(2), force=spoils)


def test_constant_mass_and_force_may_be_arrays():
    system = zw.System(["x", "y"], mass=np.diag([2.0, 4.0]), force=[2.0, -4.0])
    assert np.array_equal(system.solve([0.0, 0.0]).acceleration, [1.0, -1.0])
    with pytest.raises(
        zw.InputError, match=r"mass must be a function of \(q, t, p\),.*not 'heavy'"
    ):
        zw.System(["x"], mass="heavy")
    with pytest.raises(zw.InputError, match="mass"):
        zw.System(["x", "y"], mass=[[1.0, 0.0]])

"""Non-ideal laws, with and without the reaction, against closed forms; Painlevé situations."""

import itertools

import numpy as np
import pytest
from scipy.optimize import fsolve

import zwang as zw
from zwang.codegen import compilations
from zwang.tracing.nonideal import agreeing_reactions

#: A state is solved to rounding; closed forms of a few operations differ by less than this.
ROUNDING = 1e-12

G = 9.81


def incline(**changes):
    """A block on a rough incline of angle p.a, x along it and y across."""
    given = {
        "coordinates": ["x", "y"],
        "parameters": {"m": 2.0, "a": 0.6, "mu": 0.3},
        "mass": lambda p: np.diag([p.m, p.m]),
        "force": lambda p: [p.m * G * np.sin(p.a), -p.m * G * np.cos(p.a)],
        "constraints": {"plane": zw.position(lambda q: q[1])},
        "nonideal": {
            "plane": lambda v, p, reaction: [-p.mu * np.sign(v[0]) * abs(reaction[1]), 0.0]
        },
    }
    return zw.System(**{**given, **changes})


@pytest.mark.inventory("US-04")
@pytest.mark.parametrize("speed", [1.0, -2.0, 0.0])
def test_block_on_a_rough_incline(speed):
    s = incline().solve([0.0, 0.0], [speed, 0.0])
    a = G * (np.sin(0.6) - 0.3 * np.cos(0.6) * np.sign(speed))
    np.testing.assert_allclose(s.acceleration, [a, 0.0], atol=ROUNDING * G)
    np.testing.assert_allclose(s.multipliers, [2.0 * G * np.cos(0.6)], rtol=ROUNDING)
    (only,) = incline(nonideal={"plane": lambda: [-3.0, 0.0]}).reaction_solutions([0.0, 0.0])
    np.testing.assert_allclose(only.acceleration, [G * np.sin(0.6) - 1.5, 0.0], atol=ROUNDING * G)


@pytest.mark.inventory("US-04")
def test_the_constraint_force_does_the_work_of_the_law_in_virtual_displacements():
    system = hoop()
    q, v = on_hoop(0.7, 3.0)
    s = system.solve(q, v)
    C = s.terms.nonideal_force
    along = np.array([q[1], -q[0]])  # A w = 0
    np.testing.assert_allclose(along @ s.constraint_force, along @ C, rtol=ROUNDING)
    assert v @ C < 0.0  # friction takes energy
    np.testing.assert_allclose(C, friction(s.multipliers[0] * 2 * q, v), rtol=ROUNDING)


def friction(reaction, v, mu=0.4):
    return -mu * np.sqrt(reaction @ reaction) * v / np.sqrt(v @ v)


def hoop(*, law=None):
    """A bead on a rough vertical hoop of radius 1, in Cartesian coordinates."""
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 1.5, "mu": 0.4},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda p: [0.0, -p.m * G],
        constraints={"hoop": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)},
        nonideal={"hoop": law or (lambda v, p, reaction: friction(reaction, v, p.mu))},
    )


def on_hoop(angle, speed):
    q = np.array([np.sin(angle), -np.cos(angle)])
    return q, speed * np.array([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize(("angle", "speed"), [(0.0, 1.0), (0.9, -2.0), (2.5, 0.5), (3.0, 6.0)])
def test_bead_on_a_rough_hoop(angle, speed):
    q, v = on_hoop(angle, speed)
    s = hoop().solve(q, v)
    normal = 1.5 * (speed**2 + G * np.cos(angle))  # towards the centre
    tangential = -G * np.sin(angle) - 0.4 * abs(normal) / 1.5 * np.sign(speed)
    expected = tangential * np.array([np.cos(angle), np.sin(angle)]) - speed**2 * q
    np.testing.assert_allclose(s.acceleration, expected, atol=ROUNDING * 50)
    np.testing.assert_allclose(s.multipliers, [-normal / 2.0], atol=ROUNDING * 50)


def test_a_law_in_quasi_velocities():
    # The same hoop in the velocities u along and w across the tangent.
    system = zw.System(
        coordinates=["x", "y"],
        velocities=["u", "w"],
        kinematics=lambda q: [[-q[1], q[0]], [q[0], q[1]]],
        parameters={"m": 1.5},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda q, v, p: [
            -p.m * G * q[0] - p.m * v[0] * v[1],  # e_t turns with the rate u
            -p.m * G * q[1] + p.m * v[0] ** 2,
        ],
        constraints={"hoop": zw.velocity(lambda v: v[1])},
        nonideal={"hoop": lambda v, reaction: [-0.4 * np.sign(v[0]) * abs(reaction[1]), 0.0]},
    )
    q, v = on_hoop(0.9, -2.0)
    s = system.solve(q, [-2.0, 0.0])
    expected = hoop().solve(q, v)
    np.testing.assert_allclose(
        s.acceleration[0], expected.acceleration @ [np.cos(0.9), np.sin(0.9)], rtol=ROUNDING
    )


def test_laws_without_the_reaction_are_taken_as_they_are():
    s = incline(nonideal={"plane": lambda v, p: [-0.5 * v[0], 3.0]}).solve([0.0, 0.0], [2.0, 0.0])
    np.testing.assert_allclose(s.acceleration[0], G * np.sin(0.6) - 0.5, rtol=ROUNDING)
    np.testing.assert_allclose(s.constraint_force[1], 2.0 * G * np.cos(0.6), rtol=ROUNDING)
    np.testing.assert_allclose(s.multipliers[0], 2.0 * G * np.cos(0.6) - 3.0, rtol=ROUNDING)


def test_a_smooth_nonlinear_law_equals_the_root_of_its_equation():
    # Friction that grows less than proportionally, and a regularised sign.
    def law(v, p, reaction):
        return [-p.mu * np.tanh(v[0] / 0.1) * (1.0 + reaction[1] ** 2) ** 0.45, 0.2 * reaction[1]]

    s = incline(nonideal={"plane": law}).solve([0.0, 0.0], [0.05, 0.0])
    weight = 2.0 * G * np.cos(0.6)
    (normal,) = fsolve(lambda n: n + 0.2 * n - weight, 1.0, xtol=1e-14)
    drag = 0.3 * np.tanh(0.5) * (1.0 + normal**2) ** 0.45
    np.testing.assert_allclose(s.multipliers, [normal], rtol=1e-12)
    np.testing.assert_allclose(s.acceleration[0], G * np.sin(0.6) - drag / 2.0, rtol=1e-12)


def test_friction_of_a_wire_in_space_takes_the_length_of_both_reactions():
    system = zw.System(
        coordinates=["x", "y", "z"],
        mass=lambda: 2.0 * np.eye(3),
        force=lambda: [0.0, 3.0, -4.0],
        constraints={"wire": zw.position(lambda q: [q[1], q[2]])},
        nonideal={
            "wire": lambda v, reaction: [-0.5 * np.linalg.norm(reaction.multipliers), 0.0, 0.0]
        },
    )
    s = system.solve([0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(s.acceleration, [-0.5 * 5.0 / 2.0, 0.0, 0.0], atol=ROUNDING)


# --- Painlevé -------------------------------------------------------------------------------------


def rod(mu):
    """A rod of length 2 and mass 1 whose end slides on a rough floor (Painlevé 1895)."""
    return zw.System(
        coordinates=["x", "y", "a"],
        parameters={"mu": mu},
        mass=lambda: np.diag([1.0, 1.0, 1.0 / 3.0]),
        force=lambda: [0.0, -G, 0.0],
        constraints={"floor": zw.position(lambda q: q[1] - np.sin(q[2]))},
        nonideal={
            "floor": lambda q, v, p, reaction: (
                -p.mu
                * np.sign(v[0] + v[2] * np.sin(q[2]))
                * abs(reaction.multipliers[0])
                * np.array([1.0, 0.0, np.sin(q[2])])
            )
        },
    )


def sliding(angle, speed, spin):
    q = [0.0, np.sin(angle), angle]
    return q, [speed - spin * np.sin(angle), spin * np.cos(angle), spin]


def rod_reactions(angle, speed, spin, mu):
    """Of N (1 + 3 cos²) + 3 μ σ |N| sin cos = g − ω² sin, by hand, for both signs of N."""
    weight = G - spin**2 * np.sin(angle)
    even = 1.0 + 3.0 * np.cos(angle) ** 2
    odd = 3.0 * mu * np.sign(speed) * np.sin(angle) * np.cos(angle)
    candidates = [weight / (even + odd), weight / (even - odd)]
    return sorted(n for n, sign in zip(candidates, (1, -1), strict=True) if n * sign > 0)


CASES = [(1.0, 1.0, 0.5), (2.0, 1.0, 8.0), (2.0, 1.0, 0.5), (1.2, -1.0, 0.5), (1.2, -1.0, 8.0)]


@pytest.mark.inventory("US-04")
@pytest.mark.parametrize(("angle", "speed", "spin"), CASES)
@pytest.mark.parametrize("mu", [0.2, 1.2, 2.0, 5.0])
def test_the_painleve_rod_has_the_reactions_of_the_hand_calculation(angle, speed, spin, mu):
    system, state = rod(mu), sliding(angle, speed, spin)
    expected = rod_reactions(angle, speed, spin, mu)
    found = system.reaction_solutions(*state)
    np.testing.assert_allclose(
        sorted(s.multipliers[0] for s in found), expected, rtol=1e-11, atol=0
    )
    if len(expected) == 1:
        s = system.solve(*state)
        np.testing.assert_allclose(s.multipliers, expected, rtol=1e-11)
        return
    with pytest.raises(zw.PainleveError, match="constraint 'floor'") as caught:
        system.solve(*state)
    assert caught.value.names == ("floor",)
    assert len(caught.value.solutions) == len(expected)
    word = "exactly one reaction at this state, but allows none" if not expected else "but allows 2"
    assert word in str(caught.value)
    for value in expected:
        assert f"{value:.6g}" in str(caught.value)


def test_all_numbers_of_solutions_occur_in_the_cases_above():
    counts = {len(rod_reactions(*case, mu)) for case in CASES for mu in (0.2, 1.2, 2.0, 5.0)}
    assert counts == {0, 1, 2}


def test_in_a_batch_the_state_is_named():
    good, bad = sliding(1.56, 1.0, 0.5), sliding(2.0, 1.0, 0.5)
    q, v = (np.array(pair) for pair in zip(good, bad, strict=True))
    with pytest.raises(zw.PainleveError, match="state 1 of the batch"):
        rod(5.0).solve(q, v)


def test_explain_works_where_no_reaction_exists():
    q, v = sliding(2.0, 1.0, 0.5)
    assert rod_reactions(2.0, 1.0, 0.5, 5.0) == []
    rod(5.0).explain(q, v)


@pytest.mark.parametrize("seed", range(40))
def test_piecewise_linear_laws_give_all_solutions_of_all_orthants(seed):
    # x + B |x| = c, with B small (one solution) to large (none, or up to eight)
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(3, 3)) * [0.3, 0.8, 1.5, 3.0][seed % 4]
    c = rng.normal(size=3)
    expected = []
    for signs in itertools.product((1.0, -1.0), repeat=3):
        x = np.linalg.solve(np.eye(3) + B * signs, c)
        if np.all(x * signs > 0):
            expected.append(x)

    def law(lam):
        return -np.abs(lam), -np.diag(np.sign(lam))

    found = agreeing_reactions(law, c, B)
    assert len(found.solutions) == len(expected)
    for x in expected:
        assert any(np.allclose(x, y, rtol=1e-9) for y in found.solutions)


def test_a_jump_that_no_reaction_fits_is_reported():
    system = incline(
        nonideal={"plane": lambda reaction: [0.0, 40.0 * zw.where(reaction[1] > 0, 1.0, -1.0)]}
    )
    # λ = 16.2 − 40 sgn λ: negative for positive λ, positive for negative λ
    with pytest.raises(
        zw.PainleveError,
        match=r"'plane' must allow exactly one reaction.*but allows none \(the search from 7",
    ):
        system.solve([0.0, 0.0], [1.0, 0.0])


def test_a_law_that_is_not_finite_is_named():
    with pytest.raises(
        zw.InputError,
        match=r"constraint 'plane' must be finite at this state.*but has no finite value for any",
    ):
        incline(nonideal={"plane": lambda q, reaction: [reaction[1] / q[1], 0.0]}).solve([0.0, 0.0])


# --- batches, redundancy, parameters --------------------------------------------------------------


def test_a_batch_is_the_same_as_its_states_one_by_one():
    system = hoop()
    states = [on_hoop(angle, 2.0 - angle) for angle in np.linspace(0.0, 3.0, 6)]
    q, v = (np.array(part).reshape(2, 3, 2) for part in zip(*states, strict=True))
    together = system.solve(q, v)
    for index in np.ndindex(2, 3):
        alone = system.solve(q[index], v[index])
        np.testing.assert_allclose(
            together.acceleration[index], alone.acceleration, rtol=1e-13, atol=1e-13
        )


def doubled(law):
    """A block on a floor that is stated twice, as one constraint of two rows and as another."""
    return zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [1.0, -G],
        constraints={
            "floor": zw.position(lambda q: [q[1], 2.0 * q[1]]),
            "copy": zw.position(lambda q: q[1]),
        },
        nonideal={"floor": law},
    )


def test_a_law_of_an_indeterminate_reaction_sees_the_least_multipliers_and_says_so():
    s = doubled(lambda reaction: [-0.1 * abs(reaction[1]), 0.0]).solve([0.0, 0.0], [1.0, 0.0])
    lam = G * np.array([1.0, 2.0, 1.0]) / 6.0
    np.testing.assert_allclose(s.multipliers, lam, rtol=1e-12)
    np.testing.assert_allclose(s.acceleration, [1.0 - 0.1 * G * 5.0 / 6.0, 0.0], atol=1e-12)
    (note,) = [n for n in s.notes if "not determinate" in n]
    assert "'floor'" in note


def test_a_law_of_a_determinate_reaction_says_nothing():
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [1.0, -G],
        constraints={"floor": zw.position(lambda q: [q[1], 2.0 * q[1]])},
        nonideal={"floor": lambda reaction: [-0.1 * abs(reaction[1]), 0.0]},
    )
    s = system.solve([0.0, 0.0], [1.0, 0.0])
    np.testing.assert_allclose(s.acceleration, [1.0 - 0.1 * G, 0.0], atol=1e-12)
    assert not [n for n in s.notes if "not determinate" in n]


def test_two_laws_at_once_agree_with_the_hand_calculation():
    # A ladder of length 2, mass 1, on a rough floor and a rough wall, slipping: x, y its centre.
    a, mu, spin = 1.1, 0.3, -0.4
    system = zw.System(
        coordinates=["x", "y", "a"],
        mass=lambda: np.diag([1.0, 1.0, 1.0 / 3.0]),
        force=lambda: [0.0, -G, 0.0],
        constraints={
            "floor": zw.position(lambda q: q[1] - np.sin(q[2])),
            "wall": zw.position(lambda q: q[0] - np.cos(q[2])),
        },
        nonideal={
            # the foot slides away from the wall, the head down it
            "floor": lambda q, reaction: (
                -mu * abs(reaction.multipliers[0]) * np.array([1.0, 0.0, -np.sin(q[2])])
            ),
            "wall": lambda q, reaction: (
                mu * abs(reaction.multipliers[0]) * np.array([0.0, 1.0, np.cos(q[2])])
            ),
        },
    )
    q = [np.cos(a), np.sin(a), a]
    v = [-np.sin(a) * spin, np.cos(a) * spin, spin]
    s = system.solve(q, v)
    # Newton and Euler for ẍ, ÿ, α, floor N and wall W, both positive:
    c, d = np.cos(a), np.sin(a)
    matrix = [
        [1.0, 0.0, 0.0, mu, -1.0],
        [0.0, 1.0, 0.0, -1.0, -mu],
        [0.0, 0.0, 1.0 / 3.0, c - mu * d, -d - mu * c],
        [0.0, 1.0, -c, 0.0, 0.0],
        [1.0, 0.0, d, 0.0, 0.0],
    ]
    right = [0.0, -G, 0.0, -(spin**2) * d, -(spin**2) * c]
    *acceleration, N, W = np.linalg.solve(matrix, right)
    assert N > 0
    assert W > 0
    np.testing.assert_allclose(s.acceleration, acceleration, rtol=1e-12)
    np.testing.assert_allclose(s.multipliers, [N, W], rtol=1e-12)


def test_an_opaque_law_of_the_reaction():
    def drag(n):
        return 0.3 * abs(float(n))

    h = zw.opaque(drag)
    system = incline(nonideal={"plane": lambda reaction: [-h(reaction[1]), 0.0]})
    s = system.solve([0.0, 0.0], [1.0, 0.0])
    np.testing.assert_allclose(
        s.acceleration[0], G * (np.sin(0.6) - 0.3 * np.cos(0.6)), rtol=ROUNDING
    )


def test_friction_coefficients_are_inputs():
    system = incline()
    system.solve([0.0, 0.0], [1.0, 0.0])
    before = compilations()
    for mu in (0.0, 0.1, 0.5):
        s = system.solve([0.0, 0.0], [1.0, 0.0], parameters={"mu": mu})
        np.testing.assert_allclose(
            s.acceleration[0], G * (np.sin(0.6) - mu * np.cos(0.6)), rtol=ROUNDING
        )
    assert compilations() == before

"""Nikravesh (1988), sections 11.3 to 11.5: formulations of many bodies, constrained and free.

Two bodies with a spherical joint and a pair of perpendicular vectors, at random states, against
Newton's and Euler's equations with the joint's force written down by hand.
"""

import numpy as np
import pytest

from zwang.errors import InputError
from zwang.multibody import nikravesh as nk
from zwang.rotation import euler_parameters as ep
from zwang.rotation import quaternion as qt

BATCH = (30,)
#: Systems of up to twenty equations, condition up to 1e5 among the random states, solved in double
#: precision; relative to the largest number of a state.
TOLERANCE = 1e-11

RNG = np.random.default_rng(20)
MASS = np.array([1.5, 0.8])
ARMS = RNG.standard_normal((2, 3))
VECTORS = RNG.standard_normal((2, 3))


def mv(matrix, vector):
    return np.einsum("...ij,...j->...i", matrix, vector)


def t(matrix):
    return np.swapaxes(matrix, -1, -2)


def assert_close(found, expected):
    assert found.shape == expected.shape
    axes = tuple(range(1, expected.ndim))
    size = np.maximum(1.0, np.abs(expected).max(axis=axes, keepdims=True))
    assert (np.abs(found - expected) / size).max() < TOLERANCE


def bodies(batch=BATCH, seed=21):
    rng = np.random.default_rng(seed)
    p = rng.standard_normal((*batch, 2, 4))
    p /= np.linalg.norm(p, axis=-1, keepdims=True)
    omega = rng.standard_normal((*batch, 2, 3))
    frame = np.linalg.qr(rng.standard_normal((2, 3, 3)))[0]
    J = (frame * rng.uniform(0.3, 2.0, (2, 1, 3))) @ t(frame)
    force, moment = rng.standard_normal((2, *batch, 2, 3))
    return nk.Bodies(MASS, J, p, qt.rate(p, omega), force, moment)


GIVEN = bodies()
L = ep.matrix_L(GIVEN.p)
A = ep.rotation_matrix(GIVEN.p)


def arms(vectors):
    """World components of a body-fixed vector of each body."""
    return mv(A, vectors)


def rows():
    """Φ_q and γ of r₁ + A₁s₁ − r₂ − A₂s₂ = 0 and of (A₁u₁)ᵀ(A₂u₂) = 0, by the book's A(p).

    γ = −(Φ_q q̇)_q q̇. For the joint Φ_pp is constant in p: A is quadratic, so that its second
    derivative along ṗ is A(p + ṗ) + A(p − ṗ) − 2A(p). The product rule does the rest.
    """
    p, p_dot = GIVEN.p, GIVEN.p_dot
    by_p = ep.point_jacobian(p, ARMS)  # (…, 2, 3, 4)
    one = np.broadcast_to(np.eye(3), (*BATCH, 3, 3))
    joint = np.concatenate([one, by_p[:, 0], -one, -by_p[:, 1]], axis=-1)

    def second(local):
        a, b, c = (ep.rotation_matrix(x) for x in (p + p_dot, p - p_dot, p))
        return mv(a + b - 2 * c, local)

    bend = second(ARMS)
    gamma = -bend[:, 0] + bend[:, 1]
    u = arms(VECTORS)
    u_p = ep.point_jacobian(p, VECTORS)
    zero = np.zeros((*BATCH, 1, 3))
    across = np.concatenate([zero, u[:, 1:] @ u_p[:, 0], zero, u[:, :1] @ u_p[:, 1]], axis=-1)
    u_dot, u_bend = mv(u_p, p_dot), second(VECTORS)
    twist = 2 * (u_dot[:, 0] * u_dot[:, 1]) + u_bend[:, 0] * u[:, 1] + u[:, 0] * u_bend[:, 1]
    B = np.concatenate([joint, across], axis=-2)
    return B, np.concatenate([gamma, -twist.sum(-1, keepdims=True)], axis=-1)


B, GAMMA = rows()


def split(vector, sizes=(3, 4)):
    """The parts of each body in a stacked vector."""
    each = vector.reshape(*vector.shape[:-1], 2, sum(sizes))
    return each[..., : sizes[0]], each[..., sizes[0] :]


@pytest.mark.inventory("NI-01", "NI-20", "NI-21", "NI-22")
def test_blocks_of_the_bodies_are_those_of_each_one():
    # (11.26)–(11.40): matrices applied to a vector, body by body
    q, h = RNG.standard_normal((*BATCH, 14)), RNG.standard_normal((*BATCH, 12))
    (r, p_ddot), (_, w_dot) = split(q), split(h, (3, 3))
    J, mass = GIVEN.J, MASS[:, None]

    def stacked(a, b):
        return np.concatenate([a, b], axis=-1).reshape(*BATCH, -1)

    by_row = (GIVEN.p * p_ddot).sum(-1)
    H = ep.matrix_H(GIVEN.p, GIVEN.p_dot, J)
    spin = np.cross(GIVEN.omega, mv(J, GIVEN.omega))
    nothing = np.zeros((*BATCH, 2, 3))
    pairs = [
        (mv(GIVEN.M_star, q), stacked(mass * r, mv(ep.euler_inertia(GIVEN.p, J), p_ddot))),
        (mv(GIVEN.P, q), by_row),
        (GIVEN.c, (GIVEN.p_dot**2).sum(-1)),
        (GIVEN.b_star, stacked(nothing, 2 * mv(H, GIVEN.p_dot))),
        (GIVEN.g_star, stacked(GIVEN.force, ep.euler_moment(GIVEN.p, GIVEN.moment))),
        (mv(GIVEN.M_mixed, q), stacked(mass * r, 2 * mv(J, mv(L, p_ddot)))),
        (GIVEN.b_mixed, stacked(nothing, spin)),
        (GIVEN.g, stacked(GIVEN.force, GIVEN.moment)),
        (mv(GIVEN.M, h), stacked(mass * split(h, (3, 3))[0], mv(J, w_dot))),
        (GIVEN.b, stacked(nothing, spin)),
    ]
    for found, expected in pairs:
        assert_close(found, expected)


@pytest.mark.inventory("NI-06", "NI-20", "NI-21", "NI-22")
def test_free_bodies_by_the_three_formulations():
    # (11.25), (11.33), (11.37) against one body at a time
    first, second, third = (f(GIVEN) for f in FORMULATIONS)
    alone = ep.formulation_3(GIVEN.p, GIVEN.omega, GIVEN.J, GIVEN.moment)
    r_ddot = GIVEN.force / MASS[:, None]
    for answer in (first, second):
        r, p_ddot = split(answer.acceleration)
        assert_close(r, r_ddot)
        assert_close(p_ddot, alone.p_ddot)
    r, omega_dot = split(third.acceleration, (3, 3))
    assert_close(r, r_ddot)
    assert_close(omega_dot, alone.unknowns)
    assert_close(first.sigma, ep.sigma(GIVEN.p, GIVEN.p_dot, GIVEN.J))


FORMULATIONS = (nk.formulation_1, nk.formulation_2, nk.formulation_3)


def by_hand():
    """r̈, ω̇′ and λ from Newton and Euler, with the joint's force and the moment written down.

    The joint pulls with λ at P on the first body and with −λ on the second; u₁ᵀu₂ = 0 turns the
    first with u₁ × u₂ times its multiplier, and the second against it, since
    d(u₁ᵀu₂)/dt = (ω₁ − ω₂)ᵀ(u₁ × u₂).
    """
    w = mv(A, GIVEN.omega)
    s, u = arms(ARMS), arms(VECTORS)
    world_J = A @ GIVEN.J @ t(A)
    normal = np.cross(u[:, 0], u[:, 1])

    def accelerations(lam):
        force = GIVEN.force + np.stack([lam[..., :3], -lam[..., :3]], axis=-2)
        moment = mv(A, GIVEN.moment) + np.cross(s, np.stack([lam[..., :3], -lam[..., :3]], axis=-2))
        moment = moment + np.stack([normal, -normal], axis=-2) * lam[..., None, 3:]
        spin = moment - np.cross(w, mv(world_J, w))
        return force / MASS[:, None], np.linalg.solve(world_J, spin[..., None])[..., 0]

    def miss(lam):
        r_ddot, w_dot = accelerations(lam)
        point = r_ddot + np.cross(w_dot, s) + np.cross(w, np.cross(w, s))
        u_dot = np.cross(w, u)
        u_ddot = np.cross(w_dot, u) + np.cross(w, u_dot)
        turn = (
            u_ddot[:, 0] * u[:, 1] + 2 * u_dot[:, 0] * u_dot[:, 1] + u[:, 0] * u_ddot[:, 1]
        ).sum(-1)
        return np.concatenate([point[:, 0] - point[:, 1], turn[:, None]], axis=-1)

    rest = miss(np.zeros((*BATCH, 4)))
    slopes = np.stack([miss(np.broadcast_to(e, (*BATCH, 4))) - rest for e in np.eye(4)], axis=-1)
    lam = np.linalg.solve(slopes, -rest[..., None])[..., 0]
    r_ddot, w_dot = accelerations(lam)
    return r_ddot, mv(t(A), w_dot), lam


R_DDOT, OMEGA_DOT, LAM = by_hand()


@pytest.mark.inventory("NI-15", "NI-23", "NI-24", "NI-25", "NI-26", "NI-28")
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=["I", "II", "III"])
def test_constrained_bodies_move_as_newton_and_euler_say(formulation):
    # (11.41), (11.42), (11.45), (11.49)
    answer = formulation(GIVEN, B, GAMMA)
    if formulation is nk.formulation_3:
        r, omega_dot = split(answer.acceleration, (3, 3))
        assert_close(omega_dot, OMEGA_DOT)
    else:
        r, p_ddot = split(answer.acceleration)
        expected = qt.second_rate(GIVEN.p, GIVEN.omega, OMEGA_DOT)
        assert_close(p_ddot, expected)
        assert_close(mv(B, answer.acceleration), GAMMA)
    assert_close(r, R_DDOT)
    assert_close(answer.multipliers, LAM)
    assert_close(mv(answer.matrix, unknowns(answer)), answer.right_side)


def unknowns(answer):
    parts = [answer.acceleration, answer.sigma, -answer.multipliers]
    return np.concatenate(parts, axis=-1)


@pytest.mark.inventory("NI-06", "NI-16", "NI-17", "NI-18", "NI-19")
def test_equations_of_one_constrained_body():
    # (11.21)–(11.24) at the motion found by hand
    by_r, by_p = (x.swapaxes(-2, -3) for x in split(B))  # (…, b, m, 3) and (…, b, m, 4)
    lam = LAM[..., None, :]
    p, p_dot, omega, J = GIVEN.p, GIVEN.p_dot, GIVEN.omega, GIVEN.J
    p_ddot = qt.second_rate(p, omega, OMEGA_DOT)
    sigma = nk.constrained_sigma(GIVEN, B, LAM)
    n_star = ep.euler_moment(p, GIVEN.moment)
    for found, expected in (
        (nk.translation(MASS, R_DDOT, by_r, lam), GIVEN.force),
        (nk.rotation_1(p, p_dot, p_ddot, J, sigma, by_p, lam), n_star),
        (nk.rotation_2(p, p_dot, p_ddot, J, by_p, lam), GIVEN.moment),
        (nk.rotation_3(p, omega, OMEGA_DOT, J, by_p, lam), GIVEN.moment),
    ):
        assert_close(found, expected)


@pytest.mark.inventory("NI-17")
def test_sigma_of_a_constrained_body_is_not_that_of_a_free_one():
    answer = nk.formulation_1(GIVEN, B, GAMMA)
    assert_close(answer.sigma, nk.constrained_sigma(GIVEN, B, LAM))
    assert np.abs(answer.sigma - ep.sigma(GIVEN.p, GIVEN.p_dot, GIVEN.J)).min() > 1e-6
    # Rows without a part along p, as −2s̃G for the derivative of a point, have the free body's σ.
    tangent = B.copy().reshape(*BATCH, 4, 2, 7)
    along = np.einsum("...mbk,...bk->...mb", tangent[..., 3:], GIVEN.p)
    tangent[..., 3:] -= along[..., None] * GIVEN.p[:, None]
    tangent = tangent.reshape(*BATCH, 4, 14)
    gamma = nk.modified_rhs(GIVEN.p, GIVEN.p_dot, B, GAMMA)
    again = nk.formulation_1(GIVEN, tangent, gamma)
    assert_close(again.sigma, ep.sigma(GIVEN.p, GIVEN.p_dot, GIVEN.J))
    assert_close(again.acceleration, answer.acceleration)
    assert_close(again.multipliers, answer.multipliers)


@pytest.mark.inventory("NI-15")
def test_reactions_go_with_the_coordinates():
    # (11.20): force λ on the first body and −λ on the second, with their moments about the centres
    q_force = nk.reaction(B, LAM)
    force, n_star = split(q_force)
    assert_close(force[:, 0], LAM[:, :3])
    assert np.abs(force[:, 1] + LAM[:, :3]).max() < TOLERANCE
    s, u = arms(ARMS), arms(VECTORS)
    pull = np.stack([LAM[:, :3], -LAM[:, :3]], axis=1)
    normal = np.cross(u[:, 0], u[:, 1])
    moment = np.cross(s, pull) + np.stack([normal, -normal], axis=1) * LAM[:, None, 3:]
    assert_close(ep.global_moment(GIVEN.p, n_star), moment)


@pytest.mark.inventory("NI-27", "NI-30")
def test_modified_jacobian_and_right_side():
    # (11.46)–(11.48), (11.51)
    q_dot = np.concatenate([RNG.standard_normal((*BATCH, 2, 3)), GIVEN.p_dot], axis=-1)
    h = np.concatenate([q_dot[..., :3], GIVEN.omega], axis=-1)
    modified = nk.modified_jacobian(GIVEN.p, B)
    rates = mv(B, q_dot.reshape(*BATCH, 14))
    assert_close(mv(modified, h.reshape(*BATCH, 12)), rates)
    # Table 11.1, s and n1: Φ_r, ½Φ_pLᵀ = −s̃A and −u_jᵀũ_iA_i
    s, u = arms(ARMS), arms(VECTORS)
    turned = modified[:, :3, 3:6]
    expected = -np.cross(s[:, :1], t(A[:, 0])).swapaxes(-1, -2)
    assert_close(turned, expected)
    row = -np.cross(u[:, 1], u[:, 0])
    assert_close(modified[:, 3, 3:6], mv(t(A[:, 0]), row))
    # γ#, with ω̃ṡ = ω × (ω × s)
    w = mv(A, GIVEN.omega)
    bend = np.cross(w, np.cross(w, s))
    rhs = nk.modified_rhs(GIVEN.p, GIVEN.p_dot, B, GAMMA)
    assert_close(rhs[:, :3], (bend[:, 1] - bend[:, 0]))


@pytest.mark.inventory("NI-24", "NI-25", "NI-28", "NI-29")
def test_sizes_and_symmetry():
    counts = nk.equation_counts(bodies=2, rows=4)
    assert counts == {"I": 20, "II": 18, "III": 16}
    assert counts["I"] - counts["III"] == 2 * 2
    report = nk.equation_report(bodies=2, rows=4)
    assert list(report) == ["I", "II", "III"]
    for formulation, (name, size) in zip(FORMULATIONS, report.items(), strict=True):
        matrix = formulation(GIVEN, B, GAMMA).matrix
        assert size.equations == counts[name]
        assert matrix.shape == (*BATCH, size.equations, size.equations)
        assert np.allclose(matrix, t(matrix), rtol=0, atol=1e-14) is size.symmetric
    assert [size.symmetric for size in report.values()] == [True, False, True]


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=["I", "II", "III"])
def test_dependent_rows_leave_the_motion_alone(formulation):
    # The joint's rows twice, once scaled: singular by three, and the summed reaction is the same.
    twice = np.concatenate([B, 3.0 * B[:, :3]], axis=-2)
    gamma = np.concatenate([GAMMA, 3.0 * GAMMA[:, :3]], axis=-1)
    answer, single = formulation(GIVEN, twice, gamma, dependent=3), formulation(GIVEN, B, GAMMA)
    assert_close(answer.acceleration, single.acceleration)
    joint = answer.multipliers[:, :3] + 3.0 * answer.multipliers[:, 4:]
    assert_close(joint, single.multipliers[:, :3])


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"mass": 1.0}, "mass of the bodies"),
        ({"J": np.eye(3)}, "J of the bodies"),
        ({"p": np.ones((3, 4))}, "p of the bodies"),
        ({"moment": np.ones((2, 4))}, "moment of the bodies"),
    ],
)
def test_wrong_shapes_are_refused_by_name(wrong, named):
    given = {
        "mass": [1.0, 2.0],
        "J": np.broadcast_to(np.eye(3), (2, 3, 3)),
        "p": np.ones((2, 4)) / 2.0,
        "p_dot": np.zeros((2, 4)),
        "force": np.zeros((2, 3)),
        "moment": np.zeros((2, 3)),
    }
    with pytest.raises(InputError, match=named):
        nk.Bodies(**{**given, **wrong})


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=["I", "II", "III"])
def test_rows_that_do_not_fit_are_refused(formulation):
    for rows, gamma in ((B[..., :12], GAMMA), (B, GAMMA[..., :3]), (B, None)):
        with pytest.raises(
            InputError,
            match=r"constraint rows must have shapes \(…, m, 14\) and \(…, m\), with seven",
        ):
            formulation(GIVEN, rows, gamma)

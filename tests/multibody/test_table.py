"""Nikravesh (1988), Table 11.1: what tracing makes of each primitive is what the table says.

The table is written out here with its misprints corrected (lost dots in the right sides of p1, p2
and s-s). The states are random, not on the constraints: rows and right sides are functions of the
state, and must agree everywhere.
"""

import numpy as np
import pytest

import zwang as zw
from zwang.multibody.joints.primitives import coincident, distance, parallel, perpendicular
from zwang.rotation.quaternion import rotation_matrix

STATES = 200
#: Entries are sums of a few products of numbers below about 30.
TOLERANCE = 1e-12

RNG = np.random.default_rng(11)
#: A direction and a point in each body, and the length of a link.
S_I, S_J = RNG.standard_normal((2, 3))
B_I, B_J = RNG.standard_normal((2, 3))
LENGTH = 1.7


def states():
    rng = np.random.default_rng(12)
    q = rng.standard_normal((STATES, 2, 7))
    q[..., 3:] /= np.linalg.norm(q[..., 3:], axis=-1, keepdims=True)
    return q.reshape(STATES, 14), rng.standard_normal((STATES, 12))


def tilde(x):
    return np.cross(np.eye(3), np.asarray(x)[..., None, :]).swapaxes(-1, -2) * -1.0


def mv(matrix, vector):
    return np.einsum("...ij,...j->...i", matrix, vector)


class State:
    """The quantities the table is written in, all in world axes."""

    def __init__(self, q, v):
        q, v = q.reshape(-1, 2, 7), v.reshape(-1, 2, 6)
        self.A_i, self.A_j = (rotation_matrix(q[:, k, 3:]) for k in range(2))
        w_i, w_j = mv(self.A_i, v[:, 0, 3:]), mv(self.A_j, v[:, 1, 3:])
        self.s_i, self.s_j = self.A_i @ S_I, self.A_j @ S_J
        self.sB_i, self.sB_j = self.A_i @ B_I, self.A_j @ B_J
        self.ds_i, self.ds_j = np.cross(w_i, self.s_i), np.cross(w_j, self.s_j)
        self.dsB_i, self.dsB_j = np.cross(w_i, self.sB_i), np.cross(w_j, self.sB_j)
        self.d = q[:, 1, :3] + self.sB_j - q[:, 0, :3] - self.sB_i
        self.dd = v[:, 1, :3] + self.dsB_j - v[:, 0, :3] - self.dsB_i
        self.w_i, self.w_j = tilde(w_i), tilde(w_j)


def row(x):
    """A row vector in place of the table's transposed column."""
    return x[:, None, :]


def dot(x, y):
    return (x * y).sum(-1)[:, None]


# Each gives Φ_r and ½Φ_pLᵀ of body i, those of body j, and γ#.


def n1(s):
    zero = np.zeros_like(row(s.s_i))
    rhs = -2 * dot(s.ds_i, s.ds_j) + dot(s.ds_i, mv(s.w_i, s.s_j)) + dot(s.ds_j, mv(s.w_j, s.s_i))
    left = -row(s.s_j) @ tilde(s.s_i) @ s.A_i
    return zero, left, zero, -row(s.s_i) @ tilde(s.s_j) @ s.A_j, rhs


def n2(s):
    arms = mv(s.w_i, s.dsB_i) - mv(s.w_j, s.dsB_j)
    rhs = -2 * dot(s.dd, s.ds_i) - dot(s.d, mv(s.w_i, s.ds_i)) + dot(s.s_i, arms)
    left = -row(s.d + s.sB_i) @ tilde(s.s_i) @ s.A_i
    return -row(s.s_i), left, row(s.s_i), -row(s.s_i) @ tilde(s.sB_j) @ s.A_j, rhs


def p1(s):
    zero = np.zeros((STATES, 3, 3))
    rhs = (
        -2 * np.cross(s.ds_i, s.ds_j)
        + np.cross(s.s_j, mv(s.w_i, s.ds_i))
        - np.cross(s.s_i, mv(s.w_j, s.ds_j))
    )
    left, right = tilde(s.s_j) @ tilde(s.s_i) @ s.A_i, -tilde(s.s_i) @ tilde(s.s_j) @ s.A_j
    return zero, left, zero, right, rhs


def p2(s):
    arms = mv(s.w_i, s.dsB_i) - mv(s.w_j, s.dsB_j)
    rhs = -2 * np.cross(s.ds_i, s.dd) + np.cross(s.s_i, arms) + np.cross(s.d, mv(s.w_i, s.ds_i))
    left = (tilde(s.s_i) @ tilde(s.sB_i) + tilde(s.d) @ tilde(s.s_i)) @ s.A_i
    return -tilde(s.s_i), left, tilde(s.s_i), -tilde(s.s_i) @ tilde(s.sB_j) @ s.A_j, rhs


def spherical(s):
    one = np.broadcast_to(np.eye(3), (STATES, 3, 3))
    rhs = -mv(s.w_i, s.dsB_i) + mv(s.w_j, s.dsB_j)
    return one, -tilde(s.sB_i) @ s.A_i, -one, tilde(s.sB_j) @ s.A_j, rhs


def spherical_spherical(s):
    arms = mv(s.w_i, s.dsB_i) - mv(s.w_j, s.dsB_j)
    rhs = -2 * dot(s.dd, s.dd) + 2 * dot(s.d, arms)
    left, right = tilde(s.sB_i) @ s.A_i, tilde(s.sB_j) @ s.A_j
    return -2 * row(s.d), 2 * row(s.d) @ left, 2 * row(s.d), -2 * row(s.d) @ right, rhs


def of_vectors(primitive):
    return lambda bodies: primitive(bodies[0].vector(S_I), bodies[1].vector(S_J))


def of_vector_and_points(primitive):
    def f(bodies):
        d = bodies[1].point(B_J) - bodies[0].point(B_I)
        return primitive(bodies[0].vector(S_I), d)

    return f


def of_points(primitive):
    return lambda bodies: primitive(bodies[0].point(B_I), bodies[1].point(B_J))


# Name → the primitive on two bodies, the table's row, and the factor between them: `coincident`
# counts from the first point to the second, and `distance` is Φ^(s-s,1) over twice the length.
TABLE = {
    "n1": (of_vectors(perpendicular), n1, 1.0),
    "n2": (of_vector_and_points(perpendicular), n2, 1.0),
    "p1": (of_vectors(parallel), p1, 1.0),
    "p2": (of_vector_and_points(parallel), p2, 1.0),
    "s": (of_points(coincident), spherical, -1.0),
    "s-s": (of_points(lambda P, Q: distance(P, Q, LENGTH)), spherical_spherical, 0.5 / LENGTH),
}


def two_bodies():
    m = zw.Mechanism()
    a = m.body("a", mass=1.0, inertia=(1.0, 1.0, 1.0))
    b = m.body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return m, [a, b]


@pytest.mark.inventory("NI-32", "NI-33", "NI-34", "NI-35", "NI-36", "NI-37", "NI-38", "NI-46")
@pytest.mark.parametrize("name", TABLE)
def test_traced_rows_are_those_of_the_table(name):
    primitive, row_of_table, factor = TABLE[name]
    m, bodies = two_bodies()
    m.constraint("row", bodies, primitive)
    q, v = states()
    terms = m.terms(q, v)
    *blocks, rhs = row_of_table(State(q, v))
    expected = factor * np.concatenate(blocks, axis=-1)
    assert terms.constraint_matrix.shape == expected.shape
    assert np.abs(terms.constraint_matrix - expected).max() < TOLERANCE
    assert np.abs(terms.constraint_rhs - factor * rhs).max() < TOLERANCE


@pytest.mark.inventory("NI-37")
def test_a_fixed_distance_is_missed_by_the_distance_itself():
    # ½(dᵀd/l − l): zero at the length, to first order what is too long
    P, Q = np.array([0.1, 0.2, 0.3]), np.array([1.1, 2.2, 2.3])  # 3 apart
    assert distance(P, Q, 3.0) == pytest.approx([0.0])
    assert distance(P, Q, 2.999) == pytest.approx([0.001], rel=1e-3)
    assert distance(P, Q, 2.0) == pytest.approx([0.5 * (9.0 / 2.0 - 2.0)])


@pytest.mark.inventory("NI-31")
def test_example_11_1_step_by_step():
    # Φ̇ of (n1,1) is its Jacobian times ω′, and γ# has the intermediate forms of equation 4.
    q, v = states()
    s = State(q, v)
    _, left, _, right, rhs = n1(s)
    m, bodies = two_bodies()
    m.constraint("row", bodies, of_vectors(perpendicular))
    rate = dot(s.s_i, s.ds_j) + dot(s.s_j, s.ds_i)
    turns = v.reshape(-1, 2, 6)[:, :, 3:]
    assert np.abs(m.system.residuals(q, v).velocity - rate).max() < TOLERANCE
    assert np.abs(mv(left, turns[:, 0]) + mv(right, turns[:, 1]) - rate).max() < TOLERANCE
    other = -2 * dot(s.ds_i, s.ds_j) - dot(s.s_j, mv(s.w_i, s.ds_i)) - dot(s.s_i, mv(s.w_j, s.ds_j))
    assert np.abs(other - rhs).max() < TOLERANCE


@pytest.mark.inventory("NI-38")
@pytest.mark.parametrize(
    ("kind", "rows", "rank"),
    [
        ("spherical", 3, 3),
        ("universal", 4, 4),
        ("revolute", 5, 5),
        ("cylindrical", 4, 4),
        ("prismatic", 5, 5),
        ("spherical_link", 1, 1),
    ],
)
def test_joints_made_of_the_primitives_have_independent_rows(kind, rows, rank):
    m, (a, b) = two_bodies()
    given = {"axis": (0.3, 0.8, 0.5)} if kind not in ("spherical", "spherical_link") else {}
    if kind == "universal":
        given["axis_b"] = (0.2, 0.9, -0.4)
    at = ((0.1, 0.2, 0.3), (0.6, -0.4, 0.1)) if kind == "spherical_link" else (0.1, 0.2, 0.3)
    getattr(m, kind)("joint", a, b, at=at, **given)
    A = m.terms().constraint_matrix
    assert A.shape[0] == rows
    assert np.linalg.matrix_rank(A) == rank


@pytest.mark.inventory("NI-38")
def test_parallel_rows_of_the_table_are_redundant_and_taken():
    # A revolute joint of the table: s and p1, six rows of rank five, against the built-in one.
    axis = np.array([0.48, 0.64, 0.6])
    answers = []
    for own in (True, False):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        b = m.body("b", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.4, 0.1, 0.0))
        if own:
            m.constraint(
                "pin",
                [b],
                lambda bodies: [
                    *bodies[0].point((-0.4, -0.1, 0.0)),
                    *parallel(axis, bodies[0].vector(axis)),
                ],
            )
        else:
            m.revolute("pin", m.ground, b, at=(0, 0, 0), axis=axis)
        answers.append(m.solve(m.assemble(velocity={"prefer": {"b.omega2": 1.5}})))
    of_table, built_in = answers
    assert (of_table.redundancy, built_in.redundancy) == (1, 0)
    assert np.abs(of_table.acceleration - built_in.acceleration).max() < TOLERANCE
    assert np.abs(of_table.constraint_force - built_in.constraint_force).max() < 10 * TOLERANCE

"""Forces of the elements against resultants written down by hand, Nikravesh (1988), 11.1."""

import numpy as np
import pytest

import zwang as zw
from zwang.rotation.quaternion import rotation_matrix

#: Sums of a few products of numbers below about 100.
TOLERANCE = 1e-12

RNG = np.random.default_rng(30)
MASS = np.array([2.0, 1.0])
J = [np.diag([0.5, 0.6, 0.7]), np.diag([0.2, 0.3, 0.25])]
P, S = RNG.standard_normal((2, 3))  # points of the first and of the second body
Q = RNG.standard_normal((2, 7))
Q[:, 3:] /= np.linalg.norm(Q[:, 3:], axis=1, keepdims=True)
V = RNG.standard_normal((2, 6))
R = rotation_matrix(Q[:, 3:])
W = np.einsum("bij,bj->bi", R, V[:, 3:])  # angular velocities in world axes
K, D, LENGTH = 30.0, 2.0, 0.4


def bodies(gravity=(0.0, 0.0, 0.0)):
    m = zw.Mechanism(gravity=gravity, parameters={"u": 3.0})
    made = [
        m.body(name, mass=mass, inertia=inertia, free=True)
        for name, mass, inertia in zip("ab", MASS, J, strict=True)
    ]
    return m, made


def resultants(m):
    """World force and world moment about the mass centre of each body, gyroscopic part removed."""
    found = m.terms(Q.ravel(), V.ravel()).applied_force.reshape(2, 6)
    spin = [np.cross(w, inertia @ w) for w, inertia in zip(V[:, 3:], J, strict=True)]
    return found[:, :3], np.einsum("bij,bj->bi", R, found[:, 3:] + spin)


def assert_resultants(m, force, moment):
    found_force, found_moment = resultants(m)
    assert np.abs(found_force - force).max() < TOLERANCE
    assert np.abs(found_moment - moment).max() < TOLERANCE


def ends():
    """Two points, their arms and velocities, in the world."""
    arms = np.stack([R[0] @ P, R[1] @ S])
    return Q[:, :3] + arms, arms, V[:, :3] + np.cross(W, arms)


def pulled(tension):
    """Forces and moments of a tension along the line of the two points."""
    (x, y), arms, _ = ends()
    direction = (y - x) / np.linalg.norm(y - x)
    force = np.stack([tension * direction, -tension * direction])
    return force, np.cross(arms, force)


@pytest.mark.inventory("NI-02")
def test_gravity():
    g = np.array([0.3, -1.0, -9.0])
    m, _ = bodies(g)
    assert_resultants(m, MASS[:, None] * g, np.zeros((2, 3)))


@pytest.mark.inventory("NI-01", "NI-02")
@pytest.mark.parametrize("axes", ["world", "body"])
def test_force_at_a_point_with_a_moment(axes):
    m, (a, _) = bodies()
    f, n = np.array([3.0, -2.0, -1.0]), np.array([0.2, 0.7, -0.4])
    m.force("push", a, f, at=P, torque=n, axes=axes)
    turned = R[0] if axes == "body" else np.eye(3)
    force, moment = turned @ f, turned @ n + np.cross(R[0] @ P, turned @ f)
    assert_resultants(m, [force, np.zeros(3)], [moment, np.zeros(3)])


@pytest.mark.inventory("NI-02")
def test_translational_spring_damper_and_actuator():
    m, (a, b) = bodies()
    m.spring_damper(
        "strut",
        a,
        b,
        at=(a.marker(P), b.marker(S)),
        stiffness=K,
        damping=D,
        length=LENGTH,
        force=lambda length, rate, t, p: p.u * length**2 + 0.5 * rate**3,
    )
    (x, y), _, (u, w) = ends()
    length = np.linalg.norm(y - x)
    rate = (w - u) @ (y - x) / length
    tension = K * (length - LENGTH) + D * rate + 3.0 * length**2 + 0.5 * rate**3
    assert_resultants(m, *pulled(tension))


@pytest.mark.inventory("NI-02")
def test_rotational_spring_damper_and_actuator():
    # About the first body's axis z, by the angle of the second body's x axis against the first's.
    m, (a, b) = bodies()
    m.torsion_spring(
        "twist",
        a,
        b,
        axis="z",
        stiffness=K,
        damping=D,
        angle=0.2,
        moment=lambda twist, rate, t, p: p.u * twist + 0.1 * rate,
    )
    relative = R[0].T @ R[1]
    sine, cosine = relative[1, 0] - relative[0, 1], relative[0, 0] + relative[1, 1]
    twist = np.arctan2(sine, cosine) - 0.2
    twist = (twist + np.pi) % (2 * np.pi) - np.pi
    rate = R[0][:, 2] @ (W[1] - W[0])
    moment = ((K + 3.0) * twist + (D + 0.1) * rate) * R[0][:, 2]
    assert_resultants(m, np.zeros((2, 3)), [moment, -moment])


def test_bushing():
    m, (a, b) = bodies()
    k, c, turn_k, turn_c = RNG.uniform(1.0, 5.0, (4, 3))
    m.bushing(
        "rubber",
        a,
        b,
        at=(a.marker(P), b.marker(S)),
        stiffness=k,
        damping=c,
        turn_stiffness=turn_k,
        turn_damping=turn_c,
    )
    (x, y), _, (u, w) = ends()
    d, slip = y - x, w - u - np.cross(W[0], y - x)
    kappa = 0.5 * turn_k.sum() - turn_k
    turn = sum(kappa[i] * np.cross(R[0][:, i], R[1][:, i]) for i in range(3))
    force = -R[0] @ (k * (R[0].T @ d) + c * (R[0].T @ slip))
    moment = -turn - R[0] @ (turn_c * (R[0].T @ (W[1] - W[0])))
    at_second = np.stack([y - Q[0, :3], y - Q[1, :3]])
    pair = np.stack([-force, force])
    assert_resultants(m, pair, np.cross(at_second, pair) + np.stack([-moment, moment]))


@pytest.mark.parametrize("axis", range(3))
def test_bushing_has_its_stiffness_for_small_turns_and_keeps_energy(axis):
    k = np.array([3.0, 4.0, 5.0])
    m = zw.Mechanism()
    b = m.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=2.0 * np.eye(3)[axis])
    m.bushing("rubber", m.ground, b, at=(0, 0, 0), turn_stiffness=k, stiffness=(9.0, 9.0, 9.0))
    small = 1e-4
    q = np.zeros(7)
    q[3], q[4 + axis] = np.cos(small / 2), np.sin(small / 2)
    moment = m.terms(q, np.zeros(6)).applied_force[3:]
    assert np.abs(moment + k * small * np.eye(3)[axis]).max() < 1e-11  # sin θ for θ
    # A turn of more than a fifth of a radian, with a blow beside the axis.
    run = m.simulate(m.assemble(velocity={"hold": {"b.vx": 0.3, "b.omega1": 1.0}}), until=1.0)
    assert np.ptp(run.energy) < 1e-8


def test_forces_of_your_own_on_two_bodies():
    m, made = bodies()

    def charges(bodies):
        d = bodies[1].position - bodies[0].position
        force = d / (d @ d) ** 1.5
        return [(-force, [0.0, 0.0, 0.0]), (force, [0.1, 0.0, 0.0])]

    m.user_force("charges", made, charges)
    d = Q[1, :3] - Q[0, :3]
    force = d / np.linalg.norm(d) ** 3
    assert_resultants(m, [-force, force], [np.zeros(3), [0.1, 0.0, 0.0]])


def test_functions_of_yours_see_the_origin_of_a_body():
    # The same body described from its centre and from elsewhere: runs, drivers and functions agree.
    center, held = np.array([0.3, -0.2, 0.15]), []
    for c in (np.zeros(3), center):
        m = zw.Mechanism(parameters={"u": 3.0})
        b = m.body(
            "b",
            inertia=zw.inertia.principal(2.0, (0.3, 0.4, 0.5)).at(c),
            position=(0.5, 0.2, -0.1),
            angular_velocity=(0.4, -0.3, 0.8),
        )
        m.constraint("level", [b], lambda bodies: bodies[0].position[2] + 0.1)
        m.constraint("slow", [b], lambda bodies: bodies[0].velocity[0] - 0.2)
        m.force("pull", b, lambda body: -4.0 * body.position, at=(0.1, 0.2, 0.3))
        run = m.simulate(until=0.5)
        assert np.abs(run.body("b").position[:, 2] + 0.1).max() < 1e-12
        assert np.abs(run.body("b").velocity[:, 0] - 0.2).max() < 1e-12
        q, v = m.system.parts.start
        # The pull's world force at the start, where the axes are the world's.
        held.append(m.terms(q, v).applied_force[:3])
    assert np.abs(held[0] - held[1]).max() < TOLERANCE
    assert np.abs(held[0] + 4.0 * np.array([0.5, 0.2, -0.1])).max() < TOLERANCE

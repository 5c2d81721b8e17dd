"""Linearization and modes against minimal coordinates derived apart."""

import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import scipy.linalg

import zwang as zw

GRAVITY = 9.81
#: Frequencies of well-conditioned systems, relative.
FREQUENCIES = 1e-11


def frequencies(lin):
    return np.array([mode.frequency for mode in lin.modes() if mode.oscillates])


# --- double pendulum ------------------------------------------------------------------------------

M1, M2, J1, J2, L = 1.0, 2.0, 0.1, 0.2, 1.0


def double_pendulum(kind, doubled=False):
    plane = {"plane": "xz"} if kind == "plane" else {}
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY), **plane)

    def at(x):
        return (x, 0.0) if plane else (x, 0.0, 0.0)

    def inertia(J):
        return J if plane else (J, J, J)

    a = m.body("a", mass=M1, inertia=inertia(J1), position=at(0.5))
    b = m.body("b", mass=M2, inertia=inertia(J2), position=at(1.5))
    axis = {} if plane else {"axis": "y"}
    m.revolute("pin", m.ground, a, at=at(0.0), **axis)
    m.revolute("elbow", a, b, at=at(1.0), **axis)
    if doubled:
        m.revolute("pin2", m.ground, a, at=at(0.0), **axis)
        m.revolute("elbow2", a, b, at=at(1.0), **axis)
    return m


def minimal(signs):
    """M and K in absolute angles, for rods that hang (1) or stand (−1)."""
    s1, s2 = signs
    M = np.array(
        [
            [J1 + M1 * 0.25 + M2 * L**2, M2 * L * 0.5 * s1 * s2],
            [M2 * L * 0.5 * s1 * s2, J2 + M2 * 0.25],
        ]
    )
    K = GRAVITY * np.diag([(0.5 * M1 + M2) * L * s1, 0.5 * M2 * s2])
    return M, K


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
@pytest.mark.parametrize("kind", ["plane", "space"])
@pytest.mark.parametrize("doubled", [False, True])
def test_double_pendulum_at_all_four_equilibria(signs, kind, doubled):
    m = double_pendulum(kind, doubled)
    first = np.pi / 2 * signs[0]
    second = np.pi / 2 * signs[1] - first
    state = m.assemble(hold={"pin.angle": first, "elbow.angle": second})
    lin = m.linearize(zw.State(state.q, 0.0 * state.v), independent=["pin.angle", "elbow.angle"])
    M, K = minimal(signs)
    T = np.array([[1.0, 0.0], [1.0, 1.0]])  # absolute from relative angles
    assert np.abs(lin.mass - T.T @ M @ T).max() < 1e-11
    assert np.abs(lin.stiffness - T.T @ K @ T).max() < 1e-10
    assert np.abs(lin.damping).max() < 1e-11
    w2 = scipy.linalg.eigvalsh(K, M)
    expected = np.concatenate([np.emath.sqrt(-w2), -np.emath.sqrt(-w2)])
    for s in expected:
        assert np.abs(lin.eigenvalues - s).min() < FREQUENCIES * abs(s)
    assert lin.states == ("pin.angle", "elbow.angle", "pin.angle_rate", "elbow.angle_rate")
    assert lin.zero == 0
    assert lin.infinite == 0


# --- loops ----------------------------------------------------------------------------------------


def loop_frequency():
    """A hanging four-bar in minimal coordinates with fifty digits: ω² = V″/M at V′ = 0.

    Cranks 1 and 1.5 m at pins 2 m apart, coupler 1.8 m, thin rods of 2 kg/m.
    """
    mpmath.mp.dps = 50
    a, b, c, d, density = (mpmath.mpf(x) for x in ("1", "1.8", "1.5", "2", "2"))

    def points(theta):
        A = mpmath.matrix([a * mpmath.cos(theta), a * mpmath.sin(theta)])
        D = mpmath.matrix([d, 0])
        gap = mpmath.norm(D - A)
        along = (b**2 - c**2 + gap**2) / (2 * gap)
        height = mpmath.sqrt(b**2 - along**2)
        e = (D - A) / gap
        n = mpmath.matrix([e[1], -e[0]])  # below
        return A, A + along * e + height * n, D

    def potential(theta):
        A, B, D = points(theta)
        g = mpmath.mpf("9.81")
        return density * g * (a * A[1] / 2 + b * (A[1] + B[1]) / 2 + c * (B[1] + D[1]) / 2)

    def angles(theta):
        A, B, D = points(theta)
        return mpmath.atan2(B[1] - A[1], B[0] - A[0]), mpmath.atan2(B[1] - D[1], B[0] - D[0])

    def inertia(theta):
        A_rate = (
            mpmath.diff(lambda x: points(x)[0][0], theta),
            mpmath.diff(lambda x: points(x)[0][1], theta),
        )
        B_rate = (
            mpmath.diff(lambda x: points(x)[1][0], theta),
            mpmath.diff(lambda x: points(x)[1][1], theta),
        )
        turn = mpmath.diff(lambda x: angles(x)[0], theta)
        rocker = mpmath.diff(lambda x: angles(x)[1], theta)
        centre = [(p + q) / 2 for p, q in zip(A_rate, B_rate, strict=True)]
        return (
            density * a**3 / 3
            + density * b * (centre[0] ** 2 + centre[1] ** 2)
            + density * b**3 / 12 * turn**2
            + density * c**3 / 3 * rocker**2
        )

    theta = mpmath.findroot(lambda x: mpmath.diff(potential, x), mpmath.mpf("-1.2"))
    omega = mpmath.sqrt(mpmath.diff(potential, theta, 2) / inertia(theta))
    A, B, D = points(mpmath.mpf("-1.2"))
    start = [[float(p[0]), float(p[1])] for p in (A, B, D)]
    return float(theta), float(omega), start


@pytest.mark.parametrize("doubled", [False, True])
def test_four_bar_swings_at_the_frequency_of_minimal_coordinates(doubled):
    theta, omega, (A, B, D) = loop_frequency()
    m = zw.Mechanism(plane="xy", gravity=(0, -GRAVITY, 0))
    corners = [np.zeros(2), np.array(A), np.array(B), np.array(D)]
    ends = [m.ground]
    for name, p, q in zip(("crank", "coupler", "rocker"), corners, corners[1:], strict=False):
        length = float(np.linalg.norm(q - p))
        angle = float(np.arctan2(*(q - p)[::-1]))
        ends.append(
            m.body(
                name,
                mass=2.0 * length,
                inertia=2.0 * length**3 / 12,
                position=tuple((p + q) / 2),
                angle=angle,
            )
        )
    ends.append(m.ground)
    for k, point in enumerate(corners):
        m.revolute(f"pin{k}", ends[k], ends[k + 1], at=tuple(point))
        if doubled:
            m.revolute(f"again{k}", ends[k], ends[k + 1], at=tuple(point))
    rest = m.equilibrium()
    crank = np.arctan2(rest["crank.sin"], rest["crank.cos"])
    assert crank == pytest.approx(theta, abs=1e-11)
    (found,) = frequencies(rest.linearization)
    assert found == pytest.approx(omega, rel=FREQUENCIES)


def test_parallelogram_of_three_cranks_with_a_redundant_row():
    """12 rows of rank 11: ω² = (m_c + 3 m/2) g r/((m_c + m) r²), cranks thin rods of mass m."""
    r, mc, mk = 0.6, 3.0, 0.5
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    tilt = 0.4
    tip = np.array([r * np.sin(tilt), -r * np.cos(tilt)])
    bar = m.body("bar", mass=mc, inertia=1.0, position=tuple(np.array([1.0, 0.0]) + tip))
    for k in range(3):
        foot = np.array([float(k), 0.0])
        crank = m.body(
            f"crank{k}",
            mass=mk,
            inertia=mk * r**2 / 12,
            position=tuple(foot + tip / 2),
            angle=-np.arctan2(tip[1], tip[0]),
        )
        m.revolute(f"foot{k}", m.ground, crank, at=tuple(foot))
        m.revolute(f"top{k}", crank, bar, at=tuple(foot + tip))
    assert m.terms().constraint_matrix.shape == (12, 12)
    rest = m.equilibrium()
    assert any("indeterminate by 1" in note for note in rest.notes)
    assert not any("prestress" in note for note in rest.notes)
    (found,) = frequencies(rest.linearization)
    omega = np.sqrt((mc + 1.5 * mk) * GRAVITY * r / ((mc + mk) * r**2))
    assert found == pytest.approx(omega, rel=FREQUENCIES)


def test_plate_on_four_strings():
    """Two pendulums and a turn: ω² = g/L, g/L and m g (a² + b²)/(L J)."""
    mass, a, b, length = 4.0, 0.5, 0.3, 1.2
    J = mass * (a**2 + b**2) / 3.0
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY))
    plate = m.body(
        "plate",
        mass=mass,
        inertia=(mass * b**2 / 3, mass * a**2 / 3, J),
        position=(0.0, 0.0, -length),
    )
    for k, (x, y) in enumerate(((a, b), (-a, b), (-a, -b), (a, -b))):
        m.spherical_link(f"string{k}", m.ground, plate, at=((x, y, 0.0), (x, y, -length)))
    lin = m.linearize()
    expected = np.sort(
        np.sqrt([GRAVITY / length] * 2 + [mass * GRAVITY * (a**2 + b**2) / (length * J)])
    )
    assert np.abs(frequencies(lin) / expected - 1.0).max() < FREQUENCIES


# --- damping, massless parts, inputs and outputs -------------------------------------------------


def masses(middle, damping=0.0):
    """Two masses with a node between them: springs 100, 200, 300 N/m, from wall to wall."""
    return zw.System(
        ["a", "n", "b"],
        mass=np.diag([2.0, middle, 3.0]),
        parameters={"c": damping, "F": 0.0},
        force=lambda q, v, p: [
            -100.0 * q[0] - 200.0 * (q[0] - q[1]) + p.F,
            200.0 * (q[0] - q[1]) - 300.0 * (q[1] - q[2]) - p.c * v[1],
            300.0 * (q[1] - q[2]),
        ],
    )


def test_node_without_mass_follows_its_springs():
    lin = masses(0.0).linearize([0.0, 0.0, 0.0])
    series = 1.0 / (1.0 / 200.0 + 1.0 / 300.0)
    K = np.array([[100.0 + series, -series], [-series, series]])
    w = np.sqrt(scipy.linalg.eigvalsh(K, np.diag([2.0, 3.0])))
    assert frequencies(lin) == pytest.approx(np.sort(w), rel=FREQUENCIES)
    assert lin.infinite == 2
    assert "2 eigenvalues are infinite, two for each motion without mass" in lin.notes[0]


def test_node_without_mass_but_with_a_damper_keeps_one_state():
    lin = masses(0.0, damping=50.0).linearize([0.0, 0.0, 0.0])
    assert lin.infinite == 1
    assert len(lin.states) == 5
    near = masses(1e-9, damping=50.0).linearize([0.0, 0.0, 0.0])
    slow = near.eigenvalues[np.abs(near.eigenvalues) < 1e6]
    for s in lin.eigenvalues:
        assert np.abs(slow - s).min() < 1e-6 * abs(s)


def test_damping_ratio_and_frequency_of_one_mass():
    k, c, mass = 50.0, 3.0, 2.0
    one = zw.System(["x"], mass=[[mass]], force=lambda q, v: [-k * q[0] - c * v[0]])
    (mode,) = one.linearize([0.0]).modes()
    assert mode.frequency == pytest.approx(np.sqrt(k / mass), rel=1e-13)
    assert mode.damping == pytest.approx(c / (2.0 * np.sqrt(k * mass)), rel=1e-13)
    assert mode.hertz == pytest.approx(mode.frequency / 2 / np.pi)
    assert abs(mode.shape["x"]) == pytest.approx(1.0)
    assert one.linearize([0.0]).damping == pytest.approx(np.array([[c]]))


def cart(driven=False):
    """A pendulum of length 1 below a cart on a rail."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY), parameters={"wind": 0.0})
    body = m.body("cart", mass=2.0, inertia=1.0, position=(0.0, 0.0))
    bob = m.body("bob", mass=0.5, inertia=0.0, position=(0.0, -1.0))
    m.prismatic("rail", m.ground, body, at=(0.0, 0.0), axis="x")
    m.revolute("pin", body, bob, at=(0.0, 0.0))
    m.force("wind_force", bob, lambda p: (p.wind, 0.0))
    if driven:
        m.drive("motor", "rail.displacement", lambda t: 0.0 * t)
    return m


def test_inputs_are_forces_efforts_and_parameters():
    m = cart()
    lin = m.linearize(
        inputs=["rail.displacement", "pin.angle", "wind", "cart.vx"],
        outputs=["cart.x", "pin.angle", "rail.displacement_rate"],
        independent=["rail.displacement", "pin.angle"],
    )
    M = lin.mass
    B = lin.B[2:]
    # Angles about y are positive from z to x: a turn by θ moves the bob, below, to −x.
    expected = np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, -1.0, 0.0]])
    assert np.abs(M @ B - expected).max() < 1e-12
    assert pytest.approx(np.array([[2.5, -0.5], [-0.5, 0.5]]), rel=1e-12) == M
    assert np.abs(lin.B[:2]).max() == 0.0
    assert pytest.approx(np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]), abs=1e-13) == lin.C


def test_motion_of_a_driver_is_an_input_by_its_acceleration():
    """θ̈ + g θ = ẍ/L for the pendulum below a driven cart."""
    m = cart(driven=True)
    assert len(m.linearize().states) == 2
    lin = m.linearize(inputs=["motor"], independent=["rail.displacement", "pin.angle"])
    assert len(lin.states) == 4
    rail, pin = lin.states.index("rail.displacement_rate"), lin.states.index("pin.angle_rate")
    assert lin.B[rail, 0] == pytest.approx(1.0, rel=1e-12)
    assert lin.B[pin, 0] == pytest.approx(1.0, rel=1e-12)
    assert lin.A[pin, lin.states.index("pin.angle")] == pytest.approx(-GRAVITY, rel=1e-12)
    assert lin.zero == 2


def test_reactions_are_outputs_with_their_direct_part():
    m = cart()
    names = ["pin.force.x", "pin.force.z", "pin.moment.y", "rail.force.z"]
    lin = m.linearize(
        inputs=["wind", "cart.vx"], outputs=names, independent=["rail.displacement", "pin.angle"]
    )
    rest = m.equilibrium()
    step = 1e-6

    def forces(z, u):
        q = rest.q.copy()
        state = m.assemble(
            hold={"rail.displacement": z[0], "pin.angle": z[1]},
            velocity={"hold": {"rail.displacement_rate": z[2], "pin.angle_rate": z[3]}},
        )
        del q
        wind, push = u
        extra = m.system.ideal_terms(state, parameters={"wind": wind})
        Q = extra.applied_force.copy()
        Q[0] += push
        s = zw.solve(extra.mass_matrix, Q, extra.constraint_matrix, extra.constraint_rhs)
        rows = m.system.groups
        A = extra.constraint_matrix
        pin = A[rows["pin"]].T @ s.multipliers[rows["pin"]]
        rail = A[rows["rail"]].T @ s.multipliers[rows["rail"]]
        c, sn = state.q[6], state.q[7]
        arm = np.array([sn * 1.0, c * 1.0])  # from the bob to the pin, in x and z
        moment = pin[5] - (arm[1] * pin[3] - arm[0] * pin[4])
        return np.array([pin[3], pin[4], moment, rail[1]])

    base = forces(np.zeros(4), (0.0, 0.0))
    assert base[1] == pytest.approx(0.5 * GRAVITY)
    for k in range(4):
        z = step * np.eye(4)[k]
        slope = (forces(z, (0, 0)) - forces(-z, (0, 0))) / (2 * step)
        assert np.abs(lin.C[:, k] - slope).max() < 1e-6
    for k in range(2):
        u = np.eye(2)[k]
        assert np.abs(lin.D[:, k] - (forces(np.zeros(4), u) - base)).max() < 1e-10


def test_frequency_response_is_that_of_the_textbook():
    lin = masses(1.0).linearize([0.0] * 3, inputs=["F"], outputs=["a", "b"])
    w = np.array([0.5, 3.0, 20.0])
    K = np.array([[300.0, -200.0, 0.0], [-200.0, 500.0, -300.0], [0.0, -300.0, 300.0]])
    for k, x in enumerate(w):
        G = np.linalg.solve(K - x**2 * np.diag([2.0, 1.0, 3.0]), [1.0, 0.0, 0.0])
        assert lin.frequency_response(w)[k, :, 0] == pytest.approx(G[[0, 2]], rel=1e-12)


def test_plots_have_one_curve_for_each_pair(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    lin = masses(1.0).linearize([0.0] * 3, inputs=["F"], outputs=["a", "b"])
    figure = lin.plot_bode(path=tmp_path / "bode.png")
    assert len(figure.axes[0].lines) == 2
    legend = figure.axes[0].get_legend().get_window_extent()
    assert legend.y0 >= figure.axes[0].get_window_extent().y1  # above the curves
    assert legend.y1 <= figure.bbox.y1
    assert (tmp_path / "bode.png").stat().st_size > 1000
    locus = masses(1.0).root_locus("c", [0.0, 10.0, 20.0], start=[0.0] * 3)
    assert len(locus.plot().axes[0].lines) == 2 * 6 + 1
    assert (locus.eigenvalues.real[1:] < 0.0).all()
    plt.close("all")


def test_python_control_gets_the_same_matrices(monkeypatch):
    """Of a name that a folder of tests has too, which must not be taken for the package."""
    try:
        metadata.version("control")
    except metadata.PackageNotFoundError:
        pytest.skip("the extra control is not installed")
    tests = Path(__file__).parents[1]
    monkeypatch.setattr(sys, "path", [p for p in sys.path if Path(p).resolve() != tests])
    monkeypatch.delitem(sys.modules, "control", raising=False)
    lin = masses(1.0).linearize([0.0] * 3, inputs=["F"], outputs=["a"])
    system = lin.to_control()
    assert type(system).__name__ == "StateSpace"
    assert np.array_equal(system.A, lin.A)
    assert list(system.state_labels) == list(lin.states)


def test_without_outputs_python_control_gets_the_states(monkeypatch):
    """By a stand-in for the package, which keeps what it is given."""
    given = SimpleNamespace(ss=lambda *matrices, **names: (matrices, names))
    monkeypatch.setitem(sys.modules, "control", given)
    lin = masses(1.0).linearize([0.0] * 3, inputs=["F"])
    (A, B, C, D), names = lin.to_control()
    assert np.array_equal(A, lin.A)
    assert np.array_equal(B, lin.B)
    assert np.array_equal(C, np.eye(len(A)))
    assert D.shape == B.shape
    assert not D.any()
    assert names["outputs"] == names["states"]


def test_skate_counts_its_zeros():
    skate = zw.System(
        ["x", "y", "phi"],
        mass=np.diag([1.0, 1.0, 0.2]),
        constraints={"edge": lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2])},
    )
    lin = skate.linearize([0.1, 0.2, 0.3])
    assert len(lin.states) == 5
    assert lin.zero == 5
    assert "1 because rows of velocities leave 3 displacements to 2 free velocities" in lin.notes[0]
    # What it does does not depend on where it is, so that two of the positions suffice.
    assert lin.mass.shape == (2, 2)


def test_quasi_velocities_are_linearized_through_their_kinematics():
    """A pendulum with the quasi-velocity u = 2 φ̇, against φ̈ = −(g/L) φ."""
    system = zw.System(
        ["phi"],
        velocities=["u"],
        kinematics=lambda: [[0.5]],
        mass=[[0.25]],
        force=lambda q: [-0.5 * GRAVITY * np.sin(q[0])],
    )
    lin = system.linearize([0.0])
    assert lin.states == ("phi", "u")
    assert lin.eigenvalues.imag.max() == pytest.approx(np.sqrt(GRAVITY), rel=1e-13)


def test_named_coordinates_become_states_and_similar_systems_agree():
    m = double_pendulum("space")
    rest = m.equilibrium()
    one = m.linearize(rest, independent=["pin.angle", "elbow.angle"])
    two = m.linearize(rest, independent=["b.x", "a.turn2"])
    assert two.states == ("b.x", "a.turn2", "b.vx", "a.omega2")
    assert np.sort(one.eigenvalues.imag) == pytest.approx(np.sort(two.eigenvalues.imag), rel=1e-11)


def test_an_equilibrium_whose_forces_cancel_is_one():
    """A bead on a hoop that spins: gravity and the centrifugal force leave rounding alone."""
    hoop = zw.System.from_lagrangian(
        ["theta"],
        parameters={"m": 1.0, "R": 1.0, "Omega": 5.0, "g": 9.81},
        T=lambda q, v, p: 0.5 * p.m * p.R**2 * (v[0] ** 2 + p.Omega**2 * np.sin(q[0]) ** 2),
        V=lambda q, p: -p.m * p.g * p.R * np.cos(q[0]),
    )
    for speed in (4.0, 5.0, 7.0, 50.0):
        rest = hoop.equilibrium(start=[1.0], parameters={"Omega": speed})
        assert rest.residual < 1e-12
        # cos θ = g / (R Ω²), and small motions with ω² = Ω² sin² θ
        frequency = speed * np.sqrt(1.0 - (9.81 / speed**2) ** 2)
        found = sorted(rest.linearization.eigenvalues.imag)
        np.testing.assert_allclose(found, [-frequency, frequency], rtol=1e-10)
    with pytest.raises(zw.ZwangError, match=r"drives this motion: theta.* system\.equilibrium\("):
        hoop.linearize([0.9])


def test_a_pendulum_upside_down_by_a_rounded_pi():
    pendulum = zw.System.from_lagrangian(
        ["a"], T=lambda v: 0.5 * v[0] ** 2, V=lambda q: -9.81 * np.cos(q[0])
    )
    values = sorted(pendulum.linearize([np.pi]).eigenvalues.real)
    np.testing.assert_allclose(values, [-np.sqrt(9.81), np.sqrt(9.81)], rtol=1e-12)

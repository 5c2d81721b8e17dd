"""Functions that are called numerically give the terms of their traced twins."""

import ctypes
import math
import warnings

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import zwang as zw
from zwang.tracing.differentiate import jacobian
from zwang.tracing.finite_differences import differentiate
from zwang.tracing.mixed_kernel import StagedKernel

#: First derivatives by complex step are exact to rounding, second ones are extrapolated from exact
#: first ones; b of order 10 leaves this.
COMPLEX_STEP = 1e-12
#: Second differences lose eps/h² with h about 0.1, and the extrapolation some of the rest.
DIFFERENCES = 2e-9


def surface(x, y):
    return np.sin(x) * np.exp(0.3 * y) + x * y**2


def surface_by_math(x, y):  # the math module takes no complex numbers
    return math.sin(x) * math.exp(0.3 * y) + x * y**2


def bead(height):
    """A bead on a surface that moves, every function of the system using the height."""
    return zw.System(
        coordinates=["x", "y", "z"],
        velocities=["a", "b", "c"],
        kinematics=(
            lambda q: [[1.0, 0.2 * height(q[1], q[0]), 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]],
            lambda q, t: [0.1 * height(t, 0.5), 0.0, 0.0],
        ),
        parameters={"m": 2.0, "k": 0.7},
        mass=lambda q, p: p.m * np.diag([1.0, 2.0 + 0.1 * height(q[0], q[1]) ** 2, 3.0]),
        potential=lambda q, p: p.k * height(q[0] * p.k, q[2]),
        constraints={
            "surface": zw.position(lambda q, t: q[2] - height(q[0] + 0.1 * t, q[1])),
            "steer": zw.velocity(lambda q, v, t: v[0] * height(q[0], v[1]) - v[2] - t),
        },
    )


@pytest.mark.parametrize(
    ("function", "tolerance", "method"),
    [
        (surface, COMPLEX_STEP, "complex step"),
        (surface_by_math, DIFFERENCES, "finite differences"),
    ],
)
def test_every_term_equals_the_traced_one(function, tolerance, method):
    traced, called = bead(surface), bead(zw.opaque(function))
    rng = np.random.default_rng(1)
    for _ in range(4):
        q, v, t = rng.normal(size=3), rng.normal(size=3), rng.normal()
        p = {"m": 2.0 + rng.random(), "k": rng.random()}
        want, got = (s.terms(q, v, t, parameters=p) for s in (traced, called))
        for name in ("mass_matrix", "applied_force", "constraint_matrix", "constraint_rhs"):
            size = max(1.0, np.max(np.abs(getattr(want, name))))
            np.testing.assert_allclose(
                getattr(got, name), getattr(want, name), rtol=0, atol=tolerance * size
            )
        for way in ("residuals", "energy", "position_rate"):
            a, b = (getattr(s, way)(q, v, t, parameters=p) for s in (traced, called))
            if way == "residuals":
                a, b = (np.append(x.position, x.velocity) for x in (a, b))
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)
        (note,) = [n for n in got.notes if "called numerically" in n]
        assert method in note
        assert function.__name__ in note


def pendulum(T, h):
    return zw.System.from_lagrangian(
        coordinates=["x", "y"],
        T=lambda q, v: T(q[0], v[0]) + 0.5 * v[1] ** 2 * (2.0 + h(q[1], q[0]) ** 2),
        V=lambda q: h(q[0], q[1]),
        dissipation=lambda q, v: 0.1 * v[0] ** 2 * h(q[0], 0.0),
    )


def test_lagrangian_whose_energies_are_called_numerically():
    def kinetic(x, u):
        return 0.5 * u**2 * (3.0 + np.sin(x))

    traced = pendulum(kinetic, surface)
    called = pendulum(zw.opaque(kinetic), zw.opaque(surface))
    q, v = [0.3, -0.4], [0.7, 1.1]
    for name in ("mass_matrix", "applied_force"):
        want, got = (getattr(s.terms(q, v), name) for s in (traced, called))
        np.testing.assert_allclose(got, want, atol=COMPLEX_STEP * 10)


def test_calls_may_be_nested_and_depend_on_parameters():
    inner, outer = zw.opaque(np.sin), zw.opaque(lambda a, b: a**2 * np.cos(b), name="outer")

    def constraint(f, g):
        return zw.position(lambda q, p: q[1] - g(f(p.k * q[0]), f(f(q[2])) + q[0]))

    def system(f, g):
        return zw.System(
            coordinates=["x", "y", "z"],
            parameters={"k": 1.5},
            mass=lambda: np.eye(3),
            constraints={"c": constraint(f, g)},
        )

    traced, called = system(np.sin, lambda a, b: a**2 * np.cos(b)), system(inner, outer)
    assert called.opaque == ("sin", "outer")
    q, v = [0.4, 0.2, 1.1], [1.0, -0.5, 0.3]
    want, got = (s.terms(q, v, parameters={"k": 0.8}) for s in (traced, called))
    np.testing.assert_allclose(got.constraint_matrix, want.constraint_matrix, atol=COMPLEX_STEP)
    np.testing.assert_allclose(got.constraint_rhs, want.constraint_rhs, atol=COMPLEX_STEP)


def test_arrays_go_in_and_out_and_fixed_arguments_stay_as_they_are():
    seen = []

    def stretch(w, power, *, label):
        seen.append((power, label))
        return np.array([w[0] ** power, w[0] * w[1]])

    f = zw.opaque(stretch, outputs=2)
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"c": zw.position(lambda q: f(q, 3, label="cubic") - [8.0, 2.0])},
    )
    terms = system.terms([2.0, 1.0], [1.0, 1.0])
    np.testing.assert_allclose(terms.constraint_matrix, [[12.0, 0.0], [1.0, 2.0]], atol=1e-12)
    np.testing.assert_allclose(terms.constraint_rhs, [-12.0, -2.0], atol=1e-11)
    assert set(seen) == {(3, "cubic")}
    assert isinstance(seen[0][0], int)


def test_a_function_of_one_array_takes_several_numbers():
    h = zw.opaque(lambda w: w[0] * w[1] ** 2)
    assert h(2.0, 3.0) == 18.0
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"c": zw.position(lambda q: h(q[0], q[1]))},
    )
    np.testing.assert_allclose(
        system.terms([2.0, 3.0]).constraint_matrix, [[9.0, 12.0]], rtol=1e-14
    )
    assert system.opaque == ("lambda in constraint 'c'",)
    assert "called numerically: lambda in constraint 'c'" in repr(system)


def test_an_opaque_force_needs_no_derivatives_and_equal_calls_are_made_once():
    count = []

    def drag(u):
        count.append(u)
        return -0.5 * u * abs(u)

    f = zw.opaque(drag)
    system = zw.System(
        coordinates=["x", "y"], mass=lambda: np.eye(2), force=lambda v: [f(v[0]), 2.0 * f(v[0])]
    )
    terms = system.terms([0.0, 0.0], [3.0, 0.0])
    np.testing.assert_array_equal(terms.applied_force, [-4.5, -9.0])
    assert count == [3.0]
    assert terms.notes == ("contains functions called numerically: drag",)


# --- the choice of the method ---------------------------------------------------------------------


def along(function):
    h = zw.opaque(function, name="h")
    return zw.System(
        coordinates=["x"], mass=lambda: [[1.0]], constraints={"c": zw.position(lambda q: h(q[0]))}
    )


def drops_imaginary(x):
    return np.asarray(x).astype(float) ** 3


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.abs(x) ** 3,  # takes complex numbers, and is not differentiable in them
        drops_imaginary,
        lambda x: np.real(x) ** 3,
        lambda x: np.array([x**3]).real[0],
        lambda x: math.pow(x, 3),
        lambda x: x**3 if x > 0 else -(x**3),
        CubicSpline(np.linspace(0.0, 3.0, 61), np.linspace(0.0, 3.0, 61) ** 3),
    ],
)
def test_a_function_that_is_no_complex_one_is_differentiated_by_differences(function):
    terms = along(function).terms([1.3], [2.0])
    np.testing.assert_allclose(terms.constraint_matrix, [[3 * 1.3**2]], rtol=1e-10)
    np.testing.assert_allclose(terms.constraint_rhs, [-6 * 1.3 * 4.0], rtol=1e-8)
    assert "finite differences" in terms.notes[0]
    assert "estimated error" in terms.notes[0]


def test_near_the_edge_of_the_domain_failing_points_are_left_out():
    terms = along(math.sqrt).terms([1e-3], [1.0])
    np.testing.assert_allclose(terms.constraint_matrix, [[0.5 / math.sqrt(1e-3)]], rtol=1e-9)
    np.testing.assert_allclose(terms.constraint_rhs, [0.25 * 1e-3**-1.5], rtol=1e-7)


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e7])
def test_units_of_the_argument_do_not_matter(unit):
    terms = along(lambda x: math.sin(x / unit)).terms([0.4 * unit], [unit])
    np.testing.assert_allclose(terms.constraint_matrix * unit, [[math.cos(0.4)]], rtol=1e-9)
    np.testing.assert_allclose(terms.constraint_rhs, [math.sin(0.4)], rtol=1e-6)


def test_the_estimated_error_is_honest():
    rng = np.random.default_rng(2)

    def f(w):  # a polynomial, the logarithm and a wave, known only to nine digits
        value = w[0] ** 4 * w[1] + np.log(3.0 + w[1]) + np.sin(3 * w[0])
        return np.array([np.round(float(value), 9)])

    for _ in range(20):
        x, y = rng.uniform(-1, 1, size=2)
        w = np.array([x, y])
        found = differentiate(f, w, f(w), [0, 1], [(0, 0), (0, 1), (1, 1)])
        J = [4 * x**3 * y + 3 * np.cos(3 * x), x**4 + 1 / (3 + y)]
        H = [12 * x**2 * y - 9 * np.sin(3 * x), 4 * x**3, -1 / (3 + y) ** 2]
        assert found.method == "finite differences"
        error = max(
            np.max(np.abs(found.jacobian[0] - J)) / np.max(np.abs(J)),
            np.max(np.abs(found.hessian[0] - H)) / np.max(np.abs(H)),
        )
        assert error < 1e-4  # nine digits of f leave about six and five of its derivatives
        assert error < 20 * found.error


def test_complex_step_can_be_insisted_on():
    h = zw.opaque(np.abs, derivatives="complex step", name="size")
    system = zw.System(
        coordinates=["x"], mass=lambda: [[1.0]], constraints={"c": zw.position(lambda q: h(q[0]))}
    )
    with pytest.raises(
        zw.InputError,
        match=r"opaque function 'size' must be differentiable in.*but is not, at this point",
    ):
        system.terms([1.0])


def test_no_warning_escapes_the_trial_with_complex_numbers():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        along(drops_imaginary).terms([1.3])
    assert not caught


# --- kernels --------------------------------------------------------------------------------------


def test_a_batch_is_the_same_as_its_states_one_by_one():
    system = bead(zw.opaque(surface_by_math))
    rng = np.random.default_rng(3)
    q, v, t = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=4)
    together = system.terms(q, v, t)
    for i in range(4):
        alone = system.terms(q[i], v[i], t[i])
        np.testing.assert_array_equal(together.constraint_rhs[i], alone.constraint_rhs)
        np.testing.assert_array_equal(together.mass_matrix[i], alone.mass_matrix)


def test_compiled_loops_can_call_it_by_address():
    def f(x):
        if x > 5.0:
            raise ArithmeticError
        return math.sin(x)

    system = along(f)
    system.terms([1.0], [1.0])
    kernel = system.equations.evaluator.kernel("terms", dict)
    assert isinstance(kernel, StagedKernel)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 9)(kernel.address)

    def run(x):
        inputs = [np.array([x]), np.array([2.0]), np.zeros(1), np.zeros(0)]
        outputs = [np.zeros(port.size) for port in kernel.outputs]
        function(*(a.ctypes.data for a in (*inputs, *outputs, np.zeros(1))))
        return outputs

    M, Q, A, b = run(1.0)
    terms = system.terms([1.0], [2.0])
    assert (M, Q, A, b) == (1.0, 0.0, terms.constraint_matrix, terms.constraint_rhs)
    assert np.isnan(run(6.0)).all()
    assert "ArithmeticError" in str(kernel.failure)


def test_without_opaque_functions_kernels_are_plain():
    system = bead(surface)
    system.terms(np.ones(3), np.ones(3))
    assert not isinstance(system.equations.evaluator.kernel("terms", dict), StagedKernel)
    assert system.opaque == ()
    assert "numerically" not in repr(system)


def test_parts_without_opaque_calls_are_plain_too():
    system = along(math.sin)
    system.energy([1.0], [1.0])
    assert not isinstance(system.equations.evaluator.kernel("energy", dict), StagedKernel)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda x: [x, x],
            r"opaque function 'h' must return one number, but returned shape \(2,\).*outputs",
        ),
        (lambda x: math.log(-x), r"'h'.*ValueError.*at \(1\)"),
        (lambda x: float("nan"), r"'h'.*not finite at \(1\)"),
        (lambda x: 1j * x, r"'h'.*complex"),
        (lambda x: None, "opaque function 'h' must return numbers, but returned values of type"),
        (lambda x: "wide", "opaque function 'h' must return numbers, but returned values of type"),
        (lambda x: 0.0 if x == 1.0 else math.sqrt(-1.0), r"'h'.*no finite values beside"),
    ],
)
def test_failures_name_the_function(function, words):
    with pytest.raises(zw.InputError, match=words):
        along(function).terms([1.0], [1.0])


def test_definitions_are_checked():
    with pytest.raises(zw.InputError, match="opaque function must be a function, not 3"):
        zw.opaque(3)
    with pytest.raises(zw.InputError, match=r"outputs of an opaque function.*'two'"):
        zw.opaque(math.sin, "two")
    with pytest.raises(zw.InputError, match=r"derivatives.*'by hand'"):
        zw.opaque(math.sin, derivatives="by hand")


def test_symbols_outside_of_a_system_are_refused():
    from zwang.tracing.symbol import symbols_of

    casadi = pytest.importorskip("casadi")
    with pytest.raises(zw.InputError, match=r"'sin'.*symbols outside"):
        zw.opaque(math.sin)(symbols_of(casadi.SX.sym("x", 1))[0])


def test_third_derivatives_are_refused_by_name():
    model = along(math.sin).model
    jacobian(model.A, model.state.q, model.state)
    with pytest.raises(zw.InputError, match=r"'h'.*third derivatives"):
        jacobian(model.b, model.state.q, model.state)
    with pytest.raises(zw.InputError, match=r"'h'.*closed form"):
        model.function("closed", {"A": model.A})


def test_accelerations_do_not_go_into_opaque_functions():
    h = zw.opaque(lambda a: 2 * a, name="h")
    with pytest.raises(
        zw.InputError,
        match=r"'c' must be an expression linear in.*but calls an opaque function of them",
    ):
        zw.System(
            coordinates=["x"],
            mass=lambda: [[1.0]],
            constraints={"c": zw.constraint(lambda q, a: h(a[0]) - q[0])},
        )


def test_a_law_of_a_mechanism_is_not_sent_to_opaque_functions():
    """They cannot be called there, so that neither message may lead to them."""
    table = zw.opaque(np.sin, name="table")
    m = zw.Mechanism(plane="xz")
    wheel = m.body("wheel", mass=1.0, inertia=0.1)
    m.revolute("axle", m.ground, wheel, at=(0, 0))
    with pytest.raises(zw.TraceError, match=r"np\.interp for a table.*zw\.controller"):
        m.actuator("motor", "axle.angle", lambda t: 2.0 * math.sin(t))
    with pytest.raises(zw.InputError, match=r"in actuator 'motor'.*np\.interp\(x, points, values"):
        m.actuator("motor", "axle.angle", lambda t: 2.0 * table(t))
    with pytest.raises(zw.TraceError, match=r"zw\.opaque\(f\)"):
        zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [math.sin(q[0])])

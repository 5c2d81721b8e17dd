"""A simulation that cannot start says why; one that cannot go on keeps what it has."""

import numpy as np
import pytest

import zwang as zw


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"q": [1.1, 0.0]}, ["'rod'", "position", "0.21", "assemble"]),
        ({"q": [1.0, 0.0], "v": [0.5, 0.0]}, ["'rod'", "velocity", "assemble"]),
        ({"q": [1.0]}, ["q", "x, y"]),
        ({"until": -1.0}, ["until"]),
        ({"tolerance": 1e-20}, ["tolerance"]),
        ({"integrator": "order9"}, ["order8"]),
        ({"drift": "tape"}, ["projection"]),
        ({"save": "all"}, ["save", "dense", "run.at(t)"]),
        ({"save": [0.2, 0.1]}, ["increasing"]),
        ({"save": [0.0, 5.0]}, ["save", "0 to 1"]),
        ({"save": -0.1}, ["positive"]),
        ({"save": 1e-12}, ["save", "1.0e+12", "fewer"]),
        ({"save": ["a"]}, ["save", "an interval or times"]),
        ({"save": float("inf")}, ["save", "inf", "positive interval"]),
        ({"scales": 3.0}, ["scales", "3.0", "dictionary"]),
        ({"scales": {"x": float("inf")}}, ["scale of 'x'", "inf"]),
        ({"scales": {"x": "a"}}, ["scale of 'x'", "a number"]),
        ({"parameters": [1.0]}, ["parameters", "dictionary"]),
        ({"store": 5}, ["store", "5", "path of a folder"]),
        ({"store_every": -1.0}, ["store_every", "-1.0"]),
        ({"store_every": "often"}, ["store_every", "often"]),
        ({"events": {"e": lambda q: q}}, ["event 'e'", "2 values", "one value"]),
        ({"events": {"e": lambda: float("nan")}}, ["event 'e'", "nan", "finite"]),
        ({"q": zw.State(np.array([1.0, 0.0]), np.zeros(2), 0.5), "start": 0.2}, ["start", "0.5"]),
        ({"scales": {"z": 1.0}}, ["z"]),
        ({"scales": {"x": 0.0}}, ["positive"]),
        ({"parameters": {"l": 1.0}}, ["l", "L"]),
        ({"inactive": ["road"]}, ["road", "rod"]),
        ({"inactive": "road"}, ["road", "rod"]),
        ({"step": -0.1}, ["step"]),
        ({"step": 1e-30}, ["step", "1e-30", "resolution"]),
        ({"largest_step": 1e-30}, ["largest_step", "1e-30", "resolution"]),
        ({"step": None}, ["step", "None", "a number"]),
        ({"tolerance": [1e-9]}, ["tolerance", "[1e-09]", "a number"]),
        ({"until": "noon"}, ["until", "noon", "a number"]),
        ({"until": float("inf")}, ["until", "inf", "finite"]),
        ({"integrator": ["order8"]}, ["integrator", "['order8']", "a name"]),
        ({"progress": "bar"}, ["progress", "function"]),
        ({"start": "noon"}, ["time", "noon", "finite number"]),
        ({"start": [0.0, 0.5]}, ["start", "time", "0.5", "A state is given first"]),
        ({"q": [[1.0, 0.0], [1.0, 0.0]]}, ["(2, 2)", "one state", "simulate_many"]),
    ],
)
def test_bad_arguments_are_named(pendulum, arguments, words):
    given = {"q": [1.0, 0.0], "until": 1.0, **arguments}
    with pytest.raises(zw.ZwangError) as caught:
        pendulum.simulate(given.pop("q"), given.pop("v", None), **given)
    for word in words:
        assert word in str(caught.value)


def test_a_negative_mass_is_named():
    system = zw.System(
        ["x", "y"],
        parameters={"m": 1.0},
        mass=lambda p: np.diag([1.0, p.m]),
        force=lambda: [0.0, -1.0],
    )
    with pytest.raises(
        zw.InputError,
        match=r"be positive semi-definite.*but gives the kinetic energy −1/2 for.*rows of M for y",
    ):
        system.simulate([0.0, 0.0], until=1.0, parameters={"m": -1.0})


def test_start_may_be_a_whole_number(pendulum):
    whole, real = (
        pendulum.simulate([1.0, 0.0], start=t, until=2, integrator="order8") for t in (1, 1.0)
    )
    np.testing.assert_array_equal(whole.q, real.q)
    assert whole.t[0] == 1.0
    (one,) = pendulum.simulate_many([[1.0, 0.0]], start=1, until=2)
    np.testing.assert_array_equal(one.q, real.q)


def test_times_before_zero_are_saved_up_to_the_end(pendulum):
    run = pendulum.simulate([1.0, 0.0], start=-2.0, until=-1.0, save=0.25)
    np.testing.assert_array_equal(run.t, [-2.0, -1.75, -1.5, -1.25, -1.0])


def test_start_that_misses_slightly_is_put_on_the_constraint_and_noted(pendulum):
    run = pendulum.simulate([1.0 + 1e-8, 0.0], until=0.1)
    assert "rod" in run.notes[0]
    assert run.worst_residual < 1e-13


def test_motion_into_a_singularity_stops_with_what_it_has():
    fall = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [-1.0 / q[0] ** 2])
    run = fall.simulate([1.0], until=5.0, tolerance=1e-9)
    assert not run.finished
    assert abs(run.t[-1] - np.pi / (2 * np.sqrt(2.0))) < 1e-3  # time of free fall to the centre
    assert np.isfinite(run.q).all()
    assert "stopped at t" in run.status


def test_painleve_situation_at_the_start_is_refused_as_by_solve():
    # λ = (1 − C)/2 with C = 3|λ| has the solutions 0.2 and −1.
    slide = zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -1.0],
        constraints={"ramp": zw.position(lambda q: q[0] + q[1])},
        nonideal={"ramp": lambda reaction: [3.0 * np.abs(reaction[0]), 0.0]},
    )
    with pytest.raises(zw.PainleveError, match="ramp"):
        slide.solve([0.0, 0.0])
    with pytest.raises(zw.PainleveError, match="ramp"):
        slide.simulate([0.0, 0.0], until=1.0)


def test_time_before_or_after_the_run_is_refused(pendulum):
    run = pendulum.simulate([1.0, 0.0], until=1.0)
    with pytest.raises(zw.InputError, match="0 to 1"):
        run.at(1.5)
    with pytest.raises(zw.ZwangError, match="x_dot"):
        run["z"]
    with pytest.raises(zw.ZwangError, match="rod"):
        run.multipliers("rope")


def coupled(off_diagonal, parameters=None):
    return zw.System(
        coordinates=["x", "y"],
        parameters=parameters or {},
        mass=lambda q, t, p: [[2.0, off_diagonal(q, p)], [0.2 * q[0], 2.0]],
        force=lambda q: [-q[0], -q[1]],
    )


@pytest.mark.parametrize("integrator", ["order5", "order8", "gauss", "radau5", "rattle"])
def test_a_mass_matrix_that_is_not_symmetric_is_refused_by_every_integrator(integrator):
    """Where numbers alone tell: in a function that is called, and through parameters."""
    fixed = {"step": 0.01} if integrator == "rattle" else {}
    called = coupled(zw.opaque(lambda q, p: 0.3 * q[0]))
    given = coupled(lambda q, p: p.k * q[0], {"k": 0.2})
    for system, parameters in ((called, {}), (given, {"parameters": {"k": 0.3}})):
        with pytest.raises(
            zw.InputError,
            match=r"mass matrix M must be symmetric.*but M\[0, 1\] = 0\.3 and 0\.2 across the",
        ):
            system.simulate([1.0, 0.0], until=0.1, integrator=integrator, **fixed, **parameters)
    assert given.simulate([1.0, 0.0], until=0.1, integrator=integrator, **fixed).finished


def test_members_of_an_ensemble_whose_mass_is_not_symmetric_are_refused_alone():
    system = coupled(lambda q, p: p.k * q[0], {"k": 0.2})
    many = system.simulate_many([[1.0, 0.0]] * 3, until=0.1, parameters={"k": [0.2, 0.3, 0.2]})
    assert [run.finished for run in many] == [True, False, True]
    assert "symmetric" in str(many[1].status)


def test_a_mass_matrix_that_is_symmetric_on_paper_need_not_be_in_each_bit():
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda q: [
            [2.0, np.sin(q[0]) * np.cos(q[0]) / 3.0],
            [np.sin(2.0 * q[0]) / 6.0, 2.0],
        ],
        force=lambda q: [-q[0], -q[1]],
    )
    assert system.simulate([1.0, 0.3], until=0.1).finished

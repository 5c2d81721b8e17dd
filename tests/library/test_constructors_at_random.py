"""Every constructor of the library, with parameters at random: it builds, solves and simulates.

python -m pytest tests/library/test_constructors_at_random.py                 2 sets of each
python -m pytest -m campaign tests/library/test_constructors_at_random.py -n 2   200 of each
"""

import inspect
from importlib import import_module

import numpy as np
import pytest

from zwang import library
from zwang.library.body import FORMS
from zwang.library.disk import ROLLING_FORMS, SLIDING_FORMS

#: Sets of parameters for each constructor: with every change, and in the campaign.
FEW, MANY = 2, 200
#: What M v̇ − Q − C − Aᵀλ and A v̇ − b may be, relative to what is summed.
BALANCE = 1e-8
#: What a simulation may miss its constraints by, relative.
RESIDUAL = 1e-9

#: Time that is simulated, where a twentieth of a second is not the thing [s].
UNTIL = {
    "flyball_governor": 1e-3,
    "ball_governor": 1e-3,
    "andrews": 1e-3,
    "andrews_squeezer": 1e-3,
    "satellite_formation": 20.0,
    "kepler_laws": 0.2,
    "kepler_ellipse": 0.2,
}
#: Largest systems: their sizes are drawn small.
SIZES = {
    "four_bars": ("n", 1, 3),
    "n_four_bar": ("n", 1, 3),
    "parallelogram": ("cranks", 2, 5),
    "door": ("hinges", 1, 5),
    "chain": ("n", 1, 6),
    "satellite_formation": ("deputies", 1, 3),
}
#: Angles, which are not multiplied.
ANGLES = {"angle", "lean", "tilt", "fold", "bend", "slope"}


def drawn(name, rng):
    """Options of a constructor: numbers by a factor from ½ to 2, angles from their own ranges."""
    signature = inspect.signature(getattr(library, name)).parameters
    options = {}
    for key, parameter in signature.items():
        default = parameter.default
        if key in ANGLES:
            options[key] = float(rng.uniform(0.1, 1.2))
        elif isinstance(default, bool):
            options[key] = bool(rng.random() < 0.5)
        elif isinstance(default, float):
            options[key] = float((default or rng.uniform(-1.0, 1.0)) * 2.0 ** rng.uniform(-1, 1))
        elif isinstance(default, tuple) and np.ndim(default) == 1 and default[0] is not None:
            factors = 2.0 ** rng.uniform(-0.4, 0.4, len(default))
            options[key] = tuple(float(x) for x in np.array(default) * factors)
    if name in SIZES:
        key, low, high = SIZES[name]
        options[key] = int(rng.integers(low, high))
    if name in WITHIN:
        WITHIN[name](options, rng)
    return options


def _four_bar(o, rng):
    """Grashof's crank-rocker, which closes at every angle."""
    o["ground"], o["crank"] = rng.uniform(1.5, 2.5), rng.uniform(0.3, 0.6)
    o["rocker"] = rng.uniform(1.2, 1.8)
    least, most = o["ground"] + o["crank"] - o["rocker"], o["ground"] - o["crank"] + o["rocker"]
    o["coupler"] = rng.uniform(1.05 * max(least, 1.2), 0.95 * most)


def _slider_crank(o, rng):
    o["offset"] = rng.uniform(-0.1, 0.1)
    o["rod_length"] = o["crank"] + abs(o["offset"]) + rng.uniform(0.05, 0.5)


def _kepler(o, rng):
    o["epsilon"] = rng.uniform(0.05, 0.8)


def _disk(forms):
    def within(o, rng):
        o["form"] = str(rng.choice(forms))

    return within


def _body(o, rng):
    o["form"] = str(rng.choice(FORMS))
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    o["J"] = R @ np.diag(1.0 + rng.uniform(0.0, 0.9, 3)) @ R.T
    o.pop("z", None)


def _car_axis(o, rng):
    """Near the published one, whose axle is twice as high as the road is rough."""
    o["L"], o["L0"], o["r"] = 1.0, rng.uniform(0.45, 0.55), rng.uniform(0.02, 0.15)
    o["eps"], o["w"] = rng.uniform(0.01, 0.1), rng.uniform(5.0, 12.0)


def _top(o, rng):
    """Moments of a body that exists: about the axis no more than twice that across."""
    across = 2e-4 * 2.0 ** rng.uniform(-1, 1)
    o["moments"] = (across, across * rng.uniform(0.2, 1.9))


def _satellite(o, rng):
    o["moments"] = tuple(float(x) for x in rng.uniform(4.0, 7.0, 3))


def _governor(o, rng):
    """Stiffness and damping of the published size; lengths that leave a triangle."""
    for key in ("arm", "height", "length"):
        if key in o:
            o[key] = {"arm": 0.05, "height": 1.0, "length": 1.0}[key] * rng.uniform(0.9, 1.1)


def _wishbone(o, rng):
    o["length"] = rng.uniform(0.35, 0.45)


def _net(o, rng):
    o["n"], o["m"] = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    o["planar"] = o["planar"] or o["n"] * o["m"] < 5


WITHIN = {
    "four_bar": _four_bar,
    "slider_crank": _slider_crank,
    "kepler_laws": _kepler,
    "kepler_ellipse": _kepler,
    "rolling_disk": _disk(ROLLING_FORMS),
    "sliding_disk": _disk(SLIDING_FORMS),
    "rotating_body": _body,
    "car_axis": _car_axis,
    "spinning_top": _top,
    "satellite": _satellite,
    "flyball_governor": _governor,
    "ball_governor": _governor,
    "double_wishbone": _wishbone,
    "net": _net,
}


def start_of(name, model, options, rng):
    """A state on the constraints: as placed, or one of the library's own at random."""
    if name in library.mechanism_names():
        return model.assemble()
    where = import_module(f"zwang.library.{library._MODULES[name]}")
    known = inspect.signature(getattr(where, f"{name}_states")).parameters
    state = library.states(name, rng, 1, **{k: v for k, v in options.items() if k in known})
    return type(state)(state.q[0], state.v[0], np.ravel(state.t)[0])


def tried(name, number, **instead):
    """Build, solve and simulate set number so and so."""
    rng = np.random.default_rng([number, sum(map(ord, name))])
    options = drawn(name, rng)
    options |= {key: value for key, value in instead.items() if key in options}
    try:
        model = getattr(library, name)(**options)
        start = start_of(name, model, options, rng)
        system = getattr(model, "system", model)
        require_balance(system, start)
        until = float(start.t) + UNTIL.get(name, 0.05)
        run = system.simulate(start, until=until, save="steps")
        assert run.finished, run.status
        assert np.isfinite(run.v).all()
        assert run.worst_residual < RESIDUAL
    except Exception as error:
        error.add_note(f"zwang.library.{name}(**{options!r}), set {number}")
        raise


def require_balance(system, state):
    """M v̇ = Q + C + Aᵀλ and A v̇ = b, in numbers."""
    solution, terms = system.solve(state), system.terms(state)
    M, A, a = terms.mass_matrix, terms.constraint_matrix, solution.acceleration
    F = terms.applied_force + (0.0 if terms.nonideal_force is None else terms.nonideal_force)
    lam = solution.multipliers
    size = np.abs(M) @ np.abs(a) + np.abs(F) + np.abs(A.T) @ np.abs(lam)
    assert np.abs(M @ a - F - A.T @ lam).max() <= BALANCE * max(1.0, size.max())
    size = np.abs(A) @ np.abs(a) + np.abs(terms.constraint_rhs)
    assert np.all(np.abs(A @ a - terms.constraint_rhs) <= BALANCE * np.maximum(1.0, size))


@pytest.mark.parametrize("name", [*library.names(), *library.mechanism_names()])
def test_some_sets_build_solve_and_simulate(name):
    for number in range(FEW):
        tried(name, number, planar=True)  # in space compiling takes longer than all the rest


@pytest.mark.campaign
@pytest.mark.parametrize("name", [*library.names(), *library.mechanism_names()])
def test_two_hundred_sets_build_solve_and_simulate(name):
    failed = []
    for number in range(MANY):
        try:
            tried(name, number)
        except Exception as error:  # noqa: BLE001
            failed.append(f"{type(error).__name__}: {error} {error.__notes__}")
    assert not failed, f"{len(failed)} of {MANY}:\n" + "\n".join(failed[:10])

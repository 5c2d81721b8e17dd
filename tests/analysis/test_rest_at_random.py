"""Mechanisms at random: at rest accelerations are rounding, and stable ones stay there.

500 of them with ``-m campaign``; a slice runs with the suite.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import zwang as zw

#: Accelerations at rest, relative to gravity: what conditions of a thousand leave of rounding.
STILL = 1e-8
#: Displacement of a stable rest in a short simulation [m], from such accelerations.
STAYS = 1e-6


def drawn(seed):
    """A tree or a loop of rods with springs at random, in a plane or in space, rows repeated."""
    rng = np.random.default_rng(seed)
    plane = bool(rng.integers(2))
    m = zw.Mechanism(gravity=(0, 0, -9.81), **({"plane": "xz"} if plane else {}))

    def point(p):
        return tuple(p[[0, 2]]) if plane else tuple(p)

    count = int(rng.integers(2, 5))
    corner, last = np.zeros(3), m.ground
    for k in range(count):
        way = rng.standard_normal(3) * [1.0, 0.0 if plane else 1.0, 1.0]
        way *= rng.uniform(0.4, 1.2) / np.linalg.norm(way)
        J = rng.uniform(0.05, 0.2)
        moments = J if plane else tuple(J * rng.uniform(0.9, 1.1, 3))
        body = m.body(
            f"rod{k}", mass=rng.uniform(0.5, 3.0), inertia=moments, position=point(corner + way / 2)
        )
        kind = "spherical" if not plane and rng.random() < 0.3 else "revolute"
        axis = {} if plane or kind == "spherical" else {"axis": tuple(rng.standard_normal(3))}
        for copy in range(1 + int(rng.random() < 0.25)):
            getattr(m, kind)(f"pin{k}_{copy}", last, body, at=point(corner), **axis)
        if rng.random() < 0.5:
            anchor = corner + rng.standard_normal(3) * [2.0, 0.0 if plane else 2.0, 2.0]
            m.spring_damper(
                f"spring{k}",
                m.ground,
                body,
                at=(point(anchor), point(corner + way)),
                stiffness=rng.uniform(5.0, 80.0),
                length=rng.uniform(0.2, 1.5),
            )
        corner, last = corner + way, body
    if rng.random() < 0.4 and count > 2:
        hook = corner + rng.standard_normal(3) * [0.5, 0.0 if plane else 0.5, 0.5]
        m.spherical_link("rope", m.ground, last, at=(point(hook), point(corner)))
    return m


def examine(seed):
    """What is wrong with the rest of a mechanism, or None."""
    m = drawn(seed)
    rest = m.equilibrium()
    terms = m.terms(rest.state)
    left = (
        terms.applied_force
        + terms.constraint_matrix.T
        @ zw.passport(
            np.eye(terms.coordinate_count),
            terms.applied_force,
            terms.constraint_matrix,
            np.zeros(terms.constraint_count),
        ).multipliers
    )
    if np.abs(left).max() > STILL * 9.81 * np.abs(terms.applied_force).max():
        return f"forces left {np.abs(left).max():.1e}"
    a = m.solve(rest.state).acceleration
    if np.abs(a).max() > STILL * 9.81 * 100.0:
        return f"acceleration {np.abs(a).max():.1e}"
    if rest.stability == "stable":
        run = m.simulate(rest.state, until=0.5, tolerance=1e-9)
        if np.abs(run.q - rest.q).max() > STAYS:
            return f"moved by {np.abs(run.q - rest.q).max():.1e}"
    elif rest.stability == "undecided":
        return "undecided"
    return None


@pytest.mark.parametrize("seed", [0, 1, 2, 39])  # the last with rows that act on nothing
def test_rest_of_mechanisms_at_random(seed):
    assert examine(seed) is None


@pytest.mark.campaign
def test_rest_of_five_hundred_mechanisms_at_random():
    wrong = {}
    for seed in range(500):
        try:
            found = examine(seed)
        except zw.ZwangError as error:
            found = str(error)
        if found:
            wrong[seed] = found
    here = Path(__file__).name
    assert not wrong, f"{here}: examine(seed) for {wrong}"


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print(given, examine(int(given)))


def arms(seed, length, mass):
    """Arms in a row on springs, in a unit of length and one of mass."""
    rng = np.random.default_rng(seed)
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81 * length))
    before, at = m.ground, np.zeros(2)
    for k in range(3):
        size, turn = rng.uniform(0.5, 1.5), rng.uniform(-1.0, 1.0)
        way = size * np.array([np.cos(turn), np.sin(turn)])
        inertia = zw.inertia.rod(mass * rng.uniform(0.5, 3.0), length * size)
        arm = m.body(f"arm{k}", inertia=inertia, position=length * (at + way / 2), angle=-turn)
        m.revolute(f"pin{k}", before, arm, at=length * at)
        end = arm.marker((0.3 * length * size, 0.0))
        m.spring_damper(
            f"spring{k}",
            m.ground,
            arm,
            at=((2 * k * length, length), end),
            stiffness=mass * rng.uniform(5.0, 60.0),
            length=0.5 * length,
        )
        before, at = arm, at + way
    return m


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("units", [(1e-3, 1e-3), (1e-4, 1e-6), (1e-6, 1e-9), (1e5, 1e10)])
def test_what_is_rest_does_not_depend_on_units(seed, units):
    """Arms of a tenth of a millimeter were linearized a radian off their rest, and searches of
    micrometers ended at a thousandth."""
    rest = arms(seed, 1.0, 1.0).equilibrium()
    own = arms(seed, *units)
    with pytest.raises(zw.InputError, match="must be an equilibrium"):
        own.linearize(own.assemble())
    found = own.equilibrium()
    turns = [name.endswith((".cos", ".sin")) for name in own.system.coordinates]
    assert np.allclose(found.q[turns], rest.q[turns], rtol=0.0, atol=1e-9)
    frequencies = [np.sort(np.abs(x.linearization.eigenvalues)) for x in (found, rest)]
    assert np.allclose(*frequencies, rtol=1e-8)


@pytest.mark.parametrize("left", [1e-17, 2e-13, 1e-9])
def test_what_a_search_leaves_of_zero_is_no_size(left):
    """Coordinates that are zero at rest: no force and no place there is a measure of others."""
    system = zw.System(
        ["x", "y"], mass=np.eye(2), force=lambda q: [-3.0 * q[0], 0.5 * q[0] - 2.0 * q[1]]
    )
    found = system.linearize(zw.State(np.array([left, 0.0]), np.zeros(2), 0.0))
    assert np.allclose(np.sort(np.abs(found.eigenvalues)) ** 2, [2.0, 2.0, 3.0, 3.0])

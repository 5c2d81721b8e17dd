"""Stability of one bead at rest on wires and surfaces: any units, any axes, to any order."""

import numpy as np
import pytest

import zwang as zw

GRAVITY = 9.81

#: Surface or wire, by (x, y, z) in its own axes with z upward, in its own length, and the place of
#: the bead on it → its stability.
SHAPES = {
    "straight wire": (lambda x, y, z: [z, y], (0.3, 0, 0), "marginal"),
    "table": (lambda x, y, z: z, (0.3, 0.2, 0), "marginal"),
    "straight valley": (lambda x, y, z: z - x**2, (0, 0.2, 0), "marginal"),
    "ring": (lambda x, y, z: [x**2 + y**2 - 1, z], (np.cos(0.3), np.sin(0.3), 0), "marginal"),
    "equator": (
        lambda x, y, z: [x**2 + y**2 + z**2 - 1, z],
        (np.cos(0.3), np.sin(0.3), 0),
        "marginal",
    ),
    "groove": (
        lambda x, y, z: ((x**2 + y**2) ** 0.5 - 1) ** 2 + z**2 - 0.09,
        (np.cos(0.4), np.sin(0.4), -0.3),
        "marginal",
    ),
    "bowl": (lambda x, y, z: z - x**2 - 3 * y**2, (0, 0, 0), "stable"),
    "shallow bowl": (lambda x, y, z: z - 1e-6 * (x**2 + y**2), (0, 0, 0), "stable"),
    "top": (lambda x, y, z: x**2 + y**2 + z**2 - 1, (0, 0, 1), "unstable"),
    "saddle": (lambda x, y, z: z - x**2 + y**2, (0, 0, 0), "unstable"),
    "wire of fourth order": (lambda x, y, z: [z - x**4, y], (0, 0, 0), "stable"),
    "hill of fourth order": (lambda x, y, z: [z + x**4, y], (0, 0, 0), "unstable"),
    "wire of third order": (lambda x, y, z: [z - x**3, y], (0, 0, 0), "unstable"),
    "bowl of fourth order along one axis": (lambda x, y, z: z - x**2 - y**4, (0, 0, 0), "stable"),
    "valley that bends down": (
        lambda x, y, z: z - x**2 + 3 * x * y**2 - y**4,
        (0, 0, 0),
        "unstable",
    ),
    "valley that bends": (lambda x, y, z: z - (x - y**2) ** 2, (0, 0, 0), "marginal"),
    "bowl of fourth order": (lambda x, y, z: z - x**4 - y**4, (0, 0, 0), "undecided"),
    "monkey saddle": (lambda x, y, z: z - x**3 + 3 * x * y**2, (0, 0, 0), "unstable"),
}


def bead(shape, at, length: float = 1.0, mass: float = 1.0, axes=None):
    """Rest of a bead on a shape of some size that stands obliquely in its coordinates."""
    R = np.eye(3) if axes is None else axes

    def own(q):
        return [sum(R[i, k] * q[k] for k in range(3)) / length for i in range(3)]

    system = zw.System(
        ["x", "y", "z"],
        mass=mass * np.eye(3),
        potential=lambda q: mass * GRAVITY * length * own(q)[2],
        constraints={"shape": zw.position(lambda q: shape(*own(q)))},
    )
    return system.equilibrium(start=length * R.T @ np.array(at, dtype=float))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (1e-3, 1e-6), (1e3, 1e3)])
def test_a_bead_rests_as_its_wire_or_surface_makes_it(name, length, mass):
    shape, at, stability = SHAPES[name]
    rest = bead(shape, at, length, mass)
    assert rest.stability == stability
    assert bool(rest.families) == (
        stability in {"marginal", "undecided"} or name == "monkey saddle"
    )


@pytest.mark.parametrize("name", SHAPES)
def test_rounding_of_oblique_axes_decides_nothing(name):
    """A ring carries nothing of a weight that its plane carries, but for rounding."""
    shape, at, stability = SHAPES[name]
    rng = np.random.default_rng(7)
    for _ in range(8):
        axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        assert bead(shape, at, axes=axes).stability == stability


def test_a_stop_farther_on_is_no_term_of_higher_order():
    """A bead on a wire with springs that it meets at both ends rests anywhere between."""
    wire = zw.System(
        ["x"],
        mass=np.eye(1),
        potential=lambda q: 50.0 * np.maximum(np.fabs(q[0]) - 0.1, 0.0) ** 2,
    )
    rest = wire.equilibrium(start=[0.0])
    assert (rest.stability, len(rest.families)) == ("marginal", 1)


def test_what_decides_is_told():
    wire = zw.System(["x"], mass=np.eye(1), potential=lambda q: q[0] ** 4)
    rest = wire.equilibrium(start=[0.0])
    assert rest.stability == "stable"
    assert "No force of first order resists this: x moves" in " ".join(rest.notes)
    assert "the forces of order 3 decide" in " ".join(rest.notes)

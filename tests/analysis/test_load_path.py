"""Load stepping: snap-through and buckling loads against closed forms."""

import numpy as np
import pytest

import zwang as zw


def arch(stiffness=100.0, base=0.9):
    """Two springs of free length 1 that meet at a node on a vertical guide."""
    height = float(np.sqrt(1.0 - base**2))
    m = zw.Mechanism(plane="xy", gravity=(0, 0, 0), parameters={"P": 0.0})
    node = m.body("node", mass=1.0, inertia=0.01, position=(0.0, height))
    for name, x in (("left", -base), ("right", base)):
        at = ((x, 0.0), (0.0, height))
        m.spring_damper(name, m.ground, node, at=at, stiffness=stiffness)
    m.prismatic("guide", m.ground, node, at=(0.0, 0.0), axis="y")
    m.force("load", node, lambda p: (0.0, -p.P))
    return m


def test_snap_through_load_of_an_arch_of_two_bars():
    """P = 2 k L (1 − (b/L)^(2/3))^(3/2), where cos³ of the slope is b/L (von Mises 1923)."""
    path = arch().load_path("P", np.linspace(0.0, 6.0, 7))
    expected = 2.0 * 100.0 * (1.0 - 0.9 ** (2.0 / 3.0)) ** 1.5
    up, down = path.turning_points
    assert up.value == pytest.approx(expected, rel=1e-11)
    assert down.value == pytest.approx(-expected, rel=1e-11)
    assert up.motion == "node moves along y"
    # Stable before, unstable between the turning points, stable after them.
    order = [s for k, s in enumerate(path.stability) if not k or s != path.stability[k - 1]]
    assert order == ["stable", "unstable", "stable"]
    heights = [e["node.y"] for e in path.equilibria]
    assert heights[3] > 0.0 > heights[4]
    assert not path.notes


def test_rigid_column_on_a_spring_buckles_at_its_closed_form():
    """P = c/L for a rigid column of length L on a torsion spring c."""
    m = zw.Mechanism(plane="xy", gravity=(0, 0, 0), parameters={"P": 0.0})
    column = m.body("column", mass=1.0, inertia=0.1, position=(0.0, 0.5))
    m.revolute("foot", m.ground, column, at=(0.0, 0.0))
    m.torsion_spring("spring", m.ground, column, stiffness=7.0)
    m.force("load", column, lambda p: (0.0, -p.P), at=(0.0, 0.5))
    path = m.load_path("P", [0.0, 10.0])
    (point,) = path.buckling
    assert point.value == pytest.approx(7.0, rel=1e-11)
    assert "turns about z" in point.motion
    assert path.equilibria[-1].stability == "unstable"


def test_two_hinged_column_has_both_buckling_loads():
    """Three rigid bars of length 1, springs c at both inner hinges: P = c and 3c."""
    system = zw.System(
        ["a", "b"],
        mass=np.eye(2),
        parameters={"P": 0.0},
        # Bars from (0, 0) over heights a, b to (3 − shortening, 0), small bends at two hinges.
        potential=lambda q, p: (
            0.5 * 2.0 * (_bend(0, q[0], q[1]) ** 2 + _bend(q[0], q[1], 0) ** 2)
            + p.P * (_run(q[0]) + _run(q[1] - q[0]) + _run(q[1]))
        ),
    )
    path = system.load_path("P", [0.0, 8.0], start=[0.0, 0.0])
    assert [c.value for c in path.buckling] == pytest.approx([2.0, 6.0], rel=1e-10)


def _bend(before, here, after):
    """Angle between two bars over three heights."""
    return np.arcsin(here - before) - np.arcsin(after - here)


def _run(rise):
    """Horizontal length of a bar of length 1."""
    return np.sqrt(1.0 - rise**2)


def test_driver_position_as_the_parameter_moves_the_constraint():
    """A weight that is lowered by a driver onto a spring: the path follows the constraint."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81, 0), parameters={"u": 0.0})
    a = m.body("a", mass=1.0, inertia=0.1, position=(0.0, 0.0))
    b = m.body("b", mass=2.0, inertia=0.1, position=(0.0, -1.0))
    for name, body, y in (("guide", a, 0.0), ("guide2", b, -1.0)):
        m.prismatic(name, m.ground, body, at=(0.0, y), axis="y")
    m.spring_damper("spring", a, b, at=((0.0, 0.0), (0.0, -1.0)), stiffness=50.0, length=1.0)
    m.drive("lift", "guide.displacement", lambda p: p.u)
    path = m.load_path("u", np.linspace(0.0, 1.0, 5))
    for value, rest in zip(np.linspace(0.0, 1.0, 5), path.equilibria, strict=True):
        assert rest["a.y"] == pytest.approx(value, abs=1e-12)
        assert rest["b.y"] == pytest.approx(value - 1.0 - 2.0 * 9.81 / 50.0, abs=1e-11)


def test_path_that_ends_says_so():
    path = arch().load_path("P", [0.0, 6.0], limit=5)
    assert path.notes == ("The path has more than 5 points.",)
    assert path.equilibria[-1] is None
    assert "turning" not in str(path) or path.turning_points


@pytest.mark.parametrize(
    ("parameter", "values", "words"),
    [
        ("P", [1.0], "at least two"),
        ("P", [0.0, 2.0, 1.0], "up and down"),
        ("P", ["a", "b"], "at least two finite"),
        ("Q", [0.0, 1.0], "parameter"),
        ("gravity", [0.0, 1.0], "3 numbers"),
        (3, [0.0, 1.0], "name of a parameter"),
    ],
)
def test_bad_paths_are_refused(parameter, values, words):
    with pytest.raises(zw.ZwangError, match=words):
        arch().load_path(parameter, values)

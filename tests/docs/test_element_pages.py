"""The pages on joints and forces name every kind, draw it, and count its equations right."""

import re
import runpy
from pathlib import Path

import pytest

import zwang as zw
from zwang.multibody.joints import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
JOINTS = (DOCS / "how-to" / "joints.md").read_text(encoding="utf-8")

#: What a kind needs besides an axis, for one body of radius 0.1 on the ground.
NEEDS = {
    "screw": {"pitch": 0.1},
    "universal": {"axis_b": "x"},
    "constant_velocity": {"axis_b": "x"},
    "gear": {"radius_a": 0.1, "radius_b": 0.2},
    "rack_and_pinion": {"radius": 0.1, "axis_b": "x"},
    "spherical_link": {"at": ((0, 0, 0), (0, 0, 1)), "length": 1.0},
    "revolute_spherical_link": {"at": ((0, 0, 0), (1, 0, 0)), "length": 1.0},
    "rolling_sphere": {"at": ((0, 0, 0), (0, 0, 0.1)), "radius": 0.1},
    "rolling_disk": {"at": ((0, 0, 0), (0, 0, 0.1)), "radius": 0.1, "axis_b": "y"},
}
NORMAL_IN_PLANE = {"revolute", "gear", "knife_edge"}
#: A joint that is no kind, since it has a coordinate of its own.
ON_CURVE = "point_on_curve"


def table():
    """Kind → cells of its row in the table of the page."""
    rows = re.findall(r"^\| \[(\w+)\]\(#\1\) \|(.*)\|$", JOINTS, re.MULTILINE)
    return {kind: [cell.strip() for cell in cells.split("|")] for kind, cells in rows}


def counts(kind, plane):
    """Equations of positions and of rates, as the system has them."""
    m = zw.Mechanism(plane=plane)
    body = m.body("body", inertia=zw.inertia.sphere(1.0, 0.1))
    axis = "y" if plane and kind in NORMAL_IN_PLANE else "z"
    m.joint(kind, "joint", m.ground, body, **{"axis": axis, **NEEDS.get(kind, {})})
    at = m.system.row_levels()
    return at.count("position"), at.count("velocity")


def written(cell):
    """(positions, rates) of a cell such as ``1 + 2 rates``."""
    rates = re.search(r"(\d+) rate", cell)
    positions = re.match(r"(\d+)(?! rate)", cell)
    return int(positions[1]) if positions else 0, int(rates[1]) if rates else 0


def test_every_kind_has_a_section_a_drawing_and_a_row():
    for kind in (*KINDS, ON_CURVE):
        assert f"\n## {kind}\n\n![{kind}](../images/elements/{kind}.svg)" in JOINTS
        assert (DOCS / "images" / "elements" / f"{kind}.svg").is_file()
    assert set(table()) == {*KINDS, ON_CURVE}


def test_every_drawing_is_on_a_page():
    figures = runpy.run_path(str(DOCS / "figures" / "elements.py"))
    forces = (DOCS / "how-to" / "forces.md").read_text(encoding="utf-8")
    for element in figures["FORCES"]:
        assert f"../images/elements/{element.__name__}.svg" in forces
    assert {element.__name__ for element in figures["JOINTS"]} == {*KINDS, ON_CURVE}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_equations_and_coordinates_are_counted_right(kind):
    space, freedoms, plane, coordinates = table()[kind]
    assert written(space) == counts(kind, None)
    if plane:
        assert written(plane) == counts(kind, "xz")
    assert re.findall(r"`(\w+)`", coordinates) == list(KINDS[kind].coordinates)
    assert int(re.findall(r"\d+", freedoms)[-1]) == 6 - sum(counts(kind, None))

"""Solids are closed, face outwards, and have the volume of the shape they stand for."""

import numpy as np
import pytest

from zwang.multibody import inertia
from zwang.view.meshes import AROUND, Mesh, ball, block, of_shape, rod, shaft

#: A polygon of AROUND corners has less area than its circle: sin(2π/n)/(2π/n) of it.
ROUND = np.sin(2.0 * np.pi / AROUND) / (2.0 * np.pi / AROUND)


def volume(mesh):
    """Sum over triangles of a·(b × c)/6: positive if all faces look outwards (Gauss)."""
    a, b, c = np.swapaxes(mesh.vertices[mesh.triangles], 0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [
        (block(1.0, 2.0, 3.0), 6.0),
        (block(0.1, 0.1, 5.0), 0.05),
        (shaft(0.5, 2.0), ROUND * np.pi * 0.25 * 2.0),
        (shaft(0.5, 2.0, 0.4), ROUND * np.pi * (0.25 - 0.16) * 2.0),
        (rod(np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 7.0]), 0.1), ROUND * np.pi * 0.01 * 5),
    ],
)
def test_faces_enclose_the_volume_and_look_outwards(mesh, expected):
    assert volume(mesh) == pytest.approx(expected, rel=1e-12)


def test_every_edge_is_shared_by_two_faces_in_opposite_sense():
    mesh = shaft(0.5, 2.0, 0.4)
    keys = {tuple(np.round(p, 9)): k for k, p in enumerate(mesh.vertices)}
    number = [keys[tuple(np.round(p, 9))] for p in mesh.vertices]
    edges = [
        (number[a], number[b]) for f in mesh.faces for a, b in zip(f, (*f[1:], f[0]), strict=True)
    ]
    assert len(edges) == len(set(edges))
    assert all((b, a) in set(edges) for a, b in edges)


def test_a_ball_is_nearly_round():
    radii = np.linalg.norm(ball(2.0).vertices, axis=1)
    assert np.allclose(radii, 2.0)
    assert 0.9 < volume(ball(2.0)) / (4.0 / 3.0 * np.pi * 8.0) < 1.0


@pytest.mark.parametrize(
    ("made", "volume_of"),
    [
        (inertia.box(1.0, (1.0, 2.0, 3.0)), 6.0),
        (inertia.cylinder(1.0, 0.5, 2.0, "x"), ROUND * np.pi * 0.5),
        (inertia.tube(1.0, 0.4, 0.5, 2.0, "y"), ROUND * np.pi * 0.18),
        (inertia.rod(1.0, 4.0, "y"), ROUND * np.pi * 0.01 * 4.0),
        (inertia.plate(1.0, (2.0, 3.0), "z"), 2.0 * 3.0 * 0.05),
    ],
)
def test_shapes_of_bodies_lie_where_their_inertia_has_them(made, volume_of):
    (shape,) = made.at((1.0, 2.0, 3.0)).shapes
    mesh = of_shape(shape, 0.1)
    assert volume(mesh) == pytest.approx(volume_of, rel=1e-9)
    middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
    assert np.allclose(middle, (1.0, 2.0, 3.0))


def test_triangles_are_sorted_by_their_colors_for_pictures_in_one():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    painted = Mesh(points, ((0, 1, 2), (0, 1, 3), (0, 2, 3)), ("#ff0000", "#00ff00", "#ff0000"))
    found = {color: triangles.tolist() for color, triangles in painted.by_color("#888888")}
    assert found == {"#00ff00": [[0, 1, 3]], "#ff0000": [[0, 1, 2], [0, 2, 3]]}
    ((color, triangles),) = Mesh(points, ((0, 1, 2),)).by_color("#888888")
    assert color == "#888888"
    assert len(triangles) == 1

"""Meshes of bodies from STL and OBJ files: the same surface whatever the format, or a sentence."""

import random
import struct

import numpy as np
import pytest

import zwang as zw
from zwang.multibody import mesh as module

#: A tetrahedron with its corner at the origin: outsides are counter-clockwise, volume 2·3·4/6.
CORNERS = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]])
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
VOLUME = 4.0

NO_ENDING = r"must have a name that ends in \.stl or \.obj or \.glb or \.gltf.*no file name ext"


def binary_stl(faces=FACES, header=b"solid by a program that should not say so"):
    content = header.ljust(80, b" ") + struct.pack("<I", len(faces))
    for face in faces:
        content += struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0)
    return content


def text_stl(faces=FACES):
    lines = ["solid part"]
    for face in faces:
        lines += [" facet normal 0 0 0", "  outer loop"]
        lines += ["   vertex " + " ".join(f"{x:.6e}" for x in CORNERS[k]) for k in face]
        lines += ["  endloop", " endfacet"]
    return "\n".join([*lines, "endsolid part", ""]).encode()


def obj(faces=FACES):
    lines = ["# a comment", "mtllib none.mtl", "o part"]
    lines += [f"v {x:g} {y:g} {z:g}" for x, y, z in CORNERS] + ["vn 0 0 1", "vt 0 0"]
    lines += ["f " + " ".join(f"{k + 1}/1/1" for k in face) for face in faces[:2]]
    lines += ["f " + " ".join(f"{k - 4}" for k in face) for face in faces[2:]]
    return "\r\n".join(lines).encode()


FORMATS = {"binary.stl": binary_stl, "text.STL": text_stl, "part.obj": obj}


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def volume(mesh):
    """By Gauss's theorem: the sum over faces of a·(b × c)/6."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    return float(np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_surface(name, tmp_path):
    mesh = zw.mesh(written(tmp_path, name, FORMATS[name]()))
    assert sorted(map(tuple, mesh.vertices)) == sorted(map(tuple, CORNERS))
    assert len(mesh.triangles) == 4
    assert mesh.closed
    assert volume(mesh) == pytest.approx(VOLUME)


@pytest.mark.parametrize("name", FORMATS)
def test_an_inside_out_surface_is_turned(name, tmp_path):
    turned = [face[::-1] for face in FACES]
    assert volume(zw.mesh(written(tmp_path, name, FORMATS[name](turned)))) == pytest.approx(VOLUME)


def test_an_open_surface_is_not_closed(tmp_path):
    assert not zw.mesh(written(tmp_path, "open.stl", binary_stl(FACES[:3]))).closed


def test_units_and_axes(tmp_path):
    """1 mm a unit, turned by 90° about z, then moved."""
    half = np.sqrt(0.5)
    mesh = zw.mesh(
        written(tmp_path, "a.stl", binary_stl()),
        scale=1e-3,
        position=(1, 2, 3),
        orientation=(half, 0, 0, half),
    )
    expected = np.array([[1, 2, 3], [1, 2.002, 3], [0.997, 2, 3], [1, 2, 3.004]])
    order = np.lexsort(mesh.vertices.T)
    assert np.allclose(mesh.vertices[order], expected[np.lexsort(expected.T)], atol=1e-12)


def test_polygons_become_triangles(tmp_path):
    square = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 \\\n3 4\n"
    assert len(zw.mesh(written(tmp_path, "square.obj", square)).triangles) == 2


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.stl", b"", "0 bytes"),
        ("a.stl", b"not a mesh at all", "17 bytes"),
        ("a.stl", binary_stl()[:-20], "4 triangles promised"),
        (
            "a.stl",
            text_stl().replace(b"vertex 2", b"vertex two"),
            r"must have three numbers for each corner.*but a corner is not a number",
        ),
        ("a.stl", text_stl().replace(b"vertex 2", b"verteks 2", 1), "11 corners"),
        ("a.stl", b"solid\nfacet\nendsolid", r"must have triangles.*but has none"),
        (
            "a.stl",
            binary_stl([(0, 0, 1)]),
            r"must have a surface.*but all its triangles have zero area",
        ),
        (
            "a.stl",
            text_stl().replace(b"2.000000e+00", b"nan"),
            r"must have finite corners.*but a corner is infinite or not a number",
        ),
        (
            "a.obj",
            b"v 0 0 0\nf 1 2 3\n",
            r"must have f and numbers of corners, 1 to 1 in.*but has 'f 1 2 3'",
        ),
        ("a.obj", b"v 0 0\n", r"must have v and three numbers in line 1.*but has 'v 0 0'"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", r"must have triangles.*but has none"),
        (
            "a.obj",
            b"v 0 0 x\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            r"must have three numbers for each corner.*but a corner is not a number",
        ),
        ("a.step", b"", "ends in '.step'"),
        (
            "a",
            b"",
            NO_ENDING,
        ),
    ],
)
def test_what_is_no_mesh_is_told_in_a_sentence(name, content, found, tmp_path):
    with pytest.raises(zw.InputError, match=found) as caught:
        zw.mesh(written(tmp_path, name, content))
    assert caught.value.expected


@pytest.mark.parametrize(
    ("path", "choices", "message"),
    [
        ("missing.stl", {}, "no such file"),
        ("aa.stl", {}, r"Did you mean 'a\.stl'"),
        (
            ".",
            {},
            NO_ENDING,
        ),
        ("folder.stl", {}, "a folder or a device"),
        ("nul\0.stl", {}, "the path of a file"),
        ("x" * 400 + ".stl", {}, "name too long"),
        (7, {}, "the path of a file"),
        ("a.stl", {"scale": 0.0}, "scale of mesh .*a positive number"),
        ("a.stl", {"position": (1, 2)}, "position of mesh .*three"),
        ("a.stl", {"orientation": "up"}, "orientation of mesh"),
    ],
)
def test_wrong_arguments_are_told(path, choices, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.stl").mkdir()
    written(tmp_path, "a.stl", binary_stl())
    with pytest.raises(zw.InputError, match=message):
        zw.mesh(path, **choices)


def test_a_large_file_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_FILE", 100)
    with pytest.raises(zw.InputError, match="at most 0 MB"):
        zw.mesh(written(tmp_path, "a.stl", binary_stl()))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "count", [100, pytest.param(10_000, marks=pytest.mark.campaign)], ids=["some", "many"]
)
def test_damaged_files_are_read_or_refused(name, count, tmp_path):
    rng, whole, refused = random.Random(name), FORMATS[name](), 0
    for _ in range(count):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(content) + 1)
            foreign = rng.choice([b"", b"-1", b"9" * 30, b"nan", b"\n", b"\xff" * 4, b"f 0", b"/"])
            content[at : at + rng.randrange(20)] = foreign
        path = written(tmp_path, name, bytes(content))
        try:
            mesh = zw.mesh(path)
        except zw.InputError:
            refused += 1
        else:
            assert np.isfinite(mesh.vertices).all()
            assert mesh.triangles.max() < len(mesh.points)
    assert refused > 0


def test_a_body_has_its_mesh_and_the_same_equations(tmp_path):
    path = written(tmp_path, "a.stl", binary_stl())

    def made(**look):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, 0, 0), **look)
        m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        return m

    with_mesh = made(mesh=path)
    assert with_mesh.parts.bodies[0].mesh.file == path.resolve()
    assert np.array_equal(with_mesh.solve().acceleration, made().solve().acceleration)
    with pytest.raises(
        zw.InputError,
        match=r"mesh 'b\.stl' of body 'rod' must be a file with a mesh, but there is no such file",
    ):
        made(mesh="b.stl")

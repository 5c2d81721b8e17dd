"""Meshes of glTF, with the places of nodes and the colours of materials, and colours of OBJ."""

import base64
import contextlib
import json

import numpy as np
import pytest

import zwang as zw
from zwang.view.scene import scene_of

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4")
FACES = np.array([0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2], dtype="<u2")  # a tetrahedron, outwards


def document(uri=None):
    """Two tetrahedra: one red and moved, one blue, turned by 90° about z and twice as large."""
    buffer = {"byteLength": CORNERS.nbytes + FACES.nbytes}
    if uri is not None:
        buffer["uri"] = uri
    primitive = {"attributes": {"POSITION": 0}, "indices": 1}
    half = np.sqrt(0.5)
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"mesh": 0, "translation": [10.0, 0.0, 0.0]},
            {"rotation": [0.0, 0.0, half, half], "scale": [2.0, 2.0, 2.0], "children": [2]},
            {"mesh": 1},
        ],
        "meshes": [
            {"primitives": [{**primitive, "material": 0}]},
            {"primitives": [{**primitive, "material": 1}]},
        ],
        "materials": [
            {"pbrMetallicRoughness": {"baseColorFactor": [1.0, 0.0, 0.0, 1.0]}},
            {"pbrMetallicRoughness": {"baseColorFactor": [0.0, 0.0, 0.2140411, 1.0]}},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": CORNERS.nbytes},
            {"buffer": 0, "byteOffset": CORNERS.nbytes, "byteLength": FACES.nbytes},
        ],
        "buffers": [buffer],
    }


def glb():
    text = json.dumps(document()).encode()
    text += b" " * (-len(text) % 4)
    data = CORNERS.tobytes() + FACES.tobytes()
    chunks = b"".join(
        len(chunk).to_bytes(4, "little") + kind + chunk
        for kind, chunk in ((b"JSON", text), (b"BIN\0", data))
    )
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(chunks)).to_bytes(4, "little") + chunks


def gltf():
    data = base64.b64encode(CORNERS.tobytes() + FACES.tobytes()).decode()
    return json.dumps(document(f"data:application/octet-stream;base64,{data}")).encode()


@pytest.mark.parametrize(("name", "content"), [("two.glb", glb()), ("two.gltf", gltf())])
def test_triangles_are_placed_and_colored(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    mesh = zw.mesh(path, scale=0.5)
    assert len(mesh.triangles) == 8
    assert mesh.closed
    assert set(mesh.colors) == {"#ff0000", "#00007f"}  # 0.214 of linear light is half of sRGB
    red = [k for k, color in enumerate(mesh.colors) if color == "#ff0000"]
    corners = mesh.vertices[mesh.triangles[red]].reshape(-1, 3)
    assert corners.min(axis=0) == pytest.approx([5.0, 0.0, 0.0])
    blue = [k for k in range(8) if k not in red]
    corners = mesh.vertices[mesh.triangles[blue]].reshape(-1, 3)
    # x → y, y → −x, twice as large, then the scale of a half.
    assert corners.min(axis=0) == pytest.approx([-1.0, 0.0, 0.0], abs=1e-12)
    assert corners.max(axis=0) == pytest.approx([0.0, 1.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_a_file_cut_short_is_a_sentence(tmp_path, ending):
    whole = glb() if ending == ".glb" else gltf()
    path = tmp_path / f"cut{ending}"
    for length in range(0, len(whole) - 4, 23):
        path.write_bytes(whole[:length])
        with pytest.raises(zw.InputError):
            zw.mesh(path)


def test_broken_documents_are_sentences(tmp_path):
    rng = np.random.default_rng(3)
    plain = json.loads(gltf())

    def places(thing, way=()):
        yield way
        items = thing.items() if isinstance(thing, dict) else enumerate(thing)
        for key, value in items:
            if isinstance(value, dict | list):
                yield from places(value, (*way, key))
            else:
                yield (*way, key)

    every = [way for way in places(plain) if way]
    for way in [every[i] for i in rng.permutation(len(every))[:40]]:
        broken = json.loads(gltf())
        inner = broken
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = rng.choice([-7, 10**6]).item() if rng.random() < 0.5 else None
        path = tmp_path / "broken.gltf"
        path.write_text(json.dumps(broken))
        with contextlib.suppress(zw.ZwangError):  # a sentence; whatever else is a failure
            zw.mesh(path)


def test_data_elsewhere_and_compression_are_refused(tmp_path):
    path = tmp_path / "far.gltf"
    path.write_text(json.dumps(document("far.bin")))
    with pytest.raises(zw.InputError, match=r"points to 'far.bin'.*\.glb"):
        zw.mesh(path)
    packed = document("data:;base64,") | {"extensionsRequired": ["KHR_draco_mesh_compression"]}
    path.write_text(json.dumps(packed))
    with pytest.raises(zw.InputError, match="draco"):
        zw.mesh(path)


def test_materials_of_obj_files_come_along(tmp_path):
    (tmp_path / "part.mtl").write_text("newmtl warm red\nKd 0.8 0.2 0\nnewmtl cool\nKd 0 0 1\n")
    path = tmp_path / "part.obj"
    path.write_text(
        "mtllib part.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
        "f 1 3 2\nusemtl warm red\nf 1 2 4\nf 2 3 4\nusemtl cool\nf 1 4 3\n"
    )
    mesh = zw.mesh(path)
    assert mesh.colors == ("#b4bac0", "#cc3300", "#cc3300", "#0000ff")
    # The content alone has them, as a stored run keeps it.
    alone = tmp_path / "elsewhere"
    alone.mkdir()
    (alone / "part.obj").write_bytes(mesh.content)
    assert zw.mesh(alone / "part.obj").colors == mesh.colors
    # And they reach the picture.
    m = zw.Mechanism()
    m.body("part", inertia=zw.inertia.box(1.0, (1.0, 1.0, 1.0)), mesh=mesh, free=True)
    scene = scene_of(m.simulate(m.assemble(), until=0.1), frames=1, forces=False)
    assert scene.solids[0].painted.triangle_colors == list(mesh.colors)

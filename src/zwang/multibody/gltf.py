"""Meshes of glTF 2.0, as text with embedded data (``.gltf``) or binary (``.glb``).

What is read: triangles of all nodes of the scene, placed as the nodes say, and the base colour of
their materials. Textures, animation and skins are for other programs.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.terms import FloatArray

__all__ = ["read_glb", "read_gltf"]

#: Kinds of chunks of a binary file.
JSON_CHUNK, DATA_CHUNK = 0x4E4F534A, 0x004E4942
#: componentType of an accessor → its numbers; type → how many there are.
NUMBERS = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3}
#: Drawing mode of triangles, three corners each.
TRIANGLES = 4
#: Nodes within nodes, at most: more are a circle.
DEEPEST = 100

MeshData = tuple[FloatArray, np.ndarray, list[str] | None]


def read_gltf(what: str, content: bytes) -> MeshData:
    """Corners, triangles and colours of a file as text."""
    return _Reader(what, content, b"").mesh()


def read_glb(what: str, content: bytes) -> MeshData:
    """The same of a binary file: a header of twelve bytes, then chunks."""
    if content[:4] != b"glTF" or int.from_bytes(content[4:8], "little") != 2:
        raise InputError(what, expected="a binary glTF file of version 2", found="another file")
    text, data, at = b"", b"", 12
    while at + 8 <= len(content):
        length, kind = (int.from_bytes(content[at + k : at + k + 4], "little") for k in (0, 4))
        chunk = content[at + 8 : at + 8 + length]
        if len(chunk) < length:
            raise InputError(what, expected="a complete file", found="one that ends too early")
        text = chunk if kind == JSON_CHUNK else text
        data = chunk if kind == DATA_CHUNK and not data else data
        at += 8 + length
    return _Reader(what, text, data).mesh()


class _Reader:
    """A file that is being read."""

    def __init__(self, what: str, text: bytes, data: bytes) -> None:
        self.what, self.data = what, data
        try:
            given = json.loads(text.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict) or "asset" not in given:
            raise InputError(what, expected="a glTF file", found="something else")
        self.file: dict[str, Any] = given
        required = self.file.get("extensionsRequired") or []
        if required:
            raise InputError(
                what,
                must="need no extensions of glTF",
                but=f"needs {', '.join(map(str, required))}",
                advice="Export it without compression.",
            )

    def mesh(self) -> MeshData:
        """All triangles of the scene."""
        points: list[FloatArray] = [np.zeros((0, 3))]
        triangles: list[np.ndarray] = [np.zeros((0, 3), dtype=np.int64)]
        colors: list[str] = []
        count = 0
        try:
            for part, place in self._parts():
                corners, faces = self._triangles(part)
                with np.errstate(all="ignore"):  # corners that are not finite are refused later
                    points.append(corners @ place[:3, :3].T + place[:3, 3])
                    turned = np.linalg.det(place[:3, :3]) < 0.0  # a mirror turns insides out
                triangles.append(count + (faces[:, ::-1] if turned else faces))
                colors += [self._color(part)] * len(faces)
                count += len(corners)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                self.what, expected="a complete glTF file", found=f"one that lacks {error}"
            ) from None
        plain = set(colors) <= {"#ffffff"}  # the material of files without materials
        return np.concatenate(points), np.concatenate(triangles), None if plain else colors

    def _parts(self) -> Iterator[tuple[dict[str, Any], FloatArray]]:
        """Primitives with the matrices that place them."""
        scenes = self.file.get("scenes")
        if scenes:
            roots = scenes[self.file.get("scene", 0)].get("nodes", [])
        else:
            roots = range(len(self.file.get("nodes", [])))
        stack = [(i, np.eye(4), 0) for i in roots]
        while stack:
            i, outer, depth = stack.pop()
            if depth > DEEPEST:
                raise InputError(self.what, must="have nodes in a tree", but="they form a circle")
            node = self.file["nodes"][i]
            place = outer @ _matrix(node)
            if "mesh" in node:
                for part in self.file["meshes"][node["mesh"]]["primitives"]:
                    if part.get("mode", TRIANGLES) == TRIANGLES:
                        yield part, place
            stack += [(child, place, depth + 1) for child in node.get("children", [])]

    def _triangles(self, part: dict[str, Any]) -> tuple[FloatArray, np.ndarray]:
        corners = self._numbers(part["attributes"]["POSITION"]).astype(float)
        if "indices" not in part:
            return corners, np.arange(len(corners) // 3 * 3).reshape(-1, 3)
        faces = self._numbers(part["indices"]).astype(np.int64).reshape(-1, 3)
        if faces.size and faces.max() >= len(corners):
            raise IndexError("corners that its triangles name")
        return corners, faces

    def _numbers(self, accessor: int) -> np.ndarray:
        """An array of the file."""
        about = self.file["accessors"][accessor]
        kind, width = np.dtype(NUMBERS[about["componentType"]]), WIDTHS[about["type"]]
        view = self.file["bufferViews"][about["bufferView"]]
        data = self._buffer(view.get("buffer", 0))
        start = view.get("byteOffset", 0) + about.get("byteOffset", 0)
        count, size = int(about["count"]), width * kind.itemsize
        stride = view.get("byteStride") or size
        if start + stride * (count - 1) + size > len(data):
            raise IndexError("the end of its data")
        shape, strides = (count, width), (stride, kind.itemsize)
        array = np.ndarray(shape, kind, data, start, strides)
        return array if width > 1 else array[:, 0]

    def _buffer(self, number: int) -> bytes:
        uri = self.file["buffers"][number].get("uri")
        if uri is None:
            return self.data
        head, _, text = uri.partition(",")
        if not head.startswith("data:") or not head.endswith("base64"):
            raise InputError(
                self.what,
                must="hold its data itself",
                but=f"points to {uri!r}",
                advice="Export it as .glb, or as .gltf with embedded data.",
            )
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error:
            raise ValueError("readable data") from None

    def _color(self, part: dict[str, Any]) -> str:
        """Base colour of a material, which glTF gives as linear light."""
        if "material" not in part:
            return "#ffffff"
        surface = self.file["materials"][part["material"]].get("pbrMetallicRoughness", {})
        factor = np.array(surface.get("baseColorFactor", [1.0, 1.0, 1.0, 1.0])[:3], dtype=float)
        linear = np.clip(factor, 0.0, 1.0)
        shown = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
        return "#" + "".join(f"{round(255.0 * x):02x}" for x in shown)


def _matrix(node: dict[str, Any]) -> FloatArray:
    """Place of a node in the one above it: a matrix, or translation, rotation and scale."""
    if "matrix" in node:
        return np.array(node["matrix"], dtype=float).reshape(4, 4).T
    x, y, z, w = np.array(node.get("rotation", [0.0, 0.0, 0.0, 1.0]), dtype=float)
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    place = np.eye(4)
    place[:3, :3] = R * np.array(node.get("scale", [1.0, 1.0, 1.0]), dtype=float)
    place[:3, 3] = node.get("translation", [0.0, 0.0, 0.0])
    return place

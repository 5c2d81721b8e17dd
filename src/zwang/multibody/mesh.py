"""The surface of a body from a file: STL, binary or as text, OBJ, and glTF.

STL and OBJ know no units: `scale` is what one unit of the file is in metres. A mesh is for
pictures alone; mass and inertia are given by numbers or by the shapes of `zwang.inertia`.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arguments.keywords import known_keywords
from zwang.arguments.values import path_of, positive, vector
from zwang.errors import InputError, shown
from zwang.multibody.gltf import MeshData, read_glb, read_gltf
from zwang.multibody.inertia import rotation
from zwang.terms import FloatArray

__all__ = ["MeshFile", "mesh"]

#: Larger files are no parts of a mechanism: this is a million triangles of binary STL.
LARGEST_FILE = 50_000_000
#: Bytes of a binary STL file before its triangles, and of each: normal, three corners, a number.
HEADER, RECORD = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])

#: Colour of faces without a material, in a file where others have one.
GRAY = "#b4bac0"

_CORNER = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")


@dataclass(frozen=True)
class MeshFile:
    """A mesh of triangles, fixed to a body.

    Attributes
    ----------
    file : where it was read from, an absolute path.
    scale : length of one unit of the file [m].
    position, rotation : of the file's origin and axes in the body.
    points : corners in the units and axes of the file, each once, shape (n, 3).
    triangles : numbers of corners, counter-clockwise from outside, shape (m, 3).
    content : the bytes of the file, which go along with a stored run.
    colors : of the triangles, as ``#rrggbb``; None where the file has none.
    """

    file: Path
    scale: float
    position: FloatArray
    rotation: FloatArray
    points: FloatArray
    triangles: np.ndarray
    content: bytes
    colors: tuple[str, ...] | None = None

    @cached_property
    def vertices(self) -> FloatArray:
        """Corners in the body's frame [m]."""
        return self.position + self.scale * self.points @ self.rotation.T

    @property
    def closed(self) -> bool:
        """Whether each edge has a triangle on either side, so that there is an inside."""
        ends = np.concatenate([self.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
        count = len(self.points)
        there, back = (ends[:, k] * count + ends[:, 1 - k] for k in (0, 1))
        return np.array_equal(np.sort(there), np.sort(back))

    def __repr__(self) -> str:
        return f"<MeshFile {self.file.name}: {len(self.triangles)} triangles>"


@known_keywords()
def mesh(
    file: str | os.PathLike[str],
    *,
    scale: float = 1.0,
    position: Any = (0.0, 0.0, 0.0),
    orientation: Any = None,
) -> MeshFile:
    """The drawn surface of a body from a file, for ``m.body(…, mesh=…)``.

    Parameters
    ----------
    file : ``.stl`` (binary or text), ``.obj``, ``.glb`` or ``.gltf`` with embedded data. Colours
        are those of materials: of glTF, and of an ``.mtl`` file that an OBJ file names beside it.
    scale : length of one unit of the file [m]: 0.001 where it is in millimetres.
    position : of the file's origin in the body's frame [m].
    orientation : rotation from the file's axes to the body's, a quaternion (w, x, y, z) or a
        matrix.

    Raises
    ------
    InputError
        There is no such file, or it holds no mesh.
    """
    if not isinstance(file, str | os.PathLike):
        raise InputError("mesh", found=shown(file), expected="the path of a file, or zw.mesh(…)")
    path = path_of(file, "mesh")
    what = f"mesh {str(path)!r}"
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            what,
            must=f"have a name that ends in {' or '.join(READERS)}",
            but=f"ends in {path.suffix!r}" if path.suffix else "has no file name extension",
            advice="Programs for CAD and meshes export these.",
        )
    try:
        size, where = positive("scale", scale), vector("position", position)
        R = np.eye(3) if orientation is None else rotation(orientation)
    except InputError as error:
        raise error.about(what) from None
    content = _content(what, path)
    if path.suffix.lower() == ".obj":
        content += _material_lines(path, content)
    points, triangles, colors = _sound(what, *reader(what, content))
    return MeshFile(path.resolve(), size, where, R, points, triangles, content, colors)


def _content(what: str, path: Path) -> bytes:
    """The bytes of a file that is one: no pipe, which might never end."""
    try:
        if not path.is_file():
            is_not = "is a folder or a device" if path.exists() else "there is no such file"
            raise InputError(what, must="be a file with a mesh", but=is_not, advice=_near(path))
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise InputError(
                what,
                expected=f"a file of at most {LARGEST_FILE / 1e6:.0f} MB",
                found=f"of {size / 1e6:.0f} MB",
                advice="Export it with fewer triangles.",
            )
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(what, but=f"cannot be read: {reason}") from None


def _near(path: Path) -> str | None:
    """Which mesh of the folder may be meant."""
    names = [p.name for p in path.parent.glob("*") if p.suffix.lower() in READERS]
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"Did you mean {near[0]!r}?" if near else None


def _sound(
    what: str, points: FloatArray, triangles: np.ndarray, colors: Sequence[str] | None
) -> tuple[FloatArray, np.ndarray, tuple[str, ...] | None]:
    """Each corner once, no triangle without area, outsides outwards."""
    if not len(triangles):
        raise InputError(what, must="have triangles", but="has none")
    if not np.isfinite(points).all():
        raise InputError(
            what, must="have finite corners", but="a corner is infinite or not a number"
        )
    rows = np.ascontiguousarray(points + 0.0)  # −0 is 0
    _, first, number = np.unique(
        rows.view(np.dtype((np.void, rows.itemsize * 3))), return_index=True, return_inverse=True
    )
    points, triangles = rows[first], number.reshape(-1)[triangles]
    a, b, c = triangles.T
    whole = np.flatnonzero((a != b) & (b != c) & (c != a))
    triangles = triangles[whole]
    if not len(triangles):
        raise InputError(what, must="have a surface", but="all its triangles have zero area")
    corners = (points - points.mean(axis=0))[triangles]
    volume = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    kept = None if colors is None else tuple(colors[i] for i in whole.tolist())
    return points, triangles[:, ::-1] if volume < 0.0 else triangles, kept


# --- STL ------------------------------------------------------------------------------------------


def _stl(what: str, content: bytes) -> MeshData:
    """Corners three by three, binary or as text; binary headers may begin with ``solid`` too."""
    count = int.from_bytes(content[HEADER - 4 : HEADER], "little")
    rest = len(content) - HEADER - count * RECORD.itemsize
    if len(content) >= HEADER and count and (rest == 0 or (rest > 0 and not _is_text(content))):
        records = np.frombuffer(content, RECORD, count, HEADER)
        corners = records["corners"].reshape(-1, 3).astype(float)
    elif _is_text(content):
        corners = _numbers(what, _CORNER.findall(content))
        if len(corners) % 3:
            raise InputError(
                what, must="have three corners for each triangle", but=f"has {len(corners)} corners"
            )
    else:
        promised = f", {count} triangles promised" if len(content) >= HEADER and rest < 0 else ""
        raise InputError(
            what, expected="a complete STL file", found=f"{len(content)} bytes{promised}"
        )
    return corners, np.arange(len(corners)).reshape(-1, 3), None


def _is_text(content: bytes) -> bool:
    return content.lstrip()[:5].lower() == b"solid" and b"facet" in content[:4096]


def _numbers(what: str, rows: Sequence[Sequence[bytes]]) -> FloatArray:
    try:
        return np.array(rows, dtype="S64").astype(float).reshape(-1, 3)
    except ValueError:
        raise InputError(
            what, must="have three numbers for each corner", but="a corner is not a number"
        ) from None


# --- OBJ ------------------------------------------------------------------------------------------


#: Lines that keep the colours of materials with the mesh; to others they are comments.
MATERIAL = b"# zwang material "


def _obj(what: str, content: bytes) -> MeshData:
    """Lines ``v x y z``, ``f a/…/… b c …`` and ``usemtl``; all else is textures and groups."""
    points: list[list[bytes]] = []
    triangles: list[tuple[int, int, int]] = []
    known = _materials(content)
    color, colors = GRAY, []
    for number, line in enumerate(content.replace(b"\\\n", b" ").splitlines(), 1):
        head, *rest = line.split() or (b"",)
        if head == b"v":
            if len(rest) < 3:
                raise _in_line(what, number, line, "v and three numbers")
            points.append(rest[:3])
        elif head == b"usemtl":
            color = known.get(b" ".join(rest), GRAY)
        elif head == b"f":
            try:
                corners = [_corner(word, len(points)) for word in rest]
            except (ValueError, IndexError):
                raise _in_line(
                    what, number, line, f"f and numbers of corners, 1 to {len(points)}"
                ) from None
            fan = [(corners[0], a, b) for a, b in pairwise(corners[1:])]
            triangles += fan
            colors += [color] * len(fan)
    faces = np.array(triangles, dtype=np.int64).reshape(-1, 3)
    return _numbers(what, points), faces, colors if known else None


def _materials(content: bytes) -> dict[bytes, str]:
    """Material → colour, of the lines that were added."""
    lines = [line[len(MATERIAL) :] for line in content.splitlines() if line.startswith(MATERIAL)]
    pairs = [line.partition(b" ") for line in lines]
    return {name: color.decode("ascii", "replace") for color, _, name in pairs}


def _material_lines(path: Path, content: bytes) -> bytes:
    """Colours ``Kd`` of the material files that an OBJ file names, as lines for its end."""
    lines = []
    for line in content.splitlines():
        head, _, rest = line.strip().partition(b" ")
        if head != b"mtllib":
            continue
        try:
            beside = path.parent / Path(rest.strip().decode("utf-8")).name
            text = beside.read_bytes() if beside.stat().st_size < LARGEST_FILE else b""
        except (OSError, ValueError):
            continue  # without it the mesh has the colour of its body
        name = b""
        for given in text.splitlines():
            word, *values = given.split() or (b"",)
            if word == b"newmtl":
                name = b" ".join(values)
            elif word == b"Kd" and len(values) >= 3:
                try:
                    shown = [min(max(float(x), 0.0), 1.0) for x in values[:3]]
                except ValueError:
                    continue
                color = "#" + "".join(f"{round(255.0 * x):02x}" for x in shown)
                lines.append(MATERIAL + color.encode() + b" " + name)
    return b"\n" + b"\n".join(lines) + b"\n" if lines else b""


def _corner(word: bytes, known: int) -> int:
    """Number from 0 of a corner ``7/1/3``; −1 is the last one so far."""
    number = int(word.partition(b"/")[0])
    place = number - 1 if number > 0 else known + number
    if not 0 <= place < known:
        raise IndexError
    return place


def _in_line(what: str, number: int, line: bytes, expected: str) -> InputError:
    text = shown(line.decode("utf-8", "replace").strip())
    return InputError(what, must=f"have {expected} in line {number}", but=f"has {text}")


#: Name ending → what reads such a file.
READERS = {".stl": _stl, ".obj": _obj, ".glb": read_glb, ".gltf": read_gltf}

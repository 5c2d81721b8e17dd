"""Mass and inertia of a body as its table in a model file gives them: shapes, moments, tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.model_files.document import Item, blaming
from zwang.model_files.layout import SHAPES
from zwang.multibody import inertia as shapes
from zwang.multibody.inertia import Inertia, Shape, direction
from zwang.multibody.parameter_expression import deferred
from zwang.rotation.quaternion import from_axis_angle

__all__ = ["inertia_of", "made_of_table", "orientation_of"]

#: Keys of a body that mass and inertia follow from.
KEYS = ("mass", "shape", "inertia", "center", "drawn")


def inertia_of(
    item: Item, given: dict[str, Any], in_space: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """Mass and inertia as `Mechanism.body` takes them.

    Parameters
    ----------
    in_space : three coordinates of two in the plane of a planar mechanism.
    """
    if "shape" in given:
        for key in ("inertia", "center", "drawn"):
            if key in given:
                raise item[key].error(but="both are given", expected=f"'{key}' or 'shape'")
    elif "drawn" in given and isinstance(given.get("inertia"), dict):
        raise item["drawn"].error(but="inertia is given too", expected="a mesh with 'drawn'")
    elif not isinstance(given.get("inertia"), dict) and not {"center", "drawn"} & given.keys():
        return given.get("mass"), given.get("inertia")
    return None, deferred(made_of_table, item, {k: given[k] for k in KEYS if k in given}, in_space)


def made_of_table(item: Item, given: dict[str, Any], in_space: Callable[[Any], Any]) -> Inertia:
    """The inertia of a table with numbers."""
    mass = given.get("mass")
    if "shape" in given:
        return _of_shapes(item["shape"], given["shape"], mass)
    if isinstance(given.get("inertia"), dict):
        return _of_tensor(given, 0.0 if mass is None else mass, in_space)
    drawn = tuple(
        Shape(s["kind"], tuple(s["size"]), np.array(s["center"]), np.array(s["axes"]))
        for s in given.get("drawn", ())
        if s["kind"] != "point"
    )
    points = tuple(np.array(s["center"]) for s in given.get("drawn", ()) if s["kind"] == "point")
    J = np.array(given.get("inertia", np.zeros(3)))
    if J.ndim != 2:
        J = np.diag(np.broadcast_to(J, (3,)))
    center = in_space(given.get("center", (0.0, 0.0, 0.0)))
    return Inertia(0.0 if mass is None else mass, np.array(center), J, drawn, points=points)


def _of_tensor(given: dict[str, Any], mass: float, in_space: Callable[[Any], Any]) -> Inertia:
    """A tensor as a CAD program gives it, about another point or in other axes."""
    table = given["inertia"]
    points = {"center": given.get("center"), "about": table.get("about")}
    places = {k: in_space(v) for k, v in points.items() if v is not None}
    axes = orientation_of(table["axes"]) if "axes" in table else None
    check = table.get("check", True)
    return shapes.tensor(mass, table["tensor"], axes=axes, check=check, **places)


def _of_shapes(item: Item, given: list[dict[str, Any]], mass: float | None) -> Inertia:
    items = list(item) if isinstance(item.value, list) else [item]
    if not items:
        raise item.error("an empty list", "one shape or several")
    parts = []
    for where, part in zip(items, given, strict=True):
        own = part.get("mass", mass if len(given) == 1 else None)
        if own is None:
            raise where.error(
                but="there is none", expected="mass = …, of the body or of each of its shapes"
            )
        with blaming(where):
            parts.append(_shape(where, part, own))
    total = shapes.composite(*parts) if len(parts) > 1 else parts[0]
    if mass is not None and abs(mass - total.mass) > 1e-12 * abs(total.mass):
        raise item.error(f"a mass of {mass:g}, and {total.mass:g} in its shapes", "the same mass")
    return total


def _shape(item: Item, given: dict[str, Any], mass: float) -> Inertia:
    kind = given["type"]
    common = ("type", "mass", "position", "orientation")
    for key in given:
        if key not in common and key not in SHAPES[kind]:
            raise item[key].unknown(key, [*SHAPES[kind], *common], f"a key of a {kind}")
    for key, entry in SHAPES[kind].items():
        if entry.required and key not in given:
            raise item.error(but=f"there is no key '{key}'", expected=f"{key} = …, {entry.help}")
    sizes = {key: given[key] for key in SHAPES[kind] if key in given}
    made = getattr(shapes, kind)(mass, **sizes)
    if "position" in given or "orientation" in given:
        turn = orientation_of(given["orientation"]) if "orientation" in given else None
        made = made.at(given.get("position", (0.0, 0.0, 0.0)), turn)
    return made


def orientation_of(given: Any) -> Any:
    """A quaternion or a matrix, of an axis and an angle too."""
    if isinstance(given, dict):
        return from_axis_angle(direction("axis", given["axis"]), given["angle"])
    return given

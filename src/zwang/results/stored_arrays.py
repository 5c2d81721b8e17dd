"""The Zarr arrays of a stored run: states, forces if they are kept, and the names along them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zwang.results.force_record import QUANTITIES, ForceLayout

__all__ = ["array_names", "create_group", "label_names"]

#: Rows of an array that share a file.
ROWS_PER_FILE = 16_384
#: The same of forces: no more than so many numbers, since a file is written as a whole.
NUMBERS_PER_FILE = 2_097_152

STATES = ("time", "q", "v")


class _ArrayDescription(NamedTuple):
    """An array over time."""

    name: str
    shape: tuple[int, ...]
    dimensions: tuple[str, ...]
    rows_per_file: int
    kind: str
    attributes: dict[str, Any]


def array_names(header: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the arrays over time, according to a header."""
    kept = header.get("forces")
    return STATES if kept is None else (*STATES, *kept["arrays"])


def label_names(header: Mapping[str, Any]) -> dict[str, list[str]]:
    """Dimension → the names along it."""
    model = header["model"]
    names = {"coordinate": model["coordinates"], "velocity": model["velocities"]}
    kept = header.get("forces")
    if kept is not None:
        names |= {k: list(v) for k, v in ForceLayout.of(kept).labels.items()}
    return names


def create_group(path: Path, header: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
    """The Zarr group of a new store: empty arrays over time, and names."""
    import zarr

    group = zarr.create_group(path, attributes=dict(attributes))
    for name, shape, dimensions, rows, kind, described in _arrays(header):
        group.create_array(
            name,
            shape=(0, *shape),
            chunks=(rows, *(max(count, 1) for count in shape)),
            dtype=kind,
            dimension_names=["time", *dimensions],
            attributes=described,
        )
    for kind, names in label_names(header).items():
        count = len(names)
        labels = group.create_array(
            kind, shape=(count,), chunks=(max(count, 1),), dtype=str, dimension_names=[kind]
        )
        labels[:] = np.array(names, dtype=object)
    return group


def _arrays(header: Mapping[str, Any]) -> Iterator[_ArrayDescription]:
    model, plain = header["model"], ("float64", {})
    nq, nv = len(model["coordinates"]), len(model["velocities"])
    time = {"description": "time [s]"}
    yield _ArrayDescription("time", (), (), ROWS_PER_FILE, "float64", time)
    yield _ArrayDescription("q", (nq,), ("coordinate",), ROWS_PER_FILE, *plain)
    yield _ArrayDescription("v", (nv,), ("velocity",), ROWS_PER_FILE, *plain)
    kept = header.get("forces")
    if kept is None:
        return
    layout = ForceLayout.of(kept)
    for name in layout.arrays:
        shape = layout.shape(name, nv)
        most = max(NUMBERS_PER_FILE // max(int(np.prod(shape)), 1), 1)
        described = {"description": QUANTITIES[name][2]}
        if layout.unit(name):
            described["units"] = layout.unit(name)
        kind = "bool" if name == "determinate" else "float64"
        dimensions = QUANTITIES[name][0]
        yield _ArrayDescription(name, shape, dimensions, min(ROWS_PER_FILE, most), kind, described)

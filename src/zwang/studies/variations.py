"""The blocks of a plan that say what varies: grid, list, table, random, sobol, latin_hypercube."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from zwang.model_files.document import Item, read_text
from zwang.model_files.fields import NumberField
from zwang.studies.distributions import DISTRIBUTIONS, Distribution
from zwang.studies.quoted_names import require_quoted
from zwang.studies.samples import MOST_SOBOL, GridSamples, ListedSamples, RandomSamples, SampleBlock
from zwang.terms import FloatArray

__all__ = ["read_samples"]

#: Values along one axis, rows of a list or table, and rows of a Latin hypercube, at most.
MOST_VALUES, MOST_ROWS, MOST_LATIN = 1_000_000, 1_000_000, 10_000_000
MOST_SAMPLES = 10**10
MOST_NAMES = 1000
_CUBES = ("random", "sobol", "latin_hypercube")
_OF_AXIS = ("from", "to", "count", "spacing")


def read_samples(root: Item, folder: Path) -> tuple[SampleBlock, ...]:
    """The blocks in the order in which they stand in the plan."""
    blocks: list[SampleBlock] = []
    known: set[str] = set()
    for item in root:
        if item.name == "grid":
            blocks.append(_grid(item))
        elif item.name == "list":
            blocks.append(_listed(item))
        elif item.name == "table":
            blocks.append(_table(item, folder))
        elif item.name in _CUBES:
            blocks.append(_cube(root, item))
        else:
            continue
        for name in blocks[-1].names:
            if name in known:
                raise item.error(but=f"{name!r} varies twice", expected="each name once")
            known.add(name)
    if len(known) > MOST_NAMES:
        raise root.error(but=f"{len(known)} names vary", expected=f"at most {MOST_NAMES}")
    for key in ("samples", "seed", "correlation"):
        if key in root and not any(cube in root for cube in _CUBES):
            raise root[key].error(
                but="there is none of them", expected="random, sobol or latin_hypercube with it"
            )
    if not blocks:
        raise root.error(
            but="nothing varies",
            expected="grid, list, table, random, sobol or latin_hypercube",
        )
    return tuple(blocks)


def _entries(item: Item) -> list[Item]:
    if not isinstance(item.value, dict) or not item.value:
        raise item.error(expected="a table of names with values")
    return list(item)


def _value(item: Item) -> float | str:
    """A number, one with a unit, or a word such as the name of an integrator."""
    text = item.value
    if isinstance(text, str) and text.replace("_", "").isalnum() and not text[0].isdigit():
        return text
    return NumberField().read(item, {})


def _column(item: Item, most: int) -> np.ndarray:
    """Values of one name: numbers, or words."""
    if not isinstance(item.value, list) or not item.value:
        raise item.error(expected="a list of values")
    if len(item.value) > most:
        raise item.error(but=f"there are {len(item.value)}", expected=f"at most {most} values")
    if all(type(value) in (int, float) for value in item.value):
        column = np.array([float(value) if abs(value) < 1e308 else np.inf for value in item.value])
        if np.isfinite(column).all():
            return column
    values = [_value(entry) for entry in item]
    if len({type(value) for value in values}) > 1:
        raise item.error(expected="numbers, or words, but not both")
    return np.array(values)


def _axis(item: Item) -> np.ndarray:
    """Values along an axis of a grid: listed, or from … to … in so many steps."""
    if not isinstance(item.value, dict):
        return _column(item, MOST_VALUES)
    require_quoted(item, _OF_AXIS)
    for key in item:
        if key.name not in _OF_AXIS:
            raise key.unknown(key.name, _OF_AXIS, "a key of an axis")
    for key in ("from", "to", "count"):
        if key not in item:
            raise item.error(but=f"'{key}' is missing", expected="from, to and count")
    low, high = (NumberField().read(item[key], {}) for key in ("from", "to"))
    count = item["count"].value
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_VALUES:
        raise item["count"].error(expected=f"a whole number from 1 to {MOST_VALUES}")
    spacing = item["spacing"].value if "spacing" in item else "linear"
    if spacing not in ("linear", "log"):
        raise item["spacing"].error(expected="'linear' or 'log'")
    if spacing == "log":
        if not (low > 0.0 and high > 0.0):
            raise item.error(expected="positive numbers for a logarithmic spacing")
        return np.geomspace(low, high, count)
    return np.linspace(low, high, count)


def _grid(item: Item) -> GridSamples:
    entries = _entries(item)
    return GridSamples(tuple(e.name for e in entries), tuple(_axis(e) for e in entries))


def _listed(item: Item) -> ListedSamples:
    entries = _entries(item)
    for entry in entries:
        require_quoted(entry)
    columns = [_column(e, MOST_ROWS) for e in entries]
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        told = ", ".join(f"{len(c)} of {e.name}" for e, c in zip(entries, columns, strict=True))
        raise item.error(but=f"there are {told}", expected="as many values of each name")
    return ListedSamples(tuple(e.name for e in entries), tuple(columns))


def _table(item: Item, folder: Path) -> ListedSamples:
    """A CSV file: names in the first line, numbers or numbers with units below; or its columns."""
    if isinstance(item.value, dict):
        return _listed(item)
    if not isinstance(item.value, str) or not item.value or "\0" in item.value:
        raise item.error(expected="the path of a CSV file")
    path = folder / item.value
    lines = list(csv.reader(io.StringIO(read_text(path))))
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    if len(lines) < 2 or len(lines) > MOST_ROWS + 1:
        raise item.error(
            but=f"'{path}' has {len(lines)} lines",
            expected=f"a line of names and 1 to {MOST_ROWS} lines of values",
        )
    names = tuple(cell.strip() for cell in lines[0])
    if len(set(names)) < len(names) or not all(names):
        raise item.error(but=f"line 1 of '{path}' is {names}", expected="a different name for each")
    for number, line in enumerate(lines, 1):
        if len(line) != len(names):
            raise item.error(
                but=f"line {number} of '{path}' has {len(line)}", expected=f"{len(names)} values"
            )
    columns = []
    for k, name in enumerate(names):
        cells = [line[k].strip() for line in lines[1:]]
        columns.append(_cells(item, path, name, cells))
    return ListedSamples(names, tuple(columns))


def _cells(item: Item, path: Path, name: str, cells: list[str]) -> np.ndarray:
    try:
        column = np.array(cells, dtype=float)
    except ValueError:
        column = np.array([])
    if len(column):
        if not np.isfinite(column).all():
            raise item.error(
                but=f"column {name!r} of '{path}' has others", expected="finite numbers"
            )
        return column
    inner = Item(cells, (*item.key, name), item.document)
    return _column(inner, MOST_ROWS)


# --- distributions --------------------------------------------------------------------------------


def _cube(root: Item, item: Item) -> RandomSamples:
    entries = _entries(item)
    if "samples" not in root:
        raise item.error(but="samples = … is missing", expected="how many rows to draw")
    most = {"latin_hypercube": MOST_LATIN, "sobol": MOST_SOBOL}.get(item.name, MOST_SAMPLES)
    count = root["samples"].value
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most:
        raise root["samples"].error(expected=f"a whole number from 1 to {most}")
    seed = root["seed"].value if "seed" in root else 0
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise root["seed"].error(expected="a whole number from 0 to 2^63 − 1")
    names = tuple(e.name for e in entries)
    distributions = tuple(_distribution(e, item.name) for e in entries)
    factor = _factor(root, names)
    return RandomSamples(names, count, item.name, distributions, seed, factor)


def _distribution(item: Item, method: str) -> Distribution:
    value: Any = item.value
    if isinstance(value, list) and method != "random":
        found = Distribution("uniform", tuple(NumberField().read(e, {}) for e in item))
    else:
        known = (*DISTRIBUTIONS, "choice")
        require_quoted(item, known)
        if not isinstance(value, dict) or len(value) != 1:
            example = "[low, high] or " if method != "random" else ""
            such = "{ uniform = [low, high] } or { normal = [1.0, 0.1] }"
            if isinstance(value, list) and len(value) == 2:
                such = f"{{ uniform = [{value[0]}, {value[1]}] }}"
            raise item.error(expected=f"{example}a distribution, such as {such}")
        (inner,) = item
        if inner.name not in known:
            raise item.unknown(inner.name, known, "a distribution")
        if not isinstance(inner.value, list) or not inner.value:
            raise inner.error(expected="a list of numbers")
        if inner.name == "choice":
            found = Distribution("choice", tuple(_column(inner, MOST_VALUES).tolist()))
        else:
            numbers = tuple(NumberField().read(e, {}) for e in inner)
            found = Distribution(inner.name, numbers)
    problem = found.problem()
    if problem:
        raise item.error(expected=problem)
    return found


def _factor(root: Item, names: tuple[str, ...]) -> FloatArray | None:
    """Factor L of the correlation of normal scores."""
    if "correlation" not in root:
        return None
    item = root["correlation"]
    if not isinstance(item.value, list):
        raise item.error(expected="a list of [name, name, number]")
    C = np.eye(len(names))
    for entry in item:
        if not isinstance(entry.value, list) or len(entry.value) != 3:
            raise entry.error(expected="[name, name, number]")
        places = []
        for k in (0, 1):
            name = entry[k].value
            if name not in names:
                raise entry[k].unknown(str(name), names, "a name that varies")
            places.append(names.index(name))
        number = NumberField("").read(entry[2], {})
        if places[0] == places[1] or not -1.0 < number < 1.0:
            raise entry.error(expected="two names and a number between −1 and 1")
        C[places[0], places[1]] = C[places[1], places[0]] = number
    least = float(np.linalg.eigvalsh(C)[0])
    if least <= 1e-9:
        raise item.error(
            but=f"the least eigenvalue of the matrix is {least:.3g}",
            expected="correlations that can hold together, with a positive definite matrix",
        )
    return np.linalg.cholesky(C)

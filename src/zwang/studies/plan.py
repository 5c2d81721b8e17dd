"""A plan: what varies in a study, what is computed, and what is kept. Data, never executed.

The same keys in a dictionary and in a file ``PLAN.toml``; errors of a file name line and key.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError, ModelError, shown
from zwang.model_files.document import Document, Item, Key, parse, read_text
from zwang.model_files.fields import NumberField
from zwang.studies.outputs import OutputRequest, read_outputs
from zwang.studies.quoted_names import require_quoted
from zwang.studies.samples import SampleBlock, product_rows
from zwang.studies.variations import read_samples

__all__ = ["COMPUTED", "MOST_RUNS", "StudyPlan", "plan_of"]

#: What a study can compute for each row.
COMPUTED = ("run", "equilibrium", "linearization", "kinematics", "inverse_dynamics")
#: More runs than this are refused: at a million a second they take three hours.
MOST_RUNS = 10**10
#: More instants of the common times are refused, and more for reductions.
MOST_TIMES = 100_000
#: Times at which reductions look at a motion, if the plan does not say.
RESOLUTION = 201
#: Deeper dictionaries are no plans.
DEEPEST = 12

KEYS = {
    "model": "path of the model file",
    "description": "text",
    "compute": f"one of {', '.join(COMPUTED)}",
    "grid": "all combinations of values",
    "list": "rows of values",
    "table": "rows of values from a CSV file",
    "random": "values by distributions",
    "sobol": "the same, spread evenly by a Sobol sequence",
    "latin_hypercube": "the same, by Latin hypercube sampling",
    "correlation": "of normal scores: [[name, name, number], …]",
    "samples": "how many rows of random, sobol or latin_hypercube",
    "seed": "of random numbers",
    "parameters": "values for all runs, or expressions of what varies",
    "start": "initial values",
    "until": "end [s]",
    "times": "common times: their number, or a list [s]",
    "resolution": "number of times at which reductions look at a motion",
    "outputs": "what is kept",
    "settings": "arguments of simulate: tolerance, integrator, …",
    "analysis": "arguments of what is computed, besides runs",
    "shard": "runs in one task",
    "refine": "boundary to be followed: of, level, tolerance, most_runs",
}
#: Arguments of `simulate` that a plan may choose, or vary.
SETTINGS = {
    "tolerance": float,
    "integrator": str,
    "drift": str,
    "baumgarte": float,
    "step": float,
    "largest_step": float,
    "spectral_radius": float,
    "formulation": str,
    "on_singular": str,
    "coordinates": str,
}


#: Keys that change nothing of what is computed for a row.
_NOT_KEPT = ("model", "description", "refine")
#: Keys that say what varies.
_BLOCKS = ("grid", "list", "table", "random", "sobol", "latin_hypercube")


class _GivenPlan(Document):
    """A dictionary, which has no lines."""

    def line(self, key: Key) -> int:  # noqa: ARG002 - none has a line
        """None is known."""
        return 0


@dataclass(frozen=True)
class StudyPlan:
    """What varies, what is computed and what is kept.

    Attributes
    ----------
    samples : blocks of values that are combined, the last fastest.
    model : path of the model file, if the plan names one.
    compute : one of `COMPUTED`.
    start : initial values by name: numbers, or expressions of what varies and of parameters.
    parameters : values for all runs: numbers, or expressions of what varies and of parameters.
    until : end [s], where the plan gives it.
    times : common times [s] or how many of them; None where only single values are kept.
    resolution : number of times for reductions; None for as many as a motion needs.
    outputs : what is kept; none for the values of all coordinates and velocities at the end.
    settings, analysis : arguments of `simulate`, or of another thing that is computed.
    shard : runs in one task, if the plan says.
    refine : arguments of `zwang.studies.refine.refine`, if the plan has them.
    values : the plan as it was given, as plain data.
    """

    samples: tuple[SampleBlock, ...]
    model: Path | None
    compute: str
    start: Mapping[str, float | str]
    parameters: Mapping[str, Any]
    until: float | None
    times: int | tuple[float, ...] | None
    resolution: int | None
    outputs: tuple[OutputRequest, ...]
    settings: Mapping[str, Any]
    analysis: Mapping[str, Any]
    shard: int | None
    refine: Mapping[str, Any] | None
    values: Mapping[str, Any] = field(repr=False)
    root: Item = field(repr=False)

    def __len__(self) -> int:
        return self.count

    @property
    def count(self) -> int:
        """How many runs."""
        return math.prod(block.count for block in self.samples)

    @property
    def names(self) -> tuple[str, ...]:
        """What varies."""
        return tuple(name for block in self.samples for name in block.names)

    def rows(self, first: int, last: int) -> dict[str, np.ndarray]:
        """Name → values of the runs first ≤ i < last."""
        return product_rows(self.samples, first, last)

    @property
    def fixed(self) -> dict[str, Any]:
        """Those of `parameters` that are numbers, the same in all runs."""
        return {name: value for name, value in self.parameters.items() if not _has_text(value)}

    @property
    def formulas(self) -> dict[str, Any]:
        """Those of `parameters` that are expressions, or lists with expressions in them."""
        return {name: value for name, value in self.parameters.items() if _has_text(value)}

    def with_parameters(self, parameters: Mapping[str, Any]) -> StudyPlan:
        """The same with these values of parameters for all runs."""
        if dict(parameters) == dict(self.parameters):
            return self
        plain = {
            name: value if _has_text(value) else np.asarray(value).tolist()
            for name, value in parameters.items()
        }
        values = {**self.values, "parameters": plain}
        return replace(self, parameters=plain, values=values)

    @property
    def digest(self) -> str:
        """Equal for plans that say the same."""
        text = json.dumps(self.values, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def plan_of(given: Any, folder: Path | None = None) -> StudyPlan:
    """A plan from a dictionary or a file.

    Parameters
    ----------
    given : a `StudyPlan`, a dictionary, or the path of a TOML file.
    folder : where paths of a dictionary begin; the present folder if not given.

    Raises
    ------
    ModelError
        Something cannot be meant; the message has file, line and key.
    """
    if isinstance(given, StudyPlan):
        return given
    if isinstance(given, str | PathLike):
        path = path_of(given, "plan")
        document = parse(read_text(path), str(path))
        document = Document(document.file, _plain(document.values, path.name), document.lines)
        return _read(document.root, path.parent)
    if not isinstance(given, Mapping):
        raise InputError("plan", expected="a dictionary or the path of a file", found=shown(given))
    return _read(_GivenPlan("plan", _plain(given, "plan"), {}).root, folder or Path())


def _plain(value: Any, what: str, depth: int = DEEPEST) -> Any:
    """Arrays, paths and tuples as plain data."""
    if depth == 0:
        raise InputError(what, must="have a few levels of dictionaries and lists", but="has more")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, PathLike):
        return str(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(what, must="have text for keys", but=f"has {shown(key)}")
        return {key: _plain(inner, f"{what}.{key}", depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, what, depth - 1) for inner in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value
    raise InputError(what, expected="text, numbers, lists and dictionaries", found=shown(value))


def _read(root: Item, folder: Path) -> StudyPlan:
    for item in root:
        if item.name == "events":
            raise item.error(
                but="a plan is plain data and has no events",
                expected="them in the model file, or as zw.study(model, plan, events={…})",
            )
        if item.name not in KEYS:
            raise item.unknown(item.name, KEYS, "a key of a plan")
    compute = _choice(root, "compute", COMPUTED, "run")
    settings = _settings(root)
    samples = read_samples(root, folder)
    count = math.prod(block.count for block in samples)
    if count > MOST_RUNS:
        blamed = root.under(next((k for k in ("grid", "samples") if k in root), "list"))
        raise blamed.error(
            but=f"the plan has {count:.3g} runs", expected=f"at most {MOST_RUNS:.0e} runs"
        )
    times, analysis = _times(root), _analysis(root, folder)
    model = _text(root, "model")
    return StudyPlan(
        samples,
        None if model is None else folder / model,
        compute,
        _start(root),
        _parameters(root),
        _number(root, "until", "s"),
        times,
        _whole(root, "resolution", None, 2, MOST_TIMES),
        read_outputs(root, series=times is not None or compute == "kinematics"),
        settings,
        analysis,
        _whole(root, "shard", None, 1, 1_000_000),
        _refine(root),
        _canonical(root, samples, analysis),
        root,
    )


def _canonical(
    root: Item, samples: tuple[SampleBlock, ...], analysis: Mapping[str, Any]
) -> dict[str, Any]:
    """The plan as plain data, which JSON can hold: what varies in its order, then the rest.

    A table and a motion are kept as their columns, so that the plan needs no other file; the model
    is kept apart.
    """

    def check(item: Item) -> None:
        if isinstance(item.value, float) and not math.isfinite(item.value):
            raise item.error(expected="a finite number")
        if isinstance(item.value, dict | list):
            for inner in item:
                check(inner)
        elif not (item.value is None or isinstance(item.value, bool | int | float | str)):
            raise item.error(expected="text or a number")

    check(root)
    given = dict(root.value)
    blocks = [key for key in given if key in _BLOCKS]
    result = {key: given[key] for key in blocks}
    for key, block in zip(blocks, samples, strict=True):
        if key == "table":
            result[key] = {
                name: block.values(np.arange(block.count))[name].tolist() for name in block.names
            }
    if "motion" in analysis:
        given["analysis"] = {**given["analysis"], "motion": analysis["motion"]}
    rest = sorted(key for key in given if key not in (*blocks, *_NOT_KEPT))
    return {**result, **{key: given[key] for key in rest}}


def _choice(root: Item, key: str, known: tuple[str, ...], default: str) -> str:
    if key not in root:
        return default
    value = root[key].value
    if value not in known:
        raise root[key].unknown(
            value if isinstance(value, str) else shown(value), known, f"a {key}"
        )
    return value


def _text(root: Item, key: str) -> str | None:
    if key not in root:
        return None
    value = root[key].value
    if not isinstance(value, str) or not value or "\0" in value:
        raise root[key].error(expected="text")
    return value


def _number(root: Item, key: str, unit: str | None) -> float | None:
    return NumberField(unit).read(root[key], {}) if key in root else None


def _whole(root: Item, key: str, default: Any, least: int, most: int) -> Any:
    if key not in root:
        return default
    value = root[key].value
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise root[key].error(expected=f"a whole number from {least} to {most}")
    return value


def _times(root: Item) -> int | tuple[float, ...] | None:
    if "times" not in root:
        return None
    item = root["times"]
    if isinstance(item.value, int) and not isinstance(item.value, bool):
        return _whole(root, "times", None, 2, MOST_TIMES)
    if not isinstance(item.value, list) or not 1 <= len(item.value) <= MOST_TIMES:
        raise item.error(expected=f"the number of times, or a list of 1 to {MOST_TIMES} times [s]")
    times = tuple(NumberField("s").read(entry, {}) for entry in item)
    if any(b <= a for a, b in pairwise(times)):
        raise item.error(but="they do not increase", expected="times in ascending order")
    return times


def _table(root: Item, key: str) -> list[Item]:
    if key not in root:
        return []
    if not isinstance(root[key].value, dict):
        raise root[key].error(expected="a table of names and values")
    return list(root[key])


def _has_text(value: Any) -> bool:
    """Whether the value of a parameter is an expression, or a list with one in it."""
    return isinstance(value, str) or (
        isinstance(value, list) and any(isinstance(entry, str) for entry in value)
    )


def _start(root: Item) -> dict[str, float | str]:
    result: dict[str, float | str] = {}
    for item in _table(root, "start"):
        require_quoted(item)
        result[item.name] = _value(item, "initial value")
    return result


def _value(item: Item, what: str) -> float | str:
    """A number, one with a unit, or an expression for later."""
    from zwang.model_files.units import is_quantity
    from zwang.studies.expressions import parsed

    if isinstance(item.value, str) and not is_quantity(item.value):
        try:
            parsed(item.value, what)
        except InputError as error:
            raise item.blamed(error) from None
        return item.value
    return NumberField().read(item, {})


def _parameters(root: Item) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for item in _table(root, "parameters"):
        require_quoted(item)
        if isinstance(item.value, list):
            result[item.name] = [_value(entry, "parameter") for entry in item]
        else:
            result[item.name] = _value(item, "parameter")
    return result


def _settings(root: Item) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for item in _table(root, "settings"):
        kind = SETTINGS.get(item.name)
        if kind is None:
            raise item.unknown(item.name, SETTINGS, "a setting")
        if kind is str:
            if not isinstance(item.value, str):
                raise item.error(expected="text")
            result[item.name] = item.value
        else:
            result[item.name] = NumberField().read(item, {})
    return result


#: Arguments of analyses, and what may stand there.
_ANALYSIS = {
    "hold": dict, "prefer": dict, "rates": dict, "t": float, "inputs": list, "outputs": list,
    "independent": list, "along": str, "values": list, "actuators": list, "rule": str,
    "weights": list, "motion": dict,
}  # fmt: skip


def _motion(item: Item, folder: Path) -> dict[str, list[float]]:
    """Columns of a motion: the time t, and quantities; from a CSV file or as they are given."""
    from zwang.model_files.motion_tables import motion_of_table

    if isinstance(item.value, str):
        try:
            (times, columns), _ = motion_of_table(folder / item.value)
        except InputError as error:
            raise item.blamed(error) from None
        return {"t": times.tolist(), **{name: x.tolist() for name, x in columns.items()}}
    if not isinstance(item.value, dict) or "t" not in item or len(item.value) < 2:
        raise item.error(expected="the path of a CSV file, or a table of t and other columns")
    result: dict[str, list[float]] = {}
    for column in (item["t"], *(entry for entry in item if entry.name != "t")):
        if not isinstance(column.value, list):
            raise column.error(expected="a list of numbers")
        result[column.name] = [NumberField().read(entry, {}) for entry in column]
        if len(result[column.name]) != len(result["t"]):
            raise column.error(
                but=f"it has {len(result[column.name])} values", expected=f"{len(result['t'])}"
            )
    return result


def _analysis(root: Item, folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for item in _table(root, "analysis"):
        if item.name == "motion":
            result["motion"] = _motion(item, folder)
            continue
        kind = _ANALYSIS.get(item.name)
        if kind is None:
            raise item.unknown(item.name, _ANALYSIS, "an argument of an analysis")
        if kind is float:
            result[item.name] = NumberField("s").read(item, {})
        elif not isinstance(item.value, kind):
            raise item.error(expected={dict: "a table", list: "a list", str: "text"}[kind])
        elif kind is dict:
            result[item.name] = {entry.name: NumberField().read(entry, {}) for entry in item}
        elif item.name in ("values", "weights"):
            result[item.name] = [NumberField().read(entry, {}) for entry in item]
        else:
            result[item.name] = item.value
            for entry in item if kind is list else ():
                if not isinstance(entry.value, str):
                    raise entry.error(expected="a name")
    return result


def _refine(root: Item) -> dict[str, Any] | None:
    """Where more rows are wanted, for `zwang.studies.refine`."""
    if "refine" not in root:
        return None
    result: dict[str, Any] = {}
    for item in _table(root, "refine"):
        if item.name == "of":
            result["of"] = _text(root["refine"], "of")
        elif item.name == "most_runs":
            result["most_runs"] = _whole(root["refine"], "most_runs", None, 1, MOST_RUNS)
        elif item.name == "tolerance" and isinstance(item.value, dict):
            result["tolerance"] = {e.name: NumberField().read(e, {}) for e in item}
        elif item.name in ("level", "tolerance"):
            result[item.name] = NumberField().read(item, {})
        else:
            known = ("of", "level", "tolerance", "most_runs")
            raise item.unknown(item.name, known, "a key of refine")
    for key in ("of", "tolerance"):
        if key not in result:
            raise root["refine"].error(but=f"'{key}' is missing", expected="of and tolerance")
    return result


def located(plan: StudyPlan, error: InputError, *keys: str) -> ModelError:
    """An error about a plan, with the place of a key."""
    item = plan.root
    for key in keys:
        item = item.under(key)
    return item.blamed(error)

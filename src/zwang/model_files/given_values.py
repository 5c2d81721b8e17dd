"""Values given from outside in place of those in a model file: ``--set crank_length=0.4``.

Constants and parameters are replaced in the text itself, so that what is read, simulated and stored
with a run is one file. Other parameters of a mechanism, ``crank.mass``, go to the simulation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import InputError, ModelError, shown
from zwang.model_files.arithmetic import ExpressionError
from zwang.model_files.document import parse, read_text, value_spans
from zwang.model_files.units import quantity, si_unit, unit_of

__all__ = ["parsed_values", "unfit_values", "units_left_out", "with_values"]

#: Tables of a file whose entries may be given from outside, in the order they are looked up.
TABLES = ("constants", "parameters")


def parsed_values(assignments: Sequence[str]) -> dict[str, Any]:
    """``["L=0.4", "speed=40 rpm"]`` as names and values: numbers, lists of them, or text."""
    values: dict[str, Any] = {}
    for text in assignments:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            raise InputError(
                "--set", found=repr(text), expected="NAME=VALUE", advice="As in --set length=0.3."
            )
        if name in values:
            raise InputError("--set", found=f"{name!r} twice", expected="each name once")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value  # a number with a unit, or an expression of constants
    return values


def with_values(text: str, file: str, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text with other constants and parameters, and the values that it has no place for."""
    root = parse(text, file).root
    spans, edits = value_spans(text), list[tuple[int, int, str]]()
    rest: dict[str, Any] = {}
    for name, value in values.items():
        key = next(
            ((table, name) for table in TABLES if table in root and name in root[table]), None
        )
        if key is None:
            rest[name] = value
        else:
            edits.append((*spans[key], _written(name, value)))
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text, rest


def units_left_out(path: Path, values: Mapping[str, Any]) -> list[str]:
    """Sentences on plain numbers, which are in SI units, where the file has other units."""
    if not path.is_file() or all(isinstance(value, str) for value in values.values()):
        return []
    root, notes = parse(read_text(path), str(path)).root, []
    for name, value in values.items():
        table = next((t for t in TABLES if t in root and name in root[t]), None)
        own = None if table is None else root[table][name].value
        unit = unit_of(own) if isinstance(own, str) else None
        if unit is None or isinstance(value, str) or _in_si(unit):
            continue
        example = f"{value}{unit}" if isinstance(value, int | float) else f"'… {unit}'"
        notes.append(
            f"{name} = {value} is taken in {si_unit(unit) or 'SI units'}; the file gives it in "
            f"{unit}: --set {name}={example} is that."
        )
    return notes


def _in_si(unit: str) -> bool:
    """Whether numbers in a unit are those in SI units; of a wrong one, which is told of later."""
    try:
        return quantity(f"1 {unit}", None) == 1.0
    except ExpressionError:
        return True


def unfit_values(values: Mapping[str, Any], error: ModelError) -> InputError:
    """That values do not fit into a file that is right without them.

    Parameters
    ----------
    error : of the file with the values in it.
    """
    # The one that is named where the error is; it may be the place of the value itself.
    named = [name for name in values if name in re.findall(r"\w+", f"{error.key} {error.found}")]
    name = named[0] if named else next(iter(values))
    where = "" if error.key in [f"{table}.{name}" for table in TABLES] else f", for {error.key}"
    of_lines = error.advice is not None and " in line " in error.advice  # of the file as it was
    return InputError(
        f"value of {name!r}",
        found=f"{values[name]!r}",
        expected=f"one that fits the file: {error.expected}{where}",
        advice=None if of_lines else error.advice,
    )


def _written(name: str, value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, str):
        return json.dumps(value)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if isinstance(value, bool) or array.ndim > 2 or not np.isfinite(array).all():
        raise InputError(
            f"value of {name!r}",
            found=shown(value),
            expected="a finite number, a list of numbers, or text with a unit",
        )
    return json.dumps(array.tolist())

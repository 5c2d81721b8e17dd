"""What a study keeps of each run: channels over common times, values at the end, reductions.

"pin.angle"                       over the common times, or at the end where there are none
"peak(pin.force.magnitude)"       a reduction, see `zwang.studies.reductions`
"lift = end(rod.center.z) / L"    an expression of reductions and parameters, with a name
{ name = "load", value = "peak(pin.force.magnitude)", unit = "kN" }      converted to kN
{ name = "lift", value = "end(height)", value_in = "m", unit = "mm" }    said to be in m
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from zwang.errors import InputError
from zwang.model_files.document import Item
from zwang.studies.expressions import FUNCTIONS, calls_in, dotted, function_name, parsed
from zwang.studies.reductions import REDUCTIONS

__all__ = ["TAKEN", "OutputRequest", "read_outputs"]

MOST_OUTPUTS = 1000
#: What names of variables in a dataset may consist of.
_NAME = re.compile(r"[A-Za-z_][\w.\[\](), -]{0,119}")
#: Names that the dataset has for something else.
TAKEN = (
    "run", "time", "mode", "status", "reason", "steps", "evaluations", "rejected", "position",
    "record",
)  # fmt: skip


@dataclass(frozen=True)
class OutputRequest:
    """Something that is kept.

    Attributes
    ----------
    name : of the variable.
    text : as it was given.
    tree : as an expression.
    channel : the channel, where it is one over the common times.
    unit : in which it is kept; None for its own.
    value_in : the unit that the user says the expression is in; None for what its channels have.
    """

    name: str
    text: str
    tree: ast.expr
    channel: str | None
    unit: str | None
    value_in: str | None = None

    @property
    def over_time(self) -> bool:
        """Whether it has a value at each of the common times."""
        return self.channel is not None


def read_outputs(root: Item, *, series: bool) -> tuple[OutputRequest, ...]:
    """The outputs of a plan.

    Parameters
    ----------
    series : whether there are common times.
    """
    if "outputs" not in root:
        return ()
    item = root["outputs"]
    if not isinstance(item.value, list) or not 1 <= len(item.value) <= MOST_OUTPUTS:
        raise item.error(expected=f"a list of 1 to {MOST_OUTPUTS} outputs")
    requests = tuple(_output(entry, series=series) for entry in item)
    names: set[str] = set()
    for entry, request in zip(item, requests, strict=True):
        if request.name in names:
            raise entry.error(but=f"{request.name!r} is there twice", expected="a different name")
        names.add(request.name)
    return requests


def _output(item: Item, *, series: bool) -> OutputRequest:
    name, text, unit, value_in = _parts(item)
    try:
        tree = parsed(text, "output")
        _require_reductions(tree)
    except InputError as error:
        raise item.blamed(error) from None
    bare = dotted(tree)
    name = text if name is None else name
    if not _NAME.fullmatch(name) or name in TAKEN or name.strip() != name:
        raise item.error(
            but=f"{name!r} cannot be the name of a variable",
            expected="a name of letters, digits, . _ - ( ) [ ]",
            advice='Give one: "load = peak(pin.force.magnitude) / 9.81".',
        )
    return OutputRequest(name, text, tree, bare if series else None, unit or value_in, value_in)


def _parts(item: Item) -> tuple[str | None, str, str | None, str | None]:
    """Name, text, unit, and the unit that it is said to be in."""
    if isinstance(item.value, str):
        name, sign, text = item.value.partition("=")
        own = (name.strip(), text) if sign else (None, item.value)
        return own[0], own[1].strip(), None, None
    if not isinstance(item.value, dict) or "value" not in item:
        raise item.error(expected="text, or a table with value, name and unit")
    keys = ("name", "value", "unit", "value_in")
    for entry in item:
        if entry.name not in keys:
            raise entry.unknown(entry.name, keys, "a key of an output")
        if not isinstance(entry.value, str):
            raise entry.error(expected="text")
    given = item.value
    return given.get("name"), given["value"], given.get("unit"), given.get("value_in")


def _require_reductions(tree: ast.expr) -> None:
    """Refuse functions that there are not, and wrong numbers of arguments."""
    from zwang.errors import UnknownNameError

    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = function_name(node)
            if name not in FUNCTIONS and name not in REDUCTIONS:
                raise UnknownNameError("function", name, [*REDUCTIONS, *FUNCTIONS])
            wanted = FUNCTIONS[name][0] if name in FUNCTIONS else REDUCTIONS[name].arguments
            if len(node.args) != wanted:
                raise InputError(
                    f"function {name!r}",
                    must=f"have {wanted} argument{'s' * (wanted != 1)}",
                    but=f"has {len(node.args)}",
                )
    for call in calls_in(tree):
        if call.args and dotted(call.args[0]) is None:
            raise InputError(
                f"function {function_name(call)!r}",
                must="be of one channel",
                but="is of an expression",
                advice="Make the expression a channel, m.output(name, …) in Python or [output] in "
                "a model file, and give its name.",
            )

"""Closed forms: SymPy symbols for everything a system names, and how they look in LaTeX.

Symbols are plain ones with the system's own names: ``x``, ``x_dot``, ``m``, ``t``; parameters that
are arrays have ``J_00``, ``J_01``, … Accelerations are ``x_ddot``, or ``u1_dot`` for a
quasi-velocity, and the multiplier of the constraint ``rod`` is ``lambda_rod``. Where the system
has something else of that name, these are ``x_acceleration`` and ``multiplier_rod``, as t is
``time``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.closed_form.convert import number
from zwang.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    import sympy as sp

    from zwang.tracing.traced_model import Definition

__all__ = ["SymbolNames", "name_all"]


@dataclass(frozen=True)
class SymbolNames:
    """The symbols of a closed form.

    Attributes
    ----------
    coordinates, rates, velocities, accelerations, multipliers : in the order of q, q̇, v, v̇, λ.
    time : t, called ``time`` where the system uses t for something else.
    parameters : name → symbol or what was put in its place; arrays of them for arrays.
    latex : symbol → LaTeX, for `sympy.latex(…, symbol_names=…)`.
    """

    coordinates: tuple[sp.Symbol, ...]
    rates: tuple[sp.Symbol, ...]
    velocities: tuple[sp.Symbol, ...]
    accelerations: tuple[sp.Symbol, ...]
    multipliers: tuple[sp.Symbol, ...]
    time: sp.Symbol
    parameters: Mapping[str, Any]
    latex: Mapping[sp.Symbol, str] = field(repr=False)

    @property
    def flat_parameters(self) -> list[Any]:
        """All entries of all parameters, in the order of the parameter vector."""
        return [e for value in self.parameters.values() for e in np.ravel(value)]

    def defaults(self, definition: Definition) -> dict[str, float]:
        """Name of a parameter's symbol → default value of the entry it stands for."""
        values: dict[str, float] = {}
        for name, default in definition.parameters.items():
            entries = zip(np.ravel(self.parameters[name]), default.ravel(), strict=True)
            for entry, value in entries:
                factor, letter = entry.as_coeff_Mul()
                if letter.is_Symbol:
                    values.setdefault(letter.name, float(value) / float(factor))
        return values


def name_all(
    definition: Definition,
    rows: Sequence[str],
    replaced: Mapping[str, Any] | None = None,
    owned: Mapping[str, tuple[str, str]] | None = None,
) -> SymbolNames:
    """Symbols for a system.

    Parameters
    ----------
    rows : names of the constraint rows.
    replaced : parameter → number, expression, or array of these in its place.
    owned : coordinate or velocity → its letter, and what it belongs to, which is its subscript.
    """
    import sympy as sp

    parameters = _parameters(definition, replaced or {})
    latex: dict[sp.Symbol, str] = {}

    def symbol(name: str, shown: str | None = None) -> sp.Symbol:
        s = sp.Symbol(name)
        shown = _upright(name) if shown is None else shown
        if shown:
            latex[s] = shown
        return s

    belongs = {_identifier(name): pair for name, pair in (owned or {}).items()}
    coordinates, velocities = (
        [_identifier(name) for name in names]
        for names in (definition.coordinates, definition.velocities)
    )

    def dotted(name: str, accent: str) -> str:
        return _owned(*belongs[name], accent) if name in belongs else _dotted(name, accent)

    def plain(name: str) -> sp.Symbol:
        return symbol(name, _owned(*belongs[name]) if name in belongs else None)

    q = tuple(plain(name) for name in coordinates)
    rates = {f"{x}_dot": x for x in coordinates}
    rate_symbols = tuple(symbol(name, dotted(x, r"\dot")) for name, x in rates.items())
    letters = {s for x in parameters.values() for s in _letters(x)}
    own = {*coordinates, *rates, *velocities}
    _require_others(replaced or {}, parameters, own)
    taken = own | {letter.name for letter in letters}
    v, a = [], []
    for name in velocities:
        if name in rates:  # the velocity of a coordinate
            v.append(sp.Symbol(name))
            x = rates[name]
            a.append(symbol(_free(taken, f"{x}_ddot", f"{x}_acceleration"), dotted(x, r"\ddot")))
        else:
            v.append(plain(name))
            a.append(
                symbol(_free(taken, f"{name}_dot", f"{name}_acceleration"), dotted(name, r"\dot"))
            )
    multipliers = []
    for row in rows:
        usual = f"lambda_{_identifier(row)}"
        name = _free(taken, usual, f"multiplier_{_identifier(row)}")
        multipliers.append(symbol(name, _multiplier(row, usual=name == usual)))
    for letter in letters - latex.keys():
        symbol(letter.name)
    return SymbolNames(
        q,
        rate_symbols,
        tuple(v),
        tuple(a),
        tuple(multipliers),
        symbol(_free(taken, "t", "time")),
        parameters,
        latex,
    )


def _free(taken: set[str], *names: str) -> str:
    """The first name that is nothing else's, which it is from now on."""
    last = names[-1]
    while last in taken:
        last += "_"
    found = next((name for name in names if name not in taken), last)
    taken.add(found)
    return found


def _parameters(definition: Definition, replaced: Mapping[str, Any]) -> dict[str, Any]:
    import sympy as sp

    for name in replaced:
        if name not in definition.parameters:
            raise UnknownNameError("parameter", name, definition.parameters)
    found: dict[str, Any] = {}
    for name, default in definition.parameters.items():
        if name in replaced:
            found[name] = _replacement(name, replaced[name], default.shape)
        elif default.ndim == 0:
            found[name] = sp.Symbol(name)
        else:
            joint = "" if max(default.shape, default=0) <= 10 else "_"
            entries = np.empty(default.shape, dtype=object)
            for index in np.ndindex(*default.shape):
                entries[index] = sp.Symbol(f"{name}_{joint.join(map(str, index))}")
            found[name] = entries
    return found


def _require_others(
    replaced: Mapping[str, Any], parameters: Mapping[str, Any], own: Collection[str]
) -> None:
    """Refuse letters that are those of coordinates or velocities already."""
    for name in replaced:
        for letter in _letters(parameters[name]):
            if letter.name in own:
                raise InputError(
                    f"parameter {name!r}",
                    must="be replaced by letters of its own",
                    but=f"{letter.name} is a coordinate or velocity",
                )


def _replacement(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    import sympy as sp

    if isinstance(value, sp.MatrixBase):
        value = value.tolist()
    entries = np.array(value, dtype=object)
    if entries.shape != shape:
        raise InputError(
            f"parameter {name!r}",
            must=f"have shape {shape}, as in the model",
            but=f"has shape {entries.shape}",
        )
    for index, entry in np.ndenumerate(entries):
        if isinstance(entry, sp.Expr):
            exact = entry
        elif isinstance(entry, int | float | np.number):
            exact = number(float(entry))
        else:
            raise InputError(
                f"parameter {name!r}", found=repr(entry), expected="numbers or SymPy expressions"
            )
        entries[index] = exact
    return entries if shape else entries[()]


def _identifier(row: str) -> str:
    """``wire_0`` for ``wire[0]``."""
    return re.sub(r"\W+", "_", row).strip("_")


def _multiplier(row: str, *, usual: bool) -> str:
    name, _, index = row.partition("[")
    words = r"\mathrm{" + name.replace("_", r"\_") + "}"
    letter = r"\lambda" if usual else r"\mathrm{multiplier}"
    return letter + "_{" + words + (f",{index.rstrip(']')}" if index else "") + "}"


def _dotted(name: str, accent: str) -> str:
    r"""``\dot{x}_{P}`` for ``x_P``: the accent goes over the letter, not over its subscript."""
    import sympy as sp

    head, underscore, rest = (_upright(name) or sp.latex(sp.Symbol(name))).partition("_")
    return f"{accent}{{{head}}}{underscore}{rest}"


def _upright(name: str) -> str:
    r"""``\mathrm{elbow}_{2}`` for ``elbow2``; empty where SymPy's own form is one letter.

    In italics a word reads as the product of its letters.
    """
    import sympy as sp

    head, underscore, rest = sp.latex(sp.Symbol(name)).partition("_")
    if len(head) == 1 or not head.isalpha():
        return ""
    return rf"\mathrm{{{head}}}{underscore}{rest}"


def _letters(value: Any) -> set[sp.Symbol]:
    """Symbols in a parameter, or in its entries."""
    return set().union(*(x.free_symbols for x in np.asarray(value, dtype=object).flat))


def _owned(letter: str, owner: str, accent: str = "") -> str:
    r"""``\dot{\psi}_{coin}`` for psi of the coin, ``v_{coin,x}`` for vx."""
    import sympy as sp

    head, index = letter, ""
    if len(letter) > 1 and (letter[-1] in "xyz" or letter[-1].isdigit()):
        head, index = letter[:-1], f",{letter[-1]}"
    shown = sp.latex(sp.Symbol(head))
    if accent:
        shown = f"{accent}{{{shown}}}"
    words = owner.replace("_", r"\_")
    return f"{shown}_{{{words}{index}}}"

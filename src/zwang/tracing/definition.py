"""Definition of a system by functions: names, parameters and functions, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zwang.arguments.states import parameter_value
from zwang.arguments.values import check_name, checked_names
from zwang.errors import InputError, UnknownNameError
from zwang.tracing.constraint import Constraint, named_constraint
from zwang.tracing.own_output import require_no_energy
from zwang.tracing.traced_model import Definition

__all__ = ["define", "joined", "require_distinct"]


def define(
    coordinates: Sequence[str],
    constraints: Mapping[str, Constraint | Callable[..., Any]] | None,
    parameters: Mapping[str, Any] | None,
    nonideal: Mapping[str, Callable[..., Any]] | None,
    velocities: Sequence[str] | None,
    kinematics: Any,
    **functions: Any,
) -> Definition:
    """The checked definition of a system; what is wrong is refused by name."""
    q_names = checked_names("coordinates", coordinates)
    if (velocities is None) != (kinematics is None):
        given, absent = (
            ("velocities", "kinematics") if kinematics is None else ("kinematics", "velocities")
        )
        raise InputError(
            given,
            must="come with its counterpart, or both be omitted for v = q̇",
            but=f"there is no {absent}",
        )
    v_names = tuple(f"{name}_dot" for name in q_names)
    if velocities is not None:
        v_names = checked_names("velocities", velocities)
        pair = kinematics if isinstance(kinematics, tuple | list) else (kinematics, None)
        if len(pair) != 2:
            raise InputError("kinematics", found=f"{len(pair)} functions", expected="N or (N, n0)")
        kinematics = tuple(pair)
    values = {}
    for name, value in (parameters or {}).items():
        check_name("parameter", name)
        values[name] = parameter_value(name, value)
    named: dict[str, Constraint] = {}
    for name, given in (constraints or {}).items():
        check_name("constraint", name)
        named[name] = named_constraint("constraint", name, given)
    for name in nonideal or {}:
        if name not in named:
            raise UnknownNameError("non-ideal law of constraint", name, named)
    for name in ("mass", "force"):
        functions[name] = _function(functions[name])
    return require_distinct(
        Definition(
            coordinates=q_names,
            velocities=v_names,
            parameters=values,
            constraints=named,
            nonideal=dict(nonideal or {}),
            kinematics=kinematics,
            **functions,
        )
    )


def _function(given: Any) -> Any:
    """Numbers as the function that gives them; anything else as it is."""
    if given is None or callable(given):
        return given
    try:
        constant = np.array(given, dtype=float)
    except (TypeError, ValueError):
        return given  # refused where it is called
    return lambda: constant


def require_distinct(definition: Definition) -> Definition:
    """The definition, if no name is used twice."""
    kinds = [
        ("coordinate", definition.coordinates),
        ("velocity", definition.velocities),
        ("parameter", definition.parameters),
        ("constraint", definition.constraints),
        ("output", definition.outputs),
    ]
    seen: dict[str, str] = {}
    for kind, names in kinds:
        for name in names:
            if name in seen:
                raise InputError(
                    f"{kind} {name!r}",
                    must="have a name of its own",
                    but=f"a {seen[name]} has the same name",
                )
            if kind in ("parameter", "output"):
                require_no_energy(kind, name)
            seen[name] = kind
    return definition


def joined(kind: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Two sets of named things as one; a name in both is refused."""
    for name in new:
        if name in old:
            raise InputError(
                f"{kind} {name!r}",
                must="have a name of its own",
                but="a constraint has the same name",
            )
    return {**old, **new}

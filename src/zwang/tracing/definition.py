"""Definition of a system by functions: names, parameters and functions, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zwang.arguments.states import parameter_value
from zwang.arguments.values import by_name, check_name, checked_names
from zwang.errors import InputError, UnknownNameError, shown
from zwang.tracing.constraint import Constraint, named_constraint
from zwang.tracing.own_output import require_no_energy
from zwang.tracing.traced_model import Definition

__all__ = ["define", "joined", "require_distinct"]

#: What functions may take that can be numbers as well.
ARGUMENTS = {"mass": "q, t, p", "force": "q, v, t, p"}
#: How constraints are written.
CONSTRAINTS = "constraints={'rod': lambda q, p: …}"


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
            raise InputError(
                "kinematics",
                found=f"{len(pair)} functions" if len(pair) != 1 else "a list of one",
                expected="a function of (q, t, p) that returns N of q̇ = N v, or (N, n0)",
            )
        kinematics = tuple(pair)
    values = {}
    given = by_name("parameters", parameters, "values", "parameters={'m': 2.0}")
    for name, value in given.items():
        check_name("parameter", name)
        values[name] = parameter_value(name, value)
    named: dict[str, Constraint] = {}
    given = by_name("constraints", constraints, "functions", CONSTRAINTS)
    for name, one in given.items():
        check_name("constraint", name)
        named[name] = named_constraint("constraint", name, one)
    some = next(iter(named), "rod")
    laws = by_name("nonideal", nonideal, "laws", f"nonideal={{{some!r}: lambda q, v, p: …}}")
    for name in laws:
        if name not in named:
            raise UnknownNameError("non-ideal law of constraint", name, named)
    for name in ("mass", "force"):
        functions[name] = _function(name, functions[name])
    _require_inertia(functions)
    return require_distinct(
        Definition(
            coordinates=q_names,
            velocities=v_names,
            parameters=values,
            constraints=named,
            nonideal=dict(laws),
            kinematics=kinematics,
            **functions,
        )
    )


def _function(name: str, given: Any) -> Any:
    """Numbers as the function that gives them; a function as it is."""
    if given is None or callable(given):
        return given
    try:
        constant = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            name,
            found=shown(given),
            expected=f"a function of ({ARGUMENTS[name]}), or of some of these by name, or numbers",
        ) from None
    return lambda: constant


def _require_inertia(functions: Mapping[str, Any]) -> None:
    """Refuse a system without mass matrix, energies or acceleration energy."""
    inertia = (functions["mass"], functions["lagrangian"], functions.get("acceleration_energy"))
    if all(given is None for given in inertia):
        what = "acceleration energy S" if "acceleration_energy" in functions else "mass"
        arguments = "q, v, a, t, p" if "acceleration_energy" in functions else ARGUMENTS["mass"]
        raise InputError(
            what, found="None", expected=f"a function of ({arguments}), or of some of these by name"
        )


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

"""Elements of a mechanism: a kind of joint or force, traced once, and its instances.

An element is a function of the configurations and velocities of a few bodies, of time, of its own
numbers and of the parameters of the mechanism. Tracing it gives, for constraints,

    φ,  ψ = φ̇,  A = ψ_v,  b = −(ψ_c ċ + ψ_t)

with c the configurations and ċ their rates, linear in v; for forces the generalized force on each
body and the potential. The same function serves all instances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.multibody.pose import BodyKind, config_rate, pose_of
from zwang.terms import FloatArray
from zwang.tracing.symbol import Symbol, symbols_of
from zwang.tracing.trace import ParameterSymbols, call, vector

if TYPE_CHECKING:
    import casadi

__all__ = [
    "Arguments",
    "Element",
    "ElementConstants",
    "ElementLaw",
    "LawConstants",
    "TracedLaw",
    "numbers_of",
    "own_numbers",
    "trace_constraint",
    "trace_force",
]


class ElementConstants:
    """An element's own numbers as attributes, with time ``t`` and the parameters ``p``."""

    def __init__(self, values: Mapping[str, Any], t: Any, p: Any) -> None:
        self.__dict__.update(values)
        self.t, self.p = t, p


class LawConstants:
    """Points and values that a law needs besides the poses of its bodies.

    Constants of the law, or numbers of the element where they may change with geometry.

    Attributes
    ----------
    numbers : of the element, those that may change with a parameter.
    """

    def __init__(self) -> None:
        self._fixed: dict[str, Any] = {}
        self.numbers: dict[str, FloatArray] = {}

    def add(self, name: str, value: Any, *, varies: bool) -> None:
        """A constant, or a number of the element if it varies with parameters."""
        if varies:
            self.numbers[name] = np.array(value, dtype=float)
        else:
            self._fixed[name] = value

    def get(self, name: str, data: Any) -> Any:
        """The value while the law is traced with an element's numbers."""
        return getattr(data, name) if name in self.numbers else self._fixed[name]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the numbers."""
        return {name: np.shape(value) for name, value in self.numbers.items()}


@dataclass(frozen=True)
class ElementLaw:
    """How an element computes, apart from its numbers.

    Attributes
    ----------
    key : equal for elements that share one traced function.
    what : for messages, for example ``revolute joint``.
    kinds : what each body moves in.
    shapes : name → shape of the element's numbers.
    level : position, velocity or, for a user's function, detect; force for forces.
    function : of (poses, numbers); gives equations, or (potential, force on each body).
    """

    key: Any
    what: str
    kinds: tuple[BodyKind, ...]
    shapes: Mapping[str, tuple[int, ...]]
    level: Any
    function: Callable[[Sequence[Any], ElementConstants], Any] = field(compare=False)


@dataclass(frozen=True)
class Element:
    """One joint or force of a mechanism.

    Attributes
    ----------
    name : the user's.
    law : how it computes.
    bodies : indices of its bodies, −1 for the ground.
    numbers : its own numbers by name; each is a parameter ``name.number`` of the mechanism.
    copied : number of its own → parameter of a joint that it is a copy of.
    """

    name: str
    law: ElementLaw
    bodies: tuple[int, ...]
    numbers: Mapping[str, np.ndarray]
    copied: Mapping[str, str] = field(default_factory=dict)


def numbers_of(
    joints: Sequence[tuple[Any, Element, str]],
) -> tuple[dict[str, Any], dict[str, str]]:
    """Numbers of joints for an element that looks at several, and what they are copies of.

    Parameters
    ----------
    joints : each with its element and a coordinate of it.
    """
    numbers: dict[str, Any] = {}
    copied: dict[str, str] = {}
    for k, (_, element, _) in enumerate(joints):
        numbers |= {f"{key}_{k}": value for key, value in element.numbers.items()}
        copied |= {f"{key}_{k}": f"{element.name}.{key}" for key in element.numbers}
    return numbers, copied


def own_numbers(element: Element, k: int, data: ElementConstants) -> ElementConstants:
    """Of what `numbers_of` made of several joints the numbers of one, by their own names."""
    own = {key: getattr(data, f"{key}_{k}") for key in element.numbers}
    return ElementConstants(own, data.t, data.p)


@dataclass(frozen=True)
class Arguments:
    """The symbols that one element is traced with.

    Attributes
    ----------
    configs, velocities : one column a body.
    t, numbers, p : time, the element's numbers and the mechanism's parameters, columns.
    """

    configs: list[casadi.SX]
    velocities: list[casadi.SX]
    t: casadi.SX
    numbers: casadi.SX
    p: casadi.SX

    @classmethod
    def of(cls, law: ElementLaw, parameters: Mapping[str, np.ndarray]) -> Arguments:
        """Fresh symbols for a law."""
        import casadi as ca

        count = sum(int(np.prod(shape)) for shape in law.shapes.values())
        return cls(
            [ca.SX.sym(f"c{k}", kind.config) for k, kind in enumerate(law.kinds)],
            [ca.SX.sym(f"v{k}", kind.nv) for k, kind in enumerate(law.kinds)],
            ca.SX.sym("t"),
            ca.SX.sym("d", count),
            ca.SX.sym("p", sum(x.size for x in parameters.values())),
        )

    @property
    def columns(self) -> list[casadi.SX]:
        """All, in the order of the traced function."""
        return [*self.configs, *self.velocities, self.t, self.numbers, self.p]

    def evaluated(self, law: ElementLaw, name: str, parameters: Mapping[str, np.ndarray]) -> Any:
        """What the law's function gives for these symbols."""
        numbers: dict[str, Any] = {}
        start = 0
        for field_name, shape in law.shapes.items():
            size = int(np.prod(shape))
            entries = symbols_of(self.numbers[start : start + size])
            numbers[field_name] = entries.reshape(shape) if shape else entries[0]
            start += size
        p, offset = {}, 0
        for parameter, value in parameters.items():
            entries = symbols_of(self.p[offset : offset + value.size])
            p[parameter] = entries.reshape(value.shape) if value.ndim else entries[0]
            offset += value.size
        poses = [
            pose_of(kind, c, v)
            for kind, c, v in zip(law.kinds, self.configs, self.velocities, strict=True)
        ]
        data = ElementConstants(numbers, Symbol(self.t), ParameterSymbols(p))
        return call(
            f"{law.what} {name!r}",
            law.function,
            {"poses": poses, "data": data},
        )

    def rate(self, e: casadi.SX, kinds: Sequence[BodyKind]) -> casadi.SX:
        """ė = e_c ċ + e_t at fixed velocities."""
        import casadi as ca

        total = ca.jtimes(e, self.t, ca.SX(1))
        for kind, c, v in zip(kinds, self.configs, self.velocities, strict=True):
            if c.numel():
                total = total + ca.jtimes(e, c, config_rate(kind, c, v))
        return total


@dataclass(frozen=True)
class TracedLaw:
    """A traced law.

    Attributes
    ----------
    function : of `Arguments.columns`; for constraints φ (empty at velocity level), ψ, b, and A of
        each body; for forces the potential and the generalized force on each body.
    rows : number of equations.
    level : position, velocity or force.
    """

    function: casadi.Function
    rows: int
    level: Any


def trace_constraint(law: ElementLaw, name: str, parameters: Mapping[str, np.ndarray]) -> TracedLaw:
    """φ, ψ, b and the blocks of A of a constraint; equations that hold by themselves drop out."""
    import casadi as ca

    symbols = Arguments.of(law, parameters)
    e = vector(f"{law.what} {name!r}", symbols.evaluated(law, name, parameters))
    level = law.level
    if level == "detect":
        moving = ca.depends_on(e, ca.vertcat(*symbols.velocities))
        level = "velocity" if moving else "position"
    psi = symbols.rate(e, law.kinds) if level == "position" else e
    blocks = [ca.jacobian(psi, v) for v in symbols.velocities]
    kept = [
        i
        for i in range(psi.numel())
        if any(not block[i, :].is_zero() and block[i, :].nnz() for block in blocks)
    ]
    e, psi = e[kept], psi[kept]
    blocks = [block[kept, :] for block in blocks]
    if not kept:
        raise InputError(
            f"{law.what} {name!r}",
            must="restrict the motion of its bodies",
            but="no motion of its bodies changes its equations",
        )
    b = -symbols.rate(psi, law.kinds)
    phi = e if level == "position" else ca.SX(0, 1)
    return TracedLaw(
        ca.Function("constraint", symbols.columns, [phi, psi, b, *blocks]), len(kept), level
    )


def trace_force(law: ElementLaw, name: str, parameters: Mapping[str, np.ndarray]) -> TracedLaw:
    """Potential and generalized force on each body."""
    import casadi as ca

    symbols = Arguments.of(law, parameters)
    potential, *efforts = symbols.evaluated(law, name, parameters)
    what = f"{law.what} {name!r}"
    V = vector(what, potential, 1)
    forces = [
        vector(what, effort, kind.nv) if kind.nv else ca.SX(0, 1)
        for effort, kind in zip(efforts, law.kinds, strict=True)
    ]
    return TracedLaw(ca.Function("force", symbols.columns, [V, *forces]), 0, "force")

"""A mechanical system from functions: the public class, joining tracing, solving and diagnosis."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.certify import Certificate, certify_terms
from zwang.diagnosis.explain import Explanation, explain_terms
from zwang.diagnosis.passport import Passport, passport_terms
from zwang.errors import InputError, UnknownNameError
from zwang.formulations.lazy import computed_once
from zwang.functions.constraint import Constraint
from zwang.functions.model import Definition, Lagrangian, Model, trace
from zwang.solution import Solution
from zwang.solve import solve_terms
from zwang.terms import EquationTerms, FloatArray

if TYPE_CHECKING:
    from zwang.functions.evaluate import Evaluator

__all__ = ["Residuals", "State", "System"]


@dataclass(frozen=True)
class State:
    """Where a system is: q (…, nq), v (…, nv) and the time t. Unpacks as ``q, v = state``."""

    q: FloatArray
    v: FloatArray
    t: Any = 0.0

    def __iter__(self) -> Any:
        return iter((self.q, self.v))


@dataclass(frozen=True)
class Residuals:
    """How well a state satisfies its constraints.

    Attributes
    ----------
    position : φ of the position constraints, shape (…, mp).
    velocity : φ̇ and ψ of position and velocity constraints, shape (…, mv).
    position_names, velocity_names : the rows' names.
    """

    position: FloatArray
    velocity: FloatArray
    position_names: tuple[str, ...]
    velocity_names: tuple[str, ...]


class System:
    """A constrained system described by short functions.

    Functions are called once, with symbols; A, b and all derivatives come from automatic
    differentiation, and everything is compiled with the parameters as inputs. A function names the
    arguments it wants: q (coordinates), v (velocities), t (time), p (parameters, as ``p.m``).

    Parameters
    ----------
    coordinates : names of the coordinates q.
    mass : M(q, t, p), the mass matrix for the velocities, shape (nv, nv).
    force : Q(q, v, t, p), shape (nv,); when absent, minus the gradient of the potential, or zero.
    constraints : name → `zwang.position`, `zwang.velocity`, `zwang.acceleration` or
        `zwang.constraint`; a bare function counts as `zwang.constraint`.
    parameters : name → default value, a number or an array.
    potential : V(q, t, p), for the energy.
    nonideal : name of a constraint → C(q, v, t, p) or C(q, v, t, p, reaction), the force whose
        work the constraint force does in virtual displacements.
    velocities : names of quasi-velocities v, with
    kinematics : N(q, t, p), or (N, n₀), of q̇ = N v + n₀; by default v = q̇, named ``x_dot``.

    Examples
    --------
    >>> import numpy as np, zwang as zw
    >>> pendulum = zw.System(
    ...     coordinates=["x", "y"],
    ...     parameters={"m": 2.0, "g": 9.81, "L": 1.0},
    ...     mass=lambda p: np.diag([p.m, p.m]),
    ...     force=lambda p: [0.0, -p.m * p.g],
    ...     constraints={"rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2)},
    ... )
    >>> s = pendulum.solve(q=[0.0, -1.0], v=[1.0, 0.0])
    >>> s.acceleration + 0.0
    array([0., 1.])
    """

    def __init__(
        self,
        coordinates: Sequence[str],
        *,
        mass: Callable[..., Any],
        force: Callable[..., Any] | None = None,
        constraints: Mapping[str, Constraint | Callable[..., Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        potential: Callable[..., Any] | None = None,
        nonideal: Mapping[str, Callable[..., Any]] | None = None,
        velocities: Sequence[str] | None = None,
        kinematics: Any = None,
    ) -> None:
        self.definition = _definition(
            coordinates,
            constraints,
            parameters,
            nonideal,
            velocities,
            kinematics,
            mass=mass,
            force=force,
            potential=potential,
            lagrangian=None,
        )
        self.model: Model = trace(self.definition)

    @classmethod
    def of(cls, definition: Definition) -> System:
        """A system from a definition that is already checked."""
        system = cls.__new__(cls)
        system.definition = definition
        system.model = trace(definition)
        return system

    @classmethod
    def from_lagrangian(
        cls,
        coordinates: Sequence[str],
        *,
        T: Callable[..., Any],
        V: Callable[..., Any] | None = None,
        forces: Callable[..., Any] | None = None,
        dissipation: Callable[..., Any] | None = None,
        constraints: Mapping[str, Constraint | Callable[..., Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        nonideal: Mapping[str, Callable[..., Any]] | None = None,
    ) -> System:
        """A system from its energies, with v = q̇.

        Parameters
        ----------
        T : kinetic energy T(q, v, t, p).
        V : potential energy V(q, t, p).
        forces : generalized forces not from V, Q(q, v, t, p).
        dissipation : Rayleigh's function R(q, v, t, p), with force −∂R/∂v.
        """
        return cls.of(
            _definition(
                coordinates,
                constraints,
                parameters,
                nonideal,
                None,
                None,
                mass=None,
                force=forces,
                potential=None,
                lagrangian=Lagrangian(T, V, dissipation),
            )
        )

    # --- names and sizes --------------------------------------------------------------------------

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q."""
        return self.definition.coordinates

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of v."""
        return self.definition.velocities

    @property
    def parameters(self) -> dict[str, Any]:
        """Default values of the parameters."""
        return {
            name: float(value) if value.ndim == 0 else value.copy()
            for name, value in self.definition.parameters.items()
        }

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints."""
        return tuple(self.definition.constraints)

    @property
    def levels(self) -> dict[str, str]:
        """Constraint name → position, velocity or acceleration, as found."""
        return {name: block.level for name, block in self.model.blocks.items()}

    def __repr__(self) -> str:
        c = ", ".join(f"{k} ({level})" for k, level in self.levels.items()) or "none"
        return f"<System of {', '.join(self.coordinates)}; constraints: {c}>"

    # --- terms and what follows from them ---------------------------------------------------------

    def terms(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> EquationTerms:
        """M, Q, A, b, C at a state, or at many: q (…, nq), v (…, nv), t (…).

        A non-ideal law that depends on its reaction is solved for it; see `solve`.
        """
        q, v, t, p = self._arguments(q, v, t, parameters)
        terms = self._ideal_terms(q, v, t, p)
        return self._with_nonideal(terms, q, v, t, p)

    def _ideal_terms(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        M, Q, A, b = self._evaluate(
            "terms", lambda m: {"M": m.M, "Q": m.Q, "A": m.A, "b": m.b}, q, v, t, p
        )
        columns = self.coordinates if self.definition.kinematics is None else self.velocities
        return EquationTerms.of(M, Q, A, b, names=self._row_names, coordinates=columns)

    @computed_once
    def _row_names(self) -> tuple[str, ...]:
        return self.model.row_names

    def _with_nonideal(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        if not self.definition.nonideal:
            return terms
        if self.model.reaction_dependent:
            from zwang.functions.nonideal import solve_reaction_law

            return solve_reaction_law(self, terms, q, v, t, p)
        (C,) = self._evaluate("nonideal", lambda m: {"C": m.C}, q, v, t, p)
        return terms.with_forces(terms.applied_force, C)

    def solve(
        self,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
        formulation: str = "auto",
        family: bool = False,
    ) -> Solution:
        """Acceleration, constraint force and multipliers at a state, or at many."""
        terms = self.terms(q, v, t, parameters=parameters)
        return solve_terms(terms, formulation=formulation, family=family)

    def certify(
        self, q: Any, v: Any = None, t: float = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> Certificate:
        """The state's terms through all formulations: spread, Gauss residual, error estimate."""
        return certify_terms(self.terms(q, v, t, parameters=parameters))

    def explain(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Freedoms, dependent groups and contradictions at a state, by name.

        Without a state, one that satisfies the constraints is found by `assemble`.
        """
        if q is None:
            q = self.assemble(parameters=parameters, t=t)
        return explain_terms(self.terms(q, v, t, parameters=parameters))

    def passport(
        self, q: Any, v: Any = None, t: float = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> Passport:
        """Which reactions are determinate at a state; the groups are the named constraints."""
        terms = self.terms(q, v, t, parameters=parameters)
        return passport_terms(terms, groups=self.model.groups)

    def residuals(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> Residuals:
        """φ, φ̇ and ψ at a state, or at many."""
        q, v, t, p = self._arguments(q, v, t, parameters)
        at_position, at_velocity = self._evaluate(
            "residuals", lambda m: {"position": m.position_values, "velocity": m.rates}, q, v, t, p
        )
        names = list(zip(self._row_names, self._row_levels(), strict=True))
        return Residuals(
            at_position,
            at_velocity,
            tuple(name for name, level in names if level == "position"),
            tuple(name for name, level in names if level != "acceleration"),
        )

    def energy(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Kinetic and potential energy (None when no potential was given), shape (…)."""
        q, v, t, p = self._arguments(q, v, t, parameters)

        def energies(m: Model) -> dict[str, Any]:
            return {"T": m.T} if m.V is None else {"T": m.T, "V": m.V}

        values = [x[..., 0] for x in self._evaluate("energy", energies, q, v, t, p)]
        return values[0], (values[1] if len(values) > 1 else None)

    def position_rate(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> FloatArray:
        """q̇ = N v + n₀, shape (…, nq)."""
        q, v, t, p = self._arguments(q, v, t, parameters)
        return self._evaluate("kinematics", lambda m: {"q_dot": m.state.q_dot}, q, v, t, p)[0]

    # --- numbers in -------------------------------------------------------------------------------

    def parameter_vector(self, parameters: Mapping[str, Any] | None = None) -> FloatArray:
        """All parameters as one flat array, defaults replaced by the given values."""
        values = dict(self.definition.parameters)
        for name, value in (parameters or {}).items():
            if name not in values:
                raise UnknownNameError("parameter", name, values)
            array = _parameter(name, value)
            if array.shape != values[name].shape:
                raise InputError(
                    f"parameter {name!r}",
                    found=f"shape {array.shape}",
                    expected=f"shape {values[name].shape}, as in the model",
                )
            values[name] = array
        return np.concatenate([np.zeros(0), *(x.ravel() for x in values.values())])

    def _arguments(
        self, q: Any, v: Any, t: Any, parameters: Mapping[str, Any] | None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        if hasattr(q, "q") and hasattr(q, "v"):  # a State, an Assembly
            if v is None:
                v = q.v
            t = getattr(q, "t", t)
            q = q.q
        q = self._vector("q", q, self.coordinates)
        v = np.zeros(len(self.velocities)) if v is None else self._vector("v", v, self.velocities)
        t = np.asarray(t, dtype=float)
        if not np.isfinite(t).all():
            raise InputError("time t", found=str(t), expected="a finite number")
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], t.shape)
        q = np.broadcast_to(q, (*batch, q.shape[-1]))
        v = np.broadcast_to(v, (*batch, v.shape[-1]))
        return q, v, np.broadcast_to(t, batch), self.parameter_vector(parameters)

    def _vector(self, letter: str, value: Any, names: tuple[str, ...]) -> FloatArray:
        if isinstance(value, Mapping):
            for name in value:
                if name not in names:
                    raise UnknownNameError(f"{letter}", name, names)
            missing = [name for name in names if name not in value]
            if missing:
                raise InputError(
                    letter,
                    found=f"no value for {', '.join(missing)}",
                    expected="a value for each name",
                    advice="system.assemble finds the values that constraints determine.",
                )
            value = [value[name] for name in names]
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(letter, found=repr(value), expected="numbers") from error
        if array.ndim == 0 or array.shape[-1] != len(names):
            found = f"shape {array.shape}" if array.ndim != 1 else f"{array.size} values"
            raise InputError(letter, found=found, expected=f"{len(names)}: {', '.join(names)}")
        if not np.isfinite(array).all():
            where = tuple(np.argwhere(~np.isfinite(array))[0])
            raise InputError(
                f"{letter} of {names[where[-1]]!r}",
                found=str(array[where]),
                expected="a finite number",
            )
        return array

    @computed_once
    def evaluator(self) -> Evaluator:
        """The compiled kernels of the model, made on first use."""
        from zwang.functions.evaluate import Evaluator

        return Evaluator(self.model)

    def _evaluate(
        self, name: str, outputs: Callable[[Model], Mapping[str, Any]], *arguments: FloatArray
    ) -> list[FloatArray]:
        values = self.evaluator(name, outputs, *arguments)
        for k, value in enumerate(values):
            if not np.isfinite(value).all():
                output = list(outputs(self.model))[k]
                raise InputError(
                    f"{output} of the system",
                    found="a value that is not finite at this state",
                    expected="finite numbers",
                    advice="Look for a division by zero, a root or a logarithm of the coordinates.",
                )
        return values

    def _row_levels(self) -> list[str]:
        return [b.level for b in self.model.blocks.values() for _ in range(b.A.shape[0])]


def _definition(
    coordinates: Sequence[str],
    constraints: Mapping[str, Constraint | Callable[..., Any]] | None,
    parameters: Mapping[str, Any] | None,
    nonideal: Mapping[str, Callable[..., Any]] | None,
    velocities: Sequence[str] | None,
    kinematics: Any,
    **functions: Any,
) -> Definition:
    q_names = _names("coordinates", coordinates)
    if (velocities is None) != (kinematics is None):
        given, absent = (
            ("velocities", "kinematics") if kinematics is None else ("kinematics", "velocities")
        )
        raise InputError(given, found=f"no {absent}", expected="both, or neither for v = q̇")
    v_names = tuple(f"{name}_dot" for name in q_names)
    if velocities is not None:
        v_names = _names("velocities", velocities)
        pair = kinematics if isinstance(kinematics, tuple | list) else (kinematics, None)
        if len(pair) != 2:
            raise InputError("kinematics", found=f"{len(pair)} functions", expected="N or (N, n0)")
        kinematics = tuple(pair)
    values = {}
    for name, value in (parameters or {}).items():
        _check_name("parameter", name)
        values[name] = _parameter(name, value)
    named: dict[str, Constraint] = {}
    for name, given in (constraints or {}).items():
        _check_name("constraint", name)
        named[name] = given if isinstance(given, Constraint) else Constraint("detect", (given,))
    for name in nonideal or {}:
        if name not in named:
            raise UnknownNameError("non-ideal law of constraint", name, named)
    kinds = [
        ("coordinate", q_names),
        ("velocity", v_names),
        ("parameter", values),
        ("constraint", named),
    ]
    seen: dict[str, str] = {}
    for kind, names in kinds:
        for name in names:
            if name in seen:
                raise InputError(
                    f"{kind} {name!r}",
                    found=f"a {seen[name]} of the same name",
                    expected="distinct names",
                )
            seen[name] = kind
    return Definition(
        coordinates=q_names,
        velocities=v_names,
        parameters=values,
        constraints=named,
        nonideal=dict(nonideal or {}),
        kinematics=kinematics,
        **functions,
    )


def _names(what: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InputError(
            what, found=repr(names), expected="a list of names", advice=f"Write [{names!r}]."
        )
    result = tuple(names)
    if not result:
        raise InputError(what, found="none", expected="at least one name")
    for name in result:
        _check_name(what, name)
    if len(set(result)) != len(result):
        twice = next(name for name in result if result.count(name) > 1)
        raise InputError(what, found=f"{twice!r} twice", expected="distinct names")
    return result


def _check_name(kind: str, name: Any) -> None:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(
            f"name of {kind}",
            found=repr(name),
            expected="letters, digits and _, not a word of Python",
        )


def _parameter(name: str, value: ArrayLike) -> FloatArray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"parameter {name!r}", found=repr(value), expected="numbers") from error
    if not np.isfinite(array).all():
        raise InputError(f"parameter {name!r}", found=str(value), expected="finite numbers")
    return array

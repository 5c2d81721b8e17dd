"""Linearization of the equations of motion: exact derivatives of the traced terms by the state.

With E = M a − Q − C − Aᵀλ, H = A a − b, the rates ψ = φ̇ of the constraints and small displacements
δq = N δπ in the directions of the velocities,

    M δv̇ + E_π δπ + E_v δv − Aᵀ δλ − C_λ δλ = 0,   A δv̇ + H_π δπ + H_v δv = 0,   ψ_π δπ + ψ_v δv = 0

where a and λ are held in the derivatives. E_π contains the geometric stiffness −Σ λ ∂²φ. One kernel
computes all of them; parameters, accelerations and multipliers are its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian
from zwang.tracing.mixed_kernel import staged

if TYPE_CHECKING:
    import casadi

    from zwang.codegen.kernel import Kernel
    from zwang.system import System

__all__ = ["Expressions", "Slopes", "expressions_of"]


@dataclass(frozen=True)
class Slopes:
    """Derivatives at a state; matrices are dense, or sparse where the equations are.

    Attributes
    ----------
    M, A : mass matrix and constraint matrix, shapes (n, n) and (m, n).
    E_pi, E_v : of M a − Q − C − Aᵀλ, shape (n, n).
    C_lam : ∂C/∂λ, shape (n, m).
    H_pi, H_v : of A a − b, shape (m, n).
    psi_pi : of the rates of rows that have them, shape (k, n).
    drift : of N v + n₀ by π, divided by N: δπ̇ = δv + drift δπ, shape (n, n).
    """

    M: Any
    A: Any
    E_pi: Any
    E_v: Any
    C_lam: Any
    H_pi: Any
    H_v: Any
    psi_pi: Any
    drift: Any


class Expressions:
    """The traced terms of a system and kernels of them, compiled when they are first used."""

    def __init__(self, system: System) -> None:
        import casadi as ca

        model = system.model
        self.state, self.model = model.state, model
        s = model.state
        self.a = ca.SX.sym("a", s.v.numel())
        self.lam = model.multipliers
        self.E = ca.mtimes(model.M, self.a) - model.Q - model.C - ca.mtimes(model.A.T, self.lam)
        self.H = ca.mtimes(model.A, self.a) - model.b
        self._kernels: dict[str, tuple[Kernel, dict[str, Any]]] = {}
        self.channel_sizes: dict[str, int] = {}
        self.timed: Any = None

    def jacobian(self, e: casadi.SX, x: casadi.SX) -> casadi.SX:
        """e_x, through opaque calls too."""
        return jacobian(e, x, self.state)

    def by_pi(self, e: casadi.SX) -> casadi.SX:
        """e_q N: by displacements, in the sparsity of both."""
        import casadi as ca

        return ca.mtimes(self.jacobian(e, self.state.q), self.model.N)

    def evaluate(
        self, name: str, outputs: Any, inputs: Mapping[str, casadi.SX], *values: Any
    ) -> dict[str, FloatArray]:
        """Matrices of a kernel of (q, v, t, p) and of further inputs.

        Parameters
        ----------
        outputs : a function without arguments that gives name → expression; called once.
        """
        if name not in self._kernels:
            found = outputs()
            entries = {key: _entries(e) for key, e in found.items()}
            s = self.state
            given = {"q": s.q, "v": s.v, "t": s.t, "p": s.p, **inputs}
            places = {key: _places(e) for key, e in found.items()}
            self._kernels[name] = staged(name, given, entries, s.calls), places
        kernel, places = self._kernels[name]
        results = kernel(*values)
        return {
            key: _filled(x, *place) for x, (key, place) in zip(results, places.items(), strict=True)
        }

    def values(
        self, q: FloatArray, v: FloatArray, t: float, p: FloatArray, lam: FloatArray
    ) -> dict[str, FloatArray]:
        """φ, rates, M, Q, C, A, b and N at a state."""

        def outputs() -> dict[str, casadi.SX]:
            m = self.model
            return {
                "phi": m.position_values,
                "rate": m.rates,
                "M": m.M,
                "Q": m.Q,
                "C": m.C,
                "A": m.A,
                "b": m.b,
                "N": m.N,
                "n0": m.n0,
            }

        found = self.evaluate("values", outputs, {"lambda": self.lam}, q, v, [t], p, lam)
        return {key: x if key in "MAN" else x[:, 0] for key, x in found.items()}

    def slopes(
        self,
        q: FloatArray,
        v: FloatArray,
        t: float,
        p: FloatArray,
        a: FloatArray,
        lam: FloatArray,
    ) -> Slopes:
        """All derivatives at a state with accelerations a and multipliers λ."""

        def outputs() -> dict[str, casadi.SX]:
            m, s = self.model, self.state
            return {
                "M": m.M,
                "A": m.A,
                "N": m.N,
                "E_pi": self.by_pi(self.E),
                "E_v": self.jacobian(self.E, s.v),
                "C_lam": self.jacobian(m.C, self.lam),
                "H_pi": self.by_pi(self.H),
                "H_v": self.jacobian(self.H, s.v),
                "psi_pi": self.by_pi(m.rates),
                "flow_pi": self.by_pi(s.q_dot),
            }

        inputs = {"a": self.a, "lambda": self.lam}
        x = self.evaluate("slopes", outputs, inputs, q, v, [t], p, a, lam)
        N, flow = x["N"], x["flow_pi"]
        drift = np.linalg.lstsq(N, flow, rcond=None)[0] if flow.any() else np.zeros_like(x["M"])
        return Slopes(
            x["M"],
            x["A"],
            x["E_pi"],
            x["E_v"],
            x["C_lam"],
            x["H_pi"],
            x["H_v"],
            x["psi_pi"],
            drift,
        )

    def parameter_slopes(
        self,
        place: int | None,
        q: FloatArray,
        v: FloatArray,
        t: float,
        p: FloatArray,
        a: FloatArray,
        lam: FloatArray,
    ) -> dict[str, FloatArray]:
        """Derivatives of E, H, φ and ψ by one entry of the parameters, or by time, as vectors."""

        def outputs() -> dict[str, casadi.SX]:
            one = self.state.t if place is None else self.state.p[place]
            return {
                "E": self.jacobian(self.E, one),
                "phi": self.jacobian(self.model.position_values, one),
                "rate": self.jacobian(self.model.rates, one),
                "H": self.jacobian(self.H, one),
            }

        inputs = {"a": self.a, "lambda": self.lam}
        name = f"parameter{place}"
        found = self.evaluate(name, outputs, inputs, q, v, [t], p, a, lam)
        return {key: x[:, 0] for key, x in found.items()}


_known: WeakKeyDictionary[Any, Expressions] = WeakKeyDictionary()


def expressions_of(system: System) -> Expressions:
    """The expressions of a system, made once."""
    found = _known.get(system)
    if found is None:
        found = _known[system] = Expressions(system)
    return found


def _entries(e: casadi.SX) -> casadi.SX:
    """Structural nonzeros as a column."""
    import casadi as ca

    entries: Any = e.nonzeros()
    return ca.vertcat(*entries) if entries else ca.SX.zeros(0, 1)


def _places(e: casadi.SX) -> tuple[tuple[int, ...], Any]:
    """Shape of an expression, and where its nonzeros are."""
    rows, columns = e.sparsity().get_triplet()
    return tuple(e.shape), (np.array(rows, dtype=int), np.array(columns, dtype=int))


def _filled(entries: FloatArray, shape: tuple[int, ...], where: Any) -> FloatArray:
    """A dense matrix; see `_places`."""
    result = np.zeros(shape)
    result[where] = entries
    return result

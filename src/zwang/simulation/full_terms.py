"""Guard of a simulation: the full terms of a system, by nothing that its programs are made of.

Expressions run on CasADi's own machine, without a compiler; large mechanisms go element by element,
and functions that cannot be traced are called. What checks a program shares nothing with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from zwang.caching import PassedOn
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["FullTerms", "full_terms", "full_terms_function"]


@dataclass(frozen=True)
class FullTerms:
    """The full terms of a system at one state, see `zwang.EquationTerms`; Q holds a C without λ.

    Attributes
    ----------
    phi, psi : residuals of all position rows, and rates of all position and velocity rows.
    law : λ → (C, ∂C/∂λ), if the non-ideal law depends on reactions; the slope may be None, and the
        multipliers are those of `witness` then.
    witness : multipliers that are said to agree with the law.
    """

    M: Any
    Q: FloatArray
    A: Any
    b: FloatArray
    phi: FloatArray
    psi: FloatArray
    q_dot: FloatArray
    law: Callable[[FloatArray], tuple[FloatArray, FloatArray | None]] | None = None
    witness: FloatArray | None = None


def full_terms(system: Equations, y: FloatArray, t: float, p: FloatArray) -> FullTerms:
    """All terms of a system at one state, none of them by a kernel of a program."""
    nq = len(system.coordinates)
    q, v = y[:nq], y[nq:]
    if system.by_elements is not None:
        return FullTerms(*system.by_elements.full_terms(q, v, t, p))
    if system.opaque:
        return _called_terms(system, q, v, t, p)
    return system.cache.once(_TermsAtState, lambda: _TermsAtState(system))(q, v, t, p)


def full_terms_function(system: Equations) -> tuple[Any, list[int]]:
    """(q, v, t, p) → M, Q, A, b, φ, ψ, q̇ as a function of CasADi's, and their sizes."""
    import casadi as ca

    m = system.model
    s, force = m.state, m.Q if m.reaction_dependent else m.Q + m.C
    outputs = [m.M, force, m.A, m.b, m.position_values, m.rates, s.q_dot]
    function = ca.Function("full", [s.q, s.v, s.t, s.p], [ca.densify(x) for x in outputs])
    return function, [x.numel() for x in outputs]


class _TermsAtState(PassedOn):
    """The terms of a model on CasADi's machine: nothing is compiled."""

    def __init__(self, system: Equations) -> None:
        import casadi as ca

        m = system.model
        s, self.nv, self.lock = m.state, len(system.velocities), Lock()
        inputs = [s.q, s.v, s.t, s.p]
        self.function, self.sizes = full_terms_function(system)
        # Entries of matrices are handed over column by column.
        self.inputs = [np.zeros(max(x.numel(), 1)) for x in inputs]
        self.outputs = [np.zeros(max(size, 1)) for size in self.sizes]
        self.buffer: Any
        self.buffer, self.evaluate = self.function.buffer()
        for k, array in enumerate(self.inputs):
            self.buffer.set_arg(k, memoryview(cast("Any", array)))
        for k, array in enumerate(self.outputs):
            self.buffer.set_res(k, memoryview(cast("Any", array)))
        self.law = None
        if m.reaction_dependent:
            laws = [ca.densify(m.C), ca.densify(ca.jacobian(m.C, m.multipliers))]
            self.law = ca.Function("law", [*inputs, m.multipliers], laws)

    def __call__(self, q: FloatArray, v: FloatArray, t: float, p: FloatArray) -> FullTerms:
        with self.lock:
            for array, value in zip(self.inputs, (q, v, t, p), strict=True):
                array[: np.size(value)] = value
            self.evaluate()
            found = [x[:n].copy() for x, n in zip(self.outputs, self.sizes, strict=True)]
        M, Q, A, b, phi, psi, q_dot = found
        matrices = M.reshape(self.nv, self.nv).T, A.reshape(self.nv, len(b)).T
        law = None if self.law is None else partial(self._law, q, v, t, p)
        return FullTerms(matrices[0], Q, matrices[1], b, phi, psi, q_dot, law)

    def _law(self, *arguments: Any) -> tuple[FloatArray, FloatArray]:
        assert self.law is not None
        C, slope = self.law(*arguments)
        return np.array(C).ravel(), np.array(slope)


def _called_terms(
    system: Equations, q: FloatArray, v: FloatArray, t: float, p: FloatArray
) -> FullTerms:
    """The terms of a system with functions that are called, by its evaluator."""
    time = np.asarray(t)
    terms = system.ideal_terms_at(q, v, time, p)
    residuals = system.residuals_at(q, v, time, p)
    (q_dot,) = system.evaluator("q_dot", lambda m: {"q_dot": m.state.q_dot}, q, v, time, p)
    Q, law = terms.applied_force, None
    if system.reaction_dependent:
        law = partial(system.evaluator.law, q, v, np.atleast_1d(t), p)
    elif not system.model.ideal:
        (C,) = system.evaluator("nonideal", lambda m: {"C": m.C}, q, v, time, p)
        Q = Q + C
    flat = terms.constraint_matrix, terms.constraint_rhs, residuals.position, residuals.velocity
    return FullTerms(terms.mass_matrix, Q, *flat, q_dot, law)

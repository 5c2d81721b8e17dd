"""Reduction: which constraints a map satisfies, and whether its variables are independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError, NotApplicableError
from zwang.linalg.rank import RowGeometry
from zwang.reduction.lift import Lift
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian
from zwang.tracing.mixed_kernel import staged

if TYPE_CHECKING:
    import casadi

__all__ = ["CheckStates", "Identities", "identity_expressions", "relative_residuals"]

#: An identity holds when its terms cancel to this fraction; rounding leaves 1e-14, a wrong map 0.1.
IDENTITY = 1e-9

_MATRICES = ("slope", "A", "D")


@dataclass(frozen=True)
class CheckStates:
    """States on which identities are checked: q (N, nq), v (N, nv), t (N,) of the independent
    variables, and the parameters p.
    """

    q: FloatArray
    v: FloatArray
    t: FloatArray
    p: FloatArray


def identity_expressions(lift: Lift) -> dict[str, casadi.SX]:
    """What the identities are made of, in the independent variables, dense."""
    import casadi as ca

    model = lift.model
    nq = model.state.q.numel()
    values, rates, slopes = [ca.SX(0, 1)], [ca.SX(0, 1)], [ca.SX(0, nq)]
    for block in model.blocks.values():
        none = ca.SX.zeros(block.A.shape[0], 1)
        values.append(none if block.value is None else block.value)
        rates.append(none if block.rate is None else block.rate)
        slopes.append(jacobian(values[-1], model.state.q, model.state))
    parts = [ca.vertcat(*values), ca.vertcat(*rates), ca.vertcat(*slopes), model.A, model.b]
    value, rate, slope, A, b, M = lift(*parts, model.M)
    return {
        "value": value,
        "rate": rate,
        "slope": slope,
        "A": A,
        "b": b,
        "mass": ca.diag(M),
        "full_q": lift.q,
        "full_v": lift.v,
        "D": lift.partial_velocities,
        "a": lift.bias,
    }


def relative_residuals(x: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """φ, ψ, A Dᵀ and A a_u − b of each row, relative to the terms that cancel; each (m,)."""
    floor = 1e-3  # where all terms vanish there is nothing to be relative to
    size = np.linalg.norm(x["A"], axis=1)
    columns = np.linalg.norm(x["D"], axis=0)
    across = np.abs(x["A"] @ x["D"]) / (np.outer(size, columns) + 1e-300)
    slope = np.linalg.norm(x["slope"], axis=1)
    along = x["A"] @ x["a"] - x["b"]
    return {
        "value": np.abs(x["value"]) / (slope * np.linalg.norm(x["full_q"]) + floor),
        "rate": np.abs(x["rate"]) / (size * np.linalg.norm(x["full_v"]) + floor),
        "tangent": across.max(axis=1, initial=0.0),
        "bias": np.abs(along) / (size * np.linalg.norm(x["a"]) + np.abs(x["b"]) + floor),
    }


class Identities:
    """Values of all constraints and of (4.7), (4.8) on the samples, relative to their terms."""

    def __init__(self, lift: Lift, samples: CheckStates) -> None:
        self.lift, self.model = lift, lift.model
        s = lift.state
        inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p}
        outputs = identity_expressions(lift)
        kernel = staged("identities", inputs, outputs, s.calls)
        self.states: list[FloatArray] = []
        self.values: list[dict[str, FloatArray]] = []
        for q, v, t in zip(samples.q, samples.v, samples.t, strict=True):
            parts = kernel(q, v, [t], samples.p)
            if all(np.isfinite(part).all() for part in parts):
                self.states.append(q)
                self.values.append(
                    {
                        name: part.reshape(e.shape, order="F") if name in _MATRICES else part
                        for (name, e), part in zip(outputs.items(), parts, strict=True)
                    }
                )
        if not self.values:
            raise InputError(
                "map",
                must="be defined at random states",
                but=f"has no finite value at {len(samples.q)} of them",
                advice="Give a state where it is defined: at=….",
            )
        self.residuals = [relative_residuals(x) for x in self.values]

    def satisfied(self, keep: Sequence[str]) -> np.ndarray:
        """Which rows the map satisfies; an error for one that it should and does not."""
        gone: list[bool] = []
        for block, numbers in self.model.rows_of_blocks.items():
            name = self.model.owner(block)
            level = self.model.blocks[block].level
            must = level == ("position" if self.lift.coordinates else "velocity")
            checks = ["tangent", "bias"]
            if level != "acceleration":
                first = "value" if self.lift.coordinates and level == "position" else "rate"
                checks.insert(0, first)
            for row in numbers:
                failed = [c for c in checks if any(r[c][row] > IDENTITY for r in self.residuals)]
                if must and failed and name not in keep:
                    raise self._violation(name, row, failed[0])
                gone.append(not failed)
        return np.array(gone, dtype=bool)

    def _violation(self, name: str, row: int, check: str) -> InputError:
        worst = max(range(len(self.states)), key=lambda i: self.residuals[i][check][row])
        where = ", ".join(f"{x:.3g}" for x in self.states[worst][:6])
        said = {
            "value": "φ(g(s, t), t) is not zero at s",
            "rate": "ψ(q, g(q, u, t), t) is not zero at q",
            "tangent": "A Dᵀ is not zero at q",
            "bias": "A a_u is not b at q",
        }[check]
        place = ""
        if self.lift.coordinates:
            met = any(r[check][row] <= IDENTITY for r in self.residuals)
            place = f", or{', since it holds at other s,' if met else ''} "
            place += "give coordinates near which it is meant to hold with at=[…]"
        return InputError(
            f"constraint {self.model.row_names[row]!r}",
            must="be satisfied identically by the map",
            but=f"is violated: {said} = ({where})",
            advice=f"Correct the map{place}, or retain the constraint with keep=[{name!r}].",
        )

    def require_independent(self, velocities: Sequence[str], gone: np.ndarray) -> None:
        """Rank Dᵀ = k, and k + rank A = nv for the eliminated rows ((3.1), (5.8))."""
        k, n = len(velocities), len(self.model.definition.velocities)
        if k == 0:
            raise NotApplicableError(
                "system in independent velocities",
                must="have a degree of freedom",
                but="the constraints determine all velocities",
                advice="kinematics(…) gives its motion, simulate(…) the forces too.",
            )
        listed = f"independent velocities {', '.join(velocities)}"
        rank = max(RowGeometry.of(x["D"].T).rank for x in self.values)
        if rank < k:
            raise InputError(
                listed,
                must=f"be independent (rank ∂v/∂u = {k})",
                but=f"in this map only {rank} of the {k} are",
            )
        if not gone.any():
            return  # the map alone states the constraints
        removed = max(RowGeometry.of(_scaled_rows(x, gone)).rank for x in self.values)
        if k != n - removed:
            raise InputError(
                listed,
                must=f"be {n - removed}: {n} velocities less {removed} constraints that are "
                "satisfied",
                but=f"there are {k}",
                advice="The map must cover every motion that the constraints allow.",
            )


def _scaled_rows(x: Mapping[str, FloatArray], which: np.ndarray) -> FloatArray:
    """Rows of unit length, columns scaled by the masses."""
    mass = np.where(x["mass"] > 0.0, x["mass"], 1.0)
    A = x["A"][which] / np.sqrt(mass)
    length = np.linalg.norm(A, axis=1, keepdims=True)
    return A / np.where(length > 0.0, length, 1.0)

"""Integrability: vector fields on coordinates and time, their brackets, and all these reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zwang.terms import FloatArray
from zwang.tracing.differentiate import Symbols, jacobian
from zwang.tracing.mixed_kernel import staged

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.traced_model import TracedModel

__all__ = ["NEW", "Fields", "States", "frame", "unit"]

#: A bracket points in a new direction when this fraction of its terms is left outside the others.
#: Rounding leaves 1e-14 or so times the condition of the basis.
NEW = 1e-7


@dataclass(frozen=True)
class States:
    """States at which brackets are evaluated: coordinates (N, nq), times (N,), parameters."""

    q: FloatArray
    t: FloatArray
    p: FloatArray


class Fields:
    """Vector fields on coordinates and time, their brackets and their values.

    Parameters
    ----------
    state : the symbols.
    columns : a field in each column, shape (nq + 1, d).
    """

    def __init__(self, state: Symbols, columns: casadi.SX, places: States) -> None:
        import casadi as ca

        self.state, self.places = state, places
        self.x = ca.vertcat(state.q, state.t)
        self.fields = [columns[:, j] for j in range(columns.shape[1])]

    def bracket(self, X: casadi.SX, Y: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
        """The two parts of [X, Y] = Y_x X − X_x Y."""
        import casadi as ca

        s = self.state

        def along(Z: casadi.SX, direction: casadi.SX) -> casadi.SX:
            if not s.calls:
                return ca.jtimes(Z, self.x, direction)
            whole = ca.horzcat(jacobian(Z, s.q, s), jacobian(Z, s.t, s))
            return ca.mtimes(whole, direction)

        return along(Y, X), along(X, Y)

    def values(self, expressions: Sequence[casadi.SX]) -> FloatArray:
        """Columns evaluated at all places, shape (N, rows, columns)."""
        import casadi as ca

        s = self.state
        whole = ca.horzcat(*expressions)
        inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p}
        kernel = staged("fields", inputs, {"fields": whole}, s.calls)
        at_rest = np.zeros(s.v.numel())
        return np.array(
            [
                kernel(q, at_rest, [t], self.places.p)[0].reshape(whole.shape, order="F")
                for q, t in zip(self.places.q, self.places.t, strict=True)
            ]
        )

    def closure(self, full: int) -> tuple[FloatArray, tuple[int, ...]]:
        """All fields and brackets at all places (N, nq + 1, r), and the growth of the dimension.

        Parameters
        ----------
        full : the dimension that cannot be exceeded.
        """
        fields = list(self.fields)
        start = self.values(fields)
        values = unit(start)
        sizes = [np.linalg.norm(start[:, :, j], axis=1) for j in range(len(fields))]
        newest = list(range(len(fields)))
        growth = [dimension(values)]
        while growth[-1] < full:
            pairs = [
                (a, b) for b in newest for a in range(len(self.fields)) if a < b or b not in newest
            ]
            pairs = [(a, b) for a, b in pairs if a != b]
            if not pairs:
                break
            parts = [self.bracket(fields[a], fields[b]) for a, b in pairs]
            first = self.values([one for one, _ in parts])
            second = self.values([other for _, other in parts])
            chosen: list[int] = []
            for k, (a, b) in enumerate(pairs):
                new = _relative(first[:, :, k], second[:, :, k], sizes[a] * sizes[b])
                if dimension(_joined(values, new)) > dimension(values):
                    values = _joined(values, new)
                    chosen.append(k)
                if dimension(values) >= full:
                    break
            if not chosen:
                break
            newest = list(range(len(fields), len(fields) + len(chosen)))
            fields += [parts[k][0] - parts[k][1] for k in chosen]
            sizes += [np.linalg.norm(first[:, :, k] - second[:, :, k], axis=1) for k in chosen]
            growth.append(dimension(values))
        return values, tuple(growth)


def unit(values: FloatArray) -> FloatArray:
    """Columns of unit length, shape (N, n, k)."""
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.where(length > 0.0, length, 1.0)


def _relative(first: FloatArray, second: FloatArray, product: FloatArray) -> FloatArray:
    """A bracket relative to its two parts, with what is rounding set to zero, shape (N, n).

    Parts that should vanish are rounding themselves; so the bracket is compared with a thousandth
    of the product of the fields too, shape (N,), as if they changed by that much over a length 1.
    """
    size = np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1) + 1e-3 * product
    scaled = (first - second) / np.where(size > 0.0, size, 1.0)[:, None]
    return np.where(np.linalg.norm(scaled, axis=1)[:, None] > NEW, scaled, 0.0)


def _joined(values: FloatArray, new: FloatArray) -> FloatArray:
    return np.concatenate([values, unit(new[:, :, None])], axis=2)


def dimension(values: FloatArray) -> int:
    """The largest rank at any place."""
    return max(int(np.sum(np.linalg.svd(v, compute_uv=False) > NEW)) for v in values)


def frame(model: TracedModel) -> casadi.SX:
    """E = [[N, n₀], [0, 1]], shape (nq + 1, nv + 1)."""
    import casadi as ca

    nv = model.state.v.numel()
    last = ca.horzcat(ca.SX.zeros(1, nv), ca.SX(1))
    return ca.vertcat(ca.horzcat(model.N, model.n0), last)

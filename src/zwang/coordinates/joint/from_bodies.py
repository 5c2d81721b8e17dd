"""Joint coordinates of a state that is given in the coordinates of the bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.coordinates.joint.by_link import tree_kernel
from zwang.coordinates.joint.equations import Recursion
from zwang.coordinates.joint.link_constants import LinkConstants
from zwang.coordinates.joint.relative_poses import entered
from zwang.coordinates.joint.tree import Tree
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR, SPATIAL
from zwang.programs.coordinate_change import (
    CoordinateChange,
    CoordinateChangeByExpression,
    enter_tree,
)
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.equations.contract import Equations

__all__ = ["CLOSED", "FromBodies", "FromBodiesByCalls", "FromBodiesByExpression", "symbolic"]

#: How far a start may be from the joints of the tree before its coordinates are fitted, relative:
#: above what closing a mechanism leaves, below what a tolerance can ask for.
CLOSED = 1e-11
#: Steps of the fit at most.
FITS = 12


class FromBodies(ABC):
    """From q, v of a mechanism to q̂, v̂ of its tree.

    Attributes
    ----------
    carrier : whose way in this is.
    """

    carrier: CoordinateChange

    def __init__(
        self,
        mechanism: Equations,
        tree: Tree,
        vector_of: Callable[[FloatArray], FloatArray],
    ) -> None:
        self.mechanism, self.tree, self.vector_of = mechanism, tree, vector_of

    @cached_property
    def kernel(self) -> Kernel:
        """(q, v, t, p̂) → (q̂, v̂) of a state on the joints of the tree."""
        return self._made()

    @abstractmethod
    def _made(self) -> Kernel:
        """The kernel."""

    @abstractmethod
    def _fitted(self, row: FloatArray, y: FloatArray, t: float, p_joint: FloatArray) -> FloatArray:
        """The state (q̂, v̂) of the tree nearest to (q, v), from one near by."""

    def into(self, Y: FloatArray, t: float, P: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ŷ, and P with the link constants, the signs of Euler parameters among them.

        A state off the joints of the tree is put on them like by projection: the nearest one, as
        the masses weigh it, in position and then in velocity.
        """
        nq, n, nv = len(self.tree.parts.coordinates), self.tree.nq, self.tree.nv
        p_joint = np.concatenate([P, self._numbers(P)], axis=1)
        rows, off, there = np.empty((len(Y), n + nv)), np.empty(len(Y)), np.empty(Y.shape[1])
        enter, leave = self.kernel, self.carrier.leaving
        kernels, sizes = (enter.address, leave.address), (nq, n)
        work = max(enter, leave, key=lambda kernel: kernel.work_size).work()
        enter_tree(kernels, Y, np.array([t]), p_joint, rows, there, off, sizes, *self._signed, work)
        for k in np.flatnonzero(~(off <= CLOSED)).tolist():
            rows[k] = self._fitted(rows[k], Y[k], t, p_joint[k])
        return rows, p_joint

    def _numbers(self, P: FloatArray) -> FloatArray:
        """Numbers of the links for parameters (N, np), signs as in the placement, (N, …)."""
        if len(P) > 1 and bool(np.all(P[0] == P)):
            numbers = self.vector_of(P[0])
            return np.broadcast_to(numbers, (len(P), len(numbers)))
        return np.array([self.vector_of(p) for p in P])

    @cached_property
    def _signed(self) -> tuple[np.ndarray, np.ndarray]:
        """Where Euler parameters of bodies are in q, and in p̂ those of their axes in links."""
        tree = self.tree
        first = tree.parts.defaults.size
        (starts, _), bodies = tree.parts.places, tree.parts.bodies
        spatial = [i for i, body in enumerate(bodies) if body.kind is SPATIAL]
        in_q = [starts[i] + 3 for i in spatial]
        in_p = first + LinkConstants.places(tree)["parameters"][spatial, 0]
        return np.array(in_q, dtype=np.int64), np.array(in_p, dtype=np.int64)

    def scales(self, sizes: FloatArray) -> FloatArray:
        """Sizes of the tree's coordinates from those of the bodies that they carry.

        An angle moves what hangs on it by its own distance: an error of it counts like one of Euler
        parameters, which have unit length, and like one of a position relative to that distance. It
        does not count relative to the angle itself, which grows with every turn.
        """
        tree, parts = self.tree, self.tree.parts
        starts, v_starts = parts.places
        nq = len(parts.coordinates)
        result = np.ones(tree.nq + tree.nv)
        for branch in tree.branches:
            i, kind = branch.child, parts.bodies[branch.child].kind
            own, rates = sizes[starts[i] : starts[i + 1]], sizes[nq + v_starts[i] :][: kind.nv]
            for k in branch.links:
                link = tree.links[k]
                turn, spin = (own[-1], rates[-1]) if kind is not SCALAR else (own[0], rates[0])
                if link.motion == "revolute":
                    result[link.q], result[tree.nq + link.v] = -(1.0 + turn), spin
                elif link.motion == "prismatic":
                    result[link.q], result[tree.nq + link.v] = own[0], rates[0]
                elif link.motion == "spherical":
                    result[link.q : link.q + 4] = own[3:]
                    result[tree.nq + link.v :][:3] = rates[3:]
                else:  # free or scalar: the coordinates of the body itself
                    result[link.q : link.q + len(own)] = own
                    result[tree.nq + link.v :][: kind.nv] = rates
        return result


class FromBodiesByExpression(FromBodies):
    """The way into a tree that is one expression."""

    #: The way of which this is the beginning, as it is written down; the same as `carrier`.
    written: CoordinateChangeByExpression

    def _made(self) -> Kernel:
        import casadi as ca

        tree, (_, _, t, p) = self.tree, self.written.inputs
        q = ca.SX.sym("q", len(tree.parts.coordinates))
        v = ca.SX.sym("v", len(tree.parts.velocities))
        count = p.numel() - LinkConstants.count(tree)
        outputs = entered(tree, q, v, p[:count], symbolic(tree, p[count:]))
        function = ca.Function("enter", [q, v, t, p], [ca.densify(x) for x in outputs])
        return compile_kernel(function, name="enter")

    def _fitted(self, row: FloatArray, y: FloatArray, t: float, p_joint: FloatArray) -> FloatArray:
        """The nearest state on the joints: δq̂ = N (BᵀMB)⁻¹BᵀM δ, then v̂ = (BᵀMB)⁻¹BᵀM v."""
        nq, n = len(self.tree.parts.coordinates), self.tree.nq
        q, v, q_joint, v_joint = y[:nq], y[nq:], row[:n], row[n:]
        p = p_joint[: self.tree.parts.defaults.size]
        M = self.mechanism.ideal_terms_at(q, v, np.asarray(t), p).mass_matrix
        for _ in range(FITS):
            B, N = self._motion(q_joint, v_joint, t, p_joint)
            there = self.carrier.leave(
                np.concatenate([q_joint, v_joint])[None], np.array([t]), p_joint
            )
            step = N @ _nearest(B, M, _difference(self.tree.parts, there[0, :nq], q))
            q_joint = q_joint + step
            for group in self.tree.unit:
                q_joint[list(group)] /= np.linalg.norm(q_joint[list(group)])
            if np.abs(step).max(initial=0.0) <= CLOSED:
                break
        B, _ = self._motion(q_joint, v_joint, t, p_joint)
        return np.concatenate([q_joint, _nearest(B, M, v)])

    def _motion(
        self, q_joint: FloatArray, v_joint: FloatArray, t: float, p_joint: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """B of v = B v̂ and N of q̂̇ = N v̂ at a state."""
        B, N = self._slopes(q_joint, v_joint, t, p_joint)
        return np.array(B), np.array(N)

    @cached_property
    def _slopes(self) -> Any:
        import casadi as ca

        q, v, t, p = self.written.inputs
        B = ca.jacobian(self.written.v, v)
        count = p.numel() - LinkConstants.count(self.tree)
        rec = Recursion(self.tree, q, v, t, p[:count], symbolic(self.tree, p[count:]))
        return ca.Function("slopes", [q, v, t, p], [ca.densify(B), ca.densify(rec.kinematics())])


class FromBodiesByCalls(FromBodies):
    """The way into a large tree."""

    def _made(self) -> Kernel:
        return tree_kernel(self.tree, self.tree.parts.defaults.size, "enter")

    def _fitted(self, row: FloatArray, y: FloatArray, t: float, p_joint: FloatArray) -> FloatArray:
        """The nearest state on the joints, by the projection of the bodies."""
        del row
        system: Any = self.mechanism  # one that is carried by blocks
        project, parts = system.block_program().kernel("project"), self.tree.parts
        q, v = np.split(y, [len(parts.coordinates)])
        p = p_joint[: parts.defaults.size]
        for _ in range(FITS):
            before = q
            q, v, _ = project(q, v, [t], p)
            if np.abs(q - before).max(initial=0.0) <= CLOSED:
                break
        return np.concatenate(self.kernel(q, v, [t], p_joint))


def _nearest(B: FloatArray, M: FloatArray, v: FloatArray) -> FloatArray:
    """The v̂ whose B v̂ is nearest to v, as M weighs it."""
    return np.linalg.lstsq(B.T @ M @ B, B.T @ (M @ v), rcond=None)[0]


def _difference(parts: Parts, there: FloatArray, q: FloatArray) -> FloatArray:
    """What leads from one configuration to another near by, in increments of the velocities."""
    starts, _ = parts.places
    result = []
    for i, body in enumerate(parts.bodies):
        a, b = there[starts[i] : starts[i + 1]], q[starts[i] : starts[i + 1]]
        if body.kind is SPATIAL:
            w, x = a[3], a[4:]
            turn = 2.0 * (w * b[4:] - b[3] * x - np.cross(x, b[4:]))
            result += [b[:3] - a[:3], turn if a[3:] @ b[3:] > 0.0 else -turn]
        elif body.kind is SCALAR:
            result.append(b - a)
        else:
            result += [b[:2] - a[:2], [a[2] * b[3] - a[3] * b[2]]]
    return np.concatenate([np.zeros(0), *result])


def symbolic(tree: Tree, x: casadi.SX) -> LinkConstants:
    """The numbers of a tree with each entry a matrix or column of symbols."""
    import casadi as ca

    values: dict[str, list[casadi.SX]] = {}
    for name, places in LinkConstants.places(tree).items():
        if not len(places):
            values[name] = []
            continue
        # All entries at once, those of each matrix by columns, and then apart.
        by_columns = places.swapaxes(1, 2) if places.ndim == 3 else places
        rows = places.shape[1] if places.ndim > 1 else 1
        entries = x[by_columns.ravel().tolist()]
        apart = 3 if places.ndim == 3 else 1
        values[name] = ca.horzsplit(ca.reshape(entries, rows, entries.numel() // rows), apart)
    return LinkConstants(**values)

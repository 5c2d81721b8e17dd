"""Elements evaluated in bulk: all instances of a kind, at one state or many, kernel by kernel.

For mechanisms too large to be written down as one expression.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.multibody.element import Element
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import BodyKind, config_of, kinematics
from zwang.multibody.terms import body_slots, body_terms
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.forces.friction import JointFriction

__all__ = ["Bulk", "bulk_rows"]


@dataclass(frozen=True)
class BulkRows:
    """All constraints of a mechanism at B states.

    Attributes
    ----------
    value : φ of position rows, shape (B, mp).
    rate : ψ of all rows, shape (B, m).
    b : right sides, shape (B, m).
    rows, columns, entries : A by entries, shapes (k,), (k,) and (B, k).
    """

    value: FloatArray
    rate: FloatArray
    b: FloatArray
    rows: np.ndarray
    columns: np.ndarray
    entries: FloatArray


class Bulk:
    """Evaluates the elements of a mechanism kind by kind."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._kernels: dict[Any, Kernel] = {}
        self._places: dict[tuple[str, ...], _BatchIndices] = {}

    def _kernel(self, key: Any, function: casadi.Function) -> Kernel:
        if key not in self._kernels:
            self._kernels[key] = compile_kernel(_dense(function))
        return self._kernels[key]

    @cached_property
    def _groups(self) -> dict[Any, list[int]]:
        """Elements, by number among constraints, forces and friction, of each law."""
        groups: dict[Any, list[int]] = {}
        for i, element in enumerate(self.parts.elements):
            groups.setdefault(element.law.key, []).append(i)
        return groups

    def configs(self, q: FloatArray, bodies: Iterable[int] | None = None) -> dict[int, FloatArray]:
        """Configuration of each body, or of some, at B states, shapes (B, 12) or less."""
        starts, _ = self.parts.places
        found: dict[int, FloatArray] = {}
        kinds: dict[BodyKind, list[int]] = {}
        for i in range(len(self.parts.bodies)) if bodies is None else bodies:
            kinds.setdefault(self.parts.bodies[i].kind, []).append(i)
        for kind, members in kinds.items():
            key = ("config", kind)
            kernel = self._kernels.get(key) or self._kernel(key, _config_function(kind))
            stacked = np.concatenate([q[:, starts[i] : starts[i] + kind.nq] for i in members])
            (values,) = _mapped(kernel, [stacked], [])
            found.update(zip(members, np.split(values, len(members)), strict=True))
        return found

    def rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """q̇ = N v at one state, body by body, shape (nq,)."""
        q_starts, v_starts = self.parts.places
        found, kinds = np.empty_like(q), dict[BodyKind, list[int]]()
        for i, body in enumerate(self.parts.bodies):
            kinds.setdefault(body.kind, []).append(i)
        for kind, members in kinds.items():
            key = ("rates", kind)
            kernel = self._kernels.get(key) or self._kernel(key, _rates_function(kind))
            places = np.array([range(q_starts[i], q_starts[i + 1]) for i in members])
            own = np.array([range(v_starts[i], v_starts[i + 1]) for i in members])
            (found[places],) = _mapped(kernel, [q[places], v[own]], [])
        return found

    def evaluate(
        self,
        key: Any,
        function: casadi.Function,
        members: Sequence[Element],
        state: tuple[FloatArray, FloatArray, FloatArray],
        p: FloatArray,
        configs: Mapping[int, FloatArray],
        further: Sequence[FloatArray] = (),
    ) -> list[FloatArray]:
        """Outputs of one function for all its instances, shapes (instances, B, size).

        `further` arguments come after those of every element, each (instances·B, size).
        """
        columns, user = self.arguments(members, state, p, configs)
        results = _mapped(self._kernel(key, function), columns, [user], further)
        return [x.reshape(len(members), len(state[1]), -1) for x in results]

    def arguments(
        self,
        members: Sequence[Element],
        state: tuple[FloatArray, FloatArray, FloatArray],
        p: FloatArray,
        configs: Mapping[int, FloatArray],
    ) -> tuple[list[FloatArray], FloatArray]:
        """Arguments of the function of elements, each (instances·B, size), and the user's p."""
        _, v, t = state
        count, places = len(v), self._places_of(members)
        nothing = np.zeros((len(members) * count, 0))
        columns = [
            np.concatenate([configs[i] for i in bodies]) if len(bodies) else nothing
            for bodies in places.bodies
        ]
        columns += [
            np.swapaxes(v[:, own], 0, 1).reshape(len(members) * count, -1) if own.size else nothing
            for own in places.velocities
        ]
        columns.append(np.tile(t[:, None], (len(members), 1)))
        columns.append(np.repeat(p[places.numbers], count, axis=0))
        user = sum(value.size for value in self.parts.parameters.values())
        return columns, p[:user]

    def _places_of(self, members: Sequence[Element]) -> _BatchIndices:
        """Where the arguments of elements of one law are, found once."""
        key = tuple(element.name for element in members)
        if key not in self._places:
            self._places[key] = _BatchIndices.of(self.parts, members)
        return self._places[key]

    def misses(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Values and rates of all constraints at B states."""
        parts, count, configs = self.parts, len(q), self.configs(q)
        value, rate = np.empty((count, self._positions)), np.empty((count, parts.row_starts[-1]))
        for key, members, placed, rows in self._constraint_groups:
            phi, psi, *_ = self.evaluate(
                key, parts.traced[key].function, members, (q, v, t), p, configs
            )
            value[:, placed], rate[:, rows] = np.swapaxes(phi, 0, 1), np.swapaxes(psi, 0, 1)
        return value, rate

    @cached_property
    def _positions(self) -> int:
        """How many equations of positions there are."""
        traced = [self.parts.traced[e.law.key] for e in self.parts.constraints]
        return sum(found.rows for found in traced if found.level == "position")

    @cached_property
    def _constraint_groups(self) -> list[tuple[Any, list[Element], np.ndarray, np.ndarray]]:
        """Key, elements, and where φ and ψ of each are, for constraints of each law."""
        parts, at_position = self.parts, 0
        groups: dict[Any, tuple[list[Element], list[range], list[range]]] = {}
        for i, element in enumerate(parts.constraints):
            found = parts.traced[element.law.key]
            members, placed, rows = groups.setdefault(element.law.key, ([], [], []))
            count = found.rows if found.level == "position" else 0
            members.append(element)
            placed.append(range(at_position, at_position + count))
            rows.append(range(parts.row_starts[i], parts.row_starts[i + 1]))
            at_position += count
        return [
            (key, members, np.array(placed, dtype=int), np.array(rows, dtype=int))
            for key, (members, placed, rows) in groups.items()
        ]

    def rows(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> BulkRows:
        """Values, rates, right sides and matrix entries of all constraints at B states."""
        parts, count = self.parts, len(q)
        traced, configs = parts.traced, self.configs(q)
        first = parts.row_starts
        at_position, position_starts = 0, []
        for element in parts.constraints:
            position_starts.append(at_position)
            if traced[element.law.key].level == "position":
                at_position += traced[element.law.key].rows
        value, rate = np.empty((count, at_position)), np.empty((count, first[-1]))
        b = np.empty((count, first[-1]))
        entries: list[FloatArray] = []
        for key, every in self._groups.items():
            indices = [i for i in every if i < len(parts.constraints)]
            if not indices:
                continue
            found, members = traced[key], [parts.constraints[i] for i in indices]
            phi, psi, right, *blocks = self.evaluate(
                key, found.function, members, (q, v, t), p, configs
            )
            r = found.rows
            for k, i in enumerate(indices):
                here = slice(first[i], first[i] + r)
                if found.level == "position":
                    value[:, position_starts[i] : position_starts[i] + r] = phi[k]
                rate[:, here], b[:, here] = psi[k], right[k]
                for side, body in enumerate(members[k].bodies):
                    if body >= 0:
                        entries.append(blocks[side][k])
        return BulkRows(
            value,
            rate,
            b,
            *self._entry_places,
            np.concatenate([np.zeros((count, 0)), *entries], axis=1),
        )

    @cached_property
    def _entry_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the matrix entries, in the order of `rows`."""
        parts, first = self.parts, self.parts.row_starts
        v_starts, none = parts.places[1], np.zeros(0, dtype=int)
        rows, columns = [none], [none]
        for key, every in self._groups.items():
            for i in every:
                if i >= len(parts.constraints):
                    continue
                r = parts.traced[key].rows
                for body in parts.constraints[i].bodies:
                    if body < 0:
                        continue
                    n = parts.bodies[body].kind.nv
                    rows.append(np.tile(np.arange(first[i], first[i] + r), n))
                    columns.append(np.repeat(np.arange(v_starts[body], v_starts[body] + n), r))
        return np.concatenate(rows), np.concatenate(columns)

    def bodies(
        self, q: FloatArray, v: FloatArray, p: FloatArray
    ) -> tuple[list[FloatArray], FloatArray, FloatArray, FloatArray]:
        """Mass blocks (B, nv, nv) of each body, their forces (B, nv), T and V (B,)."""
        parts, count = self.parts, len(q)
        q_starts, v_starts = parts.places
        gravity = p[slice(*parts.slots["gravity"])]
        force, V, T = np.zeros(v.shape), np.zeros(count), np.zeros(count)
        masses: dict[int, FloatArray] = {}
        groups: dict[tuple[BodyKind, int], list[int]] = {}
        places = [body_slots(parts.slots, body.name) for body in parts.bodies]
        for i, body in enumerate(parts.bodies):
            groups.setdefault((body.kind, places[i][1] - places[i][0]), []).append(i)
        for (kind, numbers), members in groups.items():
            key = ("body", kind, numbers)
            if key not in self._kernels:
                self._kernels[key] = compile_kernel(_dense(_body_function(kind, numbers)))
            own = [
                np.concatenate([q[:, q_starts[i] : q_starts[i + 1]] for i in members]),
                np.concatenate([v[:, v_starts[i] : v_starts[i + 1]] for i in members]),
                np.repeat([p[slice(*places[i])] for i in members], count, axis=0),
            ]
            found = _mapped(self._kernels[key], own, [gravity])
            M, f, potential, kinetic = (x.reshape(len(members), count, -1) for x in found)
            V += potential[:, :, 0].sum(axis=0)
            T += kinetic[:, :, 0].sum(axis=0)
            for k, i in enumerate(members):
                masses[i] = np.swapaxes(M[k].reshape(count, kind.nv, kind.nv), 1, 2)
                force[:, v_starts[i] : v_starts[i + 1]] = f[k]
        return [masses[i] for i in range(len(parts.bodies))], force, T, V

    def forces(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Generalized forces (B, nv) and potentials (B,) of the force elements."""
        parts = self.parts
        configs = self.configs(q)
        total, V = np.zeros(v.shape), np.zeros(len(q))
        _, starts = parts.places
        offset = len(parts.constraints)
        for key, indices in self._groups.items():
            own = [i - offset for i in indices if 0 <= i - offset < len(parts.forces)]
            if not own:
                continue
            members = [parts.forces[i] for i in own]
            potential, *efforts = self.evaluate(
                key, parts.traced[key].function, members, (q, v, t), p, configs
            )
            V += potential[:, :, 0].sum(axis=0)
            for k, element in enumerate(members):
                for side, body in enumerate(element.bodies):
                    if body >= 0:
                        total[:, starts[body] : starts[body + 1]] += efforts[side][k]
        return total, V

    def friction(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, multipliers: FloatArray
    ) -> FloatArray:
        """Generalized forces (B, nv) of friction in joints with these reactions (B, m)."""
        return self.laws(self.parts.frictions, q, v, t, p, multipliers)

    def laws(
        self,
        laws: Sequence[JointFriction],
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        p: FloatArray,
        multipliers: FloatArray,
    ) -> FloatArray:
        """Generalized forces (B, nv) of some laws of reactions (B, m)."""
        parts, total, count = self.parts, np.zeros(v.shape), len(q)
        if not laws:
            return total
        configs, (_, starts) = self.configs(q), parts.places
        groups: dict[int, list[JointFriction]] = {}
        for one in laws:
            groups.setdefault(id(one.function), []).append(one)
        for alike in groups.values():
            members = [parts.constraints[one.constraint] for one in alike]
            slots = [
                [parts.slots[f"{one.element.name}.{n}"][0] for n in one.element.law.shapes]
                for one in alike
            ]
            rows = [range(*parts.row_starts[one.constraint :][:2]) for one in alike]
            own = np.repeat(p[np.array(slots, dtype=int)], count, axis=0)
            reactions = np.concatenate([multipliers[:, list(r)] for r in rows])
            law = alike[0].element.law
            key = ("friction", members[0].law.key, tuple(law.shapes) or law.key)
            efforts = self.evaluate(
                *(key, alike[0].function, members),
                *((q, v, t), p, configs),
                further=[own, reactions],
            )
            for k, element in enumerate(members):
                for side, body in enumerate(element.bodies):
                    if body >= 0:
                        total[:, starts[body] : starts[body + 1]] += efforts[side][k]
        return total


def bulk_rows(found: BulkRows, state: int, shape: tuple[int, int]) -> FloatArray:
    """A of one state as a dense matrix."""
    A = np.zeros(shape)
    np.add.at(A, (found.rows, found.columns), found.entries[state])
    return A


@dataclass(frozen=True)
class _BatchIndices:
    """Where elements of one law find what they are functions of.

    Attributes
    ----------
    bodies : for each of an element's nodes, the bodies of all; none for the ground.
    velocities : their places in v, (elements, nv).
    numbers : places of the elements' own numbers in p, (elements, count).
    """

    bodies: list[list[int]]
    velocities: list[np.ndarray]
    numbers: np.ndarray

    @classmethod
    def of(cls, parts: Parts, members: Sequence[Element]) -> _BatchIndices:
        """All elements of a law have the same kinds of bodies, the ground being one."""
        _, starts = parts.places
        nodes = range(len(members[0].bodies))
        bodies = [[e.bodies[k] for e in members if e.bodies[k] >= 0] for k in nodes]
        velocities = [
            np.array([range(starts[i], starts[i + 1]) for i in own], dtype=int) for own in bodies
        ]
        numbers = [
            [i for n in e.law.shapes for i in range(*parts.slots[f"{e.name}.{n}"])] for e in members
        ]
        return cls(bodies, velocities, np.array(numbers, dtype=int).reshape(len(members), -1))


def _dense(function: casadi.Function) -> casadi.Function:
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    return ca.Function(function.name(), inputs, [ca.densify(x) for x in function.call(inputs)])


def _config_function(kind: BodyKind) -> casadi.Function:
    import casadi as ca

    q = ca.SX.sym("q", kind.nq)
    return ca.Function("config", [q], [config_of(kind, q)])


def _rates_function(kind: BodyKind) -> casadi.Function:
    import casadi as ca

    q, v = ca.SX.sym("q", kind.nq), ca.SX.sym("v", kind.nv)
    return ca.Function("rates", [q, v], [ca.mtimes(kinematics(kind, q), v)])


def _body_function(kind: BodyKind, numbers: int) -> casadi.Function:
    import casadi as ca

    q, v = ca.SX.sym("q", kind.nq), ca.SX.sym("v", kind.nv)
    data, gravity = ca.SX.sym("data", numbers), ca.SX.sym("gravity", 3)
    M, force, V = body_terms(kind, config_of(kind, q), v, data, gravity)
    T = 0.5 * ca.mtimes([v.T, M, v])
    return ca.Function("body", [q, v, data, gravity], [M, force, V, T])


def _mapped(
    kernel: Kernel,
    varying: list[FloatArray],
    shared: list[FloatArray],
    further: Sequence[FloatArray] = (),
) -> list[FloatArray]:
    """Call a kernel for every row of its varying inputs; `further` ones come after the shared."""
    count = len(varying[0])
    arrays = [np.ascontiguousarray(a, dtype=float) for a in varying]
    more = [np.ascontiguousarray(a, dtype=float) for a in further]
    fixed = [np.ascontiguousarray(np.append(a, 0.0), dtype=float) for a in shared]
    results: list[FloatArray] = [np.empty((count, max(port.size, 1))) for port in kernel.outputs]
    work = kernel.work()
    pointers = len(arrays) + len(fixed) + len(more) + len(results) + 1
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers)(kernel.address)
    starts = [(a.ctypes.data, a.strides[0] if a.size else 0) for a in arrays]
    after = [(a.ctypes.data, a.strides[0] if a.size else 0) for a in more]
    ends = [(a.ctypes.data, a.strides[0]) for a in results]
    constant = [a.ctypes.data for a in fixed]
    for i in range(count):
        function(
            *(start + i * stride for start, stride in starts),
            *constant,
            *(start + i * stride for start, stride in after),
            *(start + i * stride for start, stride in ends),
            work.ctypes.data,
        )
    return [x if port.size else x[:, :0] for x, port in zip(results, kernel.outputs, strict=True)]

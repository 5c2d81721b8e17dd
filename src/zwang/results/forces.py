"""Forces of constraints at all saved states of a stretch of a run.

    mechanisms    lists of calls in lanes, see `zwang.programs.blocks.forces`
    functions     one expression in lanes, see `zwang.programs.forces`
    others        dense matrices, state by state: functions that cannot be traced, some laws

With what is compiled come doubts. Where a state has another rank than the others or lies next to a
singular position, they are too large, and the solution by dense matrices takes its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.linalg.products import transpose_matvec
from zwang.multibody.pose import BodyKind
from zwang.multibody.unknown_tooth_forces import untold_joints
from zwang.multibody.wrench import ended, joint_wrench, wrench_expression
from zwang.programs import forces as of_functions
from zwang.programs.at_states import at_states
from zwang.programs.blocks import forces as of_mechanisms
from zwang.programs.blocks.forces import BlockForces, JointEnd, Telling
from zwang.programs.forces import ForceExpressions, force_kernel
from zwang.results.run import no_state
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.codegen.kernel import Kernel
    from zwang.multibody.frozen import Parts
    from zwang.multibody.marker import Marker
    from zwang.results.run import Run, Segment
    from zwang.solvers.solution import Solution
    from zwang.system import System

__all__ = ["StretchForces", "forces_along", "forces_of"]

#: States up to which dense matrices are faster than compiling an expression that is not there yet.
FEW = 24
#: Errors, relative, up to which what is compiled is taken; 1e-13 or so where all is well.
DOUBT = 2e-11
#: How far rows that are gone may be from combinations of the others, and multipliers of least norm
#: from having the same force.
APART = 1e-10
#: Rows of unit length of which less than this is left beside others depend on them.
LEFT = 1e-9
#: Share of the force of a joint in a random dependency below which it has none.
NO_SHARE = 1e-8


class StretchForces(ABC):
    """Forces along a stretch of a run.

    Parameters
    ----------
    system : with the constraints that act.
    q, v, t : the states, shapes (n, nq), (n, nv) and (n,).
    parameters : values of all parameters.
    """

    def __init__(
        self,
        system: Any,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        parameters: Mapping[str, Any],
    ) -> None:
        self.system, self.q, self.v, self.t = system, q, v, t
        self.parameters, self.p = parameters, system.parameter_vector(parameters)

    @computed_once
    def groups(self) -> Mapping[str, list[int]]:
        """Constraint that acts → its rows."""
        kept = self.system.__dict__
        if "_force_groups" not in kept:
            kept["_force_groups"] = self.system.groups
        return kept["_force_groups"]

    @property
    @abstractmethod
    def acceleration(self) -> FloatArray:
        """v̇, shape (n, nv)."""

    @property
    @abstractmethod
    def multipliers(self) -> FloatArray:
        """λ of all rows, of least norm, shape (n, m)."""

    @property
    @abstractmethod
    def constraint_force(self) -> FloatArray:
        """Aᵀλ + C, shape (n, nv)."""

    def group_force(self, name: str) -> FloatArray:
        """A_gᵀ λ_g of one constraint, shape (n, nv)."""
        rows = self.groups[name]
        lam = self.multipliers[:, rows]
        if self.system.by_blocks:
            return self.system.group_force(name, self.q, self.v, self.t, lam, self.parameters)
        return transpose_matvec(self._rows[:, rows], lam)

    @computed_once
    def _rows(self) -> FloatArray:
        """A at all states, shape (n, m, nv)."""
        arguments = self.q, self.v, self.t, self.p
        (A,) = self.system.evaluator("rows", lambda m: {"A": m.A}, *arguments)
        return A.reshape(len(self.q), -1, self.v.shape[1])

    def wrench(self, joint: str) -> FloatArray | None:
        """What `wrench_expression` tells of a joint, shape (3 or 6, n); None if it is not there."""
        del joint

    def determinate(self, joint: str) -> np.ndarray:
        """Whether the force of a joint follows from the motion, at each state."""
        return np.array([at.get(joint, True) for at in self._determinate], dtype=bool)

    @computed_once
    def _determinate(self) -> list[dict[str, bool]]:
        return [self._told(i) for i in range(len(self.q))]

    def _told(self, state: int) -> dict[str, bool]:
        """Which joints are determinate at one state, by the passport of its reactions."""
        at = self.q[state], self.v[state], float(self.t[state])
        return self.system.determinate(*at, self.parameters)

    def _reference(self, states: np.ndarray) -> Solution:
        """The reference solution at some states."""
        return self.system.solve_at(self.q[states], self.v[states], self.t[states], self.p)


def forces_along(run: Run) -> tuple[tuple[Segment, StretchForces], ...]:
    """Stretches of a run with saved states, each with its forces, which are kept with the run."""
    kept = run.__dict__
    if not len(run):
        raise no_state()
    if "_stretch_forces" not in kept:
        kept["_stretch_forces"] = tuple(
            (
                s,
                forces_of(
                    s.system,
                    run.q[s.first : s.last],
                    run.v[s.first : s.last],
                    run.t[s.first : s.last],
                    s.parameters,
                ),
            )
            for s in run.segments
            if s.last > s.first
        )
    return kept["_stretch_forces"]


def forces_of(
    system: System, q: FloatArray, v: FloatArray, t: FloatArray, parameters: Mapping[str, Any]
) -> StretchForces:
    """Forces along a stretch of a run, by what serves its system."""
    parts: Parts | None = getattr(system, "parts", None)
    kind: type[StretchForces] = ReferenceForces
    if parts is not None and parts.workless:
        kind = LargeForces if system.by_blocks else ReferenceForces
    elif parts is not None and (system.by_blocks or not parts.frictions or system.rows_independent):
        kind = MechanismForces
    elif not (system.opaque or system.by_blocks):
        kind = FunctionForces
    return kind(system, q, v, t, parameters)


class ReferenceForces(StretchForces):
    """By dense matrices."""

    @computed_once
    def _solution(self) -> Solution:
        return self._reference(np.arange(len(self.q)))

    @property
    def acceleration(self) -> FloatArray:
        """v̇, shape (n, nv)."""
        return self._solution.acceleration

    @property
    def multipliers(self) -> FloatArray:
        """λ of all rows, of least norm, shape (n, m)."""
        return self._solution.multipliers

    @property
    def constraint_force(self) -> FloatArray:
        """Aᵀλ + C, shape (n, nv)."""
        return self._solution.constraint_force


class LargeForces(ReferenceForces):
    """Of a large mechanism with teeth, whose bearings take what motion does not depend on."""

    @computed_once
    def _pair(self) -> tuple[FloatArray, FloatArray]:
        return self.system.fast_forces(self.q, self.v, self.t, self.parameters)

    @property
    def acceleration(self) -> FloatArray:
        """v̇, shape (n, nv)."""
        return self._pair[0]

    @property
    def multipliers(self) -> FloatArray:
        """λ of all rows, shape (n, m)."""
        return self._pair[1]


# --- systems of functions -------------------------------------------------------------------------


class FunctionForces(StretchForces):
    """By one expression, with rows gone that depend on others."""

    @computed_once
    def _found(self) -> list[FloatArray]:
        """v̇, λ and Aᵀλ + C."""
        nv, m = self.v.shape[1], len(self.system.row_names)
        kernel = self._kernel()
        states = np.arange(len(self.q))
        found = np.empty((of_functions.DOUBTS + 2 * nv + m, len(states)))
        if kernel is not None:
            found = at_states(kernel, self.q, self.v, self.t, self.p)
            states = states[~((found[0] <= DOUBT) & (found[1] <= APART))]
        result = _by_state(found[of_functions.DOUBTS :], nv, m)
        if len(states):
            s = self._reference(states)
            for own, better in zip(
                result, (s.acceleration, s.multipliers, s.constraint_force), strict=True
            ):
                own[states] = better
        return result

    @property
    def acceleration(self) -> FloatArray:
        """v̇, shape (n, nv)."""
        return self._found[0]

    @property
    def multipliers(self) -> FloatArray:
        """λ of all rows, of least norm, shape (n, m)."""
        return self._found[1]

    @property
    def constraint_force(self) -> FloatArray:
        """Aᵀλ + C, shape (n, nv)."""
        return self._found[2]

    def _kernel(self) -> Kernel | None:
        """The kernel for the rows that are independent somewhere; None if it is not worth it."""
        system, kept = self.system, self.system.__dict__.setdefault("_force_kernels", {})
        some = np.unique([0, len(self.q) // 2, len(self.q) - 1])
        at = self.q[some], self.v[some], self.t[some], self.p
        singular = any(
            system.mass_is_singular(*(x[k] for x in at[:3]), self.p) for k in range(len(some))
        )
        gone = self._gone(at)
        if gone is None:
            return None
        key = gone, singular
        if key not in kept:
            if len(self.q) <= FEW:
                return None
            kept[key] = force_kernel(_expressions(system, gone, singular=singular))
        return kept[key]

    def _gone(self, at: tuple[FloatArray, ...]) -> tuple[int, ...] | None:
        """Rows that depend on others where as few as possible do, of a few states.

        None where a law needs the multipliers of all rows.
        """
        if self.system.rows_independent or not self.system.row_names:
            return ()
        terms = self.system.ideal_terms_at(*at)
        pairs = zip(terms.mass_matrix, terms.constraint_matrix, strict=True)
        gone = min((dependent_rows(M, A) for M, A in pairs), key=len)
        return None if gone and self.system.reaction_dependent else gone


def dependent_rows(M: FloatArray, A: FloatArray) -> tuple[int, ...]:
    """Numbers of rows that are combinations of the others.

    Of rows of unit length, in velocities measured by their masses, the one with most beside those
    taken already is taken next, as long as there is more than rounding of it.
    """
    mass = np.diagonal(M)
    rows = A / np.sqrt(np.where(mass > 0.0, mass, 1.0))
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0.0)
    left = set(range(len(rows)))
    while left:
        sizes = np.linalg.norm(rows, axis=1)
        most = max(left, key=sizes.__getitem__)
        if sizes[most] <= LEFT:
            break
        left.remove(most)
        unit = rows[most] / sizes[most]
        for _ in range(2):  # the second time removes what rounding left of the first
            rows = rows - np.outer(rows @ unit, unit)
        rows[most] = 0.0
    return tuple(sorted(left))


def _expressions(system: System, gone: tuple[int, ...], *, singular: bool) -> ForceExpressions:
    """What forces are computed from, with some rows gone."""
    model, state = system.model, system.model.state
    law = model.reaction_dependent
    return ForceExpressions(
        *(state.q, state.v, state.t, state.p),
        *(model.M, model.Q, model.A, model.b, model.C),
        multipliers=model.multipliers if law else None,
        pressures=model.pressures if law else None,
        gone=gone,
        singular_mass=singular,
        independent=system.rows_independent,
    )


def _by_state(found: FloatArray, nv: int, m: int) -> list[FloatArray]:
    """v̇, λ and a force, one state a row."""
    return [np.ascontiguousarray(x.T) for x in np.split(found, [nv, nv + m])]


# --- mechanisms -----------------------------------------------------------------------------------


class MechanismForces(StretchForces):
    """By lists of calls, one for the wrenches of all joints, one for everything else."""

    @property
    def acceleration(self) -> FloatArray:
        """v̇, shape (n, nv)."""
        return self._motion[0]

    @property
    def multipliers(self) -> FloatArray:
        """λ of all rows, of least norm, shape (n, m)."""
        return self._motion[1]

    @computed_once
    def constraint_force(self) -> FloatArray:  # type: ignore[override] - computed once
        """Aᵀλ + C, shape (n, nv)."""
        parts, ideal = self.system.parts, self._motion[2]
        if not parts.frictions:
            return ideal
        return ideal + self.system.bulk.friction(self.q, self.v, self.t, self.p, self.multipliers)

    def wrench(self, joint: str) -> FloatArray | None:
        """What `wrench_expression` tells of a joint, shape (3 or 6, n)."""
        place = self._places.get(joint)
        return None if place is None else self._wrenches[place]

    def determinate(self, joint: str) -> np.ndarray:
        """Whether the force of a joint follows from the motion, at each state."""
        if untold_joints(self.system.parts) or joint not in self._places:
            return super().determinate(joint)
        return self._shares[list(self._places).index(joint)] <= NO_SHARE**2

    @property
    def _blocks(self) -> BlockForces:
        kept = self.system.__dict__
        if "_block_forces" not in kept:
            kept["_block_forces"] = _block_forces(self.system)
        return kept["_block_forces"]

    @property
    def _places(self) -> dict[str, slice]:
        """Joint → where its wrench is."""
        kept = self.system.__dict__
        if "_wrench_places" not in kept:
            ends = self._blocks.ends
            last = np.cumsum([of_mechanisms.DOUBTS, *(end.told for end in ends)]).tolist()
            places = [slice(a, b) for a, b in pairwise(last)]
            kept["_wrench_places"] = dict(zip(ends_of(self.system.parts), places, strict=True))
        return kept["_wrench_places"]

    @computed_once
    def _numbers(self) -> FloatArray:
        """Parameters, and then the points of joints on their bodies."""
        kept = self.system.__dict__
        if "_joint_arms" not in kept:
            arms = [end.arm for end in ends_of(self.system.parts).values()]
            kept["_joint_arms"] = np.concatenate([np.zeros(0), *arms])
        return np.concatenate([self.p, kept["_joint_arms"]])

    def _evaluated(self, name: str) -> tuple[FloatArray, np.ndarray]:
        """The output of a kernel, and the states at which it is in doubt."""
        found = at_states(self._blocks.kernel(name), self.q, self.v, self.t, self._numbers)
        error, size, force, whole = found[: of_mechanisms.DOUBTS]
        good = (error <= DOUBT**2 * size) & (force <= APART**2 * whole)
        return found, np.flatnonzero(~good)

    @computed_once
    def _motion(self) -> list[FloatArray]:
        """v̇, λ and Aᵀλ."""
        found, doubtful = self._evaluated("motion")
        nv, m = self._blocks.nv, self._blocks.m
        result = _by_state(found[of_mechanisms.DOUBTS :], nv, m)
        if len(doubtful):
            s = self._reference(doubtful)
            ideal = s.constraint_force - s.terms.nonideal_force
            for own, better in zip(result, (s.acceleration, s.multipliers, ideal), strict=True):
                own[doubtful] = better
        return result

    @computed_once
    def _wrenches(self) -> FloatArray:
        """What is told of the ends of all joints."""
        found, doubtful = self._evaluated("wrenches")
        if not len(doubtful):
            return found
        s, parts = self._reference(doubtful), self.system.parts
        A, lam = s.terms.constraint_matrix, s.multipliers
        for name, place in self._places.items():
            rows = self.groups[name]
            force = transpose_matvec(A[:, rows], lam[:, rows])
            wrench = joint_wrench(parts, parts.joints[name], force, self.q[doubtful])
            both = np.concatenate([wrench.force, wrench.moment], axis=1)
            plane = parts.bodies[ends_of(parts)[name].body].kind.plane
            told = range(6) if plane is None else (plane[0], plane[1], 3 + plane[2])
            found[place, doubtful] = both[:, list(told)].T
        return found

    @computed_once
    def _shares(self) -> FloatArray:
        """Shares of the forces of joints in a dependency, squared, shape (joints, n)."""
        random = np.random.default_rng(0).standard_normal(self._blocks.m)
        numbers = np.concatenate([self._numbers, random])
        return at_states(self._blocks.kernel("shares"), self.q, self.v, self.t, numbers)


def ends_of(parts: Parts) -> dict[str, Marker]:
    """Joint that acts → its marker on the body that its reaction is told for, the second if any."""
    acting = {parts.owner(element.name) for element in parts.constraints}
    return {
        name: ended(joint)
        for name, joint in parts.joints.items()
        if name in acting and joint.a is not None and joint.b is not None
    }


def _block_forces(system: Any) -> BlockForces:
    """The kernels of a mechanism's forces."""
    parts: Parts = system.parts
    groups, ends = system.groups, []
    for k, (name, marker) in enumerate(ends_of(parts).items()):
        kind = parts.bodies[marker.body].kind
        telling = _telling(kind, 1.0 if marker is parts.joints[name].b else -1.0)
        ends.append(JointEnd(groups[name], marker.body, 3 * k, kind.nv, telling))
    return BlockForces(system.block_layout, ends, 3 * len(ends))


@cache
def _telling(kind: BodyKind, sign: float) -> Telling:
    """One function for all ends that are alike, since it is a key."""
    return lambda config, force, arm: wrench_expression(kind, config, force, arm, sign)

"""Forces of constraints at all saved states of a segment of a run.

    mechanisms    lists of calls in lanes, see `zwang.programs.blocks.forces`
    functions     one expression in lanes, see `zwang.programs.forces`
    others        dense matrices, state by state: functions that cannot be traced, some laws

With what is compiled come doubts. Where a state has another rank than the others or lies next to a
singular position, they are too large, and the solution by dense matrices takes its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import PassedOn, Remembered, computed_once
from zwang.equations.determinacy import determinate_joints
from zwang.errors import ZwangError
from zwang.linalg.products import transpose_matvec
from zwang.multibody.pose import BodyKind
from zwang.multibody.unknown_tooth_forces import untold_joints
from zwang.multibody.wrench import ended, joint_wrench, wrench_expression
from zwang.programs import forces as of_functions
from zwang.programs.at_states import at_states, joined, told_at_states
from zwang.programs.blocks import forces as of_mechanisms
from zwang.programs.blocks.forces import BlockForces, JointEnd, Telling
from zwang.programs.blocks.known_rank import mark_of
from zwang.programs.forces import ForceExpressions, force_kernel
from zwang.results.segments import no_state
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.codegen.kernel import Kernel
    from zwang.equations.contract import Equations
    from zwang.equations.mechanism import MechanismEquations
    from zwang.multibody.frozen import Parts
    from zwang.multibody.marker import Marker
    from zwang.results.run import Run
    from zwang.results.segments import Segment
    from zwang.solvers.solution import Solution

__all__ = ["StretchForces", "forces_along", "forces_of", "told_for_all_joints"]

#: Errors, relative, up to which what is compiled is taken; 1e-13 or so where all is well.
DOUBT = 2e-11
#: How far rows that are gone may be from combinations of the others, and multipliers of least norm
#: from having the same force.
APART = 1e-10
#: Rows of unit length of which less than this is left beside others depend on them.
LEFT = 1e-9
#: Both, as squares.
LIMITS = np.array([DOUBT**2, APART**2])
#: Kernels of forces that are remembered with the parameters of a run.
KEPT = 8
#: Share of the force of a joint in a random dependency below which it has none.
NO_SHARE = 1e-8

#: A kernel, and the numbers that it is given as parameters.
KernelNumbers = tuple["Kernel", FloatArray]


class StretchForces(ABC):
    """Forces along a segment of a run.

    Parameters
    ----------
    equations : with the constraints that act.
    y, t : the states, q and v side by side, shape (n, nq + nv), and times (n,).
    parameters : values of all parameters.
    p : the same as one array, if it is known.
    """

    def __init__(
        self,
        equations: Equations,
        y: FloatArray,
        t: FloatArray,
        parameters: Mapping[str, Any],
        p: FloatArray | None = None,
    ) -> None:
        self.equations, self.y, self.t = equations, y, t
        self.parameters = parameters
        self.p = equations.parameter_vector(parameters) if p is None else p

    @computed_once
    def q(self) -> FloatArray:
        """Coordinates, shape (n, nq)."""
        return self.y[:, : len(self.equations.coordinates)]

    @computed_once
    def v(self) -> FloatArray:
        """Velocities, shape (n, nv)."""
        return self.y[:, len(self.equations.coordinates) :]

    @computed_once
    def kept(self) -> ForceKernels:
        """What is made for these equations once."""
        return ForceKernels.of(self.equations)

    @computed_once
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Constraint that acts → its rows."""
        return self.kept.groups

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
        elements = self.equations.by_elements
        if elements is not None:
            return elements.group_force(name, self.q, self.v, self.t, lam, self.parameters)
        return transpose_matvec(self._rows[:, rows], lam)

    @computed_once
    def _rows(self) -> FloatArray:
        """A at all states, shape (n, m, nv)."""
        arguments = self.q, self.v, self.t, self.p
        (A,) = self.equations.evaluator("rows", lambda m: {"A": m.A}, *arguments)
        return A.reshape(len(self.q), -1, self.v.shape[1])

    @computed_once
    def wrenches(self) -> Mapping[str, FloatArray]:
        """Joint → force and moment in the world, shape (n, 6), where they are known together."""
        return {}

    def determinate(self, joint: str) -> np.ndarray:
        """Whether the force of a joint follows from the motion, at each state."""
        told = self._sharing
        if told is not None and joint in told.shares:
            return told.shares[joint] <= NO_SHARE**2
        return np.array([at.get(joint, True) for at in self._determinate], dtype=bool)

    @computed_once
    def _sharing(self) -> MechanismForces | None:
        """What tells the determinacy of all joints at once; None where there is no such thing."""
        if not told_for_all_joints(self.equations):
            return None
        return MechanismForces(
            self.equations, joined(self.q, self.v), self.t, self.parameters, self.p
        )

    @computed_once
    def _determinate(self) -> list[dict[str, bool]]:
        return [self._told(i) for i in range(len(self.q))]

    def _told(self, state: int) -> dict[str, bool]:
        """Which joints are determinate at one state, by the passport of its reactions."""
        bodies = self.equations.of_bodies
        assert bodies is not None
        return determinate_joints(bodies, (self.q[state], self.v[state], self.t[state], self.p))

    def _reference(self, states: np.ndarray) -> Solution:
        """The reference solution at some states."""
        try:
            return self.equations.solve_at(self.q[states], self.v[states], self.t[states], self.p)
        except ZwangError as error:
            if error.batch_place is None:
                raise
            raise error.at_time(float(self.t[states[error.batch_place[0]]])) from None


def forces_along(run: Run) -> tuple[tuple[Segment, StretchForces], ...]:
    """Segments of a run with saved states, each with its forces; see `Run.segment_forces`."""
    if not len(run):
        raise no_state()
    if run.force_record is not None:
        return run.force_record.along(run)
    along, y, t = [], run.joined_states, run.t
    for s in run.segments:
        if s.last > s.first:
            kind, here = ForceKernels.of(s.system.equations).kind, slice(s.first, s.last)
            along.append((s, kind(s.system.equations, y[here], t[here], s.parameters, s.p)))
    return tuple(along)


def forces_of(
    equations: Equations,
    q: FloatArray,
    v: FloatArray,
    t: FloatArray,
    parameters: Mapping[str, Any],
    p: FloatArray | None = None,
) -> StretchForces:
    """Forces at states (n, nq), (n, nv), (n,), by what serves equations; see `StretchForces`."""
    return ForceKernels.of(equations).kind(equations, joined(q, v), t, parameters, p)


def _kind_of(equations: Equations) -> type[StretchForces]:
    parts, by_elements = equations.mechanism, equations.by_elements is not None
    if parts is not None and parts.workless:
        return LargeForces if by_elements else ReferenceForces
    if parts is not None and (by_elements or not parts.frictions or equations.rows_independent):
        return MechanismForces
    return ReferenceForces if equations.opaque or by_elements else FunctionForces


def told_for_all_joints(equations: Equations) -> bool:
    """Whether one kernel tells at which states the reactions of all joints are determinate.

    It looks at the constraints alone: friction, which takes another kind of forces, has no part.
    """
    parts = equations.mechanism
    if parts is None or _kind_of(equations) not in (MechanismForces, FunctionForces):
        return False
    return not untold_joints(parts)


class ForceKernels(PassedOn):
    """What forces of some equations are computed with.

    Attributes
    ----------
    kind : what serves these equations.
    groups : constraint that acts → its rows.
    of_functions : rows gone and whether the mass is singular → kernel.
    """

    @classmethod
    def of(cls, equations: Equations) -> ForceKernels:
        """Those that are kept with equations."""
        return equations.cache.once(cls, lambda: cls(equations))

    def __init__(self, equations: Equations) -> None:
        self.equations, self.groups = equations, equations.groups
        self.kind = _kind_of(equations)
        self.of_functions: dict[tuple[tuple[int, ...], bool], Kernel] = {}


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
        elements = self.equations.by_elements
        assert elements is not None
        return elements.fast_forces(self.q, self.v, self.t, self.parameters)

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
        nv, m = self.v.shape[1], len(self.equations.row_names)
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
        """The kernel for the rows that are independent somewhere; None where a law rules it out."""
        equations, kept = self.equations, self.kept.of_functions
        some = np.unique([0, len(self.q) // 2, len(self.q) - 1])
        at = self.q[some], self.v[some], self.t[some], self.p
        singular = any(
            equations.mass_is_singular(q, v, t, self.p) for q, v, t in zip(*at[:3], strict=True)
        )
        gone = self._gone(at)
        if gone is None:
            return None
        key = gone, singular
        if key not in kept:  # for few states too, which have the same bits in company and alone
            kept[key] = force_kernel(_expressions(equations, gone, singular=singular))
        return kept[key]

    def _gone(self, at: tuple[FloatArray, ...]) -> tuple[int, ...] | None:
        """Rows that depend on others where as few as possible do, of a few states.

        None where a law needs the multipliers of all rows.
        """
        if self.equations.rows_independent or not self.equations.row_names:
            return ()
        terms = self.equations.ideal_terms_at(*at)
        pairs = zip(terms.mass_matrix, terms.constraint_matrix, strict=True)
        gone = min((dependent_rows(M, A) for M, A in pairs), key=len)
        return None if gone and self.equations.reaction_dependent else gone


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


def _expressions(
    equations: Equations, gone: tuple[int, ...], *, singular: bool
) -> ForceExpressions:
    """What forces are computed from, with some rows gone."""
    model, state = equations.model, equations.model.state
    law = model.reaction_dependent
    return ForceExpressions(
        *(state.q, state.v, state.t, state.p),
        *(model.M, model.Q, model.A, model.b, model.C),
        multipliers=model.multipliers if law else None,
        pressures=model.pressures if law else None,
        gone=gone,
        singular_mass=singular,
        independent=equations.rows_independent,
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

    @property
    def constraint_force(self) -> FloatArray:
        """Aᵀλ + C, shape (n, nv)."""
        return self._constraint_force

    @computed_once
    def _constraint_force(self) -> FloatArray:
        bodies, ideal = self.bodies, self._motion[2]
        if not bodies.parts.frictions:
            return ideal
        return ideal + bodies.bulk.friction(self.q, self.v, self.t, self.p, self.multipliers)

    @computed_once
    def wrenches(self) -> Mapping[str, FloatArray]:
        """Joint → force and moment in the world, shape (n, 6); teeth push apart besides.

        They may not be written to.
        """
        found, doubtful = self._by_rank("wrenches", of_mechanisms.WRENCH)
        if len(doubtful):
            self._correct(found, doubtful)
        found.flags.writeable = False
        told = dict(zip(self._places, found, strict=True))
        for name in self._ends.toothed:
            del told[name]
        return told

    @computed_once
    def _sharing(self) -> MechanismForces | None:
        """Itself, where determinacy is told for all joints."""
        return self if told_for_all_joints(self.equations) else None

    @computed_once
    def _ends(self) -> _JointEnds:
        return self.equations.cache.once(_JointEnds, lambda: _JointEnds(self.bodies))

    @computed_once
    def bodies(self) -> MechanismEquations:
        """The equations, those of a mechanism."""
        assert self.equations.of_bodies is not None
        return self.equations.of_bodies

    @property
    def _blocks(self) -> BlockForces:
        return self._ends.blocks

    @property
    def _places(self) -> dict[str, int]:
        """Joint → its number among those with wrenches."""
        return self._ends.places

    def _by_rank(self, name: str, columns: int) -> tuple[FloatArray, np.ndarray]:
        """What kernels of a name tell of all states, in tables, and the states in doubt.

        Each state is that of one kernel, by its number of dependent rows, whichever is asked first.
        """
        ends, y, t = self._ends, self.y, self.t
        first, *others = ends.ranks
        kernel, numbers = ends.kernel(name, first, self.p)
        found, left, marks = told_at_states(kernel, y, t, numbers, LIMITS, columns)
        if not len(left):
            return found, left
        doubtful = [left[marks < 0.0]]
        for rank in others:
            here = left[marks == mark_of(rank)]
            if len(here):
                kernel, numbers = ends.kernel(name, rank, self.p)
                of_rank = told_at_states(kernel, y[here], t[here], numbers, LIMITS, columns)
                found[:, here] = of_rank[0]
                doubtful.append(here[of_rank[1]])
            if 2 * len(here) > len(t):
                ends.ask_first(rank)
        return found, np.sort(np.concatenate(doubtful))

    @computed_once
    def _motion(self) -> list[FloatArray]:
        """v̇, λ and Aᵀλ."""
        nv, m = self._blocks.nv, self._blocks.m
        (found,), doubtful = self._by_rank("motion", nv + m + nv)
        result = [found[:, :nv], found[:, nv : nv + m], found[:, nv + m :]]
        if len(doubtful):
            s = self._reference(doubtful)
            ideal = s.constraint_force - s.terms.nonideal_force
            for own, better in zip(result, (s.acceleration, s.multipliers, ideal), strict=True):
                own[doubtful] = better
        return result

    def _correct(self, found: FloatArray, doubtful: np.ndarray) -> None:
        """Put the reference solution in place of wrenches at some states."""
        s, parts = self._reference(doubtful), self.bodies.parts.at_vector(self.p)
        A, lam = s.terms.constraint_matrix, s.multipliers
        for name, place in self._places.items():
            rows = self.groups[name]
            force = transpose_matvec(A[:, rows], lam[:, rows])
            wrench = joint_wrench(parts, parts.joints[name], force, self.q[doubtful])
            found[place, doubtful] = np.concatenate([wrench.force, wrench.moment], axis=1)

    @computed_once
    def shares(self) -> dict[str, FloatArray]:
        """Joint → its share in a dependency of forces, squared, at each state."""
        numbers = self._ends.numbers(self.p, random=True)
        kernel = self._blocks.kernel("shares", numbers)
        found = at_states(kernel, self.q, self.v, self.t, numbers)
        return {name: found[place] for name, place in self._places.items()}


class _JointEnds(PassedOn):
    """What of a mechanism its forces are computed with: kernels, and the points of joints."""

    def __init__(self, equations: MechanismEquations) -> None:
        self.parts = equations.parts
        self.places = {name: k for k, name in enumerate(ends_of(self.parts))}
        self.toothed = [name for name in self.places if self.parts.joints[name].toothed]
        self.blocks = _block_forces(equations)
        #: Those of `BlockForces.ranks`, the one first that served last. It decides about no number.
        self.ranks = self.blocks.ranks
        #: By the name and rank of a kernel: parameters in bits, and what the last run was given.
        self._latest: dict[tuple[str, int | None], tuple[bytes, KernelNumbers]] = {}
        #: The same by the parameters too: those of the runs before.
        self._given: Remembered[tuple[str, int | None, bytes], KernelNumbers] = Remembered(KEPT)

    def for_another(self) -> _JointEnds:
        """The same, asked in the order of `BlockForces.ranks`."""
        other = copy(self)
        other.ranks = self.blocks.ranks
        return other

    def ask_first(self, rank: int | None) -> None:
        """Begin with the kernel of a rank from now on."""
        self.ranks = (rank, *(other for other in self.ranks if other != rank))

    def numbers(self, p: FloatArray, *, random: bool = False) -> FloatArray:
        """Parameters, and then the points of all joints on their bodies, three numbers each.

        After them random numbers, one for each row, where they are asked for.
        """
        arms = [end.arm for end in ends_of(self.parts.at_vector(p)).values()]
        rows = self.blocks.m if random else 0
        return np.concatenate([p, *arms, np.random.default_rng(0).standard_normal(rows)])

    def kernel(self, name: str, rank: int | None, p: FloatArray) -> KernelNumbers:
        """A kernel, see `BlockForces.kernel`, and the numbers that it is given as parameters."""
        bits, latest = p.tobytes(), self._latest.get((name, rank))
        if latest is None or latest[0] != bits:  # comparing takes a tenth of what looking up does
            latest = self._latest[name, rank] = bits, self._looked_up(name, rank, p, bits)
        return latest[1]

    def _looked_up(self, name: str, rank: int | None, p: FloatArray, bits: bytes) -> KernelNumbers:
        found = self._given.get((name, rank, bits))
        if found is None:
            numbers = self.numbers(p, random=bool(rank))
            kernel = self.blocks.kernel(name, numbers, rank)
            found = self._given[name, rank, bits] = kernel, numbers
        return found


def ends_of(parts: Parts) -> dict[str, Marker]:
    """Joint that acts → its marker on the body that its reaction is told for, the second if any."""
    acting = {parts.owner(element.name) for element in parts.constraints}
    return {
        name: ended(joint)
        for name, joint in parts.joints.items()
        if name in acting and joint.a is not None and joint.b is not None
    }


def _block_forces(equations: MechanismEquations) -> BlockForces:
    """The kernels of a mechanism's forces."""
    parts, groups, ends = equations.parts, equations.groups, []
    for k, (name, marker) in enumerate(ends_of(parts).items()):
        kind = parts.bodies[marker.body].kind
        telling = _telling(kind, 1.0 if marker is parts.joints[name].b else -1.0)
        ends.append(JointEnd(groups[name], marker.body, 3 * k, telling))
    return BlockForces(equations.block_layout, ends, 3 * len(ends))


@cache
def _telling(kind: BodyKind, sign: float) -> Telling:
    """One function for all ends that are alike, since it is a key."""
    return lambda config, force, arm: wrench_expression(kind, config, force, arm, sign)

"""Ensemble simulation: the programs, what `select_program` says for each of many starts.

What starts have in common is decided once; only where one needs a closer look is each asked for by
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.coordinates.joint.programs import FOREIGN
from zwang.coordinates.possible import PossibleCoordinates
from zwang.equations.active_rows import ActiveRows, redundant_rows_of_many
from zwang.equations.many_states import all_regular, terms_at
from zwang.integrators.settings import Coordinates, Settings
from zwang.programs.contract import Program
from zwang.programs.cost import COST
from zwang.simulation.repeated_joints import RepeatedJoints
from zwang.simulation.select_program import (
    ProgramStart,
    against_tree,
    in_joints,
    joint_constants,
    joints_once,
    link_by_link,
    may_be_redundant,
    only_own_coordinates,
    select_program,
)
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.coordinates.planar.equations import PlanarEquations
    from zwang.equations.contract import Equations
    from zwang.multibody.frozen import Parts

__all__ = ["EnsembleStarts", "ProgramGroups", "select_programs"]


class EnsembleStarts(NamedTuple):
    """Starts of an ensemble that ask for their programs together.

    Attributes
    ----------
    Y, P : states (N, n) and parameters (N, np).
    t : time of all.
    settings, lanes : as for one.
    terms : gives M (N, nv, nv) and A (N, m, nv) there, where they are needed.
    """

    Y: FloatArray
    t: float
    P: FloatArray
    settings: Settings
    lanes: int
    terms: Callable[[], tuple[FloatArray, FloatArray]]

    def start(self, i: int) -> ProgramStart:
        """One of them."""
        return ProgramStart(self.Y[i], self.t, self.P[i])

    def with_rows(self, kept: Sequence[int]) -> EnsembleStarts:
        """The same with some of the rows of A."""

        def terms() -> tuple[FloatArray, FloatArray]:
            M, A = self.terms()
            return M, A[:, list(kept)]

        return self._replace(terms=terms)


#: Programs, each with the numbers of the starts that take it.
ProgramGroups = list[tuple[Program, np.ndarray]]


def select_programs(
    equations: Equations, starts: EnsembleStarts, *, regular: bool
) -> ProgramGroups:
    """The programs that starts take, each with the numbers of those.

    Parameters
    ----------
    regular : whether M is regular at all of them.
    """
    settings, lanes, mechanism = starts.settings, starts.lanes, equations.mechanism

    def one(i: int, active: ActiveRows | None = None) -> Program:
        singular = False if regular and active is not None else None
        return select_program(
            equations, starts.start(i), settings, lanes, singular=singular, active=active
        )

    every = range(len(starts.Y))
    repeated = RepeatedJoints.of(equations)
    one_by_one = repeated is not None and repeated.differ(starts.P)
    once = None if one_by_one else joints_once(equations, settings, starts.P[0])
    if once is not None:
        found = select_programs(once.equations, starts.with_rows(once.kept), regular=regular)
        return [(once.numbered(program), members) for program, members in found]
    if one_by_one or equations.by_elements is not None:
        return _grouped([one(i) for i in every])
    if mechanism is not None and not only_own_coordinates(mechanism, settings):
        together = _together(equations, mechanism, starts)
        return together or _grouped([one(i) for i in every])
    active = _active_rows(equations, starts)
    if not regular:
        return _grouped([one(i, rows) for i, rows in zip(every, active, strict=True)])
    # Where M is regular at all starts, programs differ in the rows alone that act.
    kinds: dict[ActiveRows, list[int]] = {}
    for i, rows in zip(every, active, strict=True):
        kinds.setdefault(rows, []).append(i)
    return [(one(members[0], rows), np.array(members)) for rows, members in kinds.items()]


def _grouped(programs: Sequence[Program]) -> ProgramGroups:
    """Programs, each once, with the numbers of the starts that take it."""
    found: dict[int, tuple[Program, list[int]]] = {}
    for i, program in enumerate(programs):
        found.setdefault(id(program), (program, []))[1].append(i)
    return [(program, np.array(members)) for program, members in found.values()]


def _joined(groups: ProgramGroups) -> ProgramGroups:
    """The same with each program once."""
    found: dict[int, tuple[Program, list[np.ndarray]]] = {}
    for program, members in groups:
        found.setdefault(id(program), (program, []))[1].append(members)
    return [(program, np.sort(np.concatenate(some))) for program, some in found.values()]


def _active_rows(equations: Equations, starts: EnsembleStarts) -> list[ActiveRows]:
    """Rows that act at each of many starts."""
    Y, t, P, settings, _, terms = starts
    if not may_be_redundant(equations, settings) or not len(Y):
        return [ActiveRows()] * len(Y)
    return redundant_rows_of_many(equations, Y, t, P, settings.until - t, *terms())


def _together(
    equations: Equations, mechanism: Parts, starts: EnsembleStarts
) -> ProgramGroups | None:
    """The programs of a mechanism; None if starts are to be looked at by themselves."""
    Y, _, P, settings, _, _ = starts
    asked, planar = settings.coordinates, mechanism.kind.plane is not None
    if len(equations.velocities) >= COST.pivot_velocities:
        return None
    if asked is Coordinates.ABSOLUTE or (planar and asked is not Coordinates.JOINT):
        return _folded(equations, mechanism, starts)
    if planar:
        return None
    without_plane = asked is Coordinates.JOINT
    if asked is not Coordinates.JOINT and len(mechanism.bodies) <= COST.planar_bodies:
        found = PossibleCoordinates.of(mechanism, equations.cache).all_in_plane(Y, P)
        if found is not None:
            return _in_plane(found, equations, starts)
        found = PossibleCoordinates.of(mechanism, equations.cache).in_plane(Y[0], P[0])
        without_plane = asked is Coordinates.AUTO and isinstance(found, str)
    alike = bool(np.all(P[0] == P))
    return _in_joints(equations, mechanism, starts) if without_plane and alike else None


def _folded(equations: Equations, mechanism: Parts, starts: EnsembleStarts) -> ProgramGroups:
    """The programs in the mechanism's own coordinates."""
    Y, t, P, settings, lanes, terms = starts
    possible, groups = PossibleCoordinates.of(mechanism, equations.cache), ProgramGroups()
    for some in possible.structure.alike(P):
        found = possible.folded(P[some[0]])
        singular = found.singular_masses(P[some])
        if equations.rows_independent:
            active: Sequence[ActiveRows] = [ActiveRows()] * len(some)
        else:
            M, A = terms()
            rows = A[some][:, list(found.rows)]
            active = redundant_rows_of_many(
                found, Y[some], t, P[some], settings.until - t, M[some], rows
            )
        for (acting, light), group in _kinds(some, active, singular).items():
            groups.append((found.program_of(acting, lanes, singular=light), group))
    return _joined(groups)


def _kinds(
    members: np.ndarray, active: Sequence[ActiveRows], singular: np.ndarray
) -> dict[tuple[ActiveRows, bool], np.ndarray]:
    """Numbers of starts by the rows that act and by whether M is singular."""
    if len(set(map(id, active))) == 1 and np.all(singular == singular[0]):
        return {(active[0], bool(singular[0])): members}
    kinds: dict[tuple[ActiveRows, bool], list[int]] = {}
    for i, acting, light in zip(members.tolist(), active, singular.tolist(), strict=True):
        kinds.setdefault((acting, light), []).append(i)
    return {kind: np.array(some) for kind, some in kinds.items()}


def _in_plane(
    planar: Sequence[tuple[PlanarEquations, np.ndarray]],
    equations: Equations,
    starts: EnsembleStarts,
) -> ProgramGroups:
    """The programs in planar coordinates: one is selected for each set of rows that act."""
    Y, t, P, settings, lanes, _ = starts
    groups: ProgramGroups = []
    for found, some in planar:
        if found.rows_independent:
            active: Sequence[ActiveRows] = [ActiveRows()] * len(some)
        else:
            assert found.carrier is not None
            states, numbers = found.carrier.entered_rows(Y[some], t, P[some])
            M, A = terms_at(found, states, t, numbers)
            active = redundant_rows_of_many(found, states, t, numbers, settings.until - t, M, A)
        for group in _kinds(some, active, found.singular_masses(P[some])).values():
            program = select_program(equations, starts.start(group[0]), settings, lanes)
            groups.append((program, group))
    return _joined(groups)


def _in_joints(
    equations: Equations, mechanism: Parts, starts: EnsembleStarts
) -> ProgramGroups | None:
    """The programs in the coordinates of the joints; None if one needs a closer look."""
    Y, t, P, settings, lanes, _ = starts
    constants = joint_constants(equations, mechanism, P[0])
    by_link = link_by_link(constants, settings)
    if by_link or against_tree(constants.found.tree, settings, by_link=False):
        return None
    found = constants.system
    entered = found.carrier.all_reached(Y, t, P, FOREIGN)
    if entered is None:
        return None
    if not found.rows:
        if constants.has_massless_motion:
            return None
        return [(in_joints(found, ActiveRows(), lanes, singular=False), np.arange(len(Y)))]
    states, p_joint = entered
    M, A = terms_at(found, states, t, p_joint)
    if not all_regular(M):
        return None
    rows = redundant_rows_of_many(found, states, t, p_joint, settings.until - t, M, A)
    if settings.coordinates is not Coordinates.JOINT and not all(x.distinct for x in rows):
        return None
    return _grouped([in_joints(found, active, lanes, singular=False) for active in rows])

"""Which coordinates, constraint rows and program a simulation uses: the one place that decides.

    what is asked for  ─►  what is possible  ─►  what is cheapest

| equations | coordinates | program |
| --- | --- | --- |
| bodies on a tree of joints | joint | the articulated-body recursion: one expression, or by links |
| the same with loops | joint | one expression |
| bodies in space that joints hold to a plane | planar | one expression |
| a large mechanism, explicit methods | absolute | block by block |
| other mechanisms | absolute | one expression with what is structure folded in |
| functions | their own | one expression |
| functions that cannot be traced, formulations by name | their own | evaluated in Python |

They are tried in this order, planar coordinates before those of joints where lanes are not nodes of
one trajectory. What is not possible, or not cheaper, gives its reason as a sentence;
where it was asked for, that is the refusal. Sizes that decide are in `zwang.programs.cost`. What a
run, an event or a reaction sees is in the coordinates of the system in all cases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.caching import Remembered
from zwang.coordinates.joint.programs import (
    FOREIGN,
    JointConstants,
    JointCoordinateCache,
    factor_work,
)
from zwang.coordinates.possible import PossibleCoordinates
from zwang.equations.active_pivots import dependent_on_earlier
from zwang.equations.active_rows import ActiveRows, redundant_rows, verdict_at
from zwang.equations.program_expressions import expressions_of, with_positive_mass
from zwang.errors import InputError
from zwang.integrators.settings import Coordinates, Drift, Settings
from zwang.programs.cache import ReferenceKey, RenumberedKey, WholeKey
from zwang.programs.contract import Program
from zwang.programs.cost import COST
from zwang.programs.whole import WholeProgram, fuse
from zwang.simulation.reference import reference_program
from zwang.simulation.repeated_joints import JointsOnce, RepeatedJoints
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.coordinates.folded import FoldedEquations
    from zwang.coordinates.joint.system import JointEquations
    from zwang.coordinates.joint.tree import Tree
    from zwang.coordinates.planar.equations import PlanarEquations
    from zwang.equations.contract import Equations
    from zwang.multibody.frozen import Parts

__all__ = [
    "LatestProgram",
    "ProgramStart",
    "in_python",
    "joints_once",
    "only_own_coordinates",
    "select_program",
]

CHEAPER_IN_PLANE = "a plane, in which the coordinates of bodies are cheaper"
CHEAPER_BY_LINK = "a tree of joints, which is cheaper from link to link"
UNREACHED = "a state that its joints, as placed, do not reach"
#: Rows of a joint in space that hold its bodies to a plane in which others hold them already.
ACROSS = 3
#: What coordinates other than the system's own take, for those who ask for them.
EXPECTED = {
    Coordinates.PLANAR: "be used for a mechanism whose joints hold all bodies to a plane",
    Coordinates.JOINT: "be used for a mechanism that has joint coordinates",
}
#: Rows that are this near to dependence, relative, count as redundant: a start may be off its
#: constraints by as much, and redundant rows are dependent on them alone.
NEARLY_DEPENDENT = 1e-5


class ProgramStart(NamedTuple):
    """Where a program begins.

    Attributes
    ----------
    y : coordinates and velocities as one array.
    t : time [s].
    p : parameters.
    """

    y: FloatArray
    t: float
    p: FloatArray


class LatestProgram:
    """The program that was selected last: calls in a row begin at one start, or end up there.

    Attributes
    ----------
    most : starts whose programs are known.
    """

    most = 1

    def __init__(self) -> None:
        self._known: Remembered[Any, tuple[Settings, Program]] = Remembered(self.most)

    @classmethod
    def of(cls, equations: Equations) -> LatestProgram:
        """That of some equations."""
        return equations.cache.once(cls, cls)

    def select(self, equations: Equations, start: ProgramStart, settings: Settings) -> Program:
        """`select_program`, unless all that decides is as it was."""
        key = start.y.tobytes(), start.t, start.p.tobytes()
        known = self._known.get(key)
        if known is not None and known[0] == settings:
            return known[1]
        program = select_program(equations, start, settings)
        self._known[key] = settings, program
        return program


def select_program(
    equations: Equations,
    start: ProgramStart,
    settings: Settings,
    lanes: int = 1,
    *,
    singular: bool | None = None,
    active: ActiveRows | None = None,
) -> Program:
    """The program of some equations from a start on; parameters are inputs, not part of it.

    What is asked for, then what is possible, then what is cheapest.

    Parameters
    ----------
    settings : which coordinates, integrator, formulation and treatment of drift are asked for.
    lanes : trajectories side by side.
    singular, active : whether M is singular and which rows act, for equations in their own
        coordinates; found at the start unless they are known.

    Raises
    ------
    InputError : coordinates are asked for that these equations do not have; it says why.
    """
    given, mechanism = _Selection(equations, start, settings, lanes), equations.mechanism
    if mechanism is not None:
        once = joints_once(equations, settings, start.p)
        if once is not None:
            return once.numbered(select_program(once.equations, start, settings, lanes))
        program = _in_other_coordinates(given, mechanism)
        if program is not None:
            return program
        elements = equations.by_elements
        if elements is not None:
            if _by_blocks(settings):
                rows = elements.active_rows(start.y[: len(equations.coordinates)], *start[1:])
                return elements.block_program(rows.inactive, lanes, distinct=rows.distinct)
        elif not only_own_coordinates(mechanism, settings):
            folded = PossibleCoordinates.of(mechanism, equations.cache).folded(start.p)
            return folded.program(_rows_of_folded(folded, start, settings), start.p, lanes)
    if singular is None:
        (y, t, p), nq = start, len(equations.coordinates)
        singular = equations.mass_is_singular(y[:nq], y[nq:], np.asarray(t), p)
    if in_python(equations, settings):
        return _evaluated_in_python(given, singular=singular)
    return _whole(given, _active_rows(given) if active is None else active, singular=singular)


def joints_once(equations: Equations, settings: Settings, p: FloatArray) -> JointsOnce | None:
    """A mechanism without the joints that repeat others for some parameters; None if none does.

    Formulations by name, methods of fixed steps and friction look at the reactions of all rows.
    """
    repeated, mechanism = RepeatedJoints.of(equations), equations.mechanism
    if repeated is None or mechanism is None or only_own_coordinates(mechanism, settings):
        return None
    return repeated.left_out(p)


class _Selection(NamedTuple):
    """What a program is selected for."""

    equations: Equations
    start: ProgramStart
    settings: Settings
    lanes: int


def _in_other_coordinates(given: _Selection, mechanism: Parts) -> Program | None:
    """The program of a mechanism in planar or joint coordinates; None for its own."""
    asked, against = given.settings.coordinates, only_own_coordinates(mechanism, given.settings)
    attempts = [(Coordinates.PLANAR, _in_plane), (Coordinates.JOINT, _in_joints)]
    if given.settings.method.nodes:
        attempts.reverse()  # as for one that is built in its plane, see `against_tree`
    for coordinates, attempt in attempts:
        in_plane_already = mechanism.kind.plane is not None and coordinates is Coordinates.PLANAR
        if in_plane_already or asked not in (Coordinates.AUTO, coordinates):
            continue
        program = against or attempt(given, mechanism)
        if not isinstance(program, str):
            return program
        if asked is coordinates:
            raise _refusal(coordinates, program)
    return None


def _refusal(coordinates: Coordinates, why: str) -> InputError:
    return InputError(
        f"coordinates={coordinates.value!r}",
        must=EXPECTED[coordinates],
        but=f"this one has {why}",
        advice="coordinates='auto' chooses the coordinates that apply.",
    )


def only_own_coordinates(mechanism: Parts, settings: Settings) -> str:
    """What keeps a mechanism to its own equations, whatever its shape; empty if nothing."""
    if settings.formulation != "auto":
        return f"formulation={settings.formulation!r}, which is in the coordinates of bodies"
    if settings.method.fixed_step or settings.drift is Drift.BAUMGARTE:
        return f"{settings.integrator!r} with drift={settings.drift.value!r}, for bodies in space"
    if mechanism.frictions:
        return "friction, which depends on the reactions of all rows"
    return ""


def in_python(equations: Equations, settings: Settings) -> str:
    """Why equations are evaluated in Python, a note; empty if they are compiled."""
    slower = "the equations of motion were evaluated in Python, which is slower"
    if settings.formulation != "auto":
        return f"accelerations are those of {settings.formulation!r}: {slower}"
    if equations.opaque:
        return f"{', '.join(equations.opaque)} cannot be traced: {slower}"
    return ""


# --- planar coordinates ---------------------------------------------------------------------------


def _in_plane(given: _Selection, mechanism: Parts) -> Program | str:
    """The program of a mechanism in its plane, or what speaks against one."""
    if len(mechanism.bodies) > COST.planar_bodies:
        return f"{len(mechanism.bodies)} bodies, which is more than {COST.planar_bodies}"
    start, settings = given.start, given.settings
    if settings.coordinates is Coordinates.AUTO and len(mechanism.bodies) > COST.link_by_link:
        constants = joint_constants(given.equations, mechanism, start.p)
        if link_by_link(constants, settings):
            return CHEAPER_BY_LINK
    found = PossibleCoordinates.of(mechanism, given.equations.cache).in_plane(start.y, start.p)
    if isinstance(found, str):
        return found
    rows = _rows_of_folded(found, start, settings)
    inner = found.program(rows, start.p, given.lanes)
    return found.cache.program(
        RenumberedKey(found.key(rows, start.p, given.lanes)),
        lambda: replace(inner, left_out=_inactive_in_plane(found, inner, given)),
    )


def _inactive_in_plane(
    found: PlanarEquations, inner: WholeProgram, given: _Selection
) -> tuple[int, ...]:
    """The rows that do not act in a plane, numbered as the mechanism's.

    Of the rows that vanished on the way to fewer coordinates, those that others imply are counted
    among them: a mechanism has as many redundant equations in all coordinates.
    """
    equations, (y, t, p) = given.equations, given.start
    if equations.rows_independent:
        return ()
    nq = len(equations.coordinates)
    A = equations.ideal_terms_at(y[:nq], y[nq:], np.asarray(t), p).constraint_matrix
    if not found.rows_of_mechanism:
        return tuple(sorted(dependent_on_earlier(A)))
    inactive = [found.rows[i] for i in inner.left_out]
    vanished = sorted(set(range(len(A))) - set(found.rows))
    inactive += [vanished[i] for i in dependent_on_earlier(A[vanished])]
    return tuple(sorted(inactive))


def _rows_of_folded(found: FoldedEquations, start: ProgramStart, settings: Settings) -> ActiveRows:
    """The rows that act in one expression of a mechanism, in its plane or not."""
    if found.rows_independent:
        return ActiveRows()
    y, p = found.entered(*start)
    if len(found.velocities) < COST.pivot_velocities:
        return redundant_rows(
            found, y, start.t, p, settings.until - start.t, ahead=looks_ahead(settings)
        )
    return found.rows_by_pivots(y, start.t, p)


# --- joint coordinates ----------------------------------------------------------------------------


def _in_joints(given: _Selection, mechanism: Parts) -> Program | str:
    """The program of a mechanism in the coordinates of its joints, or what speaks against it."""
    (y, t, p), settings, lanes = given.start, given.settings, given.lanes
    asked = settings.coordinates is Coordinates.JOINT
    if mechanism.kind.plane is not None and not asked and not settings.method.nodes:
        return CHEAPER_IN_PLANE  # known without the tree
    constants = joint_constants(given.equations, mechanism, p)
    by_link = link_by_link(constants, settings)
    tree = constants.found.tree
    against = _too_full(given, mechanism, tree) or against_tree(tree, settings, by_link=by_link)
    if against:
        return against
    if by_link:
        program = constants.program_by_link(lanes)
        assert program.carrier is not None
        return UNREACHED if program.carrier.reached(y, t, p, FOREIGN) is None else program
    found = constants.system
    entered = found.carrier.reached(y, t, p, FOREIGN)
    if entered is None:
        return UNREACHED
    start = ProgramStart(entered[0], t, entered[1])
    q, v = start.y[: found.tree.nq], start.y[found.tree.nq :]
    if not found.rows:
        light = constants.has_massless_motion
        if light and found.mass_is_singular(q, v, np.asarray(t), start.p):
            return "a motion of its joints that meets no inertia"
        return in_joints(found, ActiveRows(), lanes, singular=False)
    verdict = verdict_at(
        found, start.y, t, start.p, settings.until - t, ahead=looks_ahead(settings)
    )
    if not (verdict.here and verdict.acting.distinct) and not asked:
        # In absolute coordinates there are more rows to choose those from that need not act.
        return "redundant equations of its loops of which none can be left out everywhere"
    singular = found.mass_is_singular(q, v, np.asarray(t), start.p)
    return in_joints(found, verdict.acting, lanes, singular=singular)


def joint_constants(equations: Equations, mechanism: Parts, p: FloatArray) -> JointConstants:
    """What is known of a mechanism in the coordinates of its joints, for some parameters."""
    return JointCoordinateCache.of(equations, mechanism).with_values(p)


def in_joints(
    found: JointEquations, rows: ActiveRows, lanes: int, *, singular: bool
) -> WholeProgram:
    """The program of a tree with rows numbered as the mechanism's."""

    def made() -> WholeProgram:
        inner = _program_of_tree(found, rows, lanes, singular=singular)
        watched = set(found.vanished) - set(found.fulfilled)
        inactive = [*watched, *(found.rows[i] for i in inner.left_out)]
        return replace(
            inner,
            carrier=found.carrier,
            left_out=tuple(sorted(inactive)),
            fulfilled=found.fulfilled,
        )

    return found.cache.program(RenumberedKey(WholeKey(rows, singular, lanes)), made)


def _program_of_tree(
    found: JointEquations, rows: ActiveRows, lanes: int, *, singular: bool
) -> WholeProgram:
    """The program of a tree: by articulated bodies, unless there are constraints besides."""
    if not found.rows:
        return found.tree_program(lanes)
    return _fused(found, WholeKey(rows, singular, lanes), rows)


def _too_full(given: _Selection, mechanism: Parts, tree: Tree) -> str:
    """Why a tree with loops is too large for one expression; empty if it is not."""
    if not tree.constraints or tree.nv <= COST.joint_loop_velocities:
        return ""
    possible = PossibleCoordinates.of(mechanism, given.equations.cache)
    flat = mechanism.kind.plane is None and not isinstance(
        possible.plane(given.start.y, given.start.p), str
    )
    if factor_work(tree, across=ACROSS if flat else 0) <= COST.joint_loop_factor * tree.nv:
        return ""
    return f"{tree.nv} freedoms with loops, more than {COST.joint_loop_velocities}"


def link_by_link(constants: JointConstants, settings: Settings) -> bool:
    """Whether a tree is evaluated by one kernel for each kind of link.

    Where bodies lack inertia, only the mass matrix as a whole tells whether the tree does.
    """
    tree, method = constants.found.tree, settings.method
    large = len(tree.links) > COST.link_by_link and not tree.constraints
    by_elements = constants.found.mechanism.by_elements is not None
    wanted = large and by_elements and (method.lanes or method.nodes)
    return wanted and not constants.has_massless_motion


def against_tree(tree: Tree, settings: Settings, *, by_link: bool) -> str:
    """Why a tree is not integrated in its joints' coordinates; empty if nothing speaks against."""
    if not tree.nv:
        return "joints that leave no freedom"
    if len(tree.links) > COST.joint_links and not by_link:
        return (
            f"{len(tree.links)} freedoms, more than {COST.joint_links}, with loops, bodies that "
            "lack inertia or an implicit method"
        )
    if settings.coordinates is Coordinates.JOINT:
        return ""
    if tree.parts.kind.plane is not None and not settings.method.nodes:
        # At nodes, where sums over them cost as much as equations, fewer coordinates are cheaper.
        return CHEAPER_IN_PLANE
    if all(branch.joint is None for branch in tree.branches):
        return "no joints that carry a body"
    return ""


# --- the coordinates of the system ----------------------------------------------------------------


def _by_blocks(settings: Settings) -> bool:
    """Whether the method is one that block programs are for: explicit, and with projection or
    without anything.
    """
    method = settings.method
    explicit = (method.lanes or method.nodes) and settings.drift is not Drift.BAUMGARTE
    return explicit and settings.formulation == "auto"


def _active_rows(given: _Selection) -> ActiveRows:
    """The rows that act in one expression of any equations."""
    (y, t, p), settings = given.start, given.settings
    if not may_be_redundant(given.equations, settings):
        return ActiveRows()
    ahead = looks_ahead(settings)
    return redundant_rows(given.equations, y, t, p, settings.until - t, ahead=ahead)


def looks_ahead(settings: Settings) -> bool:
    """Whether rows are chosen with a look along the motion: for methods that choose them again."""
    return settings.integrator == "auto"


def may_be_redundant(equations: Equations, settings: Settings) -> bool:
    """Whether rows may be left out; methods of fixed steps solve for the multipliers of laws."""
    by_multipliers = equations.reaction_dependent and settings.method.fixed_step
    return not (equations.rows_independent or by_multipliers)


def _whole(given: _Selection, rows: ActiveRows, *, singular: bool) -> WholeProgram:
    """All equations as one expression."""
    key = WholeKey(rows, singular, given.lanes, _baumgarte(given.settings))
    return _fused(given.equations, key, rows)


def _fused(equations: Equations, key: WholeKey, rows: ActiveRows) -> WholeProgram:
    def made() -> WholeProgram:
        e = with_positive_mass(expressions_of(equations, rows, singular=key.singular_mass))
        return fuse(e, lanes=key.lanes, stabilisation=key.baumgarte, left_out=rows.inactive)

    return equations.cache.program(key, made)


def _baumgarte(settings: Settings) -> float:
    return settings.baumgarte if settings.drift is Drift.BAUMGARTE else 0.0


def _evaluated_in_python(given: _Selection, *, singular: bool) -> Program:
    """All equations, by a formulation or functions in Python."""
    settings = given.settings
    redundant, rate = _has_redundant_rows(given), _baumgarte(settings)
    projected = redundant and settings.drift is Drift.PROJECTION
    # Beside the constraints redundant rows are independent, and stages do not come back to all.
    onto = _active_rows(given) if projected and not given.equations.opaque else ActiveRows()

    def made() -> Program:
        return reference_program(
            given.equations,
            expressions_of(given.equations, onto, singular=singular),
            settings.formulation,
            redundant=projected,
            rate=rate,
            left_out=onto.inactive,
        )

    key = ReferenceKey(settings.formulation, redundant, singular, rate, onto)
    return given.equations.cache.program(key, made)


def _has_redundant_rows(given: _Selection) -> bool:
    equations, (y, t, p) = given.equations, given.start
    nq = len(equations.coordinates)
    q, v = y[:nq], y[nq:]
    (A,) = equations.evaluator("rows", lambda m: {"A": m.A}, q, v, np.asarray(t), p)
    A = A.reshape(-1, len(v))
    length = np.linalg.norm(A, axis=1, keepdims=True)
    A = np.divide(A, length, out=np.zeros_like(A), where=length > 0.0)
    return bool(np.linalg.matrix_rank(A, tol=NEARLY_DEPENDENT) < len(A)) if A.size else False

"""Which coordinates a mechanism is carried in, and its program there.

    bodies held to a plane         ─► planar
    trees, and most loops, in space ─► joint
    otherwise                       ─► absolute

What a run, an event or a reaction sees is in the coordinates of the mechanism in all cases, see
`zwang.engine.carrier`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.bodies.embedding import Embedded, as_it_is, has_massless_motion
from zwang.bodies.folding import Pattern, Structure
from zwang.bodies.model import body_slots
from zwang.bodies.parts import Parts
from zwang.bodies.plane import Plane, find_plane
from zwang.coordinates.in_joints import joint_program, joint_programs
from zwang.engine.blocks.tape_program import TapeProgram
from zwang.engine.carrier import WrittenCarrier
from zwang.engine.program import Program, fuse
from zwang.errors import InputError
from zwang.integrators.settings import Coordinates, Drift, Settings
from zwang.simulation.pivots import dependent_on_earlier, rows_without_pivot
from zwang.simulation.programs import expressions_of
from zwang.simulation.redundancy import Acting, redundant_rows, redundant_rows_of_many
from zwang.system import System
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.mechanism_system import MechanismSystem

__all__ = ["CarriedSystem", "carried_program", "carried_programs"]

#: Bodies up to which a mechanism in its plane is one expression. Beyond, compiling takes longer
#: than blocks in space cost.
MOST_BODIES = 100
#: Sets of parameters for which what is found is remembered.
KEPT = 64
#: Velocities from which dependent rows are told by their pivots rather than by singular values.
LARGE = 60


class CarriedSystem(System):
    """A mechanism with its numbers that are structure folded in, in its plane if it has one.

    Attributes
    ----------
    carrier : the way into other coordinates and back; None for those of the mechanism.
    rows : numbers, among the mechanism's, of its constraint rows.
    spins : the only axis, in body axes, that each body turns about, (bodies, 3); None if any.
    rows_of_mechanism : whether each row is one of the mechanism's, and not a combination.
    """

    parts: Parts
    carrier: WrittenCarrier | None
    rows: tuple[int, ...]
    spins: FloatArray | None
    rows_of_mechanism: bool = True

    @classmethod
    def of_terms(
        cls,
        parts: Parts,
        found: Embedded,
        carrier: WrittenCarrier | None = None,
        spins: FloatArray | None = None,
    ) -> CarriedSystem:
        """From the terms of a mechanism in some coordinates."""
        system = cls.__new__(cls)
        system.spins = spins
        system.parts, system.carrier = parts, carrier
        system.model, system.rows = found.model, found.rows
        system.definition = found.model.definition
        return system

    @classmethod
    def folded(cls, parts: Parts, pattern: Pattern) -> CarriedSystem:
        """A mechanism in its own coordinates."""
        return cls.of_terms(parts, as_it_is(parts, pattern))

    @classmethod
    def in_plane(cls, plane: Plane, pattern: Pattern) -> CarriedSystem:
        """A mechanism in its plane."""
        found, q, v = plane.motion(pattern)
        s = found.model.state

        nq = len(plane.parts.coordinates)

        def into(Y: FloatArray, t: float, P: FloatArray) -> tuple[FloatArray, FloatArray]:
            del t
            parts = [plane.enter(y[:nq], y[nq:]) for y in Y]
            distances = np.array([d for _, _, d in parts])
            rows = np.array([np.concatenate([q, v]) for q, v, _ in parts])
            return rows, np.concatenate([P, distances], axis=1)

        symbols = (s.q, s.v, s.t, s.p)
        carrier = WrittenCarrier("planar", into, plane.scales, symbols, q, v)
        system = cls.of_terms(plane.parts, found, carrier, plane.C[:, 2])
        system.rows_of_mechanism = not plane.askew
        return system

    @property
    def placement(self) -> tuple[FloatArray, FloatArray]:
        """The q and v that the mechanism was described at, in the coordinates it is carried in."""
        return self._placement

    @cached_property
    def _placement(self) -> tuple[FloatArray, FloatArray]:
        q, v = self.parts.start
        if self.carrier is None:
            return q, v
        p = np.concatenate([np.zeros(0), *(x.ravel() for x in self.parts.all_parameters.values())])
        y, _ = self.carrier.entered_rows(np.concatenate([q, v])[None], 0.0, p[None])
        return y[0, : self.carrier.inner[0]], y[0, self.carrier.inner[0] :]

    @property
    def rows_independent(self) -> bool:
        """Whether the mechanism's joints close no loop and nothing else constrains."""
        return self.parts.is_forest

    def program_at(
        self, y: FloatArray, t: float, p: FloatArray, settings: Settings, lanes: int
    ) -> Program:
        """The program for a state and parameters of the mechanism."""
        singular = self._singular_mass(p)
        acting = Acting()
        if not self.rows_independent:
            if self.carrier is not None:
                y, p = self.carrier.entered(y, t, p)
            if len(self.velocities) < LARGE:
                acting = redundant_rows(self, y, t, p, settings.until - t)
            else:
                whole = self._program(Acting(), singular=singular, lanes=1)
                placed = [i for i, level in enumerate(self.row_levels()) if level == "position"]
                found = rows_without_pivot(whole, y[: whole.nq], t, p)
                acting = Acting(tuple(placed[i] for i in found.gone), found.distinct)
        return self._program(acting, singular=singular, lanes=lanes)

    def program_with(self, acting: Acting, p: FloatArray, lanes: int) -> Program:
        """The program in which some rows act, for parameters of the mechanism."""
        return self._program(acting, singular=self._singular_mass(p), lanes=lanes)

    def _singular_mass(self, p: FloatArray) -> bool:
        """Whether some body, or some motion of it, has no inertia; M is block diagonal."""
        key = p[self._inertias].tobytes()
        known: dict[bytes, bool] = self.__dict__.setdefault("_singular_masses", {})
        if key not in known:
            known[key] = has_massless_motion(self.parts, p, self.spins)
        return known[key]

    @cached_property
    def _inertias(self) -> np.ndarray:
        """Where masses and inertias are in p."""
        slots = self.parts.slots
        places = [range(*body_slots(slots, body.name)) for body in self.parts.bodies]
        return np.array([i for place in places for i in place], dtype=int)

    def _program(self, acting: Acting, *, singular: bool, lanes: int) -> Program:
        programs: dict[Any, Program] = self.__dict__.setdefault("_programs", {})
        key = (acting, singular, lanes)
        if key not in programs:
            e = expressions_of(self, acting, singular=singular)
            programs[key] = fuse(e, lanes=lanes, left_out=acting.gone, carrier=self.carrier)
        return programs[key]


def carried_program(
    system: MechanismSystem, y: FloatArray, t: float, p: FloatArray, settings: Settings, lanes: int
) -> Program | TapeProgram | None:
    """The program of a mechanism in the coordinates that suit it; None for its own equations."""
    against = _against(system, settings)
    found: CarriedSystem | str = against
    planar = system.parts.kind.plane is not None
    if planar:
        found = found or "bodies that are in a plane already"
    elif not against and settings.coordinates in (Coordinates.AUTO, Coordinates.PLANAR):
        found = _in_plane(system, y, p)
    if isinstance(found, str) and settings.coordinates is Coordinates.PLANAR and not planar:
        raise InputError(
            "coordinates='planar'",
            found=found,
            expected="a mechanism whose joints hold all bodies to a plane",
            advice="coordinates='auto' takes what there is.",
        )
    if not isinstance(found, str):
        return _outer(system, found, found.program_at(y, t, p, settings, lanes), y, t, p)
    if settings.coordinates in (Coordinates.AUTO, Coordinates.JOINT):
        jointed = against or joint_program(system, y, t, p, settings, lanes)
        if not isinstance(jointed, str):
            return jointed
        if settings.coordinates is Coordinates.JOINT:
            raise InputError(
                "coordinates='joint'",
                found=jointed,
                expected="a mechanism that its joints' coordinates can carry",
                advice="coordinates='auto' takes what there is.",
            )
    if against or system.by_blocks:
        return None
    return _folded(system, p).program_at(y, t, p, settings, lanes)


def carried_programs(
    system: MechanismSystem,
    Y: FloatArray,
    t: float,
    P: FloatArray,
    settings: Settings,
    lanes: int,
    terms: Callable[[], tuple[FloatArray, FloatArray]],
) -> list[Any]:
    """`carried_program` for many starts (N, n) and parameters (N, np).

    Where parameters are the same, it is told for all starts at once; `terms` gives M and A there.
    """
    planar, coordinates = system.parts.kind.plane is not None, settings.coordinates
    known = len(system.velocities) < LARGE and bool(np.all(P[0] == P))
    if known and not _against(system, settings):
        if not system.by_blocks and (
            coordinates is Coordinates.ABSOLUTE or (planar and coordinates is not Coordinates.JOINT)
        ):
            return _folded_programs(system, Y, t, P, settings, lanes, terms)
        if not planar and _without_plane(system, Y[0], P[0], settings):
            jointed = joint_programs(system, Y, t, P, settings, lanes)
            if jointed is not None:
                return jointed
    pairs = zip(Y, P, strict=True)
    return [carried_program(system, y, t, p, settings, lanes) for y, p in pairs]


def _folded_programs(
    system: MechanismSystem,
    Y: FloatArray,
    t: float,
    P: FloatArray,
    settings: Settings,
    lanes: int,
    terms: Callable[[], tuple[FloatArray, FloatArray]],
) -> list[Program | None]:
    """The programs of many starts in the mechanism's own coordinates, with equal parameters."""
    found = _folded(system, P[0])
    if system.rows_independent:
        return [found.program_with(Acting(), P[0], lanes)] * len(Y)
    M, A = terms()
    rows = A[:, list(found.rows)]
    return [
        found.program_with(acting, P[0], lanes)
        for acting in redundant_rows_of_many(found, Y, t, P, settings.until - t, M, rows)
    ]


def _without_plane(
    system: MechanismSystem, y: FloatArray, p: FloatArray, settings: Settings
) -> bool:
    """Whether no state of a mechanism with these parameters is carried in a plane."""
    if settings.coordinates is Coordinates.AUTO:
        found = _Found.of(system)
        return isinstance(_in_plane(system, y, p), str) and (
            found.structure.decisive(p) in found.reasons
        )
    return settings.coordinates is Coordinates.JOINT


def _against(system: MechanismSystem, settings: Settings) -> str:
    """What keeps a mechanism to its own equations, whatever its shape; empty if nothing."""
    if settings.formulation != "auto":
        return f"formulation={settings.formulation!r}, which is in the coordinates of bodies"
    if settings.method.fixed_step or settings.drift is Drift.BAUMGARTE:
        return f"{settings.integrator!r} with drift={settings.drift.value!r}, for bodies in space"
    if system.parts.friction:
        return "friction, which depends on the reactions of all rows"
    return ""


class _Found:
    """What was found of a mechanism: its planes, and its systems with structure folded in."""

    def __init__(self, parts: Parts) -> None:
        self.structure = Structure(parts)
        self.planes: dict[bytes, list[Plane]] = {}
        self.reasons: dict[bytes, str] = {}
        self.systems: dict[Any, CarriedSystem] = {}
        self.folded: dict[bytes, CarriedSystem] = {}  # by all parameters

    @classmethod
    def of(cls, system: MechanismSystem) -> _Found:
        """Kept with the mechanism."""
        if "_carried" not in system.__dict__:
            system.__dict__["_carried"] = cls(system.parts)
        return system.__dict__["_carried"]


def _folded(system: MechanismSystem, p: FloatArray) -> CarriedSystem:
    """The mechanism in its own coordinates."""
    cache, numbers = _Found.of(system), p.tobytes()
    found = cache.folded.get(numbers)
    if found is None:
        key = cache.structure.pattern(p)
        if key not in cache.systems:
            cache.systems[key] = CarriedSystem.folded(system.parts, cache.structure.constants(p))
        found = cache.systems[key]
        if len(cache.folded) >= KEPT:
            cache.folded.clear()
        cache.folded[numbers] = found
    return found


def _in_plane(system: MechanismSystem, y: FloatArray, p: FloatArray) -> CarriedSystem | str:
    """The mechanism in its plane, or what speaks against one."""
    parts, nq, cache = system.parts, len(system.coordinates), _Found.of(system)
    if len(parts.bodies) > MOST_BODIES:
        return f"{len(parts.bodies)} bodies, which is more than {MOST_BODIES}"
    decisive = cache.structure.decisive(p)
    q, v = y[:nq], y[nq:]
    for plane in cache.planes.get(decisive, ()):
        if not plane.reason_against(q, v):
            break
    else:
        # Joints that hold no bodies to a plane at one state do so at none.
        if decisive in cache.reasons:
            return cache.reasons[decisive]
        found = find_plane(parts, q, v, p)
        if isinstance(found, str):
            cache.reasons[decisive] = found
            return found
        plane = found
        cache.planes.setdefault(decisive, []).append(plane)
    key = (plane.key, cache.structure.pattern(p))
    if key not in cache.systems:
        cache.systems[key] = CarriedSystem.in_plane(plane, cache.structure.constants(p))
    return cache.systems[key]


def _outer(
    system: MechanismSystem,
    found: CarriedSystem,
    inner: Program,
    y: FloatArray,
    t: float,
    p: FloatArray,
) -> Program:
    """The program with the rows that it leaves out numbered as the mechanism's.

    Of the rows that vanished on the way to fewer coordinates, those that others imply are counted
    among them: a mechanism has as many redundant equations in all coordinates.
    """
    programs: dict[int, tuple[Program, Program]] = found.__dict__.setdefault("_outer", {})
    if id(inner) not in programs:
        gone: list[int] = []
        if not system.rows_independent:
            A = system.constraint_rows(y, t, p)
            if found.rows_of_mechanism:
                gone = [found.rows[i] for i in inner.left_out]
                vanished = sorted(set(range(len(A))) - set(found.rows))
                gone += [vanished[i] for i in dependent_on_earlier(A[vanished])]
            else:
                gone = dependent_on_earlier(A)
        programs[id(inner)] = inner, replace(inner, left_out=tuple(sorted(gone)))
    return programs[id(inner)][1]

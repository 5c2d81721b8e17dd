"""Which coordinates a mechanism is carried in, and its program there.

    bodies held to a plane         ─► planar
    trees, and most loops, in space ─► joint
    otherwise                       ─► absolute

What a run, an event or a reaction sees is in the coordinates of the mechanism in all cases, see
`zwang.programs.coordinate_change`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import Remembered
from zwang.coordinates.constants import ConstantPattern
from zwang.coordinates.joint.programs import joint_program, joint_programs
from zwang.coordinates.planar.equations import KEPT, CarriedSystem
from zwang.coordinates.planar.plane import Plane, find_plane
from zwang.equations.active_pivots import dependent_on_earlier
from zwang.equations.active_rows import ActiveRows, redundant_rows_of_many
from zwang.errors import InputError
from zwang.integrators.settings import Coordinates, Drift, Settings
from zwang.multibody.frozen import Parts
from zwang.programs.contract import Program
from zwang.programs.cost import COST
from zwang.programs.whole import WholeProgram
from zwang.simulation.select_program import EnsembleStarts
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.mechanism_system import MechanismSystem

__all__ = ["carried_program", "carried_programs"]


def carried_program(
    system: MechanismSystem, y: FloatArray, t: float, p: FloatArray, settings: Settings, lanes: int
) -> Program | None:
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


def carried_programs(system: MechanismSystem, many: EnsembleStarts) -> list[Any]:
    """`carried_program` of each of many starts; told for all at once where parameters are equal."""
    Y, t, P, settings, lanes, _ = many
    planar, coordinates = system.parts.kind.plane is not None, settings.coordinates
    known = len(system.velocities) < COST.pivot_velocities and bool(np.all(P[0] == P))
    if known and not _against(system, settings):
        if not system.by_blocks and (
            coordinates is Coordinates.ABSOLUTE or (planar and coordinates is not Coordinates.JOINT)
        ):
            return _folded_programs(system, many)
        if not planar and _without_plane(system, Y[0], P[0], settings):
            jointed = joint_programs(system, many)
            if jointed is not None:
                return list(jointed)
    pairs = zip(Y, P, strict=True)
    return [carried_program(system, y, t, p, settings, lanes) for y, p in pairs]


def _folded_programs(system: MechanismSystem, many: EnsembleStarts) -> list[WholeProgram]:
    """The programs of many starts in the mechanism's own coordinates, with equal parameters."""
    Y, t, P, settings, lanes, terms = many
    found = _folded(system, P[0])
    if system.rows_independent:
        return [found.program_with(ActiveRows(), P[0], lanes)] * len(Y)
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
        found = CoordinateCache.of(system)
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
    if system.parts.frictions:
        return "friction, which depends on the reactions of all rows"
    return ""


class CoordinateCache:
    """What was found of a mechanism: its planes, and its systems with structure folded in."""

    def __init__(self, parts: Parts) -> None:
        self.structure = ConstantPattern(parts)
        self.planes: dict[bytes, list[Plane]] = {}
        self.reasons: dict[bytes, str] = {}
        self.systems: dict[Any, CarriedSystem] = {}
        self.folded: Remembered[bytes, CarriedSystem] = Remembered(KEPT)  # by all parameters

    @classmethod
    def of(cls, system: MechanismSystem) -> CoordinateCache:
        """Kept with the mechanism."""
        if "_carried" not in system.__dict__:
            system.__dict__["_carried"] = cls(system.parts)
        return system.__dict__["_carried"]


def _folded(system: MechanismSystem, p: FloatArray) -> CarriedSystem:
    """The mechanism in its own coordinates."""
    cache, numbers = CoordinateCache.of(system), p.tobytes()
    found = cache.folded.get(numbers)
    if found is None:
        key = cache.structure.pattern(p)
        if key not in cache.systems:
            cache.systems[key] = CarriedSystem.folded(system.parts, cache.structure.constants(p))
        found = cache.systems[key]
        cache.folded[numbers] = found
    return found


def _in_plane(system: MechanismSystem, y: FloatArray, p: FloatArray) -> CarriedSystem | str:
    """The mechanism in its plane, or what speaks against one."""
    parts, nq, cache = system.parts, len(system.coordinates), CoordinateCache.of(system)
    if len(parts.bodies) > COST.planar_bodies:
        return f"{len(parts.bodies)} bodies, which is more than {COST.planar_bodies}"
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
    inner: WholeProgram,
    y: FloatArray,
    t: float,
    p: FloatArray,
) -> WholeProgram:
    """The program with the rows that it leaves out numbered as the mechanism's.

    Of the rows that vanished on the way to fewer coordinates, those that others imply are counted
    among them: a mechanism has as many redundant equations in all coordinates.
    """
    programs: dict[int, tuple[WholeProgram, WholeProgram]] = found.__dict__.setdefault("_outer", {})
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

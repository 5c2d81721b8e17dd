"""The result of an assembly, and its error with the group of constraints that contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from zwang.assembly.points import ConditionPoint
from zwang.assembly.request import RequestedValues
from zwang.display import Displayed
from zwang.errors import AssemblyError
from zwang.terms import FloatArray

__all__ = ["Assembly", "FindConflict", "conflicting_group", "impossible_error"]

#: (rows A, right sides b) → numbers of an irreducible conflicting group, or None.
FindConflict = Callable[[FloatArray, FloatArray], Sequence[int] | None]


@dataclass(frozen=True, repr=False)
class Assembly(Displayed):
    """A state that satisfies the constraints. Unpacks as ``q, v = assembly``; serves as a state.

    Attributes
    ----------
    q, v, t : coordinates (nq,), velocities (nv,) and time.
    moved : name → value minus preferred value, for each preferred coordinate and velocity.
    distance : root of the weighted sum of squares over the preferred coordinates.
    iterations : how often constraints were evaluated.
    notes : what was changed that had been given, in words; runs from here have them too.
    """

    q: FloatArray
    v: FloatArray
    t: float = 0.0
    moved: dict[str, float] = field(default_factory=dict)
    distance: float = 0.0
    iterations: int = 0
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.q, self.v))


def conflicting_group(
    point: ConditionPoint,
    request: RequestedValues,
    row_names: Sequence[str],
    find_conflict: FindConflict,
) -> tuple[str, ...]:
    """An irreducible group of constraints and held values that contradict, at a stationary point.

    There Σ cᵢ ∇cᵢ vanishes along the unknown entries: with a row for each held value, the rows of
    the linearised conditions depend on each other while their right sides do not agree.
    """
    n = len(request.names)
    holds = np.eye(n)[request.held]
    slope = np.linalg.norm(point.jacobian, axis=1)
    # A slope that is rounding beside the others' is none.
    flat = slope <= 1e-7 * max(1.0, float(slope.max(initial=0.0)))
    scale = np.where(flat, 1.0, 1.0 / np.where(flat, 1.0, slope))
    A = np.concatenate([np.where(flat[:, None], 0.0, point.jacobian * scale[:, None]), holds])
    b = np.concatenate([-point.value * scale, np.zeros(len(holds))])
    names = [*row_names, *(f"hold {request.names[j]}" for j in request.held)]
    rows = find_conflict(A, b)
    if rows is None:
        # The dependency at hand, c itself, which may not be the smallest.
        pull = np.abs(point.jacobian[:, request.held].T @ point.value)
        share = np.concatenate([np.abs(point.value) * slope, pull])
        rows = [int(i) for i in np.flatnonzero(share > 1e-6 * share.max(initial=0.0))]
        rows = rows or [int(np.argmax(np.abs(point.value)))]
    return tuple(names[i] for i in sorted(rows))


def impossible_error(
    what: str,
    point: ConditionPoint,
    row_names: Sequence[str],
    state: Assembly,
    group: tuple[str, ...],
    starts: int = 1,
) -> AssemblyError:
    """The error, in words: the group that contradicts, and by how much the nearest state fails.

    Parameters
    ----------
    what : ``"configuration"`` or ``"velocity"``.
    point : the conditions there.
    starts : from how many starts it was searched for.
    """
    worst = int(np.argmax(np.abs(point.value)))
    listed = " and ".join(filter(None, [", ".join(group[:-1]), group[-1]]))
    together = " together" if len(group) > 1 else ""
    searched = f"from {starts} starts, " if starts > 1 else ""
    return AssemblyError(
        f"no {what} satisfies all constraints and held values",
        nearest=state,
        gap=float(np.linalg.norm(point.value)),
        group=group,
        found=f"{listed} cannot hold{together} ({searched}the nearest {what} leaves "
        f"{row_names[worst]} at {point.value[worst]:.6g})",
        advice="Change one of the group; .nearest of this error is the nearest state.",
    )

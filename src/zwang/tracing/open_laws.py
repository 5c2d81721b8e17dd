"""Laws of the reaction that use a part of it which redundant constraints leave open.

With Z a basis of N(Aᵀ), λ + Z c gives the same motion for every c as long as forces do not depend
on λ. A law C(λ) does: where (∂C/∂λ) Z is not zero, another choice of c gives another motion. So
friction in one of two hinges of a door gives another motion for each way in which these share the
weight, and the way in which constraints are written decides which one it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EPSILON, EquationTerms, FloatArray

if TYPE_CHECKING:
    from zwang.tracing.nonideal import NonidealLaw

__all__ = ["NONE_OPEN", "OPEN", "OpenLaws", "motion_note", "open_laws", "open_laws_of", "open_note"]

#: Directions of the multipliers that no equation determines count as used by the law when C
#: changes along them by more than this fraction.
INDIFFERENT = 1e-9
#: A basis of N(Aᵀ) is off by so many roundings times the condition of the rows that are distinct.
ROUNDINGS = 64.0

#: What all notes on such laws have in common.
OPEN = "uses a reaction that is not determinate"
WAY_OUT = (
    "leave out joints or constraints that are redundant (explain() lists them), say by joints of "
    "fewer equations which one carries, or let one give way, by a spring or a bushing in its place"
)


class OpenLaws(NamedTuple):
    """What laws of the reaction use at one state that no equation determines.

    Attributes
    ----------
    redundant : how many rows depend on others there.
    names : constraints whose law uses a reaction that these leave open.
    """

    redundant: int
    names: tuple[str, ...]


NONE_OPEN = OpenLaws(0, ())


def open_note(names: tuple[str, ...]) -> str:
    """What a solution says of such laws."""
    return (
        f"the non-ideal law of {_listed(names)} {OPEN}, as constraints are redundant; it is given "
        f"the multipliers of least norm, and others give other accelerations: {WAY_OUT}"
    )


def motion_note(names: tuple[str, ...]) -> str:
    """What a run says of them."""
    return (
        f"the motion is not determined: the non-ideal law of {_listed(names)} {OPEN}, as "
        "constraints are redundant. It is given the multipliers of least norm, one choice of many; "
        f"the same constraints, written otherwise, give another motion: {WAY_OUT}"
    )


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(repr(name) for name in names)


def open_laws_of(law: NonidealLaw, terms: EquationTerms) -> OpenLaws:
    """`open_laws` at the reaction without the law, for which no solution has to be searched."""
    scaled = ScaledTerms.decided(terms)
    if scaled.geometry.rank == terms.constraint_count:
        return NONE_OPEN
    own = scaled.scaled
    _, multipliers = UdwadiaMogharabin(own, scaled.geometry).respond(
        own.total_force, own.constraint_rhs
    )
    free = _open_directions(scaled)
    multipliers = multipliers * scaled.row_scale
    return open_laws(law, scaled, multipliers - free @ np.linalg.lstsq(free, multipliers)[0])


def open_laws(law: NonidealLaw, scaled: ScaledTerms, multipliers: FloatArray) -> OpenLaws:
    """Which laws use a part of the reactions that no equation determines.

    Parameters
    ----------
    law, scaled : at one state; of the terms without the law.
    multipliers : λ of least norm (m,), where slopes of the law are taken.
    """
    redundant = scaled.terms.constraint_count - scaled.geometry.rank
    if not redundant:
        return NONE_OPEN
    free = _open_directions(scaled)
    _, slope = law(multipliers)
    size = float(np.max(np.abs(slope) @ np.abs(free), initial=0.0))
    rounding = ROUNDINGS * EPSILON * float(np.max(scaled.geometry.condition))
    limit = max(INDIFFERENT, rounding) * size
    if not np.max(np.abs(slope @ free), initial=0.0) > limit:  # nor where there is no slope
        return OpenLaws(redundant, ())
    groups = law.evaluator.model.groups
    parts = {name: slope[:, rows] @ free[rows] for name, rows in groups.items()}
    using = (name for name, part in parts.items() if np.max(np.abs(part), initial=0.0) > limit)
    return OpenLaws(redundant, tuple(using))


def _open_directions(scaled: ScaledTerms) -> FloatArray:
    """Z in rows as given."""
    return scaled.row_scale[:, None] * scaled.geometry.dependencies

"""What assembly has moved, in words of the command line."""

from __future__ import annotations

from collections.abc import Sequence

from zwang.assembly.large_moves import BodyMove
from zwang.diagnosis.wording import listing
from zwang.model_files.model import Model

__all__ = ["listed_moves", "moved_in_words"]

#: Bodies that are named where assembly has moved them far.
LISTED = 3


def moved_in_words(moves: Sequence[BodyMove], model: Model) -> str:
    """What an assembly has moved far, and what to do unless [start] asks for it."""
    told = listed_moves(moves)
    asked = model.start_conditions.request or model.start_conditions.q is not None
    advice = (
        ""
        if asked
        else (
            "; if another position is meant, place bodies nearer to it, or give a coordinate of a "
            "joint in [start], as hold = { PIN.angle = … }"
        )
    )
    return f"{told}{advice}"


def listed_moves(moves: Sequence[BodyMove]) -> str:
    """How far some bodies were moved, the farthest by name."""
    rest = [f"{len(moves) - LISTED} more"] if len(moves) > LISTED else []
    return listing([*(str(move) for move in moves[:LISTED]), *rest])

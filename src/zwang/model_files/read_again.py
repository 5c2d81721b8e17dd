"""A model file that is read again: the same text gives a copy of the model, and is not parsed.

Files that name other files, meshes, are read anew each time: those may have changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path

from zwang.model_files.model import Model
from zwang.model_files.read import model_of
from zwang.multibody.equal_descriptions import LatestOfEach

__all__ = ["read_again"]

#: Models whose files may be read again: so many, with so many characters in all.
READ: LatestOfEach[Model] = LatestOfEach(most=8, largest=1_000_000)


def read_again(text: str, file: str, name: str, kept: Mapping[str, Path] | None = None) -> Model:
    """`model_of`, or a copy of what it gave before for the same text."""
    if kept:
        return model_of(text, file, name, kept)
    key = text, file, name
    known = READ.find(key)
    if known is None:
        model = model_of(text, file, name)
        if model.mechanism is None or any(b.mesh is not None for b in model.mechanism.parts.bodies):
            return model
        known = copy(model)  # nobody else has this one
        READ.keep(key, known, len(text))
        return model
    READ.keep(key, known, len(text))
    return copy(known)

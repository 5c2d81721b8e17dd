"""The pictures of the gallery: one function for each example, given what its ``main`` returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pictures import benchmarks, kinds, models, papers, steps

__all__ = ["PICTURES"]

#: Name of an example → the function that draws it.
PICTURES: dict[str, Callable[[Any], Any]] = {
    name: picture
    for module in (steps, papers, kinds, benchmarks, models)
    for name, picture in module.PICTURES.items()
}

"""Why runs of a study did not finish, those alike together."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["by_reason"]

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.]*(?:e[-+]?\d+)?")


def by_reason(failed: Mapping[int, str]) -> list[tuple[str, list[int]]]:
    """The sentence of the first run that failed so, and all of these; the most frequent first.

    Sentences that differ in their numbers alone, such as the time at which runs stopped, are alike.
    """
    groups: dict[str, tuple[str, list[int]]] = {}
    for number, reason in failed.items():
        groups.setdefault(_NUMBER.sub("#", reason), (reason, []))[1].append(number)
    return sorted(groups.values(), key=lambda group: -len(group[1]))

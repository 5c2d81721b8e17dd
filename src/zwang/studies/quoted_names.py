"""Names with dots in a plan, which TOML reads as tables in tables unless they are quoted."""

from __future__ import annotations

from collections.abc import Iterable

from zwang.model_files.document import Item

__all__ = ["require_quoted"]


def require_quoted(item: Item, keys: Iterable[str] = ()) -> None:
    """Refuse ``rod.mass = [1, 2]``, with the line that is meant.

    Parameters
    ----------
    item : what stands at the first part of a name.
    keys : those that a table may have which stands for values; none where there is no such table.
    """
    own = dict.fromkeys(keys)
    names, inner = [item.name], item
    while isinstance(inner.value, dict) and inner.value and own.keys().isdisjoint(inner.value):
        inner = next(iter(inner))
        names.append(inner.name)
    if inner is item or (own and not isinstance(inner.value, list | dict)):
        return  # no table, or one with a key that is misspelled
    name, known = ".".join(names), f" A table of values has the keys {', '.join(own)}."
    raise item.error(
        but=f"{item.name!r} has parts of its own",
        expected="values under one name",
        advice=f'A name with dots needs quotation marks: "{name}" = ….{known if own else ""}',
    )

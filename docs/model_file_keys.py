"""The reference of keys of model files, from the layout that files are read by.

Each key has a line of a model that is read in the tests: those in ``docs/keys`` and the examples.

    python docs/model_file_keys.py            writes docs/reference/model-file-keys.md
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zwang.model_files.fields import Choice, Map, NumberArrayField, NumberField, OneOf, TableField
from zwang.model_files.layout import FILE, FORCES

HERE = Path(__file__).resolve().parent
PAGE = HERE / "reference" / "model-file-keys.md"
MODELS = (
    *sorted((HERE / "keys").glob("*.toml")),
    *sorted((HERE.parent / "examples").glob("*.toml")),
)

HEAD = """# Keys of model files

All tables and keys that a [model file](../how-to/model-files.md) may have. The page is made from
the description that files are read by, and every example is a line of a model that the tests read.

"""


def keys() -> Iterator[tuple[str, str, Any]]:
    """Table, key and field of all keys; tables in tables by dotted names."""
    for table, entry in FILE.fields.items():
        if table == "force":
            yield table, "type", None
            for kind, form in FORCES.items():
                yield from _of_table(f"force ({kind})", form)
            continue
        yield from _of_table(table, entry.kind)


def _of_table(table: str, kind: Any) -> Iterator[tuple[str, str, Any]]:
    inner = _table(kind)
    if inner is None:
        yield table, "", kind
        return
    for key, entry in inner.fields.items():
        yield table, key, entry


def _table(kind: Any) -> TableField | None:
    """The table with known keys that stands here, or in each entry of a map."""
    if isinstance(kind, TableField):
        return kind
    if isinstance(kind, Map):
        return _table(kind.kind)
    if isinstance(kind, OneOf):
        return _table(kind.first)
    return None


def value_of(kind: Any) -> str:
    """What may stand at a key, in words."""
    if isinstance(kind, Choice):
        return "one of " + ", ".join(f"`{x}`" for x in kind.options)
    if isinstance(kind, NumberField) and kind.unit is None:
        return f"{kind.words}, or text with a unit"
    if isinstance(kind, NumberField | NumberArrayField):
        return kind.words
    names = {"Text": "text", "Flag": "true or false", "NameList": "list of names"}
    names |= {"Formulas": "expression", "Direction": "axis", "Orientation": "orientation"}
    names |= {"PlaceField": "point, marker or a pair", "Map": "table of names and values"}
    if isinstance(kind, OneOf):
        return f"{value_of(kind.other)}, or {value_of(kind.first)}"
    return names.get(type(kind).__name__, "table")


def examples() -> dict[tuple[str, str], str]:
    """(table, key) → a line of a model that has it."""
    found: dict[tuple[str, str], str] = {}
    for path in MODELS:
        text = path.read_text(encoding="utf-8")
        table = ""
        values = tomllib.loads(text)
        for line in text.splitlines():
            head = re.match(r"\s*\[([^\]]+)\]", line)
            if head:
                table = _name(head[1], values)
                continue
            key = re.match(r'\s*"?([\w.]+)"?\s*=', line)
            if key and table:
                first, shown = key[1].partition(".")[0], _without_comment(line.strip())
                for place in ((table, first), (table, "")):
                    found[place] = min(found.get(place, shown), shown, key=_length)
    return found


def _name(header: str, values: dict[str, Any]) -> str:
    """Table of a header; of a force with its type."""
    parts = [p.strip().strip('"') for p in header.split(".")]
    if parts[0] == "force" and len(parts) > 1:
        return f"force ({values['force'][parts[1]]['type']})"
    known = FILE.fields.get(parts[0])
    depth = 2 if known is not None and isinstance(known.kind, Map) else 1
    if len(parts) > depth:  # [start.hold]: a key of the table as a table of its own
        return f"{parts[0]} {parts[depth]}"
    return parts[0]


def _without_comment(line: str) -> str:
    """A line without the remark in its margin."""
    return re.sub(r" {2,}#.*", "", line)


def _length(line: str) -> tuple[bool, bool, int, str]:
    """The shortest line that shows something first, the beginning of a longer value last."""
    return not is_whole(line), "{}" in line or len(line) < 8, len(line), line


def is_whole(line: str) -> bool:
    """Whether a line can be read by itself: its value does not go on below."""
    try:
        tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return False
    return True


def text() -> str:
    """The page."""
    shown, lines, last = examples(), [HEAD], ""
    for table, key, entry in keys():
        if table != last:
            help_text = FILE.fields[table.partition(" ")[0]].help
            name = table.partition(" ")[0]
            is_map = isinstance(FILE.fields[name].kind, Map)
            ending = ".NAME" if is_map and key else ""
            lines += [f"\n## {table}\n", f"`[{name}{ending}]`: {help_text}.\n"]
            lines += ["| key | value | meaning | example |", "|---|---|---|---|"]
            last = table
        if entry is None:
            kinds = ", ".join(f"`{kind}`" for kind in FORCES)
            lines.append(f'| `type` | one of {kinds} | kind | `type = "force"` |')
            continue
        field = entry if hasattr(entry, "kind") and hasattr(entry, "help") else None
        kind, meaning = (entry, "") if field is None else (field.kind, field.help)
        line = shown.get((table, key)) or shown.get((f"{table.partition(' ')[0]} {key}", "")) or ""
        example = f"`{line}`" if line else ""
        must = " (needed)" if field is not None and field.required else ""
        told = value_of(kind if key else kind.kind)
        cells = [f"`{key or 'NAME'}`{must}", told, meaning or "a value by its name", example]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def missing() -> list[str]:
    """Keys that no model shows."""
    shown = examples()
    return [
        f"{table}.{key}"
        for table, key, entry in keys()
        if entry is not None
        and (table, key) not in shown
        and (f"{table.partition(' ')[0]} {key}", "") not in shown
    ]


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")

"""A TOML model file as data that knows its lines.

The standard parser reads the values, and `line_index` finds in the text, which is known to be valid
by then, the line that each key and each entry of a list stands on.
"""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from zwang.arguments.values import is_folder
from zwang.errors import InputError, ModelError, ZwangError, near_names, shown, told_names
from zwang.model_files.expressions import DECIMALS
from zwang.multibody.equal_descriptions import Comparable, NotComparableError

__all__ = [
    "Document",
    "Item",
    "Key",
    "blaming",
    "line_index",
    "parse",
    "read_text",
    "value_spans",
]

#: Way to a value: keys of tables and places in lists.
Key = tuple[str | int, ...]

#: A file longer than this is no model: a chain of 10,000 bodies has some 5 million characters.
LONGEST_FILE = 20_000_000


@dataclass(frozen=True)
class Document:
    """A parsed file: its name for messages, its values, and the line of each.

    Attributes
    ----------
    digest : of name and text, by which documents are compared; None for one that is not as parsed.
    """

    file: str
    values: dict[str, Any]
    lines: dict[Key, int]
    digest: bytes | None = None

    @property
    def root(self) -> Item:
        """The whole."""
        return Item(self.values, (), self)

    def line(self, key: Key) -> int:
        """Line of a value, or of the nearest thing around it that is written out; 0 of the file."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 0)


@dataclass(frozen=True)
class Item(Comparable):
    """A value of a file and its place."""

    value: Any
    key: Key
    document: Document

    @property
    def line(self) -> int:
        """Line it stands on, from 1; 0 of the whole file."""
        return self.document.line(self.key)

    def exact_key(self) -> Hashable:
        """Its place, and all of its file."""
        if self.document.digest is None:
            raise NotComparableError(self)
        return self.document.digest, self.key

    @property
    def name(self) -> str:
        """Last part of the key."""
        return str(self.key[-1]) if self.key else ""

    @property
    def dotted(self) -> str:
        """The key as it is written, ``body.crank.position[2]``."""
        text = ""
        for part in self.key:
            text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
        return text

    def __getitem__(self, part: str | int) -> Item:
        return Item(self.value[part], (*self.key, part), self.document)

    def under(self, part: str) -> Item:
        """What stands at a key, or this where there is no such key."""
        if part not in self:
            return self
        return self[part]

    def __contains__(self, part: str) -> bool:
        return isinstance(self.value, dict) and part in self.value

    def __iter__(self) -> Iterator[Item]:
        parts = self.value if isinstance(self.value, dict) else range(len(self.value))
        return (self[part] for part in parts)

    def named_in(self, error: InputError) -> Item:
        """The entry two levels below, such as ``[joint.pin]``, whose name an error mentions."""
        name = getattr(error, "name", None)
        for table in self:
            for entry in table if isinstance(table.value, dict) else ():
                if f"'{entry.name}'" in error.what or entry.name == name:
                    return entry
        return self

    def located(self, error: ZwangError, asking: str = "system") -> ZwangError:
        """An error that is no mistake in one key, with the places of the entries that it mentions.

        Held values come first, as they are the easiest to release; then what is likely to be wrong;
        then the last entry, which found the others in its way.

        Parameters
        ----------
        asking : the table that asked for what failed, where it mentions none.
        """
        names = getattr(error, "group", ()) or getattr(error, "names", ()) or ()
        told = [str(name).partition("[")[0] for name in names]
        if not told:
            told = re.findall(r"\w+", error.found or "")
        likely = getattr(error, "likely", ())
        held = {name.removeprefix("hold ") for name in told if name.startswith("hold ")}
        places = []
        for table in self:
            for entry in table if isinstance(table.value, dict) else ():
                if table.name == "start" and entry.name in ("hold", "velocity"):
                    inside = entry.under("hold")
                    hits = [value for value in inside if value.name in held]
                    places += [(0, -value.line, value.dotted) for value in hits]
                elif table.name in _NAMED and entry.name in told:
                    rank = 1 if entry.name in likely else 2
                    places.append((rank, -entry.line, entry.dotted))
        if asking != "start" and asking in self and "hold" in self[asking]:
            inside = self[asking]["hold"]
            hits = inside if isinstance(inside.value, dict) else ()
            places += [(0, -x.line, x.dotted) for x in hits if x.name in held]
        whole = self.under(asking if asking in self else "system")
        found = [(-line, key) for _, line, key in sorted(places)] or [(whole.line, whole.dotted)]
        return error.located(self.document.file, found)

    def error(
        self,
        found: str | None = None,
        expected: str | None = None,
        advice: str | None = None,
        *,
        about: str = "",
        must: str | None = None,
        but: str | None = None,
    ) -> ModelError:
        """What is wrong here; unless `found` or `but` is given, it is the value itself."""
        if found is None and but is None:
            found = shown(self.value)
        facts = {"expected": expected, "must": must, "found": found, "but": but, "advice": advice}
        return ModelError(self.document.file, self.line, self.dotted, about=about, **facts)

    def unknown(
        self, name: str, known: Iterable[str], what: str, place: str | None = None
    ) -> ModelError:
        """A name that is not among the known ones, with the near ones, or where it belongs."""
        names = list(known)
        near = near_names(name, names)
        meant = f"Did you mean {' or '.join(repr(n) for n in near)}?" if near else None
        advice = place or meant
        told = told_names(name, names, near)
        listed = f"{what} ({told})" if names else f"no {what}, as there are none"
        return self.error(repr(name), listed, advice)

    def blamed(self, error: InputError) -> ModelError:
        """An error of the library with the place of this table, or of the key that it is about."""
        if isinstance(error, ModelError):
            return error
        item = self._culprit(error) if isinstance(self.value, dict) else self
        return ModelError(
            item.document.file, item.line, item.dotted, about=error.what, **error.facts
        )

    def _culprit(self, error: InputError) -> Item:
        """The key of this table that an error is about, as far as its words show."""
        told = f"{error.found} {error.expected}"
        hints = [key for words, key in _HINTS.items() if words in f"{error.what} {told}"]
        hints += error.what.split()
        for key in hints:
            if key in self:
                return self[key]
        name = getattr(error, "name", None)
        for item in self:
            if name == item.value or f"'{item.name}'" in told or f"no {item.name}" in told:
                return item
        return self


#: Tables whose entries have names that the library's messages use.
_NAMED = ("body", "coordinate", "joint", "constraint", "drive", "couple")

#: Words of the library's messages → the key of a table that they are about.
_HINTS = {
    "second axis": "axis_b",
    "point of": "at",
    "both sides": "bodies",
    "the coordinate": "bodies",
    "restitution": "bounce",
}


@contextmanager
def blaming(item: Item) -> Iterator[None]:
    """Give errors of the library their place in the file."""
    try:
        yield
    except InputError as error:
        raise item.blamed(error) from None


def parse(text: str, file: str) -> Document:
    """The values of a TOML text with their lines; what is not TOML is refused with its line."""
    import tomllib

    if len(text) > LONGEST_FILE:
        raise ModelError(
            file, 0, "", expected=f"at most {LONGEST_FILE} characters", found=f"{len(text)}"
        )
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(file, text, str(error)) from None
    except RecursionError:
        raise ModelError(
            file, 0, "", expected="a few levels of nested lists", found="hundreds"
        ) from None
    except ValueError as error:  # a number of thousands of digits
        raise ModelError(file, 0, "", found=shown(str(error)), expected="valid TOML") from None
    digest = sha256(f"{file}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return Document(file, values, line_index(text), digest)


def _syntax_error(file: str, text: str, message: str) -> ModelError:
    """A complaint of the standard parser, whose place is at its end in parentheses."""
    what, _, place = message.rpartition(" (at ")
    match = re.match(r"line (\d+)", place)
    last = text.rstrip().count("\n") + 1
    line = int(match[1]) if match else last
    lines = text.splitlines()
    written = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if what.startswith(("Cannot declare", "Cannot overwrite")):
        return _given_twice(file, lines, line, written)
    return ModelError(
        file,
        line,
        _key_of(written),
        found=shown(written) if written else "the end of the file",
        expected=f"valid TOML ({(what or message)[:1].lower()}{(what or message)[1:]})",
        advice=_advice_on(written, what or message),
    )


#: A value that is a number with a comma, or a list of numbers of which one begins with a zero too
#: many, as the second half of 0,08 does.
_COMMA = re.compile(r"=\s*[-+]?\d+,\d|[\[,]\s*[-+]?\d+,0\d")


def _advice_on(written: str, complaint: str) -> str:
    """What is probably wrong with a line that is not TOML."""
    if complaint.startswith("Unclosed") and not _COMMA.search(written.partition("#")[0]):
        return "A bracket that opens, [ or {, is closed again, here or in a line before."
    if written.startswith("["):
        return (
            "A table begins with its name in brackets, [body.arm]; names are letters, digits and "
            "_, without spaces."
        )
    if _COMMA.search(written.partition("#")[0]):
        return DECIMALS
    return "Text needs quotation marks; expressions and numbers with units are text."


def _given_twice(file: str, lines: list[str], line: int, written: str) -> ModelError:
    """That a table or a key is there already, and in which line if the lines before tell it."""
    is_table = written.startswith("[")
    headers = [text for text in lines[:line] if text.startswith("[")]
    table = tuple(_key_of(headers[-1].partition("#")[0]).split(".")) if headers else ()
    own = _key_of(written.partition("#")[0])
    key = table if is_table else (*table, own)
    first = line_index("\n".join(lines[: line - 1])).get(key)
    what = "table" if is_table else "key"
    return ModelError(
        file,
        line,
        ".".join(key),
        expected=f"each {what} once",
        but="it is given again" if first is None else f"line {first} has it already",
        advice="Remove one of the two, or give a table another name."
        if is_table
        else "Remove one of the two.",
    )


def _key_of(line: str) -> str:
    """The key that a line of text begins with, as far as it has one."""
    head = line.partition("=")[0].strip(" []\"'")
    return head if len(head) <= 60 and "#" not in head else ""


def read_text(path: Path) -> str:
    """Text of a file, refused with its name where it cannot be read.

    Editors of Windows begin a file with a mark of its encoding, which is no part of the text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(path, error) from error
    except OSError as error:
        near = []
        if isinstance(error, FileNotFoundError) and is_folder(path.parent):
            near = [p.name for p in path.parent.glob("*.toml") if p.is_file()]
        close = difflib.get_close_matches(path.name, near, n=1)
        raise ModelError(
            str(path),
            0,
            "",
            expected="a model file that can be read",
            but=(error.strerror or str(error)).lower(),
            advice=f"Did you mean {close[0]!r}?" if close else None,
        ) from error


def _not_text(path: Path, error: UnicodeDecodeError) -> ModelError:
    """That bytes are no UTF-8: in which line, and what they probably are."""
    given = error.object
    found, line = "bytes that are not text", 0
    if given.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        found = "one in UTF-16"
    elif b"\0" not in given:
        line = given.count(b"\n", 0, error.start) + 1
        written = given.splitlines()[line - 1].strip().decode("latin-1")
        found = f"one in another encoding: {shown(written)}"
    return ModelError(
        str(path),
        line,
        "",
        expected="a text file in UTF-8",
        found=found,
        advice="Save it as UTF-8 in the editor." if found.startswith("one") else None,
    )


# --- lines ---------------------------------------------------------------------------------------


def line_index(text: str) -> dict[Key, int]:
    """Line of each key, table and list entry of a valid TOML text."""
    return _Scanner(text).scan()


def value_spans(text: str) -> dict[Key, tuple[int, int]]:
    """Where the value of each key begins and ends in a valid TOML text."""
    scanner = _Scanner(text)
    scanner.scan()
    return scanner.spans


class _Scanner:
    """Walks through valid TOML; it looks for keys and line ends and understands nothing else."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1
        self.lines: dict[Key, int] = {}
        self.spans: dict[Key, tuple[int, int]] = {}
        self._counts: dict[Key, int] = {}  # entries so far of each array of tables

    def scan(self) -> dict[Key, int]:
        table: Key = ()
        while True:
            self._blank(newlines=True)
            if self.at >= len(self.text):
                return self.lines
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._assignment(table)

    def _note(self, key: Key) -> None:
        self.lines.setdefault(key, self.line)

    def _blank(self, *, newlines: bool) -> None:
        """Skip spaces and comments."""
        text = self.text
        while self.at < len(text):
            c = text[self.at]
            if c == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif c == "\n" and newlines:
                self.line += 1
                self.at += 1
            elif c in " \t\r":
                self.at += 1
            else:
                return

    def _header(self) -> Key:
        many = self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        parts = self._keys()
        self.at += 2 if many else 1
        key: Key = ()
        for part in parts[:-1]:
            key = self._last((*key, part))
            self._note(key)
        key = (*key, parts[-1])
        self._note(key)
        if many:
            self._counts[key] = self._counts.get(key, 0) + 1
            key = self._last(key)
            self.lines[key] = self.line
        return key

    def _last(self, key: Key) -> Key:
        """The key, or its last entry if it is an array of tables."""
        return (*key, self._counts[key] - 1) if key in self._counts else key

    def _assignment(self, table: Key) -> None:
        key = table
        for part in self._keys():
            key = (*key, part)
            self._note(key)
        self.at += 1  # =
        self._blank(newlines=False)
        start = self.at
        self._value(key)
        self.spans[key] = start, start + len(self.text[start : self.at].rstrip())

    def _keys(self) -> list[str]:
        """A dotted key."""
        parts = []
        while True:
            self._blank(newlines=False)
            c = self.text[self.at]
            if c in "\"'":
                start = self.at
                self._string()
                parts.append(_unquoted(self.text[start : self.at]))
            else:
                start = self.at
                while self.text[self.at] not in " \t.=]":
                    self.at += 1
                parts.append(self.text[start : self.at])
            self._blank(newlines=False)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def _value(self, key: Key) -> None:
        # Nesting is no deeper than the standard parser could follow.
        c = self.text[self.at]
        if c in "\"'":
            self._string()
        elif c == "[":
            self._list(key)
        elif c == "{":
            self._inline_table(key)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def _list(self, key: Key) -> None:
        self.at += 1
        place = 0
        while True:
            self._blank(newlines=True)
            c = self.text[self.at]
            if c == "]":
                self.at += 1
                return
            if c == ",":
                self.at += 1
                continue
            self._note((*key, place))
            self._value((*key, place))
            place += 1

    def _inline_table(self, key: Key) -> None:
        self.at += 1
        while True:
            self._blank(newlines=True)
            c = self.text[self.at]
            if c == "}":
                self.at += 1
                return
            if c == ",":
                self.at += 1
                continue
            self._assignment(key)

    def _string(self) -> None:
        quote = self.text[self.at]
        long = self.text.startswith(quote * 3, self.at)
        end = quote * 3 if long else quote
        self.at += len(end)
        while not self.text.startswith(end, self.at):
            size = 2 if quote == '"' and self.text[self.at] == "\\" else 1
            self.line += self.text.count("\n", self.at, self.at + size)
            self.at += size
        self.at += len(end)
        # Up to two quotation marks may stand before the closing three.
        while long and self.at < len(self.text) and self.text[self.at] == quote:
            self.at += 1


def _unquoted(text: str) -> str:
    """A quoted key as the standard parser reads it."""
    import tomllib

    return next(iter(tomllib.loads(f"{text} = 0")))

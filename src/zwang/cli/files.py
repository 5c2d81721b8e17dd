"""``zwang new`` and ``zwang examples``: commands that write a model file to start from."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from zwang.cli.output import Printer
from zwang.errors import InputError
from zwang.model_files.examples import example_names, example_path
from zwang.model_files.starter import starter

__all__ = ["examples", "new"]


def examples(out: Printer, name: str | None) -> None:
    """List the examples, or write one."""
    if name is not None:
        text = example_path(name).read_text(encoding="utf-8")
        _write(out, Path(f"{name}.toml"), text)
        return
    first = {n: _first_comment(example_path(n)) for n in example_names()}
    out.result({"examples": first})
    out.table("Examples", first)
    out.say("zwang examples NAME writes one to the present folder.")


def _first_comment(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()


def new(out: Printer, name: str, *, system: bool) -> None:
    """Write a commented model."""
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    _write(out, path, starter(path.stem, kind="system" if system else "mechanism"))
    if path.stem in example_names():
        out.say(
            f"It is a rod on a pin, to change as you like; 'zwang examples {path.stem}' writes "
            "the example of that name."
        )


def _write(out: Printer, path: Path, text: str) -> None:
    if path.exists():
        raise InputError(
            f"file '{path}'",
            must="not exist yet",
            but="does",
            advice="Choose another name, or remove the file.",
        )
    if not path.parent.is_dir():
        raise InputError(
            f"file '{path}'",
            must="be in a folder that exists",
            but=f"there is no folder '{path.parent}'",
            advice="Create it first.",
        )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"file '{path}'",
            must="be a file that can be written",
            but=(error.strerror or str(error)).lower(),
            advice="Choose another place.",
        ) from None
    out.result({"file": str(path)})
    out.say(f"Wrote {path}. Simulate it with: zwang run {quote(str(path))}")

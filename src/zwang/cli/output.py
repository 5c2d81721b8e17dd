"""What commands of the command line print: tables, JSON for machines, one sentence for an error."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from zwang.cli.words import at_the_command_line

__all__ = ["FAILURE", "STOPPED", "Printer", "printing"]

FAILURE, STOPPED = 1, 130
#: Blanks before the rows of a table.
MARGIN = 2
#: Characters that the values of a table get however narrow the terminal is.
LEAST_WIDTH = 20


class Printer:
    """Prints for people or for machines.

    Parameters
    ----------
    as_json : for machines: one JSON object and nothing else.
    part : that another output prints that object.
    """

    def __init__(self, *, as_json: bool, part: bool = False) -> None:
        self.as_json, self.part = as_json, part

    def result(self, data: Mapping[str, Any]) -> None:
        """The JSON object, where one is requested."""
        if self.as_json and not self.part:
            import json

            plain = _finite(json.loads(json.dumps(data, default=_plain)))
            typer.echo(json.dumps(plain, indent=2))

    def say(self, text: str) -> None:
        """A line or several for people."""
        if not self.as_json:
            typer.echo(at_the_command_line(text))

    def table(self, title: str, rows: Mapping[str, str]) -> None:
        """Names and values for people, values folded to the width of the terminal."""
        if self.as_json:
            return
        first = max(map(len, rows), default=0)
        width = max(shutil.get_terminal_size().columns - first - 2 * MARGIN - 1, LEAST_WIDTH)
        self.say(f"{title}\n")
        for name, value in rows.items():
            # Words before folds: a phrase that is on two lines would not be found.
            told = at_the_command_line(value).split("\n")
            lines = [part for line in told for part in _folded(line, width)]
            styled = typer.style(name, bold=True) + " " * (first - len(name))
            for k, line in enumerate(lines):
                beside = styled if k == 0 else " " * first
                self.say(f"{' ' * MARGIN}{beside}   {line}".rstrip())
        self.say("")

    def error(self, error: BaseException) -> None:
        """What went wrong, in one sentence."""
        names = ("file", "line", "key", "found", "expected", "advice")
        facts = {n: getattr(error, n) for n in names if getattr(error, n, None) is not None}
        told = {
            name: at_the_command_line(f) if isinstance(f, str) else f for name, f in facts.items()
        }
        message = at_the_command_line(str(error))
        self.result({"error": {"kind": type(error).__name__, "message": message, **told}})
        typer.echo(f"Error: {message}", err=True)


def _folded(line: str, width: int) -> list[str]:
    """A line as several that fit."""
    import textwrap

    if len(line) <= width:
        return [line]
    return textwrap.wrap(line, width, break_on_hyphens=False)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays for JSON."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _finite(value: Any) -> Any:
    """The same with null for numbers that JSON has none of: undefined and infinite ones."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def printing(*, as_json: bool) -> Iterator[Printer]:
    """What a command prints with; every error becomes a sentence and an exit code."""
    from zwang.errors import ZwangError

    out = Printer(as_json=as_json)
    try:
        yield out
    except (typer.Exit, typer.Abort):
        raise
    except ZwangError as error:
        out.error(error)
        raise typer.Exit(FAILURE) from None
    except KeyboardInterrupt:
        typer.echo("Stopped before there was a result.", err=True)
        raise typer.Exit(STOPPED) from None
    except BrokenPipeError:
        # The reader of the output has closed it; what is still in the buffer has no reader either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILURE) from None
    except OSError as error:
        out.error(error)
        raise typer.Exit(FAILURE) from None
    except Exception as error:
        if os.environ.get("ZWANG_TRACEBACK"):
            raise
        kind = f"{type(error).__name__}: {error}"
        out.error(
            ZwangError(
                "an internal error occurred",
                found=kind,
                advice="This is a mistake in Zwang. Please report it; ZWANG_TRACEBACK=1 shows "
                "where it happens.",
            )
        )
        raise typer.Exit(FAILURE) from None

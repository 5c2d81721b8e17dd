"""Progress of a simulation: reported to a function, or as a bar with the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from zwang.closed_form.budget import DerivationProgress
from zwang.errors import InputError, shown

__all__ = ["EnsembleProgress", "Progress", "Report", "reporting"]

#: Seconds before a bar is shown that was not asked for: most runs are over by then.
PATIENCE = 1.0


@dataclass(frozen=True)
class Progress:
    """How far a simulation has got.

    Attributes
    ----------
    t, start, until : time reached, at the start and at the end [s].
    steps, rejected : of the integrator.
    seconds : since the simulation began, or went on.
    begun_at : where this call began, later than `start` if it resumed a run [s].
    """

    t: float
    start: float
    until: float
    steps: int
    rejected: int
    seconds: float
    begun_at: float

    @property
    def part(self) -> float:
        """What is done, from 0 to 1."""
        span = self.until - self.start
        return (self.t - self.start) / span if span > 0.0 else 1.0

    @property
    def seconds_left(self) -> float:
        """An estimate that supposes the rest to be as much work as what was done."""
        return _left(self.seconds, self.t - self.begun_at, self.until - self.t)

    def __str__(self) -> str:
        return f"t = {self.t:.4g} of {self.until:.4g} s{_about(self.seconds_left)}"


@dataclass(frozen=True)
class EnsembleProgress:
    """How far an ensemble has got.

    Attributes
    ----------
    done, count : trajectories that have ended, and all.
    seconds : since it began.
    """

    done: int
    count: int
    seconds: float

    @property
    def part(self) -> float:
        """What is done, from 0 to 1."""
        return self.done / self.count if self.count else 1.0

    @property
    def seconds_left(self) -> float:
        """An estimate that supposes all trajectories to be the same work."""
        return _left(self.seconds, self.done, self.count - self.done)

    def __str__(self) -> str:
        return f"{self.done} of {self.count} trajectories{_about(self.seconds_left)}"


#: How far a simulation, an ensemble or a derivation is.
Record = Progress | EnsembleProgress | DerivationProgress

#: Takes a record; what it returns is of no matter.
Report = Callable[[Any], Any]


def _left(seconds: float, done: float, rest: float) -> float:
    return seconds * rest / done if done > 0.0 else float("inf")


def _about(seconds: float) -> str:
    if seconds == float("inf"):
        return ""
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    clock = f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
    return f", about {clock if hours or minutes else f'{rest} s'} left"


class reporting:  # noqa: N801 - used as `with reporting(…) as report`
    """What to call with records, for the argument `progress` of `simulate`; None if nobody looks.

    None shows a bar in terminals and notebooks, after a second; True shows one at once, and lines
    where there is no terminal; False shows nothing.
    """

    def __init__(self, *, progress: bool | Report | None) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise InputError(
                "progress", found=shown(progress), expected="None, True, False or a function"
            )
        self._progress = progress
        quiet = progress is False or callable(progress)
        self._display = None if quiet else _display(always=progress is True)

    def __enter__(self) -> Report | None:
        if callable(self._progress):
            return self._progress
        return None if self._display is None else self._show

    def _show(self, record: Record) -> None:
        if self._display is not None and record.seconds >= (0.0 if self._progress else PATIENCE):
            self._display.show(record)

    def __exit__(self, *error: object) -> None:
        if self._display is not None:
            self._display.close()


def _display(*, always: bool) -> _Bar | _Note | _Lines | None:
    if _in_notebook():
        return _Note()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Bar()
    return _Lines() if always else None


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


class _Bar:
    """A bar in a terminal, gone when the run is over."""

    def __init__(self) -> None:
        self._bar: Any = None

    def show(self, record: Record) -> None:
        from rich import progress
        from rich.console import Console

        if self._bar is None:
            self._bar = progress.Progress(
                progress.BarColumn(),
                progress.TaskProgressColumn(),
                progress.TextColumn("{task.description}"),
                console=Console(stderr=True),
                auto_refresh=False,  # by the loop itself, without a thread
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=1.0)
        self._bar.update(self._task, completed=record.part, description=str(record), refresh=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class _Note:
    """A line in a notebook, written anew in its place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, record: Record) -> None:
        self._write(f"{record.part:4.0%}  {record}")

    def _write(self, text: str) -> None:
        display = import_module("IPython.display").display  # in notebooks alone

        data = {"text/plain": text}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def close(self) -> None:
        if self._handle is not None:
            self._write("")


class _Lines:
    """A line for every tenth, where nothing can be written anew: in a file, in a log."""

    def __init__(self) -> None:
        self._next = 0.0

    def show(self, record: Record) -> None:
        if record.part >= self._next:
            self._next = record.part // 0.1 * 0.1 + 0.1
            sys.stderr.write(f"{record.part:4.0%}  {record}\n")
            sys.stderr.flush()

    def close(self) -> None:
        pass

"""``zwang view``: runs, or a model that is simulated first, as a page in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zwang.cli.output import Output
from zwang.errors import InputError
from zwang.models.model import read_model
from zwang.run.run import Run
from zwang.runs import load

__all__ = ["view"]


def view(
    out: Output,
    sources: Sequence[Path],
    model: Path | None,
    *,
    host: str,
    port: int,
    plot: Sequence[str],
    live: Sequence[str],
    browser: bool,
) -> None:
    """Serve a page until Ctrl-C, and say where it is."""
    first, *others = [_run(source, model) for source in sources]
    limits = dict(_limits(text) for text in live)
    with first.view(*others, host=host, port=port, plot=plot, live=limits) as page:
        out.result({"address": page.address, "port": page.server.port})
        out.say(f"The page is at {page.address}. Ctrl-C ends it.")
        if browser:
            import webbrowser

            webbrowser.open(page.address)
        page.wait()


def _run(source: Path, model: Path | None) -> Run:
    """A stored run, or what a model file does, kept in memory alone."""
    if source.is_dir():
        return load(source, read_model(source if model is None else model).system)
    return read_model(source).simulate()


def _limits(text: str) -> tuple[str, tuple[float, float]]:
    """Name and limits of a slider from ``L=0.5:2``."""
    name, _, ends = text.partition("=")
    low, _, high = ends.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise InputError(
            "--live", found=repr(text), expected="a parameter and its limits, as L=0.5:2"
        ) from None

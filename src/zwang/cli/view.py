"""``zwang view``: runs, or a model that is simulated first, as a page in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zwang.cli.output import Printer
from zwang.errors import InputError
from zwang.model_files.model import Model, read_model
from zwang.results.run import Run
from zwang.simulation.stored_runs import load

__all__ = ["view"]

#: Seconds of a live motion that are simulated before the page opens.
FIRST = 0.1


def view(
    out: Printer,
    sources: Sequence[Path],
    model: Path | None,
    *,
    host: str,
    port: int,
    plot: Sequence[str],
    live: bool,
    sliders: Sequence[str],
    follow: str | None,
    browser: bool,
) -> None:
    """Serve a page until Ctrl-C, and say where it is."""
    limits = dict(_limits(text) for text in sliders)
    chosen = limits or live
    models = [read_model(source if model is None else model) for source in sources]
    first = _run(sources[0], models[0], live=bool(chosen))
    others = [_run(*each, live=False) for each in zip(sources[1:], models[1:], strict=True)]
    choices = {"live": chosen, "events": models[0].events, "follow": follow, "plot": plot}
    with first.view(*others, host=host, port=port, **choices) as page:
        if chosen:
            page.play()
        out.result({"address": page.address, "port": page.server.port})
        out.say(f"The page is at {page.address}. Ctrl-C ends it.")
        if browser:
            import webbrowser

            webbrowser.open(page.address)
        page.wait()


def _run(source: Path, model: Model, *, live: bool) -> Run:
    """A stored run, or what a model file does, kept in memory; of a live one its first bit."""
    if source.is_dir():
        return load(source, model.system)
    return model.simulate(until=model.start_conditions.t + FIRST) if live else model.simulate()


def _limits(text: str) -> tuple[str, tuple[float, float]]:
    """Name and limits of a slider from ``L=0.5:2``."""
    name, _, ends = text.partition("=")
    low, _, high = ends.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise InputError(
            "--slider", found=repr(text), expected="a parameter and its limits, as L=0.5:2"
        ) from None

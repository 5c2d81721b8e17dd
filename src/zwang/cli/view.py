"""``zwang view``: runs, or a model that is simulated first, as a page in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zwang.analysis.statics import Equilibrium
from zwang.cli.output import Printer
from zwang.errors import InputError
from zwang.model_files.model import Model, read_model
from zwang.results.run import Run
from zwang.simulation.stored_runs import load
from zwang.view.static import StaticScene

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
    html: Path | None = None,
    force: bool = False,
    still: str = "",
    beside: bool = False,
) -> None:
    """Serve a page until Ctrl-C, and print its address; or write it as a file.

    Parameters
    ----------
    still : ``"modes"`` or ``"equilibrium"`` in place of a motion, as a file.
    """
    limits = dict(_limits(text) for text in sliders)
    chosen = limits or live
    models = [read_model(source if model is None else model) for source in sources]
    if html is not None or still:
        if chosen:
            raise InputError(
                "--html, --modes and --equilibrium",
                must="be given without --live and --slider",
                but="a file cannot go on simulating",
                advice="Serve the page instead, without them.",
            )
        target = html or Path(f"{sources[0].stem}-{still}.html")
        page = _at_rest(models[0], still) if still else _side_by_side(sources, models)
        path = page.save(target, overwrite=force)
        out.result({"page": str(path)})
        out.say(f"Wrote {path}: open it in a browser.")
        return
    first = _run(sources[0], models[0], live=bool(chosen))
    others = [_run(*each, live=False) for each in zip(sources[1:], models[1:], strict=True)]
    choices = {"live": chosen, "events": models[0].events, "follow": follow, "plot": plot}
    with first.view(*others, host=host, port=port, beside=beside, **choices) as page:
        if chosen:
            page.play_when_seen()
        out.result({"address": page.address, "port": page.server.port})
        out.say(f"The page is at {page.address}. Ctrl-C ends it.")
        if browser:
            import webbrowser

            webbrowser.open(page.address)
        page.wait()


def _at_rest(model: Model, what: str) -> StaticScene:
    """Modes, or the equilibrium with its reactions."""
    if what == "modes":
        wanted = model.analysis_tables.get("linearize", {}).get("modes")
        count = None if wanted is None else int(wanted)
        return model.linearize().show(count=count, title=f"{model.name}: modes")
    found = model.equilibrium()
    if not isinstance(found, Equilibrium):
        raise InputError(
            "--equilibrium",
            must="be used with a model that rests",
            but="the file asks for a steady motion",
            advice="zwang linearize describes it; --modes draws its modes.",
        )
    return found.show(title=f"{model.name}: equilibrium")


def _side_by_side(sources: Sequence[Path], models: Sequence[Model]) -> StaticScene:
    """Runs as one file, side by side, which needs no server."""
    runs = [_run(*each, live=False) for each in zip(sources, models, strict=True)]
    labels = [source.stem for source in sources]
    title = " and ".join(dict.fromkeys(model.name for model in models))
    return runs[0].show(*runs[1:], title=title, labels=labels)


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
            "--slider", expected="a parameter and its limits, such as L=0.5:2", found=repr(text)
        ) from None

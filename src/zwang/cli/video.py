"""``zwang video``: a run, or a model that is simulated first, as MP4, GIF or WebP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zwang.cli.output import Printer
from zwang.errors import InputError
from zwang.model_files.model import read_model
from zwang.simulation.stored_runs import load

__all__ = ["video"]


def video(
    out: Printer,
    source: Path,
    output: Path | None,
    model: Path | None,
    *,
    fps: int,
    speed: float,
    size: str,
    trace: Sequence[str],
    forces: bool,
) -> None:
    """Write the video of a run."""
    described = read_model(source if model is None else model)
    run = load(source, described.system) if source.is_dir() else described.simulate()
    target = Path(f"{source.stem}.mp4") if output is None else output
    path = run.animate(
        target, fps=fps, speed=speed, size=_size(size), traces=list(trace) or None, forces=forces
    )
    out.result({"video": str(path)})
    out.say(f"Wrote {path}.")


def _size(text: str) -> tuple[int, int]:
    """Width and height from ``1280x720``."""
    wide, _, high = text.lower().partition("x")
    if wide.isdigit() and high.isdigit():
        return int(wide), int(high)
    raise InputError(
        "--size", expected="width and height in pixels, such as 1280x720", found=repr(text)
    )

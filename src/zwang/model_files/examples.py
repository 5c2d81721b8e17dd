"""Model files that come with the package."""

from __future__ import annotations

from pathlib import Path

from zwang.errors import UnknownNameError

__all__ = ["example_names", "example_path"]


def _folder() -> Path:
    """In an installed package beside this module; in a source tree the folder ``examples``."""
    installed = Path(__file__).parent / "example_files"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "examples"


def example_names() -> tuple[str, ...]:
    """Names of all example models."""
    return tuple(sorted(path.stem for path in _folder().glob("*.toml")))


def example_path(name: str) -> Path:
    """The file of an example model."""
    names = example_names()
    if name not in names:
        raise UnknownNameError("example", name, names)
    return _folder() / f"{name}.toml"

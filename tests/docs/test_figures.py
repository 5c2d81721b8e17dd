"""The scripts that draw the pictures of the documentation run."""

import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPTS = sorted((DOCS / "figures").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_figure_is_drawn(script, tmp_path, monkeypatch):
    target = tmp_path / f"{script.stem}.svg"
    monkeypatch.setattr(sys, "argv", [str(script), str(target)])
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runpy.run_path(str(script), run_name="__main__")
    assert target.read_text(encoding="utf-8").count("<path") > 20
    assert (DOCS / "images" / target.name).is_file()

"""The notebooks of the documentation run from top to bottom, and the site has a page for each."""

import ast
import json
from pathlib import Path

import pytest

from notebooks import page

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: Letters of a page, pictures included.
LARGEST_PAGE = 300_000


def cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_there_are_ten():
    assert len(NOTEBOOKS) == 10


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_what_it_shows_shows_itself(path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    shown, names = 0, {}
    for cell in cells(path):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
            shown += value is not None
            ours = type(value).__module__.startswith("zwang")
            if ours and not isinstance(value, plt.Figure):  # which notebooks draw
                assert value._repr_html_()
    plt.close("all")  # others count them
    assert shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_with_what_it_shows_and_its_page_is_small(path):
    for cell in cells(path):
        if cell["cell_type"] == "code":
            assert cell["execution_count"], "not executed"
            assert all(output["output_type"] != "error" for output in cell["outputs"])
    text = page(path)
    assert len(text) < LARGEST_PAGE
    assert f"({path.name})" in text
    assert "/tmp/" not in text

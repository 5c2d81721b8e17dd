"""The examples in docstrings run and print what they say."""

import ast
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import zwang

#: Blanks before a line of code in Markdown.
INDENT = 4
MODULES = ["zwang", *(m.name for m in pkgutil.walk_packages(zwang.__path__, prefix="zwang."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def fallen_out(docstring):
    """Blocks of which some lines are indented too little to belong to them, as Markdown reads."""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", docstring)]
    depths = [[len(line) - len(line.lstrip()) for line in block] for block in blocks]
    return [
        block
        for block, depth in zip(blocks, depths, strict=True)
        if depth and depth[0] >= INDENT > min(depth) and not block[0].lstrip().startswith(">>>")
    ]


def test_drawings_in_docstrings_are_blocks_as_a_whole():
    assert fallen_out("Bars.\n\n    B───C\n   ╱   ╲\n  A     D")
    assert not fallen_out("Bars.\n\n      B───C\n     ╱   ╲\n    A     D")
    found = [
        (path.name, block)
        for path in sorted(Path(zwang.__file__).parent.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for block in fallen_out(ast.get_docstring(node) or "")
    ]
    assert found == []

"""No function is longer than a page, so that each can be read at once."""

import ast
from pathlib import Path

import pytest

import zwang

ROOT = Path(zwang.__file__).parent
#: Lines of a body without its docstring.
PAGE = 60


def long_functions(text):
    """Names and lengths of the functions of a module that exceed a page."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        described = ast.get_docstring(node) is not None
        first = node.body[min(described, len(node.body) - 1)]
        length = (node.end_lineno or 0) - first.lineno + 1
        if length > PAGE:
            found.append((node.name, length))
    return found


FOLDERS = sorted({p.relative_to(ROOT).parts[0] for p in ROOT.rglob("*.py")})


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_fit_on_a_page(folder):
    path = ROOT / folder
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    too_long = {
        f.relative_to(ROOT).as_posix(): long_functions(f.read_text(encoding="utf-8")) for f in files
    }
    assert not {name: found for name, found in too_long.items() if found}


def test_long_functions_are_seen():
    body = "\n".join(f"    x = {i}" for i in range(PAGE + 1))
    assert long_functions(f'def f():\n    """Say."""\n{body}\n') == [("f", PAGE + 1)]
    assert not long_functions(f'def f():\n    """{"a" * 9}\n\n    b\n    """\n    return 1\n')

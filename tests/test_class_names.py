"""A class name stands for one thing: who reads it in a message or a search finds one definition."""

import ast
from collections import defaultdict
from pathlib import Path

import zwang

PACKAGE = Path(zwang.__file__).parent


def test_no_two_classes_of_the_package_share_a_name():
    places = defaultdict(set)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].add(str(file.relative_to(PACKAGE)))
    shared = {name: sorted(files) for name, files in places.items() if len(files) > 1}
    assert len(places) > 300
    assert not shared

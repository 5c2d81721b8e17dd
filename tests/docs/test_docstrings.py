"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import zwang

MODULES = ["zwang", *(m.name for m in pkgutil.walk_packages(zwang.__path__, prefix="zwang."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0

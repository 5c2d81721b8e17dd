"""Helper modules of the tests lie on the path: their names are theirs alone."""

import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent


def test_names_of_helper_modules_hide_nothing():
    """One that is called like a module of Python breaks every process that a test starts."""
    names = Counter(
        path.stem for path in HERE.rglob("*.py") if not path.stem.startswith(("__", "conftest"))
    )
    packaged = {path.stem for path in (HERE / "mutations").glob("*.py")}  # a package, by full names
    assert not [name for name, count in names.items() if count > 1 and name not in packaged]
    assert not [name for name in names if name in sys.stdlib_module_names]

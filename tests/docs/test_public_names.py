"""The documentation names everything the package offers, and its parts fit together."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import theory_map
import zwang

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def pages_of(nav):
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from pages_of(value) if isinstance(value, list) else [value]


def documented():
    """What the pages of the reference ask mkdocstrings for: modules, or names in modules."""
    pages = sorted((DOCS / "reference").glob("*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return set(re.findall(r"^::: ([\w.]+)", text, re.MULTILINE))


PUBLIC = [name for name in zwang.__all__ if not name.startswith("__")]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_exists_and_is_in_the_reference(name):
    thing = getattr(zwang, name)
    home = getattr(thing, "__module__", None)
    if isinstance(thing, type) or callable(thing):
        assert documented() & {home, f"{home}.{name}"}, f"no page of the reference shows {home}"
    else:
        assert any(entry.endswith(f".{name}") for entry in documented())


def test_names_that_load_late_are_those_that_type_checkers_see():
    source = Path(zwang.__file__).read_text(encoding="utf-8")
    block = source.partition("if TYPE_CHECKING:")[2].partition("__all__")[0]
    seen = {
        (module, name.strip())
        for module, names in re.findall(r"from ([\w.]+) import ([\w, ]+)", block)
        for name in names.split(",")
    }
    late = {(module, name) for module, names in zwang._LATER.items() for name in names}
    assert late == seen
    assert {name for _, name in late} <= set(zwang.__all__) <= set(dir(zwang))


@pytest.mark.parametrize("entry", sorted(documented()))
def test_the_reference_asks_for_things_that_exist(entry):
    assert theory_map.resolve(entry) is not None


def test_every_page_is_in_the_navigation_and_exists():
    sources = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]  # a notebook becomes a page
    pages = {page.relative_to(DOCS).with_suffix(".md").as_posix() for page in sources}
    assert sorted(pages_of(CONFIG["nav"])) == sorted(pages)


def test_the_site_loads_no_fonts_from_elsewhere():
    assert CONFIG["theme"]["font"] is False
    assert CONFIG["strict"] is True


def test_hooks_styles_and_images_exist():
    for hook in CONFIG["hooks"]:
        assert (ROOT / hook).is_file()
    for style in CONFIG["extra_css"]:
        assert (DOCS / style).is_file()
    for target in re.findall(r"!\[[^]]*\]\(([^)\s]+)\)", README):
        assert (ROOT / target).is_file()


def test_every_dependency_is_explained():
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8")
    extras = PROJECT["optional-dependencies"]
    for requirement in [*PROJECT["dependencies"], *(r for group in extras.values() for r in group)]:
        name = re.match(r"[\w-]+", requirement)[0]
        if name != "zwang":
            assert f"`{name}`" in page, f"docs/dependencies.md does not say why {name} is there"


def test_readme_gives_exactly_the_two_commands_that_ci_runs():
    commands = [
        block.strip()
        for block in re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    ]
    assert commands == [
        "python -m pip install . && zwang report examples/bricard.toml",
        'python -m pip install -e ".[test]" && python -m pytest -n auto',
    ]
    for command in commands:
        assert f"'{command}'" in CI


def test_version_is_written_once():
    assert "version" in PROJECT["dynamic"]
    assert (
        zwang.__version__
        == re.search(r'__version__ = "(.+)"', (ROOT / "src" / "zwang" / "__init__.py").read_text())[
            1
        ]
    )

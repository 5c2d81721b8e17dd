"""The navigation is short, and search works on pages opened from disk, without a network."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import axe
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
#: Entries that a newcomer may see at once.
MOST_ENTRIES = 12
PAGES = {
    "index.md": "# Home\n\nNothing of interest.\n",
    "rows.md": "# Equations\n\n## BL-43 · (6.14)–(6.16)\n\nEquations (6.14) (6.15) (6.16).\n",
    "code.md": (
        "# Code\n\nA [link](doors.md), a table and a program:\n\n"
        "| a | b |\n|---|---|\n| 1 | `x` |\n\n"
        "```python\n# a comment\nif not x:\n    print('no', 3.0 * x)\n```\n"
    ),
    "doors.md": "# Doors\n\nA door on three hinges has redundant constraints.\n",
}


def test_a_newcomer_sees_few_entries():
    assert len(CONFIG["nav"]) <= MOST_ENTRIES
    # Either of these would open all sections at once.
    assert not {"navigation.expand", "navigation.sections"} & set(CONFIG["theme"]["features"])


def test_search_loads_nothing_from_elsewhere():
    assert "offline" in CONFIG["plugins"]
    scripts = CONFIG["extra"]["polyfills"]
    # By this name the plugin takes ours in place of one that it would fetch from the network.
    assert any("iframe-worker" in script for script in scripts)
    assert all((ROOT / "docs" / script).is_file() for script in scripts)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A small site with the theme, the scripts and the search settings of ours."""
    pytest.importorskip("material", reason="the docs extra is not installed")
    folder = tmp_path_factory.mktemp("site")
    for name, text in PAGES.items():
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    for name in ("javascripts", "stylesheets"):
        shutil.copytree(ROOT / "docs" / name, folder / "docs" / name)
    keys = ("site_name", "theme", "extra", "use_directory_urls", "extra_css", "extra_javascript")
    kept = {key: CONFIG[key] for key in keys}
    search = [p for p in CONFIG["plugins"] if p == "offline" or "search" in p]
    (folder / "mkdocs.yml").write_text(
        yaml.safe_dump({**kept, "plugins": search}, allow_unicode=True), encoding="utf-8"
    )
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet"],
        cwd=folder,
        check=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    return folder / "site"


def results(browser, address):
    """Titles and addresses of what a search finds, as soon as there are any."""
    browser.open(address)
    links = "document.querySelectorAll('.md-search-result__item a.md-search-result__link')"
    end = time.monotonic() + 60.0
    while not browser.evaluate(f"{links}.length"):
        assert time.monotonic() < end, "the search has no result"
        time.sleep(0.05)
    return browser.evaluate(f"[...{links}].map(link => link.href)")


@pytest.mark.parametrize(
    ("query", "page"), [("redundant", "doors.html"), ("(6.15)", "rows.html"), ("6.15", "rows.html")]
)
def test_search_works_from_disk(site, browser, query, page):
    first = results(browser, f"{(site / 'index.html').as_uri()}?q={query}")[0]
    assert page in first
    assert not browser.errors


def test_pages_fetch_nothing_from_the_network(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert "unpkg.com" not in text


@pytest.mark.parametrize("dark", [False, True])
def test_the_theme_has_no_serious_finding_of_axe(site, browser, dark):
    source = axe.axe_source()
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.call("Emulation.setEmulatedMedia", features=scheme)
    browser.open((site / "code.html").as_uri())
    try:
        assert axe.findings(browser, source) == []
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])

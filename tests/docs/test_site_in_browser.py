"""The site as people see it: in a browser, from disk, on a desktop and a phone, light and dark.

    mkdocs build -d /tmp/site && ZWANG_SITE=/tmp/site python -m pytest -m campaign tests/docs

looks at a site that is built already; without ``ZWANG_SITE`` one is built. axe-core is taken from
``node_modules`` of the checkout or the home folder, or from ``NODE_PATH``.
"""

import os
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

import pytest
from axe import axe_source, findings
from chromium import SCREENS

pytestmark = pytest.mark.campaign

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "index.html",
    "tutorial/first-mechanism.html",
    "gallery/index.html",
    "notebooks/index.html",
    "notebooks/01-first-mechanism.html",
    "notebooks/05-any-mass-matrix.html",
    "notebooks/09-closed-forms.html",
    "how-to/index.html",
    "how-to/model-files.html",
    "how-to/equilibrium.html",
    "how-to/joints.html",
    "how-to/channels.html",
    "how-to/closed-form-classics.html",
    "theory/projection.html",
    "theory/map-udwadia-kalaba.html",
    "comparison/speed-and-accuracy.html",
    "faq.html",
    "error-messages.html",
    "reference/mechanisms.html",
    "reference/model-file-keys.html",
)
LOOKS = [(screen, dark) for screen in SCREENS for dark in (False, True)]
#: What people type, and a page that one of the first results leads to.
WORDS = {
    "install": "index.html",
    "four-bar": "four_bar",
    "slider crank": "slider_crank",
    "motor torque": "motor",
    "double pendulum": "closed-form",
    "cart pole": "cart-pole",
    "PID controller": "feedback-control",
    "friction": "friction",
    "gears": "joints",
    "export csv": "channels",
    "excel": "channels",
    "animation": "see-a-run",
    "video": "see-a-run",
    "phase portrait": "channels",
    "equations of motion latex": "closed-form",
    "redundant constraints": "redundant",
    "natural frequency": "frequenc",
    "parameter sweep": "many-motions",
    "URDF": "faq",
}
#: Results that a person reads.
READ = 8
#: Where the second column of a table begins at the latest, as a part of the width of a phone.
SECOND_COLUMN = 0.75
#: Colours of a page that shows text and code: more than of an empty one.
LEAST_COLORS = 12


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    given = os.environ.get("ZWANG_SITE")
    if given:
        return Path(given)
    for package in ("material", "mkdocstrings", "mkdocs_autorefs"):
        pytest.importorskip(package, reason="the extra 'docs' is not installed")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        check=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    return folder


@pytest.fixture
def shown(site, browser):
    """Opens a page of the site as on some screen."""

    def opened(page, screen, dark):
        browser.screen(screen, dark=dark)
        browser.open((site / page).as_uri())
        return browser

    yield opened
    browser.usual_screen()


def colors(picture):
    image = pytest.importorskip("PIL.Image")
    return len(image.open(BytesIO(picture)).convert("RGB").getcolors(1 << 24))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_shown_without_errors_or_network_and_fits(shown, page):
    for screen, dark in LOOKS:
        browser = shown(page, screen, dark)
        assert not browser.errors, (screen, dark)
        assert not browser.asked, (screen, dark)
        wide, inner = browser.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= inner, f"{page} scrolls sideways on a {screen}"
        assert colors(browser.picture()) > LEAST_COLORS
        ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(int(x) for x in ground.strip("rgba()").split(",")[:3]) > 3 * 128
        assert light != dark


@pytest.mark.parametrize("page", PAGES)
def test_tables_show_their_second_column_on_a_phone(shown, page):
    browser = shown(page, "phone", dark=False)
    begins = browser.evaluate(
        "[...document.querySelectorAll('article table:not([class]) tr :nth-child(2)')]"
        ".filter((cell) => ['TD', 'TH'].includes(cell.tagName))"
        ".map((cell) => cell.getBoundingClientRect().left / innerWidth)"
    )
    assert all(place < SECOND_COLUMN for place in begins), max(begins)


@pytest.mark.parametrize("page", PAGES)
def test_headings_end_with_their_last_word(shown, page):
    """The mark beside a heading has no line of its own, which would be an empty one."""
    for screen in SCREENS:
        browser = shown(page, screen, dark=False)
        alone = browser.evaluate(
            "[...document.querySelectorAll('article .headerlink')].filter((mark) => {"
            "const words = document.createRange(); words.selectNodeContents(mark.parentElement);"
            "words.setEndBefore(mark);"
            "const ends = [...words.getClientRects()].map((line) => line.bottom);"
            "return mark.getBoundingClientRect().top > Math.max(...ends) - 2;"
            "}).map((mark) => mark.parentElement.textContent)"
        )
        assert alone == [], screen


def test_tables_of_two_columns_fit_a_phone(shown):
    for page in ("coming-from/mujoco.html", "coming-from/sympy.html", "how-to/channels.html"):
        browser = shown(page, "phone", dark=False)
        wide = browser.evaluate(
            "[...document.querySelectorAll('article table:not([class])')]"
            ".filter((table) => table.rows[0].cells.length === 2)"
            ".map((table) => table.getBoundingClientRect().right / innerWidth)"
        )
        assert wide
        assert all(right < 1.0 for right in wide), page


def test_printed_tables_keep_their_lines_on_a_phone(shown):
    for page, kind in (
        ("notebooks/05-any-mass-matrix.html", ".output.aligned pre"),
        ("reference/rotation.html", ".language-text.aligned code"),
    ):
        browser = shown(page, "phone", dark=False)
        lines = browser.evaluate(
            f"[...document.querySelectorAll('{kind}')].map((x) => [x.textContent.trimEnd()"
            ".split('\\n').length, x.scrollHeight / parseFloat(getComputedStyle(x).lineHeight)])"
        )
        assert lines
        assert all(shown < printed + 3 for printed, shown in lines), page


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_serious_finding_of_axe(shown, page):
    source = axe_source()
    for screen, dark in LOOKS:
        browser = shown(page, screen, dark)
        assert findings(browser, source) == [], (screen, dark)


def test_axe_finds_what_is_wrong(browser, tmp_path):
    """The check itself can fail: grey letters on grey."""
    source = axe_source()
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<!doctype html><html lang="en"><title>Bad</title><body style="background:#ccc">'
        '<main><h1 style="color:#aaa">Hardly to be read</h1></main></body></html>'
    )
    browser.open(bad.as_uri())
    assert any("color-contrast" in line for line in findings(browser, source))


def test_mathematics_is_set(shown):
    browser = shown("theory/projection.html", "desktop", dark=False)
    sizes = browser.evaluate(
        "[...document.querySelectorAll('math')].map((m) => m.getBoundingClientRect().width)"
    )
    assert len(sizes) > 20
    assert min(sizes) > 0
    text = browser.evaluate("document.querySelector('article').innerText")
    assert "\\frac" not in text
    assert "\\begin" not in text


@pytest.mark.parametrize("words", WORDS)
def test_search_from_disk_leads_somewhere(shown, words):
    browser = shown("index.html", "desktop", dark=False)
    browser.open(browser.evaluate("location.href").partition("?")[0] + f"?q={words}")
    links = "document.querySelectorAll('.md-search-result__item a.md-search-result__link')"
    end = time.monotonic() + 60.0
    while not browser.evaluate(f"{links}.length"):
        assert time.monotonic() < end, f"nothing is found for {words!r}"
        time.sleep(0.1)
    found = browser.evaluate(f"[...{links}].map((link) => link.href)")[:READ]
    assert any(WORDS[words] in address for address in found), found

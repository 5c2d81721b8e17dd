"""Formulas of the pages become MathML, and one that is not understood stops the build."""

import re

import pytest

import mathematics

pytest.importorskip("latex2mathml", reason="the tools of the site are not installed")

PAGES = sorted((mathematics.DOCS).rglob("*.md"))


def test_formulas_become_mathml_in_the_line_and_by_themselves():
    page = (
        r'a <span class="arithmatex">\(M &lt; 2\)</span> and'
        r'<div class="arithmatex">\[\dot v = a\]</div>'
    )
    made = mathematics.on_page_content(page)
    assert made.count("<math") == 2
    assert "arithmatex" not in made
    assert re.search(r'<math[^>]*display="inline"><mrow><mi>M</mi>', made)
    assert '<div class="formula"><math' in made


@pytest.mark.parametrize("formula", [r"\nosuchword x", r"\begin{aligned} a &amp;= b \end{aligned}"])
def test_a_formula_that_is_not_understood_is_refused(formula):
    with pytest.raises(ValueError, match="not understood"):
        mathematics.on_page_content(rf'<span class="arithmatex">\({formula}\)</span>')


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if "$$" in page.read_text(encoding="utf-8")],
    ids=lambda p: p.name,
)
def test_formulas_of_the_page_are_understood(page):
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    text = re.sub(r"`[^`\n]*`", "", text)
    found = re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text)
    assert found
    for block, inline in found:
        html = (block or inline).replace("&", "&amp;").replace("<", "&lt;")
        assert "<math" in mathematics.on_page_content(
            rf'<span class="arithmatex">\({html}\)</span>'
        )

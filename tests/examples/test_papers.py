"""What the five documents show is computed again, and the page of differences is up to date.

Numbers are compared to the digits they are printed with, never to the last bit.
"""

import functools
import math
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

import comparison
import papers

NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
#: The page prints four digits of values and three of differences.
DIGITS = 2e-3
BY_NAME = {paper.__name__: paper for paper in papers.PAPERS}


@functools.cache
def results(name):
    """Of a paper; a few seconds, shared by the tests below."""
    return BY_NAME[name].results()


@pytest.mark.parametrize("name", BY_NAME)
def test_the_paper_is_right_or_its_misprint_is_told(name):
    for result in results(name):
        assert result.corrected_differs < comparison.ROUNDING, result.place
        if result.corrected is None:
            assert result.printed_differs < comparison.ROUNDING, result.place
        else:
            assert result.why


def test_misprints_that_change_numbers_are_seen_as_differences():
    seen = {
        (name, result.place)
        for name in BY_NAME
        for result in results(name)
        if result.printed_differs > 1e-3
    }
    blajer = {place for name, place in seen if name == "blajer_1992"}
    assert blajer == {f"(6.{k})" for k in (2, 11, 12, 18, 19, 26, 27, 28, 29)}
    assert {place for name, place in seen if name == "udwadia_kalaba_1996"} == {
        "(28)",
        "after (28)",
        "(31)",
        "(36)",
        "(37)",
    }


@pytest.mark.parametrize("name", BY_NAME)
def test_script_prints_its_table(name, capsys):
    comparison.report(BY_NAME[name].TITLE, results(name))
    assert capsys.readouterr().out.count("\n") > len(results(name))


def test_page_says_what_is_computed(monkeypatch):
    for paper in papers.PAPERS:
        results(paper.__name__)  # before its own function is replaced by this one
        monkeypatch.setattr(paper, "results", functools.partial(results, paper.__name__))
    found, said = papers.page(), papers.PAGE.read_text(encoding="utf-8")
    assert NUMBER.sub("#", found) == NUMBER.sub("#", said), "run python examples/papers write"
    for x, y in zip(NUMBER.findall(found), NUMBER.findall(said), strict=True):
        a, b = (float(text.replace("−", "-")) for text in (x, y))
        assert math.isclose(a, b, rel_tol=DIGITS, abs_tol=1e-9), "run python examples/papers write"


@pytest.mark.parametrize("paper", papers.PAPERS, ids=lambda paper: paper.__name__)
def test_figures_are_drawn_and_shipped(paper, tmp_path):
    before = plt.get_fignums()  # other tests may leave theirs open
    drawn = papers.draw(paper, tmp_path)
    assert {path.stem for path in drawn} == set(paper.FIGURES)
    for path in drawn:
        assert path.read_text(encoding="utf-8").count("<path") > 20
        assert (papers.IMAGES / path.name).is_file()
    assert plt.get_fignums() == before


def test_no_picture_is_left_over():
    named = {f"{name}.svg" for paper in papers.PAPERS for name in paper.FIGURES}
    assert {path.name for path in papers.IMAGES.iterdir()} == named


# ---------------------------------------------------------------------------- the comparison itself


def test_a_difference_is_a_share_of_the_largest_entry():
    assert comparison.difference([1.0, 2.2], [1.0, 2.0]) == pytest.approx(0.1)
    assert comparison.difference([0.5], [0.0]) == 0.5
    assert comparison.difference([1.0], [1.0, 2.0]) == float("inf")
    assert comparison.say(1e-13) == "rounding"
    assert comparison.say(0.2345) == "23.4 %"


def test_derivatives_by_complex_steps():
    assert comparison.jacobian(lambda x: np.array([x[0] * x[1], np.sin(x[0])]), [2.0, 3.0]) == (
        pytest.approx(np.array([[3.0, 2.0], [np.cos(2.0), 0.0]]))
    )
    assert comparison.rate(lambda x: x[0] ** 2, [3.0], [2.0]) == pytest.approx(12.0)

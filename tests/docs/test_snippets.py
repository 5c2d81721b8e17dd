"""Every row of the theory map has a few lines that run and print what the page says.

Snippets run in this process, each in a namespace of its own, since starting Python anew for each
would take minutes. Numbers are compared to the digits a reader would compare, not to the last bit.
"""

import re
import tomllib

import pytest

import theory_map
import theory_snippets
from theory_snippets import documents, numbers

THEORY = theory_map.load()
SNIPPETS = theory_snippets.load()
ROWS = [row.id for row in THEORY.rows]

NUMBER = re.compile(r"[-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
#: Printed residuals are rounding noise; printed results have six digits.
NOISE = 1e-9
DIGITS = 1e-5


def words_and_numbers(text):
    words = " ".join(re.sub(r"[\s\[\](),]+", " ", NUMBER.sub("#", text)).split())
    return words.replace("# ", "#").strip(), [
        float(part.replace("−", "-")) for part in NUMBER.findall(text)
    ]


def same_output(found, expected):
    """Equal words; numbers equal to DIGITS, or both below NOISE. Brackets and space are free."""
    (words, values), (expected_words, expected_values) = map(words_and_numbers, (found, expected))
    return (
        words == expected_words
        and len(values) == len(expected_values)
        and all(
            abs(x - y) <= max(NOISE, DIGITS * max(abs(y), 1e-1))
            for x, y in zip(values, expected_values, strict=True)
        )
    )


def test_every_row_has_a_snippet_and_no_other_has():
    assert sorted(SNIPPETS) == sorted(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_snippet_of_the_row_runs_and_prints_what_the_page_says(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippet = SNIPPETS[row]
    assert len(snippet.lines) <= theory_snippets.MOST_LINES
    assert snippet.prints.strip()
    printed = snippet.run()
    if not same_output(printed, snippet.prints):
        pytest.fail(f"{row} printed\n\n{printed}\nbut the page says\n\n{snippet.prints}")


@pytest.mark.parametrize("row", THEORY.rows, ids=lambda row: row.id)
def test_snippet_of_the_row_calls_what_the_row_offers(row):
    names = {name.rpartition(".")[2] for name in row.offers}
    assert any(re.search(rf"\b{name}\b", SNIPPETS[row.id].code) for name in names)


def test_lines_that_snippets_begin_with_are_used():
    data = tomllib.loads(theory_snippets.SNIPPETS_FILE.read_text(encoding="utf-8"))
    used = {entry["after"] for entry in data.values() if "after" in entry}
    assert used == set(data["setup"])


def test_snippets_are_compared_by_words_and_digits():
    assert same_output("[ 1.25  -0.]\n", "[1.25  0.]")
    assert same_output("gap 3e-16", "gap 0.0")
    assert not same_output("[1.25 0.]", "[1.26 0.]")
    assert not same_output("[1.25]", "[-1.25]")
    assert not same_output("True 1.0", "False 1.0")
    assert not same_output("1.0 2.0", "1.0")


# -------------------------------------------------------------------------------- equation numbers


def test_documents_have_as_many_equations_as_they_number():
    counts = {prefix: len(found) for prefix, found in documents().items()}
    assert counts == {"UK": 37, "US": 123, "UM": 65, "NI": 51, "BL": 72}


@pytest.mark.parametrize("prefix", documents())
def test_every_equation_has_a_row_of_its_document(prefix):
    rows = [row for row in THEORY.rows if row.id.startswith(prefix)]
    assert set(documents()[prefix]) == set(theory_map.where_found(rows))


def test_ranges_are_written_out_and_neighbours_are_not_taken_for_the_equation():
    assert numbers("Lemma 1 (9)–(11)") == ["(9)", "(10)", "(11)"]
    assert numbers("(33),(34),(36)–(37)") == ["(33)", "(34)", "(36)", "(37)"]
    assert numbers("(6.2)–(6.4), (A.1)") == ["(6.2)", "(6.3)", "(6.4)", "(A.1)"]
    assert numbers("after (3)") == []
    assert numbers("(a), (11.1)") == ["(11.1)"]


@pytest.mark.parametrize("prefix", documents())
def test_every_equation_number_stands_on_its_own_in_a_row_with_a_snippet(prefix):
    text = theory_map.markdown(THEORY, prefix, {}, SNIPPETS)
    # Headings and code as a browser would have them.
    page = re.sub(r"(?m)^## .*\{ #(\S+) \}$", lambda m: f'<h2 id="{m[1]}">{m[0]}</h2>', text)
    found = theory_map.found_in(page.replace("```python", "<code>"))
    assert not [number for number in documents()[prefix] if number not in found]


@pytest.mark.parametrize("prefix", documents())
def test_index_links_every_equation_to_its_row(prefix):
    page = theory_snippets.PAGES[prefix]
    text = theory_map.index(THEORY)
    for number in documents()[prefix]:
        assert re.search(rf"\[{re.escape(number)}\]\({page}#{prefix}-\d\d\)", text)


def test_a_missing_number_or_snippet_is_noticed():
    page = '<h2 id="UK-01">(1)</h2><p>no lines</p><h2 id="UK-02">(2)</h2><code>x</code>'
    assert theory_map.found_in(page) == {"(2)": ["UK-02"]}

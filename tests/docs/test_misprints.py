"""The page of misprints: each entry can be checked, and its line says the truth."""

import re

import pytest

import misprints
import theory_map

ENTRIES = misprints.load()
ROWS = {row.id for row in theory_map.load().rows}


@pytest.fixture(scope="module")
def names():
    """What the code blocks of the page define."""
    namespace = {}
    text = misprints.PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(block, namespace)
    return namespace


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.anchor)
def test_line_of_the_entry_is_true(entry, names):
    assert "\n" not in entry.check
    assert eval(entry.check, dict(names))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.anchor)
def test_entry_is_complete_and_belongs_to_rows(entry):
    assert entry.kind in misprints.KINDS
    assert entry.printed
    assert entry.correct
    assert set(entry.rows) <= ROWS
    assert all(row.startswith(entry.document) for row in entry.rows)
    assert entry.rows


def test_what_changes_numbers_is_told_for_every_document():
    counts = {}
    for entry in ENTRIES:
        if entry.kind == "numbers":
            counts[entry.document] = counts.get(entry.document, 0) + 1
    assert counts == {"BL": 17, "NI": 6, "UK": 4, "US": 1, "UM": 2}


def test_page_has_every_entry_once_and_rows_link_to_it():
    text = misprints.markdown(ENTRIES)
    for entry in ENTRIES:
        assert text.count(f'id="{entry.anchor}"') == 1
    rows = theory_map.markdown(theory_map.load(), "BL", {}, {})
    for entry in ENTRIES:
        if entry.document == "BL":
            assert f"(misprints.md#{entry.anchor})" in rows

"""The page of error messages: each entry is raised by its code, under words of the message.

That the code prints what the page says is checked with the code of all pages.
"""

import re
from pathlib import Path

import pytest
from test_code_blocks import blocks_of, expected_output

import zwang as zw
from zwang import errors

PAGE = Path(__file__).resolve().parents[2] / "docs" / "error-messages.md"
TEXT = PAGE.read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL))
#: Errors that a newcomer does not meet: of motions integrated anew, of a number of steps that is
#: asked for, and of actuators.
OTHERS = {
    "NotIntegratedError",
    "TooManyStepsError",
    "UnknownNameError",
    "UnreachableError",
    "ZwangError",
}


def test_there_are_entries():
    assert len(ENTRIES) > 25


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_raised_under_its_words(entry):
    text = ENTRIES[entry]
    blocks = blocks_of(text)
    raised = [i for i, block in enumerate(blocks) if block.language == "python"]
    printed = [expected_output(text, blocks, i) for i in raised]
    words = [word.strip() for word in entry.split("…") if word.strip()]
    assert any(out and all(word in out for word in words) for out in printed), words
    # An error is caught, or a run that ended early says why.
    assert all(
        "except zw." in b.body or "run.status" in b.body for b in blocks if b.language == "python"
    )


def test_every_kind_of_error_is_there():
    kinds = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
    known = kinds - OTHERS
    named = set(re.findall(r"except zw\.(\w+) as", TEXT))
    hidden = {name for name in known if not hasattr(zw, name)}  # caught as their base
    assert known - named <= hidden
    assert hidden == {"MissingExtraError"}
    assert "needs the package" in TEXT

"""Docstrings, comments, messages and pages use the field's words, not private ones."""

import io
import re
import tokenize
from pathlib import Path

import pytest

import zwang

PACKAGE = Path(zwang.__file__).parent
ROOT = Path(__file__).parent.parent

#: What is not written → what is written instead.
BANNED = {
    r"put(?:s|ting)? (?:\w+ ){0,3}together\b": "assemble",
    r"\bshar(?:e|es|ed|ing) out\b": "distribute",
    r"\b(?:says?|said) nothing new\b": "is redundant",
    r"\b(?:tampered with|honest)\b": "does not match; verified",
    r"\bfurther coordinate": "extra generalized coordinate",
    r"\bcarried (?:in|along in) (?:\w+ ){0,3}coordinates\b": "integrated in",
    r"\bwish(?:es|ed)?\b": "request, target",
    r"\bstretch(?:es)?\b": "segment",
    r"\bledger\b": "energy balance",
    r"\bfreedoms\b": "degrees of freedom",
    r"\b(?:told|tells?) (?:\w+ )?apart\b": "distinguish",
    r"\b(?:says|tells|told) (?:of itself|so)\b": "reports, returns, decides",
    r"\btapes?\b": "call list",
    r": found [^;\n]*; expected ": "a plain sentence",
    r"\bmay rub\b": "has friction",
    r"\bprint is wrong\b": "the publication has a misprint",
}

#: Parts of the package that are read; what is not listed is being rewritten.
PARTS = [
    "arguments",
    "assembly",
    "cli",
    "closed_form",
    "control",
    "diagnosis",
    "errors.py",
    "formulations",
    "library",
    "linalg",
    "model_files",
    "multibody",
    "reduction",
    "results",
    "rotation",
    "solvers",
    "terms.py",
    "tracing",
    "view",
]

#: (file, words) → why they stay.
EXEMPT = {
    ("library/chains.py", "stretch"): "the extension of a spring",
    ("library/governor.py", "stretch"): "the extension of a spring",
    ("multibody/forces/laws.py", "stretch"): "the extension of a spring",
    ("diagnosis/explanation.py", "freedoms"): "the public attribute",
    ("multibody/explanation.py", "freedoms"): "the public attribute",
    ("multibody/sparse_explanation.py", "freedoms"): "the public attribute",
    ("words.md", ""): "the page that explains words",
}


def prose(text):
    """Comments, docstrings and sentences of a module, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and " " in token.string
        ):
            yield token.start[0], token.string


def private_words(lines):
    """Line and words of what is banned."""
    for number, text in lines:
        for pattern, instead in BANNED.items():
            for match in re.finditer(pattern, text, re.IGNORECASE):
                yield number, match[0], instead


def remaining(path, name, lines):
    return [
        f"{path}:{number}: {words!r}; write: {instead}"
        for number, words, instead in private_words(lines)
        if not any(name == file and part in words.lower() for file, part in EXEMPT)
    ]


def files_of(part):
    path = PACKAGE / part
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


@pytest.mark.parametrize("part", PARTS)
def test_the_package_uses_the_words_of_the_field(part):
    found = []
    for file in files_of(part):
        name = file.relative_to(PACKAGE).as_posix()
        found += remaining(name, name, prose(file.read_text(encoding="utf-8")))
    assert not found, "\n".join(found)


def test_pages_use_the_words_of_the_field():
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        lines = enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        found += remaining(page.relative_to(ROOT), page.name, lines)
    assert not found, "\n".join(found)


def test_private_words_are_seen_in_prose_alone():
    text = '"""Parts are put together."""\nfreedoms = 1  # honest\nx = "tape"\n'
    assert [(n, w) for n, w, _ in private_words(prose(text))] == [
        (1, "put together"),
        (2, "honest"),
    ]


def test_exemptions_are_needed():
    for file, part in EXEMPT:
        page = (PACKAGE / file) if file.endswith(".py") else ROOT / "docs" / file
        text = page.read_text(encoding="utf-8")
        assert part in text, file

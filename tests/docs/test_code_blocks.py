"""Every python block of README.md and of the documentation runs, and prints what the page says.

The blocks of a page share one namespace and run in order, in an empty folder. A text block that
directly follows a python block is its output: words must agree exactly, numbers to the digits a
reader would compare. What is not to be run is marked text. Code of other libraries is marked py: it
runs where they are installed, and code of other languages does not.
"""

import contextlib
import io
import re
import textwrap
from pathlib import Path

import pytest

from compiling import COMPILES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Kinds of blocks; ``{.text .drawing}`` is text whose lines are not folded.
LANGUAGES = {"python", "text", "{.text", "sh", "toml", "py", "matlab", "yaml"}
#: Pages with code of another library, and its name.
PEERS = {"coming-from/mujoco.md": "mujoco", "coming-from/exudyn.md": "exudyn"}

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
#: A note among others that is no part of a page, see `compiling`.
NOT_COMPILED = re.compile(r", 'ZWANG_LLVM=\w+: not all is compiled, and slower'")
NUMBER = re.compile(r"[-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
# A zero with a sign, as NumPy and format strings print it.
NO_ZERO = re.compile(r"(?<![\w.])[-−]0(?:\.0*)?(?![\w.])")
# Printed residuals are rounding noise and differ between machines; printed results do not.
NOISE = 1e-9
DIGITS = 1e-3


class Block:
    def __init__(self, text, match):
        self.language = match["language"].strip()
        self.body = textwrap.dedent(match["body"])
        self.line = text.count("\n", 0, match.start("body"))
        self.start, self.end = match.span()


def blocks_of(text):
    return [Block(text, match) for match in FENCE.finditer(text)]


def expected_output(text, blocks, index):
    """The text block right after a python block, or None."""
    after = blocks[index + 1] if index + 1 < len(blocks) else None
    if after is None or after.language != "text":
        return None
    between = text[blocks[index].end : after.start].replace("</div>", "")  # end of a comparison
    return None if between.strip() else after.body


def same_output(found, expected):
    """Equal words; numbers equal to DIGITS, or both below NOISE."""
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (found, expected)]
    if words[0] != words[1]:
        return False
    pairs = zip(*(NUMBER.findall(text) for text in (found, expected)), strict=True)
    numbers = [tuple(float(part.replace("−", "-")) for part in pair) for pair in pairs]
    return all(abs(x - y) <= max(NOISE, DIGITS * abs(y)) for x, y in numbers)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_of_the_page_run_and_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    namespace = {"__name__": "__main__"}
    for index, block in enumerate(blocks):
        if block.language.split(" ")[0] != "python":
            continue
        # Blank lines in front make tracebacks point at the line of the page.
        code = compile("\n" * block.line + block.body, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        expected = expected_output(text, blocks, index)
        found = printed.getvalue() if COMPILES else NOT_COMPILED.sub("", printed.getvalue())
        if expected is not None and not same_output(found, expected):
            pytest.fail(
                f"{name_of(page)}:{block.line + 1} printed\n\n{printed.getvalue()}\n"
                f"but the page says\n\n{expected}"
            )


@pytest.mark.parametrize(("page", "library"), PEERS.items())
def test_code_of_other_libraries_runs(page, library, capsys):
    pytest.importorskip(library, reason=f"{library} is not installed")
    path = ROOT / "docs" / page
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language.split(" ")[0] == "py":
            exec(compile(block.body, str(path), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_of_a_known_kind(page):
    text = page.read_text(encoding="utf-8")
    languages = {block.language.split(" ")[0] for block in blocks_of(text)}
    assert languages <= LANGUAGES, "a block that runs is python, one that does not is text"
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == 2 * len(blocks_of(text))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_shows_the_sign_of_a_zero(page):
    """It is rounding that decides it, and the processor; `+ 0.0` takes it away."""
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    shown = [expected_output(text, blocks, k) or "" for k in range(len(blocks))]
    assert not [line for output in shown for line in output.splitlines() if NO_ZERO.search(line)]


# ---------------------------------------------------------------------------- the checks themselves


def test_output_is_compared_by_words_and_digits():
    assert same_output("error 3.1e-16\n", "error  8.0e-17\n")
    assert same_output("[1.23456 2.0]", "[1.2345 2.0]")
    assert not same_output("[1.23456 2.0]", "[1.3 2.0]")
    assert not same_output("rank 3", "ranks 3")
    assert not same_output("rank 3", "rank 4")


def test_a_zero_with_a_sign_is_told_from_small_numbers_and_differences():
    assert all(NO_ZERO.search(x) for x in ("[ 0.    -0.    -0.701]", "-0.000 N", "x −0,"))
    assert not any(NO_ZERO.search(x) for x in ("-0.701", "-0.0e-3", "1e-0", "a-0", "3-0.5"))


def test_blocks_are_found_with_their_line_and_output():
    text = (
        "a\n\n```python\nx = 1\nprint(x)\n```\n\n```text\n1\n```\n\n    ```text\n    y\n    ```\n"
    )
    blocks = blocks_of(text)
    assert [block.language for block in blocks] == ["python", "text", "text"]
    assert blocks[0].line == 3
    assert blocks[2].body == "y\n"
    assert expected_output(text, blocks, 0) == "1\n"

"""All papers: what they show, computed again, and by how much the two differ.

python examples/papers           print the tables
python examples/papers write     and write the page of the documentation, with its pictures
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import blajer_1992
import nikravesh_1988
import udwadia_kalaba_1996
import udwadia_mogharabin_2022
import udwadia_schutte_2010

PAPERS: tuple[ModuleType, ...] = (
    udwadia_kalaba_1996,
    udwadia_schutte_2010,
    udwadia_mogharabin_2022,
    nikravesh_1988,
    blajer_1992,
)
DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "theory" / "papers.md"
IMAGES = DOCS / "images" / "papers"

HEAD = """# The papers as tables of results

Every worked example, table and figure of the five documents that has numbers, formulas to be
evaluated or curves, computed again. *Computed* is what a general method gives that does not use the
paper's formula: constraints stated as functions and differentiated, a saddle point solved, a curve
integrated. Beside it stands by how much the paper differs as printed and, where it is
[misprinted](misprints.md), as corrected. Differences are shares of the largest entry; those below
1e-10 are called rounding. Symbols are those of the documents.

This page is written by `python examples/papers write`; the scripts in `examples/papers` are the
derivations. The test suite computes everything again and fails when the page says something else.
"""


def page() -> str:
    """The text of the page."""
    lines = [HEAD]
    for paper in PAPERS:
        lines += [f"## {paper.TITLE}", "", (paper.__doc__ or "").split("\n\n", 1)[1].strip(), ""]
        lines += [f"Script: `examples/papers/{paper.__name__}.py`.", ""]
        lines += ['<div class="compact" markdown>', ""]
        lines += [
            "| place | what | computed | as printed | corrected | why |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            "| " + " | ".join(map(_plain, result.cells())) + " |" for result in paper.results()
        ]
        lines += ["", "</div>", ""]
        for name, words in paper.FIGURES.items():
            lines += [f"![{words}](../images/papers/{name}.svg)", "", words, ""]
    return "\n".join(lines).rstrip() + "\n"


def _plain(text: str) -> str:
    """Protect the characters that Markdown would take for its own."""
    for character in "\\|*_[]<>~":
        text = text.replace(character, f"&#{ord(character)};")
    return text


def draw(paper: ModuleType, folder: Path) -> list[Path]:
    """Draw the figures of a paper."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "zwang", "font.size": 9})
    drawn = []
    for name, figure in paper.figures().items():
        target = folder / f"{name}.svg"
        figure.savefig(target, metadata={"Date": None})
        plt.close(figure)
        drawn.append(target)
    return drawn


def main() -> None:
    """Print the tables; write the page if asked to."""
    for paper in PAPERS:
        paper.main()
    if sys.argv[1:] == ["write"]:
        IMAGES.mkdir(exist_ok=True)
        for paper in PAPERS:
            draw(paper, IMAGES)
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

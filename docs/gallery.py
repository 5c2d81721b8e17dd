"""The gallery: every example with its picture, its words and its source.

As a hook of MkDocs it fills the page of the gallery with cards and adds a page for each example;
titles and texts are the docstrings of the scripts and the first comments of the model files. As a
script it draws the pictures anew, all or those that are named:

    python docs/gallery.py [NAME …]
"""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
import sys
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
IMAGES = ROOT / "docs" / "images" / "gallery"
MOVING = ROOT / "docs" / "images" / "moving.webp"
PAGE = "gallery/index.md"
PLACEHOLDER = "<!-- gallery -->"
#: Sharp on screens of double density at the width of a card.
DPI = 150

#: Sections of the page, and the number of the first example of each.
SECTIONS = {
    1: "First steps",
    6: "Worked examples of the documents",
    16: "Every kind of constraint",
    23: "Benchmarks",
    27: "Larger mechanisms",
    33: "Many runs, and formulas",
    40: "Rest, loads and control",
}
MODELS = "Model files, without programming"


@dataclass(frozen=True)
class Example:
    """A script, with a number, or a model file."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return self.path.stem

    @property
    def number(self) -> int | None:
        """Of a script."""
        return int(self.name[:2]) if self.path.suffix == ".py" else None

    @property
    def image(self) -> str:
        """The file of its picture."""
        return f"{self.name}.webp" if self.number is not None else f"model_{self.name}.webp"

    @cached_property
    def source(self) -> str:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def words(self) -> tuple[str, str]:
        """Title and text."""
        if self.number is not None:
            title, _, text = (ast.get_docstring(ast.parse(self.source)) or "").partition("\n\n")
            return title.replace("\n", " ").rstrip("."), text
        first = self.source.splitlines()[0].removeprefix("# ").rstrip(".")
        return first, tomllib.loads(self.source).get("model", {}).get("description", "") + "."

    @property
    def command(self) -> str:
        """How to run it."""
        if self.number is not None:
            return f"python examples/{self.path.name}"
        return f"zwang run examples/{self.path.name}"


def examples() -> list[Example]:
    """All examples, scripts first."""
    return [Example(p) for ending in ("py", "toml") for p in sorted(EXAMPLES.glob(f"*.{ending}"))]


# ------------------------------------------------------------------------------------ the pictures


def result_of(example: Example) -> Any:
    """Run an example; what its ``main`` returns, or the run of a model file."""
    if example.number is None:
        from zwang import read_model

        return read_model(example.path).simulate()
    return runpy.run_path(str(example.path))["main"]()


def draw(example: Example, result: Any, target: Path) -> None:
    """Draw the picture of an example from its result."""
    import matplotlib.pyplot as plt

    from pictures import PICTURES
    from pictures.style import use_style

    use_style()
    figure = PICTURES[example.name](result)
    figure.savefig(target, dpi=DPI, pil_kwargs={"quality": 88})
    plt.close(figure)


def main(names: list[str]) -> None:
    """Draw all pictures, or those of the examples named; ``moving`` is that of the first page."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    if not names or MOVING.stem in names:
        from pictures.moving import write

        write(MOVING)
        print(MOVING.name)
    for example in examples():
        if names and example.name not in names:
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            result = result_of(example)
        draw(example, result, IMAGES / example.image)
        print(example.image)


# --------------------------------------------------------------------------------------- the pages


def cards() -> str:
    """The markdown of the page: sections of cards that lead to the pages of the examples."""
    lines: list[str] = []

    def section(title: str) -> None:
        if lines:
            lines.extend(["</div>", ""])
        lines.extend([f"## {title}", "", '<div class="gallery" markdown>', ""])

    models_begun = False
    for example in examples():
        if example.number in SECTIONS:
            section(SECTIONS[example.number])
        elif example.number is None and not models_begun:
            section(MODELS)
            models_begun = True
        title, _ = example.words
        picture = f"![{title}](../images/gallery/{example.image})"
        number = "" if example.number is None else f"**{example.number:02d}** "
        lines.extend([f"[{picture}<span>{number}{title}</span>]({page_name(example)})", ""])
    return "\n".join([*lines, "</div>"])


def page_name(example: Example) -> str:
    """File of an example's page, beside that of the gallery."""
    return Path(example.image).with_suffix(".md").name


def page(example: Example) -> str:
    """The markdown of an example's page."""
    title, text = example.words
    language = "python" if example.number is not None else "toml"
    picture = f"![{title}](../images/gallery/{example.image})"
    back = "[Gallery](index.md)"
    parts = [f"# {title}", picture, text, f"```sh\n{example.command}\n```"]
    return "\n\n".join([*parts, f"```{language}\n{example.source}```", back, ""])


def on_files(files: Any, config: Any) -> Any:
    """MkDocs hook: add a page for each example, outside the navigation."""
    from mkdocs.structure.files import File, InclusionLevel

    for example in examples():
        uri = f"gallery/{page_name(example)}"
        made = File.generated(config, uri, content=page(example))
        made.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(made)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs hook: fill the page of the gallery."""
    return markdown.replace(PLACEHOLDER, cards()) if page.file.src_uri == PAGE else markdown


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "docs"))
    main(sys.argv[1:])

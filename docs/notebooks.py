"""A hook of the site: each notebook of docs/notebooks becomes a page, with a link to download it.

    jupyter nbconvert --to notebook --execute --inplace docs/notebooks/*.ipynb

runs them again; the tests run their cells too.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"


def on_files(files: Any, config: Any) -> Any:
    """Add a page for every notebook."""
    from mkdocs.structure.files import File

    for path in sorted(FOLDER.glob("*.ipynb")):
        uri = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, uri, content=page(path)))
    return files


def page(path: Path) -> str:
    """A notebook as Markdown: texts, code, and what each cell showed."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [_text(cell) if cell["cell_type"] == "markdown" else _code(cell) for cell in cells]
    title, _, rest = texts[0].partition("\n")
    link = f"[Download this notebook]({path.name}){{ download }}"
    return "\n\n".join([title, link, rest.strip(), *texts[1:]]) + "\n"


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _code(cell: dict[str, Any]) -> str:
    block = f"```{{.python .cell}}\n{''.join(cell['source'])}\n```"
    return "\n\n".join([block, *filter(None, map(_output, cell["outputs"]))])


def _output(output: dict[str, Any]) -> str:
    """What a cell showed: a picture, a formula, a table, or text."""
    if output["output_type"] == "stream":
        return _preformatted("".join(output["text"]))
    data = {kind: "".join(value) for kind, value in output.get("data", {}).items()}
    if "image/png" in data:
        source = data["image/png"].replace("\n", "")
        return f'<img alt="what the cell above draws" src="data:image/png;base64,{source}">'
    if "text/latex" in data:
        return "\n\n".join(f"\\[{formula}\\]" for formula in _formulas(data["text/latex"]))
    html = data.get("text/html", "")
    if html and "<style" not in html:  # tables of other libraries bring a style sheet along
        return f'<div class="output">{html.strip()}</div>'
    return _preformatted(data.get("text/plain", ""))


def _formulas(latex: str) -> list[str]:
    """The lines of an aligned formula, one by one; of another the whole."""
    bare = latex.strip().strip("$").replace("\\displaystyle", "").strip()
    if not bare.startswith("\\begin{aligned}"):
        return [bare]
    lines = bare.removeprefix("\\begin{aligned}").removesuffix("\\end{aligned}").strip()
    return [line.replace("&=", "=", 1) for line in lines.split(" \\\\\n")]


def _preformatted(text: str) -> str:
    return f'<div class="output"><pre>{escape(text.rstrip())}</pre></div>' if text.strip() else ""

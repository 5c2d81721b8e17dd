"""Accessibility by axe-core, the checker of Deque, where npm has installed it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

#: Where a checkout or a user's folder may have it.
PLACES = (Path(__file__).parents[2], Path.home())


def axe_source():
    """The script, or a skipped test that says how to get it."""
    folders = [Path(place) for place in os.environ.get("NODE_PATH", "").split(os.pathsep) if place]
    folders += [place / "node_modules" for place in PLACES]
    npm = shutil.which("npm")
    if npm is not None:
        root = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(Path(root.stdout.strip() or "."))
    for folder in folders:
        script = folder / "axe-core" / "axe.min.js"
        if script.is_file():
            return script.read_text(encoding="utf-8")
    pytest.skip("axe-core is not installed: npm install --no-save axe-core in this checkout")
    return ""


def findings(browser, source):
    """Serious and critical findings on the page that is open, as lines."""
    browser.evaluate(source + "; null")
    # Rules of WCAG 2.2 A and AA, and the common best practices.
    # Styles are not fetched once more, which pages from disk may not.
    result = browser.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    return [
        f"{v['id']}: {v['help']}: {node['target']} {node['failureSummary']}"
        for v in result["violations"]
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]

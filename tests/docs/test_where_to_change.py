"""The page for maintainers names files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "theory" / "where-to-change.md"


def test_every_file_and_folder_named_exists():
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:\.?[\w-]+/)+[\w-]*(?:\.\w+)?|\w+\.py)[^`]*`", text)
    assert len(named) > 40
    for path in named:
        assert (ROOT / path).exists() or (ROOT / "src" / "zwang" / path).exists(), path

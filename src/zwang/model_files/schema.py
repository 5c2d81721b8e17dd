"""The JSON schema of model files, for editors; written to ``schema.json`` beside this module.

``python -m zwang.model_files.schema`` writes it anew after a change of `layout`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zwang.model_files.fields import NumberField
from zwang.model_files.layout import FILE

__all__ = ["SCHEMA_FILE", "schema", "schema_text"]

SCHEMA_FILE = Path(__file__).with_name("schema.json")


def schema() -> dict[str, Any]:
    """The schema, from the same description that files are read by."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Zwang model file",
        "$defs": {"number": NumberField().schema()},
        **FILE.schema(),
    }


def schema_text() -> str:
    """The schema as it is shipped."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")

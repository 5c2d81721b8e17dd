"""Model files: mechanisms and systems written as TOML, read with the place of every mistake."""

"""Every test of the kernels has a cache folder of its own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(folder))
    monkeypatch.delenv("ZWANG_LLVM", raising=False)
    # Compiled code is what most of these tests are about; others ask for the interpreter.
    monkeypatch.setenv("ZWANG_BACKGROUND", "off")
    return folder

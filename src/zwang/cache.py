"""The folder of compiled code on disk: where it is, and how to empty it."""

from __future__ import annotations

from zwang.kernels.cache import clear, folder

__all__ = ["clear", "folder"]

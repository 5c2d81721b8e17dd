"""Arrays of a web page as one compressed text.

Motions are smooth, so they are stored as 16-bit steps from one frame to the next, low bytes apart
from high bytes, which are nearly all zero; then everything is compressed. ``reader.js`` is the
other side.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = ["Packer"]

#: Largest 16-bit number: a column of values is stored in so many steps of its range.
STEPS = 65535


class Packer:
    """Collects arrays and hands out references to them."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def motion(self, values: FloatArray) -> dict[str, Any]:
        """Values over time, shape (n, k), each column to 1/131070 of its range."""
        columns = np.asarray(values, dtype=float).reshape(len(values), -1)
        if not columns.size:
            return {"kind": "motion", "at": 0, "n": 0, "low": [], "step": []}
        low, high = columns.min(axis=0), columns.max(axis=0)
        step = (high - low) / STEPS
        safe = np.where(step > 0.0, step, 1.0)
        # Low limits and steps are printed with nine digits: more than 32-bit numbers have.
        low, safe = (np.array([float(f"{x:.9g}") for x in y]) for y in (low, safe))
        whole = np.rint((columns - low) / safe).clip(0, STEPS).astype(np.uint16)
        jumps = np.diff(whole, axis=0, prepend=np.zeros((1, whole.shape[1]), np.uint16))
        flat = np.ascontiguousarray(jumps.T.astype("<u2")).view(np.uint8).reshape(-1, 2)
        at = self._add(np.ascontiguousarray(flat.T).tobytes())
        steps = np.where(step > 0.0, safe, 0.0)
        return {
            "kind": "motion",
            "at": at,
            "n": len(columns),
            "low": low.tolist(),
            "step": steps.tolist(),
        }

    def numbers(self, values: FloatArray) -> dict[str, Any]:
        """Values in 32-bit floating point, which a reader may want digit by digit."""
        flat = np.ascontiguousarray(values, dtype="<f4")
        return {"kind": "numbers", "at": self._add(flat.tobytes()), "n": int(flat.size)}

    def indices(self, values: np.ndarray) -> dict[str, Any]:
        """Whole numbers from 0 on."""
        flat = np.asarray(values).reshape(-1)
        wide = bool(flat.size and flat.max() > STEPS)
        plain = np.ascontiguousarray(flat, dtype="<u4" if wide else "<u2")
        return {
            "kind": "wide" if wide else "short",
            "at": self._add(plain.tobytes()),
            "n": len(flat),
        }

    def _add(self, data: bytes) -> int:
        at = len(self._bytes)
        self._bytes += data
        self._bytes += b"\0" * (-len(data) % 4)
        return at

    def text(self, header: dict[str, Any]) -> str:
        """A header with references, and the arrays, for a script element of a page."""
        squeezed = base64.b64encode(zlib.compress(bytes(self._bytes), 9)).decode("ascii")
        plain = json.dumps({**header, "arrays": squeezed}, separators=(",", ":"))
        return plain.replace("<", "\\u003c")

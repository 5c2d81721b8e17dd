"""When, on what and with which versions something was measured; no names of machines or people."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["about"]

PACKAGES = (
    *("mujoco", "pin", "exudyn", "drake", "opensim", "sympy", "pydy"),
    *("numpy", "scipy", "casadi", "llvmlite"),
)


def processor() -> str:
    """What the processor calls itself."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def about() -> dict[str, Any]:
    """Date, processor and versions."""
    import zwang

    versions = {"zwang": zwang.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "versions": versions,
    }

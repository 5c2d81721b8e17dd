"""What `import zwang`, `zwang --help` and `zwang check` take, beside `import numpy`.

    python -m benchmarks.startup

Processes are started in turn, so that all see the same machine; each is the least processor time of
seven, so that it does not matter what else the machine does.
Byte code is written to a folder of its own, as installing the package would write it. The exit code
is 1 if a limit is exceeded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.starting import of_children

#: A small model.
MODEL = Path(__file__).parents[1] / "examples" / "four_bar.toml"
#: What is started → seconds of processor time it may take.
COMMANDS: dict[str, tuple[list[str], float | None]] = {
    "import numpy": (["-c", "import numpy"], None),
    "import zwang": (["-c", "import zwang"], 0.3),
    "import typer": (["-c", "import typer"], None),
    "zwang --help": (["-m", "zwang.cli.app", "--help"], 0.5),
    "zwang check": (["-m", "zwang.cli.app", "check", str(MODEL)], 0.5),
}
PASSES = 7


def main() -> int:
    """Print a table; 1 if something is too slow."""
    least = dict.fromkeys(COMMANDS, float("inf"))
    with tempfile.TemporaryDirectory() as byte_code:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": byte_code}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(PASSES + 1):  # the first pass writes the byte code
            for name, (arguments, _) in COMMANDS.items():
                began = of_children()
                subprocess.run(
                    [sys.executable, *arguments],
                    env=environment,
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                least[name] = min(least[name], of_children() - began)
    slow = 0
    for name, (_, limit) in COMMANDS.items():
        ratio = least[name] / least["import numpy"]
        told = "" if limit is None else f"  limit {limit:g} s"
        print(f"{name:14s} {least[name]:6.3f} s  {ratio:4.1f} × numpy{told}")
        slow += limit is not None and least[name] > limit
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())

"""A benchmark that is run sets its environment; one that is imported leaves it alone."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASK = "import os; before = dict(os.environ); import benchmarks; print(os.environ == before)"


def test_importing_the_benchmarks_changes_no_variable():
    said = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert said.stdout.strip() == "True"

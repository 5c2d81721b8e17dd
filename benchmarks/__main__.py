"""Measure everything beside the engines that are installed, and keep it.

    python -m benchmarks                         # all sections: some twenty minutes
    python -m benchmarks --only works --works chain bricard
    python -m benchmarks --only ensembles        # one section again, the others stay as stored
    python -m benchmarks.page                    # docs page and plots from what is stored
    python -m benchmarks.guard                   # fails if Zwang has become slower

Nothing is installed: engines that are not there are left out. `pip install "zwang[bench]"` installs
those that are on the package index.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import around
from benchmarks.about import about
from benchmarks.branches import branches
from benchmarks.cases import WORKS
from benchmarks.comparison import EVALUATED, compare, evaluations
from benchmarks.derivations import derivations
from benchmarks.ensembles import ensembles
from benchmarks.first_result import first_results
from benchmarks.motion_and_forces import motion_and_forces
from benchmarks.rows import Row, table
from benchmarks.size import scan
from benchmarks.starting import starting
from benchmarks.stiff import stiff
from benchmarks.studies import studies

RESULTS = Path(__file__).with_name("results") / "results.json"
#: Works that are for evaluations alone.
UNREFERENCED = {"skew_chain(100)"}


def say(line: str) -> None:
    """Print at once."""
    print(line, flush=True)


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="sections to measure")
    parser.add_argument("--works", nargs="*", help="beginnings of names of works")
    parser.add_argument("--into", type=Path, default=RESULTS, help="file of the results")
    arguments = parser.parse_args()
    names = [name for name in WORKS if name not in UNREFERENCED]
    if arguments.works:
        names = [name for wanted in arguments.works for name in names if name.startswith(wanted)]
    sections: dict[str, Callable[[], Any]] = {
        "evaluations": lambda: evaluations(EVALUATED, say),
        "branches": lambda: branches(say),
        "ensembles": lambda: ensembles(say),
        "studies": lambda: studies(say),
        "starting": lambda: starting(say),
        "derivations": lambda: derivations(say),
        "motion and forces": lambda: motion_and_forces(say),
        **{name: partial(_rows, make) for name, make in around.SECTIONS.items()},
        "first result": partial(_rows, first_results),
        "scan over size": partial(_rows, scan),
        "stiff": partial(_rows, stiff),
    }
    into: Path = arguments.into
    stored = json.loads(into.read_text(encoding="utf-8")) if into.exists() else {}

    def keep(section: str, found: Any) -> None:
        """Store what there is at once: the whole takes long."""
        if section == "works" and section in stored:
            found = merged(stored[section]["results"], found)
        stored[section] = {**about(), "results": found}
        into.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    for section in arguments.only or ("works", *sections):
        say(f"\n--- {section}")
        if section == "works":
            compare(names, say, lambda found: keep("works", found))
        else:
            keep(section, sections[section]())


def _rows(make: Callable[[], list[Row]]) -> list[dict[str, Any]]:
    """Measure a section of rows, print it, and make it plain."""
    rows = make()
    for line in table(rows):
        say(line)
    return [row.plain() for row in rows]


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """New rows in place of old ones of the same works, in the order of the works."""
    both = {
        "works": {**old["works"], **new["works"]},
        "rows": [row for row in old["rows"] if row["work"] not in new["works"]] + new["rows"],
        "cannot": {**old["cannot"], **new["cannot"]},
    }
    order = list(WORKS)
    both["rows"].sort(key=lambda row: order.index(row["work"]))
    both["works"] = {name: both["works"][name] for name in order if name in both["works"]}
    return both


if __name__ == "__main__":
    main()

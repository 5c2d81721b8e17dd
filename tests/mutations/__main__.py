"""Print every row with what its tests say of the mutants; see the head of the package."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

from tests.mutations import campaign
from tests.mutations.mutants import KINDS

import theory_map


def main() -> int:
    """Examine rows and print; the status is the number of weak and missing rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="ids of rows, or their beginnings; all if none")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--quiet", action="store_true", help="survivors and totals alone")
    chosen = parser.parse_args()
    theory = theory_map.load()
    wanted = tuple(chosen.rows) or ("",)
    rows = [row.id for row in theory.rows if row.id.startswith(wanted)]
    campaign.warm_up()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # pytest is silent, this is not

    def say(line: str) -> None:
        print(line, file=out, flush=True)

    examined = campaign.Examination(rows, chosen.jobs, say)
    examined.run()
    for test in examined.failed:
        print(f"fails without any mutant: {test}")
    if examined.failed:
        return 1
    outcomes, tests = examined.outcomes, examined.tests
    offers = {row.id: row.offers for row in theory.rows}
    weak = missing = 0
    for row in rows:
        own = [o for o in outcomes if o.row == row]
        alive = [o for o in own if o.verdict == "survived"]
        lacks = not tests[row] or not offers[row]
        missing += lacks
        weak += not lacks and bool(alive)
        if not chosen.quiet:
            print(f"{row}  {_told(own)}  {'missing' if lacks else 'weak' if alive else 'proven'}")
    print(
        f"rows {len(rows)}, proven {len(rows) - weak - missing}, weak {weak}, missing {missing}; "
        f"mutants {len({o.mutant for o in outcomes})}, survivors:"
    )
    for o in outcomes:
        if o.verdict == "survived":
            print(f"  {o.row}  {o.mutant.name}  {o.mutant}  ({o.note})")
    return min(weak + missing, 1)


def _told(outcomes: list[campaign.Outcome]) -> str:
    """``none 2/2  zero 2/2  sign 2/2  term 5/5``: killed of those that can be made."""
    made = Counter(o.mutant.kind for o in outcomes if o.verdict != "unfit")
    killed = Counter(o.mutant.kind for o in outcomes if o.verdict == "killed")
    return "  ".join(f"{kind} {killed[kind]}/{made[kind]}" for kind in KINDS)


if __name__ == "__main__":
    raise SystemExit(main())

"""Tests under the settings of several processors, as far as the one at hand can take their part.

    python .ci/processors.py              a slice of suite, examples and pages under each, 4 minutes
    python .ci/processors.py --whole      the whole suite under each, the campaign
    python .ci/processors.py --list       what there is, and what this processor cannot do
    python .ci/processors.py --only Haswell x86-64-v2

OpenBLAS adds up in the order of the processor it is told to be on; NumPy leaves out vector
instructions by name; LLVM compiles for a level of processors, or does nothing, and then tests that
take more than 3 s of processor time are skipped (tests/time_limit.py), or more than the variable
ZWANG_TEST_SECONDS says: the whole suite takes about an hour of processor time. What a setting needs
and the processor does not have would kill the process: such settings are printed as skipped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[1]

#: Tests of a slice: every page and example, whose numbers are printed; decisions about ranks and
#: contradictions, which rounding must not make; compiled motions.
PAGES = ["tests/docs/test_code_blocks.py", "tests/docs/test_docstrings.py", "tests/examples"]
DECISIONS = ["tests/test_solve.py", "tests/coordinates/test_joint_coordinates.py"]
MOTIONS = ["tests/simulation/test_motion.py", "tests/test_solve.py"]
#: Pages for each compiler, which compile all they show anew.
FIRST = ["tests/docs/test_code_blocks.py", "-k", "README or first or test_motion or test_solve"]

AVX2 = {"avx2", "fma"}
AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@dataclass(frozen=True)
class Setting:
    """Variables of the environment, what a processor needs for them, and the slice to run."""

    name: str
    variables: dict[str, str]
    needs: frozenset[str]
    slice: tuple[str, ...]


def settings(vectors: str) -> list[Setting]:
    """All settings; `vectors` are the names of NumPy's vector features at hand."""
    whole, some = (*PAGES, *DECISIONS), (*MOTIONS, *FIRST)
    cores = {
        "Nehalem": ({"sse4_2"}, DECISIONS),
        "Sandybridge": ({"avx"}, DECISIONS),
        "Haswell": (AVX2, whole),
        "Zen": (AVX2, DECISIONS),
        "SkylakeX": (AVX512, DECISIONS),
    }
    found = [
        Setting(name, {"OPENBLAS_CORETYPE": name}, frozenset(needs), tuple(tests))
        for name, (needs, tests) in cores.items()
    ]
    plain = {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": vectors}
    found[0] = Setting("Nehalem, NumPy without vectors", plain, frozenset({"sse4_2"}), whole)
    levels = {"x86-64-v2": {"sse4_2"}, "x86-64-v3": AVX2, "x86-64-v4": AVX512}
    for level, needs in levels.items():
        found.append(Setting(level, {"ZWANG_LLVM_TARGET": level}, frozenset(needs), some))
    found.append(Setting("without LLVM", {"ZWANG_LLVM": "off"}, frozenset(), tuple(FIRST)))
    return found


def abilities() -> set[str]:
    """What the processor at hand can do, as the kernel calls it; nothing where that is unknown."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    flags = [line.partition(":")[2] for line in text.splitlines() if line.startswith("flags")]
    return set(flags[0].split()) if flags else set()


def numpy_vectors() -> str:
    """Names of the vector features that NumPy would use here beyond those it always needs."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))


def reason_against(setting: Setting, able: set[str]) -> str:
    """Why a setting cannot be tried; empty if it can."""
    missing = sorted(setting.needs - able)
    if missing:
        return f"this processor has no {', '.join(missing)}"
    wanted = setting.variables.get("OPENBLAS_CORETYPE")
    if wanted is not None and wanted.lower() not in _core(setting).lower():
        return f"NumPy's linear algebra has no kernels of its own for {wanted}"
    return ""


def _core(setting: Setting) -> str:
    """The processor that OpenBLAS says it computes for; it prints its name if asked to."""
    said = subprocess.run(
        [sys.executable, "-c", "import numpy"],
        env={**os.environ, **setting.variables, "OPENBLAS_VERBOSE": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout + said.stderr


def tested(setting: Setting, *, whole: bool, run: Callable[..., int]) -> int:
    """Exit code of the tests under a setting."""
    tests = [] if whole else list(setting.slice)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", *tests]
    return run(command, cwd=ROOT, env={**os.environ, **setting.variables})


def main() -> int:
    """Run the tests and print what came of each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--whole", action="store_true", help="the whole suite under each setting")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("--only", nargs="+", default=[], help="names of settings")
    given = parser.parse_args()
    able, failed = abilities(), []
    lines = []
    for setting in settings(numpy_vectors()):
        if given.only and setting.name not in given.only:
            continue
        began, against = monotonic(), reason_against(setting, able)
        if against or given.list:
            lines.append(f"{'skipped' if against else 'would run':10}{setting.name}  {against}")
            continue
        print(f"\n-------- {setting.name}", flush=True)
        code = tested(setting, whole=given.whole, run=subprocess.call)
        failed += [setting.name] if code else []
        how = "FAILED" if code else "ok"
        lines.append(f"{how:10}{setting.name}, {monotonic() - began:.0f} s")
    print("\n" + "\n".join(lines))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

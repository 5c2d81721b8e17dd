"""Settings of other processors are tried where this one can take their part, and nowhere else."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def processors():
    spec = importlib.util.spec_from_file_location("processors", ROOT / ".ci" / "processors.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["processors"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["processors"]


def test_a_setting_that_would_kill_the_process_is_skipped_with_its_reason(processors):
    old = {"sse4_2", "avx", "avx2", "fma"}
    needing = {s.name: s for s in processors.settings("X86_V3")}
    for name in ("SkylakeX", "x86-64-v4"):
        assert "avx512f" in processors.reason_against(needing[name], old)
    assert not processors.reason_against(needing["x86-64-v3"], old)
    assert not processors.reason_against(needing["without LLVM"], set())


def test_every_kind_of_setting_is_there(processors):
    found = [s.variables for s in processors.settings("X86_V3 X86_V4")]
    levels = {v["ZWANG_LLVM_TARGET"] for v in found if "ZWANG_LLVM_TARGET" in v}
    assert levels == {"x86-64-v2", "x86-64-v3", "x86-64-v4"}
    assert {"ZWANG_LLVM": "off"} in found
    assert sum("OPENBLAS_CORETYPE" in v for v in found) >= 4
    assert any(v.get("NPY_DISABLE_CPU_FEATURES") == "X86_V3 X86_V4" for v in found)


def test_the_slices_name_tests_that_exist(processors):
    for setting in processors.settings(""):
        for test in setting.slice:
            assert not test.startswith("tests/") or (ROOT / test).exists(), test


def test_tests_run_under_the_variables_of_the_setting(processors):
    seen = {}

    def run(command, *, cwd, env):
        seen.update(env)
        assert "tests/test_solve.py" in command
        return 3

    setting = next(s for s in processors.settings("") if s.name == "x86-64-v2")
    assert processors.tested(setting, whole=False, run=run) == 3
    assert seen["ZWANG_LLVM_TARGET"] == "x86-64-v2"

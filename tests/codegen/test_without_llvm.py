"""Whole simulations where LLVM fails or is switched off, and the targets it compiles for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import tomllib

import numpy as np
import pytest
from builders import random_function, random_inputs

from zwang import codegen
from zwang.codegen import environment as settings
from zwang.codegen import llvm
from zwang.codegen.expression import read
from zwang.codegen.jit import loop
from zwang.errors import InputError

# One of each kind of loop and of each kind of kernel that calls others: a chain long enough to be
# played link by link and by blocks, Jacobians column by column, events seen through a tape.
RUNS = """
    import json, logging, sys
    import numpy as np
    import zwang as zw

    failing, all_kinds = sys.argv[1], sys.argv[2] == "all"
    if failing != "nothing":
        import llvmlite.binding as binding
        from zwang.codegen import llvm

        def fail(*arguments, **options):
            raise RuntimeError("no such target")

        if failing == "object_code":
            llvm.object_code = fail
        elif failing == "import":
            sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None
        else:
            setattr(binding, failing, fail)

    told = []
    class Told(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())
    logging.getLogger("zwang").addHandler(Told(logging.WARNING))

    def chain(n):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        last = m.ground
        for k in range(n):
            rod = zw.inertia.rod(1.0, 1.0, axis="x")
            body = m.body(f"b{k}", inertia=rod, position=(k + 0.5, 0, 0))
            m.revolute(f"j{k}", last, body, at=(k, 0, 0), axis="y")
            last = body
        return m

    found, notes = {}, []
    def keep(name, run):
        found[name] = run.q[-1].tolist()
        notes.append([note for note in run.notes if "LLVM" in note])

    two = chain(2)
    methods = ("order5", "gauss", "order8", "radau5", "rattle", "generalized_alpha")
    for name in methods if all_kinds else methods[:1]:
        step = {"step": 0.02} if name in ("rattle", "generalized_alpha") else {"tolerance": 1e-6}
        keep(name, two.simulate(until=0.1, save=0.1, integrator=name, **step))
    if not all_kinds:
        print(json.dumps([found, notes, told]))
        sys.exit()
    event = {"down": zw.event("j0.angle", at=0.05)}
    keep("event", two.simulate(until=0.1, save=0.1, events=event))
    sweep = two.simulate_many(parameters={"gravity": [[0, 0, -9.81], [0, 0, -5.0]]}, until=0.1)
    for k, one in enumerate(sweep):
        keep(f"sweep {k}", one)
    large = chain(17)
    options = {"until": 0.02, "save": 0.02, "tolerance": 1e-4}
    keep("links", large.simulate(integrator="order5", events=event, **options))
    keep("blocks", large.simulate(integrator="order5", coordinates="absolute", **options))
    print(json.dumps([found, notes, told]))
"""


def simulated(failing: str = "nothing", kinds: str = "all", **environment: str):
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(RUNS), failing, kinds]
    environment = {k: v for k, v in os.environ.items() if k != "ZWANG_LLVM"} | environment
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert not found.stderr  # nothing that a callback had to swallow
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def compiled():
    return simulated()


@pytest.mark.parametrize(
    ("failing", "kinds"),
    [
        ("object_code", "all"),
        ("import", "some"),
        ("create_mcjit_compiler", "some"),
        ("initialize_native_target", "some"),
    ],
)
def test_where_llvm_fails_simulations_run_with_one_warning_and_a_note(compiled, failing, kinds):
    found, notes, told = simulated(failing, kinds)
    assert_same(found, {name: compiled[0][name] for name in found})
    assert len(found) == (len(compiled[0]) if kinds == "all" else 1)
    assert all(len(note) == 1 and "LLVM failed" in note[0] for note in notes)
    assert len(told) == 1
    assert "LLVM fails" in told[0]
    assert not any(compiled[1])
    assert compiled[2] == []


def test_llvm_can_be_switched_off(compiled, tmp_path):
    cache = tmp_path / "cache"
    found, notes, told = simulated(ZWANG_LLVM="off", ZWANG_CACHE_DIR=str(cache))
    assert_same(found, compiled[0])
    assert all(note == ["ZWANG_LLVM=off: not all is compiled, and slower"] for note in notes)
    assert told == []
    assert not cache.exists()


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-9, abs=1e-9), name


def test_an_unknown_setting_is_refused(monkeypatch):
    monkeypatch.setenv("ZWANG_LLVM", "perhaps")
    with pytest.raises(
        InputError, match=r"variable ZWANG_LLVM must be one of on, off, kernels,.*not 'perhaps'"
    ):
        settings.uses_llvm("kernels")


@pytest.mark.parametrize("lanes", [1, 8])
def test_code_is_compiled_for_each_target_that_the_processor_runs(monkeypatch, lanes):
    function, results = random_function(250, seed=3), []
    inputs = random_inputs(read(function), lanes, np.random.default_rng(3))
    inputs = [array[:, 0] for array in inputs] if lanes == 1 else inputs
    for target in llvm.targets():
        monkeypatch.setenv("ZWANG_LLVM_TARGET", target)
        kernel = codegen.compile(function, lanes=lanes)
        assert kernel.compiled

        @loop
        def norm(x):
            total = 0.0
            for i in range(x.shape[0]):
                total += x[i] * x[i]
            return np.sqrt(total)

        assert norm(np.array([3.0, 4.0])) == pytest.approx(5.0, rel=1e-15)
        results.append(kernel(*inputs))
    for result in results[1:]:
        for one, other in zip(result, results[0], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * abs(other).max())


def test_targets_have_keys_of_their_own(monkeypatch):
    identities = set()
    for target in llvm.targets():
        monkeypatch.setenv("ZWANG_LLVM_TARGET", target)
        identities.add(llvm.host().identity)
    assert len(identities) == len(llvm.targets())


@pytest.mark.parametrize("level", ["x86-64-v4", "x86-64-v3"])
def test_a_target_that_the_processor_cannot_run_is_refused(monkeypatch, level):
    from dataclasses import replace

    old = replace(llvm._native(), triple="x86_64-unknown", cpu="nehalem", features="+sse2")
    monkeypatch.setattr(llvm, "_native", lambda: old)
    monkeypatch.setattr(llvm, "targets", llvm.targets.__wrapped__)
    monkeypatch.setenv("ZWANG_LLVM_TARGET", level)
    with pytest.raises(InputError, match=rf"'{level}', which this processor \(nehalem\) cannot"):
        llvm.host()


def test_an_unknown_target_is_refused(monkeypatch):
    monkeypatch.setenv("ZWANG_LLVM_TARGET", "pdp-11")
    with pytest.raises(
        InputError, match=r"ZWANG_LLVM_TARGET must be one of native, x86-64,.*not 'pdp-11'"
    ):
        llvm.host()


def test_llvmlite_is_held_to_versions_that_are_tested():
    """The installed version is one that the package asks for, and no newer one would be."""
    from importlib.metadata import version
    from pathlib import Path

    from packaging.requirements import Requirement

    project = Path(__file__).parents[2] / "pyproject.toml"
    listed = tomllib.loads(project.read_text())["project"]["dependencies"]
    wanted = next(r for r in map(Requirement, listed) if r.name == "llvmlite").specifier
    assert wanted.contains(version("llvmlite"))
    upper = [s for s in wanted if s.operator in ("<", "<=")]
    assert upper
    major, minor = (int(x) for x in version("llvmlite").split(".")[:2])
    assert not wanted.contains(f"{major}.{minor + 20}.0")

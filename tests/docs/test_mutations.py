"""Broken functions are broken as meant, and the marked tests of some rows see it.

python -m tests.mutations                       all rows of the theory map
python -m pytest -m campaign tests/docs         the same as a test, an hour
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from tests.mutations.mutants import EQUIVALENT, KINDS, function_of, mutants_of, negated, zeroed

import theory_map

ROOT = theory_map.ROOT
NAMES = sorted({name for row in theory_map.load().rows for name in row.offers})
EQUATION = "zwang.library.disk_equations"


def run_broken(code):
    """Run in a process of its own, since there is no way back from a mutant."""
    setup = (
        "import sys; sys.path[:0] = ['.', 'docs']\n"
        "from tests.mutations.mutants import Log, Mutant, apply, mutants_of\n"
        "log = Log()\n"
    )
    command = [sys.executable, "-c", setup + textwrap.dedent(code)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("name", NAMES)
def test_what_the_map_names_can_be_broken(name):
    # A function, a method or a field: neither a module nor a class, which nobody could break.
    mutants = mutants_of(name)
    assert mutants[0].kind == "none"
    assert {m.kind for m in mutants} <= set(KINDS)
    assert len(set(mutants)) == len(mutants)


def test_a_class_or_a_module_is_refused():
    for name in ("zwang.library.disk", "zwang.formulations.projection.Projection"):
        with pytest.raises(TypeError, match="neither a function nor a method nor a field"):
            function_of(name)


def test_equivalent_mutants_are_of_names_in_the_map_and_have_a_reason():
    assert {name for name, _ in EQUIVALENT} <= set(NAMES)
    assert all(EQUIVALENT.values())


def test_terms_and_entries_of_what_is_returned_are_left_out_one_at_a_time():
    texts = [m.text for m in mutants_of(f"{EQUATION}.contact_forces") if m.kind == "term"]
    assert "p.g * c" in texts
    assert "entry -mu1 * v5 * (v2 * tan - v3)" in texts
    # Both sums of k that the factors mu1, mu2 are made of, and v6 in the spin.
    assert texts.count("p.J") == 1
    assert "2 * p.J" in texts
    assert "2 * v6" in texts
    assert not [m for m in mutants_of("zwang.solvers.dense.solve") if "found" in m.text]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("zero", ["0.0", "0.0", "0.0"]), ("sign", ["-1.0", "3.0", "True"]), ("none", ["None"])],
)
def test_results_are_zero_none_or_have_their_sign_turned(kind, expected):
    found = run_broken(f"""
        from zwang.rotation.euler_parameters import moment_of_force as held
        from zwang.rotation import euler_parameters as ep
        name = "zwang.rotation.euler_parameters.moment_of_force"
        apply(Mutant(name, "{kind}"), log)
        out = held([1, 0, 0], [0, 3, 1])  # (0, −1, 3): under any name it was imported by
        print(*([out] if out is None else [abs(out[0]) * 0 + out[1], -out[2], log.changed]))
    """)
    if kind == "sign":
        assert found == ["1.0", "3.0", "True"]
    elif kind == "zero":
        assert [float(x) for x in found[:2]] == [0.0, 0.0]
    else:
        assert found == expected


def test_fields_properties_and_systems_are_broken_too():
    found = run_broken("""
        import numpy as np, zwang as zw
        terms = zw.EquationTerms.of(M=np.eye(2), Q=[1.0, 3.0], A=[[1.0, 1.0]], b=[2.0])
        apply(Mutant("zwang.reduction.recover.Recovered.multipliers", "sign"), log)
        from zwang.reduction.recover import Recovered
        parts = [np.zeros(1)] * 5
        print(Recovered(*parts, np.array([4.0]), np.zeros(1), terms, {}).multipliers[0])
        name = "zwang.formulations.udwadia_kalaba.UdwadiaKalaba.free_acceleration"
        apply(Mutant(name, "zero"), log)
        from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
        print(UdwadiaKalaba(terms).free_acceleration[1])
        from zwang import library
        before = library.spherical_pendulum().terms([0, 1, 0], [1, 0, 0])
        apply(Mutant("zwang.library.particles.spherical_pendulum", "sign"), log)
        after = library.spherical_pendulum().terms([0, 1, 0], [1, 0, 0])
        print(after.applied_force[1] / before.applied_force[1])
        print(after.constraint_rhs[0] / before.constraint_rhs[0])
    """)
    assert [float(x) for x in found] == [-4.0, 0.0, -1.0, -1.0]


def test_one_term_is_dropped_and_no_other():
    found = run_broken(f"""
        from types import SimpleNamespace
        from zwang.library import disk_equations as de
        name = "{EQUATION}.normal_force"
        p, q, v = SimpleNamespace(m=1.0, r=1.0, J=1.0, g=10.0), [0] * 5, [0, 0, 0, 2.0, 0]
        print(de.normal_force(q, v, p))
        apply(next(m for m in mutants_of(name) if m.text == "p.g"), log)
        print(de.normal_force(q, v, p), log.called)
    """)
    assert [float(x) for x in found[:2]] == [6.0, -4.0]
    assert found[2] == "True"


def test_zero_and_sign_of_all_that_has_them():
    assert zeroed((1.5, "text", [np.ones(2)]))[0] == 0.0
    assert negated({"a": 2, "b": True}) == {"a": -2, "b": False}
    assert negated(np.array([True, False])).tolist() == [False, True]
    assert zeroed(True) is False


def campaign(*rows):
    command = [sys.executable, "-m", "tests.mutations", *rows]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_marked_tests_of_a_slice_of_rows_kill_every_mutant():
    done = campaign("UK-01", "NI-10")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rows 2, proven 2, weak 0, missing 0" in done.stdout
    assert "NI-10  none 1/1  zero 1/1  sign 1/1  term 2/2  proven" in done.stdout


@pytest.mark.campaign
def test_marked_tests_of_all_rows_kill_every_mutant():
    done = campaign()
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"rows {len(theory_map.load().rows)}, proven" in done.stdout

"""Rows of what users feel, on made-up numbers: ratios, goals, and how the page shows them."""

from benchmarks.first_result import MODELS, beside
from benchmarks.goals import goals
from benchmarks.page import _felt, _felt_on  # pyright: ignore[reportPrivateUsage]
from benchmarks.rows import FELT, Row, rows_of, table


def row(ours, what="chain(10)", section="forces", around=0.0):
    return Row(section, what, "MuJoCo", ours, 10e-3, 0.15, around)


def stored(*rows):
    about = {"processor": "a processor", "date": "2026-01-01"}
    sections = {}
    for each in rows:
        sections.setdefault(each.section, {**about, "results": []})["results"].append(each.plain())
    return sections


def test_what_is_allowed_around_a_call_is_no_part_of_the_ratio():
    assert row(1.5e-3).ratio == 0.15
    assert not row(1.51e-3).kept
    assert row(1.56e-3, around=60e-6).kept
    assert row(10e-6, around=60e-6).ratio == 0.0
    assert "MISSED" in table([row(2e-3)])[0]


def test_rows_survive_storage_and_other_results_are_none():
    kept = stored(row(1e-3), row(2e-3, "chain(100)"))
    assert rows_of(kept, "forces") == [row(1e-3), row(2e-3, "chain(100)")]
    assert rows_of(kept, "stiff") == []
    assert rows_of({"stiff": {"results": {"a": 1}}}, "stiff") == []


def test_rows_are_goals_and_the_first_table():
    kept = stored(row(1e-3), row(2e-3, "chain(100)"))
    found = {goal.what: goal.kept for goal in goals(kept)}
    assert found == {
        "forces: chain(10), MuJoCo 10 ms": True,
        "forces: chain(100), MuJoCo 10 ms": False,
    }
    text = _felt(kept)
    assert f"**{FELT['forces']}**" in text
    assert "| chain of 10 rods, plane | **1** | MuJoCo 10 | 0.1 | ≤ 0.15 |" in text
    assert "≤ 0.15 **missed**" in text
    assert _felt_on(kept) == "a processor, 2026-01-01"


def test_of_many_energy_balances_the_page_has_the_worst_and_the_longest_chain():
    names = {"door": 1e-3, "bricard": 3e-3, "chain(1000)": 2e-3}
    text = _felt(stored(*(row(t, f"run.work, {n}", "energy balance") for n, t in names.items())))
    assert "run.work, worst of 3 mechanisms (bricard) | **3**" in text
    assert "run.work, chain(1000) | **2**" in text
    assert "door" not in text


def test_doubled_models_have_each_joint_twice_and_are_beside_the_single_ones():
    single, twice = (MODELS[name].make() for name in ("four_bar", "four_bar, doubled"))
    assert len(twice.parts.joints) == 2 * len(single.parts.joints)
    found = {
        "chain(10), plane": {"first": 1.0, "repeated": 1.0},
        "chain(10), space": {"first": 1.2, "repeated": 1.4},
        "chain(10), plane, doubled": {"first": 1.9, "repeated": 2.1},
    }
    kept = {(row.what, row.beside): row.kept for row in beside(found)}
    assert kept == {
        ("chain(10), space, first", "built in the plane"): True,
        ("chain(10), space, repeated", "built in the plane"): False,
        ("chain(10), plane, doubled, first", "each joint once"): True,
        ("chain(10), plane, doubled, repeated", "each joint once"): False,
    }

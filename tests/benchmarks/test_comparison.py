"""What benchmarks make of their measurements, on made-up numbers; page and results agree."""

import json
from pathlib import Path

import pytest
from benchmarks.__main__ import merged
from benchmarks.comparison import least, table
from benchmarks.goals import goals

from benchmarks import guard, page

ROOT = Path(__file__).resolve().parents[2]


def row(engine, cpu, error, work="bricard", **more):
    return {
        "work": work,
        "engine": engine,
        "setting": f"{cpu} s",
        "cpu": cpu,
        "advance": None,
        "error": error,
        "build": None,
        "evaluations": None,
        **more,
    }


# --- tables ---------------------------------------------------------------------------------------


def test_the_fastest_setting_that_is_good_enough_counts():
    rows = [row("A", 1.0, 1e-2), row("A", 3.0, 1e-7), row("A", 2.0, 9e-7), row("A", 0.5, None)]
    assert least(rows, 1e-6)["cpu"] == 2.0
    assert least(rows, 1e-9) is None


def test_tables_tell_times_and_sentences():
    lines = table([row("Zwang", 1e-3, 1e-7)], {"Other": "cannot: no such thing"})
    assert "1.000 ms" in lines[1]
    assert lines[1].rstrip().endswith("–")
    assert "cannot: no such thing" in lines[2]


def test_new_rows_replace_those_of_the_same_work():
    old = {
        "works": {"bricard": 1, "door": 1},
        "rows": [row("A", 1.0, 0.1), row("A", 2.0, 0.1, "door")],
    }
    new = {"works": {"bricard": 2}, "rows": [row("B", 3.0, 0.1)], "cannot": {"bricard": {}}}
    both = merged({**old, "cannot": {}}, new)
    assert [(r["work"], r["engine"]) for r in both["rows"]] == [("bricard", "B"), ("door", "A")]
    assert both["works"] == {"bricard": 2, "door": 1}


# --- goals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("whole", "loop", "kept"), [(0.9, 0.5, True), (1.1, 0.5, False)])
def test_a_goal_is_judged_by_the_whole_call(whole, loop, kept):
    rows = [row("MuJoCo", 50.0, 1e-7), row("Zwang", whole, 1e-7, advance=loop)]
    found = {"works": {"results": {"rows": rows, "works": {}, "cannot": {}}}}
    goal = next(g for g in goals(found) if g.what.startswith("bricard"))
    assert (goal.kept, goal.loop_kept) == (kept, True)


def test_ahead_means_ahead_on_every_work():
    rows = [row("MuJoCo", 1.0, 1e-10), row("Zwang", 2.0, 1e-10, advance=0.1)]
    found = {"works": {"results": {"rows": rows, "works": {}, "cannot": {}}}}
    assert not next(g for g in goals(found) if g.what.startswith("to 1e-9 m")).kept


# --- the guard ------------------------------------------------------------------------------------


def test_a_ratio_may_worsen_by_thirty_percent_and_no_more():
    assert guard.judge({"a": 1.0, "b": 2.0}, {"a": 1.29, "b": 1.0, "new": 9.0}) == []
    (complaint,) = guard.judge({"a": 1.0, "b": 2.0}, {"a": 1.31, "b": 2.0})
    assert complaint.startswith("a: ratio 1.31")
    (complaint,) = guard.judge({"a": 1.0}, {})
    assert "not measured" in complaint


@pytest.mark.parametrize(("ratio", "code"), [(1.2, 0), (1.4, 1)])
def test_the_guard_tells_by_its_exit_code(ratio, code, tmp_path, monkeypatch, capsys):
    file = tmp_path / "ratios.json"
    monkeypatch.setattr(guard, "ratios", lambda: {"job": 1.0})
    assert guard.main(["--store", "--file", str(file)]) == 0
    assert json.loads(file.read_text())["ratios"] == {"job": 1.0}
    monkeypatch.setattr(guard, "ratios", lambda: {"job": ratio})
    assert guard.main(["--file", str(file)]) == code
    assert ("SLOWER" in capsys.readouterr().out) == bool(code)


def test_stored_ratios_are_those_of_the_jobs():
    stored = json.loads(guard.FILE.read_text(encoding="utf-8"))["ratios"]
    assert stored
    assert all(ratio > 0.0 for ratio in stored.values())


# --- the page -------------------------------------------------------------------------------------


def test_page_and_stored_results_agree():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(page.results())
    for name in ("speed_errors.svg", "speed_growth.svg"):
        assert (page.IMAGES / name).is_file()


def test_every_missed_goal_has_its_reason():
    for goal in goals(page.results()):
        assert goal.kept or page.reason(goal), goal.what


def test_results_tell_nothing_about_whose_machine_it_was():
    text = page.RESULTS.read_text(encoding="utf-8") + guard.FILE.read_text(encoding="utf-8")
    assert "/home" not in text
    assert "/tmp" not in text
    assert "/root" not in text

"""Plans: what they mean, and the sentence for what they cannot mean."""

import json
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc
from tests.studies.study_models import pendulum, pendulum_plan

import zwang as zw
from zwang.model_files.examples import example_path
from zwang.studies.plan import plan_of
from zwang.studies.samples import BLOCK, _sobol_block


def test_a_grid_is_all_combinations_the_last_name_fastest():
    plan = plan_of({"grid": {"a": [1, 2], "b": {"from": 0, "to": "20 mm", "count": 3}}})
    rows = plan.rows(0, plan.count)
    assert plan.count == 6
    assert rows["a"].tolist() == [1, 1, 1, 2, 2, 2]
    np.testing.assert_allclose(rows["b"], [0, 0.01, 0.02] * 2, rtol=0, atol=1e-17)


def test_blocks_are_combined_and_logarithmic_axes_are_even_in_the_logarithm():
    plan = plan_of(
        {
            "list": {"a": [1.0, 2.0], "b": ["30 deg", "60 deg"]},
            "grid": {"c": {"from": 1, "to": 100, "count": 3, "spacing": "log"}},
        }
    )
    rows = plan.rows(0, plan.count)
    assert rows["a"].tolist() == [1, 1, 1, 2, 2, 2]
    np.testing.assert_allclose(rows["b"][:3], np.pi / 6)
    np.testing.assert_allclose(rows["c"], [1, 10, 100, 1, 10, 100])


def test_a_table_is_read_with_units_and_kept_in_the_plan(tmp_path):
    (tmp_path / "rows.csv").write_text("L,speed\n1 m,30 rpm\n25 cm,60 rpm\n")
    (tmp_path / "plan.toml").write_text('table = "rows.csv"\nuntil = "2 s"\n')
    plan = plan_of(tmp_path / "plan.toml")
    assert plan.rows(0, 2)["L"].tolist() == [1.0, 0.25]
    np.testing.assert_allclose(plan.rows(0, 2)["speed"], [np.pi, 2 * np.pi])
    again = plan_of(json.loads(json.dumps(plan.values)))  # without the file
    assert again.digest == plan.digest


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"list": {"rod.mass": ["1 kg", "2 m"]}}, r"list\.rod\.mass\[1\]"),
        ({"list": {"rod.mass": ["1 m", "2 m"]}}, r"list\.rod\.mass\[0\].*kind of kg"),
        ({"list": {"rod.mass": ["1 m", "2 kg", "3 kg"]}}, r"list\.rod\.mass\[0\].*kind of kg"),
        ({"grid": {"start.pin.angle": {"from": "0 deg", "to": "1 m", "count": 3}}}, r"angle\.to"),
        ({"grid": {"start.pin.angle_rate": ["30 rpm", "2 rad"]}}, r"angle_rate\[1\]"),
        ({"random": {"rod.mass": {"normal": ["1 kg", "1 s"]}}, "samples": 2}, r"normal\[1\]"),
    ],
)
def test_units_of_another_kind_are_refused_with_their_place(given, place):
    plan = {**given, "until": 0.1}
    with pytest.raises(zw.ModelError, match=place):
        zw.study(example_path("pendulum"), plan)


def test_units_of_one_kind_are_mixed_and_told_by_the_dataset(tmp_path):
    plan = {"list": {"rod.mass": ["1 kg", 2, "500 g"], "start.pin.angle": ["30 deg", 0.5, 1]}}
    study = zw.study(example_path("pendulum"), {**plan, "until": 0.1}, output=tmp_path / "a.zarr")
    data = study.run(progress=False).dataset
    assert data["rod.mass"].values.tolist() == [1.0, 2.0, 0.5]
    assert data["rod.mass"].attrs["units"] == "kg"
    assert data["start.pin.angle"].attrs["units"] == "rad"


def test_numbers_of_force_elements_have_their_units(tmp_path):
    m = zw.Mechanism(plane="xz")
    arm = m.body("arm", mass=1.0, inertia=0.1, position=(0.5, 0.0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.spring_damper("coil", m.ground, arm, at=((1.0, 1.0), (1.0, 0.0)), stiffness=5.0)
    m.torsion_spring("twist", m.ground, arm, stiffness=1.0)
    plan = {"list": {"coil.stiffness": ["1 N/mm", 5.0], "twist.damping": [0.1, 0.2]}}
    study = zw.study(m, {**plan, "until": 0.1}, output=tmp_path / "a.zarr")
    data = study.run(progress=False).dataset
    assert data["coil.stiffness"].values.tolist() == [1000.0, 5.0]
    assert data["coil.stiffness"].attrs["units"] == "N/m"
    assert data["twist.damping"].attrs["units"] == "N*m*s/rad"


def test_a_sobol_sequence_begins_anywhere_with_the_points_that_are_there():
    for dimension, seed, block in ((1, 0, 0), (3, 5, 1), (3, 5, 7), (2, 1, 1023)):
        engine = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(seed))
        points = engine.random((block + 1) * BLOCK)[-BLOCK:]
        np.testing.assert_array_equal(_sobol_block(dimension, seed, block), points)
    with pytest.raises(zw.ModelError, match=r"samples: .*1073741824"):
        plan_of({"sobol": {"a": [0, 1]}, "samples": 2**30 + 1})


@pytest.mark.parametrize("method", ["random", "sobol", "latin_hypercube"])
def test_samples_of_any_part_are_those_of_the_whole(method):
    given = {
        method: {"a": {"normal": [2.0, 0.5]}, "b": {"uniform": [0.0, 1.0]}},
        "samples": 3000,
        "seed": 5,
    }
    plan = plan_of(given)
    whole = plan.rows(0, 3000)
    part = plan.rows(1000, 2100)
    assert np.array_equal(part["a"], whole["a"][1000:2100])
    assert not np.array_equal(whole["a"], plan_of({**given, "seed": 6}).rows(0, 3000)["a"])
    # Kolmogorov–Smirnov at a level that a right generator passes but for one seed in a million.
    assert stats.kstest(whole["a"], stats.norm(2.0, 0.5).cdf).pvalue > 1e-6
    assert stats.kstest(whole["b"], "uniform").pvalue > 1e-6


@pytest.mark.parametrize(
    ("distribution", "reference"),
    [
        ({"triangular": [0, 1, 3]}, stats.triang(1 / 3, 0, 3)),
        ({"lognormal": [2.0, 0.3]}, stats.lognorm(0.3, scale=2.0)),
        ({"weibull": [1.5, 2.0]}, stats.weibull_min(1.5, scale=2.0)),
        ({"exponential": [2.0]}, stats.expon(scale=2.0)),
        ({"beta": [2, 3, -1, 1]}, stats.beta(2, 3, -1, 2)),
        ({"truncated_normal": [0, 1, -0.5, 2]}, stats.truncnorm(-0.5, 2)),
    ],
)
def test_distributions_are_those_of_scipy(distribution, reference):
    plan = plan_of({"random": {"a": distribution}, "samples": 2000})
    assert stats.kstest(plan.rows(0, 2000)["a"], reference.cdf).pvalue > 1e-6


def test_correlation_is_that_of_normal_scores():
    plan = plan_of(
        {
            "random": {"a": {"normal": [0, 1]}, "b": {"normal": [5, 2]}},
            "correlation": [["a", "b", -0.8]],
            "samples": 20_000,
        }
    )
    rows = plan.rows(0, plan.count)
    # The standard error of the coefficient is (1 − ρ²)/√N = 0.0025.
    assert np.corrcoef(rows["a"], rows["b"])[0, 1] == pytest.approx(-0.8, abs=0.015)


#: Text of a plan → what its message says: key, line, and a word of the reason.
WRONG = {
    'grid = { a = [1, "x y"] }': ("grid.a[1]", "line 1", "'y'"),
    "\ngrod = { a = [1] }": ("line 2", "grod", "grid"),
    "[grid]\na = { from = 0, to = 1, count = 0 }": ("grid.a.count", "line 2", "whole number"),
    "[random]\na = { normal = [0, -1] }\n": ("random", "samples", "line 1"),
    "samples = 5\n[random]\na = { normal = [0, -1] }": ("random.a", "line 3", "positive"),
    "samples = 5\n[random]\na = { gauss = [0, 1] }": ("random.a", "line 3", "normal"),
    "until = 'soon'\n[grid]\na = [1]": ("until", "line 1", "soon"),
    "times = 1\n[grid]\na = [1]": ("times", "line 1", "whole number"),
    "outputs = ['__import__(\"os\")']\n[grid]\na = [1]": ("outputs[0]", "line 1", "__import__"),
    "outputs = ['peak(x, 1)']\n[grid]\na = [1]": ("outputs[0]", "line 1", "argument"),
    "outputs = ['x; y']\n[grid]\na = [1]": ("outputs[0]", "line 1", "expression"),
    "[list]\na = [1, 2]\nb = [1]": ("list", "2 of a, 1 of b"),
    "until = 1": ("nothing varies",),
    "[settings]\ntolerances = 1\n[grid]\na = [1]": ("settings.tolerances", "line 2", "tolerance"),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_meant_is_refused_with_its_place(tmp_path, text):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(zw.ModelError) as caught:
        plan_of(tmp_path / "plan.toml")
    assert "plan.toml" in str(caught.value)
    for words in WRONG[text]:
        assert words in str(caught.value), str(caught.value)


def test_too_many_runs_are_refused_with_their_number(tmp_path):
    axis = {"from": 0, "to": 1, "count": 10_000}
    with pytest.raises(zw.ModelError, match=r"1e\+12 runs"):
        plan_of({"grid": {"a": axis, "b": axis, "c": axis}})
    (tmp_path / "plan.toml").write_text(
        f"until = 1\n[grid]\na = {as_toml(axis)}\nb = {as_toml(axis)}\nc = {as_toml(axis)}"
    )
    with pytest.raises(zw.ModelError, match=r"plan\.toml, line 2, key grid: .*1e\+12 runs"):
        plan_of(tmp_path / "plan.toml")


@pytest.mark.parametrize(
    ("text", "place", "name"),
    [
        ("[grid]\nrod.mass = [1, 2]", "line 2, key grid.rod", "rod.mass"),
        ("[grid.rod]\nmass = { from = 1, to = 2, count = 3 }", "key grid.rod", "rod.mass"),
        ("[grid]\nstart.pin.angle = [1, 2]", "line 2, key grid.start", "start.pin.angle"),
        ("[list]\nrod.mass = [1, 2]", "line 2, key list.rod", "rod.mass"),
        ("samples = 2\n[random]\nrod.mass = { normal = [1, 0.1] }", "random.rod", "rod.mass"),
        ("samples = 2\n[sobol]\nrod.mass = [1, 2]", "key sobol.rod", "rod.mass"),
        ('[grid]\n"rod.mass" = [1]\n[start]\npin.angle = 0.1', "key start.pin", "pin.angle"),
        ("[grid]\nL = [1]\n[parameters]\nrod.mass = 1", "key parameters.rod", "rod.mass"),
    ],
)
def test_a_name_with_dots_asks_for_quotation_marks(tmp_path, text, place, name):
    (tmp_path / "plan.toml").write_text(f"{text}\n")
    with pytest.raises(zw.ModelError, match=re.escape(place)) as caught:
        plan_of(tmp_path / "plan.toml")
    assert f'needs quotation marks: "{name}" = ….' in str(caught.value)


def test_a_misspelled_key_of_an_axis_is_none_of_a_name():
    with pytest.raises(zw.ModelError, match=r"key grid\.L\.form: .*'from'"):
        plan_of({"grid": {"L": {"form": 0, "too": 1}}})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"grid": {"length": [1.0]}}, ("grid", "length", "L")),
        ({"grid": {"L": [1.0], "start.z": [1.0]}}, ("start.z", "initial value")),
        ({"grid": {"L": [1.0], "settings.drift": [1.0]}}, ("settings.drift", "words")),
        ({"outputs": ["z"]}, ("outputs[0]", "channel", "'z'")),
        ({"outputs": ["a = peak(x) * K"]}, ("outputs[0]", "'K'")),
        ({"outputs": ["peak(x + y)"]}, ("outputs[0]", "of an expression", "m.output", "[output]")),
        ({"outputs": ["event_time(hit)"]}, ("outputs[0]", "event")),
        ({"outputs": [{"value": "end(y)", "unit": "mmm"}]}, ("outputs[0]", "value_in")),
        ({"outputs": [{"value": "end(y)", "value_in": "mmm"}]}, ()),
        ({"start": {"x": "K", "y": "-L"}}, ("start.x", "'K'")),
        ({"settings": {"integrator": "order9"}}, ("settings", "order9")),
        ({"times": [0.0, 2.0]}, ("times", "2 s")),
        ({"outputs": ["L"]}, ("'L'",)),
    ],
)
def test_names_that_the_model_has_not_are_refused(tmp_path, change, words):
    plan = {**pendulum_plan(), **change}
    if not words:
        zw.study(pendulum(), plan)  # a coordinate of functions has units of the user's own
        return
    with pytest.raises(zw.InputError) as caught:
        zw.study(pendulum(), plan, output=tmp_path / "a.zarr").run(progress=False)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_an_event_with_spaces_in_its_name_is_counted_in_quotes(tmp_path):
    event = {"at the left": zw.event("x", at=-0.01, direction=-1)}
    for written in ("n = event_count(at the left)", "event_count( at the  left )"):
        plan = {**pendulum_plan(), "outputs": [written]}
        with pytest.raises(zw.InputError, match=r"quoted: event_count\('at the +left'\)") as caught:
            zw.study(pendulum(), plan, events=event)
        assert "comma" not in str(caught.value)
    plan = {**pendulum_plan(), "outputs": ["n = event_count('at the left')"]}
    done = zw.study(pendulum(), plan, output=tmp_path / "a.zarr", events=event)
    assert "n" in done.run(progress=False).dataset


def test_controllers_are_refused_with_what_to_do_instead():
    with pytest.raises(zw.InputError, match=r"call simulate\(controllers=…\) for each row, or"):
        zw.study(pendulum(), pendulum_plan(), controllers={})


# --- fuzzing --------------------------------------------------------------------------------------

SEEDS = [
    {
        "grid": {"L": {"from": 0.5, "to": 1.5, "count": 4}, "start.x_dot": [0.5, 1]},
        "start": {"x": 0, "y": "-L"},
        "until": 1,
        "times": 3,
        "outputs": ["x", "a = peak(x) / L"],
    },
    {
        "random": {"L": {"normal": [1.0, 0.1]}, "m": {"uniform": [1, 2]}},
        "samples": 5,
        "seed": 1,
        "correlation": [["L", "m", 0.5]],
        "until": "1 s",
        "start": {"x": 0, "y": "-L"},
    },
    {
        "list": {"settings.integrator": ["order5", "order8"]},
        "until": 0.5,
        "parameters": {"g": 9},
        "start": {"x": 0, "y": -1},
        "settings": {"tolerance": 1e-6},
        "shard": 8,
        "resolution": 11,
    },
]
NAMES = ["grid", "times", "seed", "x", "start.y", "analysis"]
PIECES = [
    0, 1, -1, 1e308, 10**400, 2**63, True, None, "", "x", "1 m", "1e999 m", [], {}, [[]], "a" * 600,
    {"a": 1}, "__import__('os').system('x')", "(" * 90, "x=y=z", "peak()", "\0", "L", [1, "a"],
    ["1 m", 2], {"normal": [0, 1]}, "1" * 5000, "lambda: 0", "9**9**9**9", "'a'*10**9",
]  # fmt: skip


def mangled(rng: random.Random) -> object:
    """A plan with a few entries replaced, removed or renamed."""
    plan = json.loads(json.dumps(rng.choice(SEEDS)))
    for _ in range(rng.randint(1, 3)):
        place = plan
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            inner = place[key]
            if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
                place = inner
                continue
            action = rng.random()
            if action < 0.6:
                place[key] = rng.choice(PIECES)
            elif action < 0.8:
                del place[key]
            elif isinstance(place, dict):
                place[rng.choice(NAMES)] = place.pop(key)
            break
    return plan


def fuzz(count: int, seed: int) -> int:
    """Read so many mangled plans; how many were refused, by our own errors alone."""
    rng, system, wrong = random.Random(seed), pendulum(), []
    for _ in range(count):
        plan = mangled(rng)
        try:
            zw.study(system, plan)
        except zw.InputError as error:
            wrong.append(error)
    for error in wrong:
        assert isinstance(error, zw.ModelError) or error.what.startswith("plan"), error
    return len(wrong)


def as_toml(value: object) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {as_toml(x)}" for k, x in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return '""' if value is None else json.dumps(value)


def damaged(text: str, rng: random.Random) -> str:
    """A text with a few characters removed, doubled or replaced."""
    for _ in range(rng.randint(1, 4)):
        k = rng.randrange(len(text))
        put = rng.choice(["", text[k] * 2, rng.choice("\"'=[]{},.#-e9\n\t\x01é\u2028")])
        text = text[:k] + put + text[k + 1 :]
    return text


#: Things that reading a plan never does.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "os.remove",
             "os.rename", "os.mkdir", "os.rmdir", "socket.connect")  # fmt: skip
_heard: list[str] = []
_listening = [False]


def _hear(event: str, arguments: tuple) -> None:
    if _listening[0] and (
        event in FORBIDDEN or (event == "open" and any(c in str(arguments[1]) for c in "wax+"))
    ):
        _heard.append(f"{event} {arguments}")


def fuzz_files(count: int, seed: int, path: Path) -> tuple[int, int]:
    """Read so many mangled files; how many were refused, and how many of them with a key.

    All by our own errors, with the file and the line; nothing is run, written or removed.
    """
    rng, system, errors = random.Random(seed), pendulum(), []
    if not _heard_hook:
        sys.addaudithook(_hear)
        _heard_hook.append(True)
    _heard.clear()
    for _ in range(count):
        plan = mangled(rng)
        text = "".join(f"{json.dumps(k)} = {as_toml(x)}\n" for k, x in plan.items())
        if rng.random() < 0.4:
            text = damaged(text or "x", rng)
        path.write_text(text, encoding="utf-8")
        _listening[0] = True
        try:
            zw.study(system, path)
        except zw.InputError as error:
            errors.append(error)
        finally:
            _listening[0] = False
    assert _heard == []
    for error in errors:
        assert isinstance(error, zw.ModelError), error
        assert str(error).startswith((f"{path}, line ", f"{path}: ")), error
    return len(errors), sum(", key " in str(error).partition(":")[0] for error in errors)


#: A hook cannot be removed, so it is added once.
_heard_hook: list[bool] = []


def test_mangled_plans_are_read_or_refused_in_our_words(tmp_path):
    assert fuzz(100, 1) > 50
    refused, with_key = fuzz_files(100, 1, tmp_path / "PLAN.toml")
    assert refused > 50
    assert with_key > 25


@pytest.mark.campaign
def test_five_thousand_mangled_plans(tmp_path):
    assert fuzz(5000, 2) > 2500
    refused, with_key = fuzz_files(5000, 2, tmp_path / "PLAN.toml")
    print(f"{refused} of 5000 files refused, {with_key} with a key")
    assert refused > 2500
    assert with_key > 1250


def test_bounds_without_a_distribution_are_shown_as_a_uniform_one() -> None:
    plan = {"random": {"L": [0.5, 2.0]}, "samples": 4, "until": 1.0, "start": {"x": 0.0, "y": "-L"}}
    with pytest.raises(zw.ModelError, match=re.escape("such as { uniform = [0.5, 2.0] }")):
        zw.study(pendulum(), plan)

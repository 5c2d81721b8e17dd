"""The reference of keys is made from the layout; examples are lines of models that work."""

from inspect import signature

import pytest

import model_file_keys
import zwang as zw

ALL_KEYS = [*model_file_keys.keys()]
OWN = [path for path in model_file_keys.MODELS if path.parent.name == "keys"]


def test_the_page_is_the_one_that_is_made():
    assert model_file_keys.PAGE.read_text(encoding="utf-8") == model_file_keys.text()


@pytest.mark.parametrize(
    ("table", "method"),
    [
        ("simulation", zw.Mechanism.simulate),
        ("friction", zw.Mechanism.friction),
        ("coordinate", zw.Mechanism.coordinate),
        ("force (spring_damper)", zw.Mechanism.spring_damper),
        ("force (torsion_spring)", zw.Mechanism.torsion_spring),
        ("force (force)", zw.Mechanism.force),
        ("inverse_dynamics", zw.Mechanism.inverse_dynamics),
    ],
)
def test_defaults_of_the_library_are_told(table, method):
    """Numbers and words alone: what else a missing key means has words of its own."""
    told = {key: field.help for where, key, field in ALL_KEYS if where == table}
    defaults = {name: p.default for name, p in signature(method).parameters.items()}
    defaults |= {"step": "chosen by tolerance", "largest_step": "none"}
    shared = [
        name
        for name in told
        if isinstance(defaults.get(name), str | float | bool) and defaults[name] is not True
    ]
    assert shared
    for name in shared:
        default = defaults[name]
        shown = f"{default:g}" if isinstance(default, float) else str(default).lower()
        assert f"{shown} if not given" in told[name].replace("1e-9", "1e-09"), name


def test_every_key_has_an_example():
    assert not model_file_keys.missing()


def test_examples_are_lines_that_can_be_read_by_themselves():
    """Not the bracket with which a value of several lines begins, nor a remark in the margin."""
    assert not model_file_keys.is_whole("shape = [")
    page = model_file_keys.PAGE.read_text(encoding="utf-8")
    shown = [line.split(" | ")[-1].strip("|` ") for line in page.splitlines() if " = " in line]
    lines = [text.replace("\\|", "|") for text in shown if " = " in text]
    assert len(lines) > 100
    assert [line for line in lines if not model_file_keys.is_whole(line) or "  #" in line] == []


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_the_models_of_the_examples_run(path):
    run = zw.read_model(path).simulate()
    assert run.finished or "event" in run.status

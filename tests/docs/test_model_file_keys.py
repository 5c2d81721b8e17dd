"""The reference of keys is made from the layout; examples are lines of models that work."""

import pytest

import model_file_keys
import zwang as zw

OWN = [path for path in model_file_keys.MODELS if path.parent.name == "keys"]


def test_the_page_is_the_one_that_is_made():
    assert model_file_keys.PAGE.read_text(encoding="utf-8") == model_file_keys.text()


def test_every_key_has_an_example():
    assert not model_file_keys.missing()


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_the_models_of_the_examples_run(path):
    run = zw.read_model(path).simulate()
    assert run.finished or "event" in run.status

"""Every example runs and says something, has a number and a picture, and the picture can be drawn.

Scripts run in this process, since starting Python anew for each would take longer than they do.
"""

import runpy
import subprocess
import sys

import pytest

import gallery
from gallery import examples
from pictures import PICTURES
from pictures.moving import write as write_moving

ALL = examples()
SCRIPTS = [example for example in ALL if example.number is not None]


def name_of(example):
    return example.path.name


@pytest.mark.parametrize("example", SCRIPTS, ids=name_of)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example.path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_an_example_runs_by_itself(tmp_path):
    command = [sys.executable, "-W", "error", "-X", "utf8", str(SCRIPTS[0].path)]
    result = subprocess.run(
        command, check=False, cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_scripts_are_numbered_without_gaps():
    assert [example.number for example in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))
    assert set(gallery.SECTIONS) <= {example.number for example in SCRIPTS}


@pytest.mark.parametrize("example", ALL, ids=name_of)
def test_example_has_words_and_a_picture(example):
    title, text = example.words
    assert title
    assert len(text) > 20
    assert (gallery.IMAGES / example.image).stat().st_size > 1000
    assert example.name in PICTURES


def test_no_picture_is_left_over():
    assert {p.name for p in gallery.IMAGES.iterdir()} == {example.image for example in ALL}
    assert set(PICTURES) == {example.name for example in ALL}


def test_page_of_the_gallery_shows_every_example():
    text = gallery.cards()
    for example in ALL:
        assert text.count(f"({gallery.page_name(example)})") == 1
        assert example.source in gallery.page(example)


@pytest.mark.parametrize("name", ["05_four_bar", "pendulum"])
def test_picture_is_drawn(name, tmp_path):
    example = next(example for example in ALL if example.name == name)
    gallery.draw(example, gallery.result_of(example), tmp_path / example.image)
    assert (tmp_path / example.image).stat().st_size > 1000


def test_the_moving_picture_is_small_enough_to_load():
    assert 1e4 < gallery.MOVING.stat().st_size < 1e6


@pytest.mark.campaign
def test_the_moving_picture_is_made(tmp_path):
    write_moving(tmp_path / "moving.webp", frames=3)
    assert (tmp_path / "moving.webp").stat().st_size > 1e4


@pytest.mark.campaign
@pytest.mark.parametrize("example", ALL, ids=name_of)
def test_every_picture_is_drawn(example, tmp_path):
    gallery.draw(example, gallery.result_of(example), tmp_path / example.image)
    assert (tmp_path / example.image).stat().st_size > 1000

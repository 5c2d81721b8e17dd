"""Files as editors write them: marks of an encoding, line ends, and bytes that are no UTF-8."""

from __future__ import annotations

import pytest
from tests import rod_on_a_pin
from typer.testing import CliRunner

from zwang.cli.app import app

TEXT = rod_on_a_pin.MODEL.replace("mass = 1\n", 'mass = "1 kg" # Länge\n')
WRONG = TEXT.replace("position = [0.5", "pos1tion = [0.5")
LINE = 1 + TEXT.splitlines().index('mass = "1 kg" # Länge')


def called(command, folder, given, *more):
    path = folder / "odd.toml"
    if given is None:
        path.mkdir()
    else:
        path.write_bytes(given)
    result = CliRunner().invoke(app, [command, str(path), *more])
    return result.exit_code, result.output


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize(
    "given",
    [
        TEXT.encode("utf-8-sig"),  # as editors of Windows write it
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.replace("\n", "\r\n").encode("utf-8-sig"),
    ],
)
def test_marks_and_line_ends_of_editors_are_read(tmp_path, monkeypatch, command, given):
    monkeypatch.chdir(tmp_path)
    code, told = called(command, tmp_path, given, *(["--until", "0.01"] * (command == "run")))
    assert code == 0, told
    if command == "run":
        assert CliRunner().invoke(app, ["verify", "odd.run"]).exit_code == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_lines_are_counted_alike(tmp_path, end, encoding):
    code, told = called("check", tmp_path, WRONG.replace("\n", end).encode(encoding))
    line = 1 + WRONG.splitlines().index("pos1tion = [0.5, 0, 0]")
    assert code == 1
    assert f"odd.toml, line {line}, key body.rod.pos1tion" in told


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"", "odd.toml: expected [body.NAME] for a mechanism, or [system]"),
        (None, "or the folder of a run that was made from one, not a folder without a model"),
        (
            TEXT.encode("latin-1"),
            f"line {LINE}: expected a text file in UTF-8, not one in another encoding: 'mass = ",
        ),
        (TEXT.encode("utf-16"), "not one in UTF-16. Save it as UTF-8"),
        (bytes(range(256)), "not bytes that are not text."),
    ],
)
def test_what_is_no_model_is_told_as_what_it_is(tmp_path, command, given, words):
    code, told = called(command, tmp_path, given)
    assert code == 1
    assert words in told


def test_a_folder_in_place_of_a_plan_is_not_taken_for_a_slip(tmp_path):
    code, told = called("sweep", tmp_path, None)
    assert code == 1
    assert "is a directory" in told
    assert "Did you mean" not in told

"""Every model that is shipped goes through every command that shows something of it."""

import json

import pytest
from typer.testing import CliRunner

from zwang.cli.app import app
from zwang.model_files.examples import example_names, example_path

#: Seconds that are simulated: enough for several saved states of each.
SHORT = 0.05
#: No page is larger [bytes].
LARGEST = 300_000


def call(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert "Traceback" not in result.output
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", example_names())
def test_check_run_verify_report_view_plot_and_export(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    model = example_path(name)
    assert json.loads(call("check", model, "--json"))
    call("run", model, "-o", "run", "--until", SHORT)
    assert "does not match" not in call("verify", "run")
    call("report", "run", "-o", "report.html")
    call("view", "run", "--html", "scene.html")
    call("plot", "run", "energy", "-o", "plot.png")
    call("export", "run", "--csv", "table.csv")
    for page in ("report.html", "scene.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert text.rstrip().endswith("</html>")
        assert len(text.encode()) < LARGEST
    assert (tmp_path / "plot.png").stat().st_size > 5000
    head, first, *_ = (tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("t,")
    assert len(head.split(",")) == len(first.split(","))

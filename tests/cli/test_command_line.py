"""Every command as a user calls it: exit codes, output for people and for machines."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import zwang as zw
from compiling import COMPILES
from zwang.assembly.large_moves import large_moves
from zwang.cli.app import app
from zwang.cli.run import _redundancy
from zwang.cli.words import WORDS, at_the_command_line
from zwang.errors import UnknownNameError
from zwang.model_files.examples import example_names, example_path

PENDULUM = example_path("pendulum")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert "Traceback" not in result.output
    assert result.exit_code == code, result.output
    return result


def called_json(*arguments, code=0):
    return json.loads(call(*arguments, "--json", code=code).stdout)


def test_help_names_all_commands():
    text = call("--help").stdout
    commands = (
        "run check explain verify plot export report view video derive sweep examples new info "
        "equilibrium linearize kinematics inverse servo"
    )
    for command in commands.split():
        assert command in text
    assert call("--version").stdout.strip() == f"zwang {zw.__version__}"


def test_run_keeps_what_a_script_would_compute(here):
    facts = called_json("run", PENDULUM, "--until", "0.5", "-o", "swing")
    assert facts["finished"]
    assert facts["end"] == 0.5
    assert facts["worst_residual"] < 1e-12
    assert facts["saved_states"] == 26
    assert facts["times_real_time"] > 0
    model = zw.read_model(PENDULUM)
    script = model.simulate(until=0.5)
    stored = zw.load("swing", model.system)
    assert np.array_equal(stored.q, script.q)
    assert (facts["steps"], facts["evaluations"]) == (
        script.counts.steps,
        script.counts.evaluations,
    )
    verdict = called_json("verify", "swing")
    assert verdict["verified"]


def test_run_without_a_folder_takes_a_free_name(here):
    for name in ("pendulum.run", "pendulum-2.run"):
        text = call("run", PENDULUM, "--until", "0.1").stdout
        assert f"Kept in {name}" in text
        assert ("as pendulum.run exists" in text) == (name == "pendulum-2.run")
        assert (here / name).is_dir()
    for word in (
        "steps",
        "evaluations",
        "worst residual",
        "energy",
        "redundant equations",
        "real time",
    ):
        assert word in text


def test_tolerance_and_folder_that_exists(here):
    loose = called_json("run", PENDULUM, "--until", "1", "--tolerance", "1e-4", "-o", "loose")
    tight = called_json("run", PENDULUM, "--until", "1", "--tolerance", "1e-12", "-o", "tight")
    assert loose["steps"] < tight["steps"]
    error = called_json("run", PENDULUM, "--until", "1", "-o", "loose", code=1)["error"]
    assert "loose" in error["message"]


def test_a_run_that_cannot_go_on_is_kept_and_fails(here):
    Path("wall.toml").write_text(
        '[system]\ncoordinates = ["x"]\nmass = "1"\nforce = ["1 / (1 - x)^2"]\n'
        "[start]\nq = { x = 0.5 }\nv = { x_dot = 0.0 }\n[simulation]\nuntil = 1.0\n"
        '[event.never]\nfunction = "x - 7"\n',
        encoding="utf-8",
    )
    facts = called_json("run", "wall.toml", "-o", "wall", code=1)
    assert not facts["finished"]
    assert facts["status"].startswith("stopped")
    assert zw.read_model("wall").name == "wall"


def test_stopped_run_is_resumed_to_the_same_bits(here):
    """Ctrl-C in a real process; then --resume; then comparison with a run that was not stopped."""
    text = PENDULUM.read_text(encoding="utf-8").replace('"10 s"', '"40000 s"')
    Path("long.toml").write_text(text.replace("save = 0.02", "save = 40.0"), encoding="utf-8")
    command = [sys.executable, "-m", "zwang.cli.app", "run", "long.toml", "-o", "part"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    # The store appears when integration begins; 40,000 s take a while from there on.
    while not Path("part").is_dir() and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert "Traceback" not in errors
    assert process.returncode == 130, errors
    assert "zwang run long.toml -o part --resume" in errors
    model = zw.read_model("long.toml")
    assert 0 < len(zw.load("part")) < 1001
    facts = called_json("run", "long.toml", "-o", "part", "--resume")
    assert facts["finished"]
    whole = model.simulate(store="whole")
    assert np.array_equal(zw.load("part", model.system).q, whole.q)


def test_resume_refuses_other_choices_and_missing_runs(here):
    call("run", PENDULUM, "--until", "0.1", "-o", "done")
    error = called_json("run", PENDULUM, "-o", "done", "--resume", "--until", "3", code=1)["error"]
    assert error["found"] == "--until, --tolerance, --set or --forces was given too"
    call("run", PENDULUM, "-o", "nowhere", "--resume", code=1)
    assert not Path("nowhere").exists()


def test_check_says_what_a_model_consists_of():
    facts = called_json("check", example_path("bricard"))
    assert (facts["bodies"], facts["joints"]) == (5, 6)
    assert (facts["velocities"], facts["constraint_rows"]) == (30, 30)
    assert (facts["degrees_of_freedom"], facts["redundant_rows"]) == (1, 1)
    assert "has no errors" in call("check", example_path("knife_edge")).stdout


SLIDE = """
[mechanism]
plane = "xy"
gravity = [0, "-9.81 m/s^2"]

[body.rod]
mass = "2 kg"
shape = { type = "rod", length = "1 m" }
position = ["0.5 * cos(start)", "0.5 * sin(start)"]
angle = "-start"

[parameters]
start = "30 deg"

[joint.wall]
type = "point_on_line"
bodies = ["ground", "rod"]
at = [[0, 0], { body = "rod", at = ["-0.5 m", 0] }]
axis = "y"

[joint.rail]
type = "point_on_line"
bodies = ["ground", "rod"]
at = [[0, 0], { body = "rod", at = ["0.5 m", 0] }]
axis = "x"

[drive.push]
of = "rail.displacement"
value = "cos(start) + 0.1 * t^3"

[simulation]
until = "1 s"
save = 0.01
"""
PINNED = """
[joint.extra]
type = "revolute"
bodies = ["ground", "rod"]
at = ["cos(start)", 0]
"""


def test_check_finds_a_driver_of_what_a_pin_holds(here):
    (here / "right.toml").write_text(SLIDE)
    assert "no errors" in call("check", "right.toml").stdout
    (here / "bad.toml").write_text(SLIDE + PINNED)
    facts = called_json("check", "bad.toml", code=1)
    assert "push and extra[0] contradict each other" in facts["contradiction"]
    run = called_json("run", "bad.toml", "-o", "bad.run", code=1)
    assert run["status"].startswith("stopped at t = 0.01 s: constraints push and extra[0]")
    assert run["saved_states"] == 1
    assert not any("largest_step" in note for note in run["notes"])


def test_verify_says_once_that_constraints_contradict(here):
    (here / "right.toml").write_text(SLIDE)
    (here / "bad.toml").write_text(SLIDE + PINNED)
    right = zw.read_model("right.toml").simulate(save=0.05)
    run = zw.read_model("bad.toml").simulate()
    # As if it had been followed to the end on some of the rows, which it once was.
    whole = (replace(run.segments[0], last=len(right)),)
    replace(run, t=right.t, q=right.q, v=right.v, segments=whole).save("bad.run")
    said = call("verify", "bad.run", "--model", "bad.toml", code=1).stdout
    assert said.count("the energy is not checked") == 1
    assert said.count("its program is not right") == 1
    assert "of the batch" not in said


def test_redundancy_at_the_start_is_told_once():
    always = [{"t": 0.0, "dependent_rows": 2}]
    told = "2 of the constraint equations follow from the others (zwang explain names the joints)"
    assert _redundancy(always, 0.0) == told
    assert _redundancy(2 * always, 0.0) == told
    passed = [{"t": 0.5, "dependent_rows": 1}, {"t": 1.5, "dependent_rows": 1}]
    assert _redundancy(passed, 0.0).endswith("at the start; 1 at 0.5 s, 1 at 1.5 s")


@pytest.mark.parametrize("angle", [0.0, 0.1])
def test_check_tells_a_dead_center_at_the_start(angle):
    """There alone a row of the driver follows from others, and a freedom is left."""
    facts = called_json("check", LIFT, "--set", f"start_angle={angle} deg")
    assert facts["redundant_here_alone"] == (1 if angle == 0.0 else 0)
    assert facts["redundant_rows"] - facts["redundant_here_alone"] == 0
    assert not any("beside what drivers" in note for note in facts["notes"])


def test_explain_tells_redundancy_and_determinacy():
    found = called_json("explain", example_path("bricard"))
    assert found["reactions"] == {f"hinge{k}": "partly" for k in range(1, 7)}
    assert found["multipliers"]["hinge1[0]"]["status"] == "indeterminate"
    text = call("explain", example_path("bricard")).stdout
    assert "hinge" in text


def test_verify_finds_an_edit(here):
    call("run", PENDULUM, "--until", "0.2", "-o", "swing")
    chunk = Path("swing/q/c/0/0")
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(bytes(data))
    assert not called_json("verify", "swing", code=1)["verified"]
    assert "the folder of a run" in call("verify", "no_such_run", code=1).output


def test_report_of_a_run_and_of_a_model(here):
    call("run", PENDULUM, "--until", "0.2", "-o", "swing.run")
    told = called_json("report", "swing.run")
    assert told["report"] == "swing.html"
    assert "pendulum" in Path("swing.html").read_text(encoding="utf-8")
    text = PENDULUM.read_text(encoding="utf-8").replace('"10 s"', '"0.2 s"')
    Path("short.toml").write_text(text, encoding="utf-8")
    printed = call("report", "short.toml", "-o", "page.html").stdout
    for words in ("degree of freedom", "worst residual", "Wrote page.html"):
        assert words in printed
    assert Path("page.html").is_file()
    assert called_json("report", "short.toml")["run"] == "short-2.run"
    zw.read_model(PENDULUM).system.simulate(
        zw.read_model(PENDULUM).start(), until=0.1, store="bare"
    )
    assert "--model" in called_json("report", "bare", code=1)["error"]["advice"]
    call("report", "bare", "--model", PENDULUM)


def test_derive_gives_closed_forms():
    pytest.importorskip("sympy")
    assert "cos" in call("derive", example_path("knife_edge"), "--terms").stdout
    assert "\\" in called_json("derive", example_path("knife_edge"), "--latex")["closed_form"]
    # A mechanism has the coordinates of its joints, unless those of bodies are asked for.
    assert call("derive", PENDULUM).stdout.startswith("pin_ddot = 2*g*m_rod*cos(pin)/")
    assert "rod_x_dot" in call("derive", PENDULUM, "--terms", "--bodies").stdout
    disk = call("derive", example_path("rolling_disk"), "--seconds", "60").stdout
    assert "disk_psi_ddot = disk_theta_dot*(" in disk


LENGTHS = """
[mechanism]
plane = "xz"
gravity = [0, "-9.81 m/s^2"]
[parameters]
L1 = "80 cm"
L2 = "50 cm"
[body.one]
mass = 1.5
inertia = 0
position = [0, "-L1"]
[body.two]
mass = "700 g"
inertia = 0
position = [0, "-L1 - L2"]
[joint.alpha]
type = "revolute"
bodies = ["ground", "one"]
at = [0, 0]
[joint.beta]
type = "revolute"
bodies = ["one", "two"]
at = [0, "-L1"]
[case.long]
set = { L1 = "2 m" }
"""


def test_derive_keeps_letters_and_takes_values(here):
    pytest.importorskip("sympy")
    Path("double.toml").write_text(LENGTHS, encoding="utf-8")
    plain = call("derive", "double.toml")
    assert "Note: dimensions are numbers here, with L1 = 0.8, L2 = 0.5; " in plain.stderr
    assert "--letters L1,L2 keeps letters" in plain.stderr
    assert "ote: " not in plain.stdout
    assert "sympy" not in plain.output
    assert call("derive", "double.toml", "--letters", "L1,L2").stderr == ""
    every = call("derive", "double.toml", "--letters", "all").stdout
    assert "/(L1*(m_one + m_two*sin(beta)**2))" in every
    one = called_json("derive", "double.toml", "--letters", "L1")
    assert one["notes"] == [
        "dimensions are numbers here, with L2 = 0.5; --letters L2 keeps a letter"
    ]
    assert "ote" not in called_json("derive", "double.toml", "--latex")["closed_form"]
    assert "Note" not in call("derive", "double.toml", "--latex").stdout
    said = call("derive", "double.toml", "--letters", "L3", code=1).stderr
    assert "parameter of --letters must be one of L1, L2, not 'L3'" in said
    said = call("derive", "double.toml", "--letters", "all", "--bodies", code=1).stderr
    assert "Without --bodies" in said
    longer = called_json("derive", "double.toml", "--set", "L1=2 m")
    assert longer["closed_form"].startswith("alpha_ddot = (-2*g*m_one*sin(alpha)")
    case = called_json("derive", "double.toml", "--case", "long")
    assert case["closed_form"] == longer["closed_form"]
    assert "L1 = 2, L2 = 0.5" in case["notes"][0]
    said = call("derive", "double.toml", "--set", "one.mass=2", code=1).stderr
    assert "--set one.mass" in said


def test_derive_of_functions_takes_values_and_constraints(here):
    pytest.importorskip("sympy")
    call("new", "--system", "hoop")
    assert "10*z" in call("derive", "hoop.toml", "--set", "g=10").stdout
    assert "/L**2" in call("derive", "hoop.toml", "--use-constraints").stdout


def test_examples_and_new_write_files_that_run(here):
    assert set(called_json("examples")["examples"]) == set(example_names())
    assert "bricard" in call("examples").stdout
    call("examples", "bricard")
    assert Path("bricard.toml").read_text(encoding="utf-8") == example_path("bricard").read_text(
        encoding="utf-8"
    )
    assert "bricard" in called_json("examples", "briccard", code=1)["error"]["advice"]
    call("examples", "bricard", code=1)  # it is there already
    call("new", "mine")
    assert "zwang examples four_bar" in " ".join(call("new", "four_bar").stdout.split())
    call("new", "functions", "--system")
    assert called_json("check", "mine.toml")["kind"] == "mechanism"
    assert called_json("check", "functions.toml")["kind"] == "system"
    call("new", "mine", code=1)


def test_info_names_versions():
    facts = called_json("info")
    assert facts["zwang"] == zw.__version__
    assert "numpy" in facts


def test_info_moves_a_pendulum_and_measures_the_cache():
    facts = called_json("info")
    assert facts["pendulum"].startswith("right")
    found = "works" if COMPILES else "not all is compiled, and slower"
    assert facts["machine_code"].endswith(found)
    assert facts["cache_size"] == "empty" or " MB in " in facts["cache_size"]


def test_errors_are_data_for_machines(here):
    Path("bad.toml").write_text("[body.a]\nmass = 'x'\n", encoding="utf-8")
    result = call("check", "bad.toml", "--json", code=1)
    error = json.loads(result.stdout)["error"]
    assert (error["file"], error["line"], error["key"]) == ("bad.toml", 2, "body.a.mass")
    assert error["kind"] == "ModelError"
    assert "number" in error["expected"]


def test_wrong_use_has_its_own_exit_code():
    call("run", code=2)
    call("fly", code=2)
    call("run", PENDULUM, "--until", "soon", code=2)


def test_a_mistake_in_the_program_is_no_traceback(monkeypatch):
    def broken(*_):
        message = "boom"
        raise RuntimeError(message)

    monkeypatch.setattr("zwang.cli.inspect.info", broken)
    result = call("info", code=1)
    assert "RuntimeError: boom" in result.stderr
    assert "ZWANG_TRACEBACK" in result.stderr


def test_help_loads_neither_compiler_nor_symbols():
    """Late imports: what --help does not need is not there when it has answered."""
    script = (
        "import sys\nfrom zwang.cli.app import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "late = {'casadi', 'numba', 'llvmlite', 'pint', 'zarr', 'scipy', 'sympy', 'tomllib',\n"
        "        'matplotlib', 'zwang.model_files.read', 'zwang.model_files.layout'}\n"
        "print(sorted(late & set(sys.modules)), file=sys.stderr)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True,
        env={**os.environ, "_TYPER_STANDARD_TRACEBACK": "1"},
    )  # fmt: skip
    assert result.stderr.strip() == "[]"


def test_import_loads_neither_the_command_line_nor_models():
    script = (
        "import sys, zwang\n"
        "late = {'typer', 'rich', 'pint', 'tomllib', 'casadi', 'zwang.mechanism', 'zwang.system',\n"
        "        'zwang.simulation.simulate', 'zwang.results.run', 'zwang.model_files.model'}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert result.stdout.strip() == "[]"


def test_names_with_blanks_are_quoted_and_folders_must_exist(here):
    assert "zwang run 'a b.toml'" in call("new", "a b").stdout
    assert "Kept in a b.run. Check it with: zwang verify 'a b.run'" in (
        call("run", "a b.toml", "--until", "0.01").stdout
    )
    error = called_json("new", "no/such/place", code=1)["error"]
    assert error["found"] == "there is no folder 'no/such'"


def test_the_shell_completes_commands_options_and_examples():
    script = [sys.executable, "-m", "zwang.cli.app"]

    def completed(words, last):
        environment = {
            **os.environ,
            "_ZWANG_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(last),
        }
        run = [*script[:1], "-c", "from zwang.cli.app import app; app(prog_name='zwang')"]
        return subprocess.run(
            run, env=environment, capture_output=True, encoding="utf-8", check=False
        ).stdout.split()

    assert completed("zwang ex", 1) == ["explain", "export", "examples"]
    assert completed("zwang examples bri", 2) == ["bricard"]


def test_view_says_where_the_page_is(here, monkeypatch):
    pytest.importorskip("viser")
    from zwang.view.page import View

    seen = []

    def wait(page):
        seen.append(page)

    monkeypatch.setattr(View, "wait", wait)
    facts = called_json(
        "view",
        PENDULUM,
        "--port",
        "0",
        "--no-browser",
        "--slider",
        "rod.mass=0.5:3",
        "--follow",
        "rod",
        "--plot",
        "energy",
    )
    (page,) = seen
    assert not page.playing, "it begins when somebody looks"
    assert page.server.host == "127.0.0.1"
    assert facts["address"] == page.address
    assert facts["port"] == page.server.port > 0
    assert page._stopped.is_set()
    assert not list(here.iterdir())


def test_limits_of_a_slider_are_checked(here):
    assert "not 'L'." in call("view", PENDULUM, "--slider", "L", code=1).stderr


def test_a_report_replaces_an_earlier_report_and_nothing_else(here):
    call("run", PENDULUM, "--until", "0.2", "-o", "swing.run")
    call("report", "swing.run")
    call("report", "swing.run")  # its own, written anew
    Path("thesis.html").write_text("<p>all of it</p>", encoding="utf-8")
    told = called_json("report", "swing.run", "-o", "thesis.html", code=1)["error"]
    assert "something else exists there" in told["found"]
    assert "--force" in told["advice"]
    assert Path("thesis.html").read_text(encoding="utf-8") == "<p>all of it</p>"
    call("report", "swing.run", "-o", "thesis.html", "--force")
    assert "pendulum" in Path("thesis.html").read_text(encoding="utf-8")


def test_resuming_what_is_being_written_ends_with_a_sentence(here):
    from zwang.results.store import lock_store

    call("run", PENDULUM, "--until", "0.2", "-o", "swing.run")
    with lock_store("swing.run"):
        result = call("run", PENDULUM, "-o", "swing.run", "--resume", code=1)
    assert "is writing it" in result.output


def test_a_damaged_run_is_told_of_in_a_sentence(here):
    call("run", PENDULUM, "--until", "0.2", "-o", "swing.run")
    model = Path("swing.run/time/record/model.toml")
    model.write_text(model.read_text().replace("pendulum", "pendulux"))
    result = call("verify", "swing.run", code=1)
    assert "model.toml is not what was written" in result.output


# --- channels, tables, values from outside --------------------------------------------------------

FOUR_BAR = example_path("four_bar")
LIFT = str(Path(__file__).parents[1] / "simulation" / "flat_lift.toml")


@pytest.fixture(scope="module")
def linkage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("linkage") / "linkage"
    call("run", FOUR_BAR, "--until", "0.2", "--set", "crank_length=0.4", "-o", folder)
    return folder


def test_set_changes_the_geometry_and_the_model_that_is_stored(linkage):
    run = zw.load(linkage)
    assert run.parameters["A.at_b"][0] == pytest.approx(-0.2)
    assert "crank_length = 0.4" in zw.read_model(linkage).text
    assert zw.verify(linkage)
    np.testing.assert_allclose(run["crank.position.magnitude"], 0.2, atol=1e-9)


def test_set_takes_units_and_any_parameter(here):
    call("run", FOUR_BAR, "--until", "0.1", "--set", "speed=60 rpm", "--set", "crank.mass=0.9")
    run = zw.load("four_bar.run")
    np.testing.assert_allclose(run["motor.speed"], 2.0 * np.pi)
    assert run.parameters["crank.mass"] == 0.9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("crank_lenght=0.3", "Did you mean 'crank_length'"),
        ("crank_length", "NAME=VALUE"),
        ("crank_length=", "NAME=VALUE"),
        ("crank_length=true", "finite number"),
        ("crank_length=3 apples", "crank_length"),
        ("crank.mass=1 m", "a number in kg"),
        ("crank.mass=-1", "mass"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(here, given, message):
    result = call("run", FOUR_BAR, "--until", "0.1", "--set", given, code=1)
    assert message in result.output
    assert not Path("four_bar.run").exists()


def test_export_writes_what_a_script_reads(linkage, here):
    call("export", linkage, "motor.torque", "A.force", "--csv", "t.csv", "--every", "0.05")
    values = np.loadtxt("t.csv", delimiter=",", skiprows=1)
    run = zw.load(linkage)
    assert values.shape == (5, 5)
    np.testing.assert_allclose(values[0, 1], run["motor.torque"][0])
    listed = called_json("export", linkage, "--list")["channels"]
    assert listed["motor.torque"]["unit"] == "N m"
    for ending in ("mat", "xlsx"):
        call("export", linkage, "A.angle", "-o", f"t.{ending}")
        assert Path(f"t.{ending}").stat().st_size > 400
    assert "one of .csv" in call("export", linkage, "-o", "t.doc", code=1).output
    assert "Did you mean 'A.angle'" in call("export", linkage, "A.angel", code=1).output


def test_plot_draws_into_a_file(linkage, here):
    call("plot", linkage, "motor.torque", "A.force", "--degrees", "-o", "p.svg")
    assert "motor.torque" in Path("p.svg").read_text(encoding="utf-8")
    call("plot", linkage)
    call("plot", linkage, "A.force", "--compare", linkage, "--paper", "-o", "two.svg")
    assert "two.svg" in {p.name for p in Path().iterdir()}
    call("plot", linkage, "A.force", "--paper", "-o", "print.pdf")
    assert b"/Type3" not in Path("print.pdf").read_bytes()
    told = call("plot", linkage, "--compare", linkage, "--label", "one", code=1).output
    assert "one for each run" in " ".join(told.split())
    assert Path("linkage.png").read_bytes().startswith(b"\x89PNG")
    assert "cannot be written" in call("plot", linkage, "-o", "p.doc", code=1).output
    assert "no such folder" in call("plot", "nowhere", code=1).output


PLAN = """
model = "{model}"
until = 0.2
outputs = ["D.angle"]

[grid]
crank_length = [0.4, 0.5, 6.0]
"""


REFINED = """
model = "{model}"
until = 1.0
outputs = ["top = max(rod.center.z)"]

[grid]
"start.pin.angle_rate" = {{ from = -8, to = 8, count = 5 }}

[refine]
of = "top"
level = 0.2
tolerance = 1.0
"""


def test_sweep_follows_the_boundary_that_a_plan_names(here):
    Path("plan.toml").write_text(REFINED.format(model=Path(PENDULUM).resolve()))
    facts = called_json("sweep", "plan.toml", "-o", "edge", "--workers", "1")
    assert facts["reached"]
    assert facts["size"] == [1.0]
    assert len(facts["points"]) == 2  # upwards at once, or round below
    assert "--resume" in call("sweep", "plan.toml", "-o", "edge", code=1).output
    again = call("sweep", "plan.toml", "-o", "edge", "--resume", "--workers", "1").output
    assert "2 cells of 1" in again


def test_sweep_runs_a_plan_and_goes_on_with_it(here):
    Path("plan.toml").write_text(PLAN.format(model=Path(FOUR_BAR).resolve()))
    dry = called_json("sweep", "plan.toml", "--dry-run")
    assert dry["runs"] == 3
    assert not Path("plan.zarr").exists()
    facts = called_json("sweep", "plan.toml", "-o", "a.zarr", "--workers", "1")
    assert (facts["finished"], facts["refused"]) == (2, 1)
    assert "cannot be closed" in next(iter(facts["reasons"]))
    assert "--resume computes" in call("sweep", "plan.toml", "-o", "a.zarr", code=1).output
    Path("a.zarr/record/done/0.json").unlink()
    again = called_json("sweep", "plan.toml", "-o", "a.zarr", "--resume")
    assert again["finished"] == 2
    # A job that may be started again asks for it from the first.
    assert called_json("sweep", "plan.toml", "-o", "b.zarr", "--resume")["finished"] == 2
    Path("plan.toml").write_text(PLAN.format(model=FOUR_BAR).replace("0.2", "'soon'"))
    result = call("sweep", "plan.toml", code=1)
    assert "plan.toml, line 3, key until" in result.output


FOUR_BAR = example_path("four_bar")


def test_a_folder_that_is_there_is_refused_with_what_to_type(here):
    call("run", PENDULUM, "--until", "0.1", "-o", "done")
    said = call("run", PENDULUM, "-o", "done", code=1).stderr
    assert f"zwang run {PENDULUM} -o done --resume" in said
    assert "zw." not in said


def test_advice_is_what_one_types():
    library = "\n".join(
        path.read_text(encoding="utf-8") for path in Path(zw.__file__).parent.rglob("*.py")
    ).replace('"\n            "', "")
    plain = " ".join(library.split())
    for phrase in WORDS:
        first = phrase.partition("=")[0].partition(" with derive")[0]
        assert first in plain, f"{phrase!r} is said nowhere"
    typed = at_the_command_line("stopped; zw.resume('a/b', system) goes on")
    assert typed == "stopped; zwang run MODEL.toml -o a/b --resume goes on"


def test_derive_that_takes_too_long_names_options(here):
    said = call("derive", example_path("rolling_disk"), "--seconds", "0.05", code=1).stderr
    assert "--seconds" in said
    assert "--terms" in said
    assert "derive(" not in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("crank_length=2 kg", "--set crank_length must .* body.crank.shape.length, not '2 kg'"),
        ("speed=2 m", "--set speed must .* drive.motor.value, not '2 m'"),
        ("speed=abc", "--set speed must .* not 'abc'"),
    ],
)
def test_a_value_that_does_not_fit_is_blamed_on_the_option(given, said):
    error = call("run", FOUR_BAR, "--set", given, code=1).stderr
    assert re.search(said, " ".join(error.split()))
    assert "line" not in error


def test_a_file_that_is_wrong_itself_is_blamed_with_values_too(here):
    text = Path(FOUR_BAR).read_text(encoding="utf-8").replace('"revolute"', '"revolt"', 1)
    Path("wrong.toml").write_text(text, encoding="utf-8")
    error = called_json("run", "wrong.toml", "--set", "crank_length=0.4", code=1)["error"]
    assert error["key"] == "joint.A.type"


def test_drivers_are_no_joints():
    facts = called_json("check", FOUR_BAR)
    assert (facts["joints"], facts["drivers"]) == (4, 1)
    model = zw.read_model(FOUR_BAR)
    assert "4 joints, 1 driver," in repr(model.mechanism)
    assert str(model.system.explain(model.start())).startswith("3 bodies, 4 joints, 1 driver:")


def test_a_large_move_to_assemble_is_told(here):
    assert not called_json("check", FOUR_BAR)["moved_far"]
    text = Path(FOUR_BAR).read_text(encoding="utf-8").replace("[1.9, 0.6]", "[3.9, 1.6]")
    Path("far.toml").write_text(text, encoding="utf-8")
    assert called_json("check", "far.toml")["moved_far"]["rocker"] > 1.0
    assert "moved to assemble" in call("run", "far.toml", "--until", "0.01").output
    said = " ".join(call("check", "far.toml").stdout.split())
    assert "rocker by" in said
    assert "hold = { PIN.angle" in said


def test_a_slight_move_to_assemble_is_told_by_name(here):
    """A pin 0.1 m aside tilts the rocker, which no one would see in a norm of coordinates."""
    text = Path(FOUR_BAR).read_text(encoding="utf-8")
    text = text.replace('["base", 0]', '["base + 0.1", 0]')
    (here / "aside.toml").write_text(text, encoding="utf-8")
    moved = called_json("check", "aside.toml")["moved"]
    assert not called_json("check", "aside.toml")["moved_far"]
    assert moved["rocker"]["distance"] == pytest.approx(0.1, rel=0.1)
    said = " ".join(call("check", "aside.toml").stdout.split())
    assert "moved to assemble 0.13: rocker by 0.1 m, turned by 4°" in said


def test_rounding_of_what_a_body_is_placed_with_is_no_move(here):
    (here / "door.toml").write_text(DOOR)
    facts = called_json("check", "door.toml")
    assert facts["moved"] == {}


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_wheel_on_an_axle_through_its_center_is_not_far_by_a_little(size):
    m = zw.Mechanism()
    wheel = m.body("wheel", inertia=zw.inertia.sphere(1.0, size), position=(1e-3 * size, 0, 0))
    m.revolute("axle", m.ground, wheel, at=(m.ground.marker(), wheel.marker()), axis="y")
    on = m.assemble()
    assert 0.0 < on.distance < 1e-2 * size
    assert not large_moves(m.parts, on.q)
    wheel = (m := zw.Mechanism()).body("wheel", inertia=zw.inertia.sphere(1.0, size))
    m.revolute(
        "axle", m.ground, wheel, at=(m.ground.marker((size, 0, 0)), wheel.marker()), axis="y"
    )
    assert [move.body for move in large_moves(m.parts, m.assemble().q)] == ["wheel"]


def test_a_report_of_a_model_takes_values_and_a_case(here):
    call("report", FOUR_BAR, "--set", "crank_length=0.4", "--set", "speed=60 rpm")
    run = zw.load("four_bar.run")
    assert run.segments[0].parameters["speed"] == pytest.approx(2 * np.pi)
    said = call("report", "four_bar.run", "--set", "speed=1", code=1).stderr
    assert "--set must be given with a MODEL.toml" in said


def test_export_sums_channels_up(here):
    call("run", FOUR_BAR, "--until", "2", "-o", "turn")
    run = zw.load("turn")
    torque = called_json("export", "turn", "motor.torque", "--summary")["summary"]["motor.torque"]
    assert torque["greatest"] == run["motor.torque"].max()
    assert torque["at_least"] == run.t[np.argmin(run["motor.torque"])]
    mean = np.trapezoid(run["motor.torque"] ** 2, run.t) / (run.t[-1] - run.t[0])
    assert torque["rms"] == pytest.approx(np.sqrt(mean))
    lines = call("export", "turn", "motor.torque", "crank.velocity", "--summary").stdout
    assert lines.split()[:4] == ["channel", "unit", "least", "at"]
    assert len(lines.splitlines()) == 6
    assert "Of the 101 saved states: extremes between them may be larger" in lines
    assert not Path("turn.csv").exists()


def test_json_has_null_for_what_is_undefined(here):
    """NaN is no JSON: other programs than Python refuse it."""
    model = Path(FOUR_BAR).read_text(encoding="utf-8")
    outputs = '\n[output]\nnever = "sqrt(-1 - t)"\npole = "1 / t"\n'
    Path("model.toml").write_text(model + outputs, encoding="utf-8")
    call("run", "model.toml", "--until", "0.1", "-o", "turn")
    told = call("export", "turn", "never", "pole", "--summary", "--json").stdout

    def refuse(word):
        raise AssertionError(word)

    facts = json.loads(told, parse_constant=refuse)["summary"]
    assert facts["never"]["greatest"] is None
    assert facts["pole"]["greatest"] is None
    assert facts["pole"]["infinite"] == 1


def test_results_of_a_sweep_are_seen(here):
    Path("plan.toml").write_text(PLAN.format(model=Path(FOUR_BAR).resolve()))
    said = call("sweep", "plan.toml", "--workers", "1", "--csv", "all.csv").stdout
    study = zw.open_study("plan.zarr")
    values = study.dataset["D.angle"].values
    shown = [line.split() for line in said.splitlines() if line.strip().startswith(("0 ", "1 "))]
    assert [row[1] for row in shown] == ["0.4", "0.5"]
    assert [row[2] for row in shown] == [f"{x:.6g}" for x in values[:2]]
    assert "refused" in said
    rows = Path("all.csv").read_text().splitlines()
    assert rows[0] == "run,crank_length,D.angle,status,reason"
    assert [float(row.split(",")[2]) for row in rows[1:3]] == values[:2].tolist()
    assert "cannot be closed" in rows[3]
    facts = called_json("export", "plan.zarr", "--summary")["statistics"]["D.angle"]
    assert (facts["runs"], facts["least"]) == (2, values[:2].min())
    assert "greatest" in call("export", "plan.zarr", "--summary").stdout
    assert "varies" in call("export", "plan.zarr", "--list").stdout
    call("export", "plan.zarr", "D.angle", "--units")
    assert Path("plan.csv").read_text().startswith("run,crank_length,D.angle [rad],status")
    call("plot", "plan.zarr", "D.angle", "--kind", "histogram", "--paper", "-o", "angles.png")
    assert Path("angles.png").stat().st_size > 1000
    call("report", "plan.zarr")
    assert "--force" in call("report", "plan.zarr", code=1).stderr
    call("report", "plan.zarr", "--force")
    assert "crank_length" in Path("plan.html").read_text(encoding="utf-8")


def test_a_sweep_of_many_runs_prints_statistics_and_times_are_lines(here):
    plan = PLAN.format(model=Path(PENDULUM).resolve()).replace("D.angle", "pin.angle")
    plan = plan.partition("[grid]")[0] + "times = 3\n[grid]\n"
    plan += '"rod.mass" = { from = 1, to = 2, count = 21 }\n'
    Path("plan.toml").write_text(plan)
    said = call("sweep", "plan.toml", "--workers", "1").stdout
    assert "pin.angle: mean" in said
    assert re.search(r"least .* in run \d+: rod.mass = [\d.]+ kg\n", said)
    assert "last values" in said
    call("export", "plan.zarr")
    rows = Path("plan.csv").read_text().splitlines()
    assert rows[0] == "run,rod.mass,time,pin.angle,status,reason"
    assert len(rows) == 1 + 3 * 21


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sweep", "plan.toml", "-o", "p.csv"], "--csv p.csv"),
        (["sweep", "plan.toml", "--csv", "p.txt"], "one of .csv, .xlsx"),
        (["export", "edge"], "edge/round-1.zarr"),
        (["export", "done.zarr", "--degrees"], "--degrees must be given with a run"),
        (["plot", "done.zarr", "--label", "a"], "--label must be given with a run"),
    ],
)
def test_what_a_study_cannot_do_is_refused(here, arguments, message):
    Path("plan.toml").write_text(PLAN.format(model=Path(PENDULUM).resolve()))
    for folder in ("edge/round-0.zarr", "edge/round-1.zarr", "done.zarr"):
        (Path(folder) / "record").mkdir(parents=True)
        for name in ("zarr.json", "record/plan.json"):
            (Path(folder) / name).write_text("{}")
    said = call(*arguments, code=1).stderr
    assert message in said
    assert not Path("p.csv").exists()


def test_check_and_explain_take_values_and_cases(here):
    heavy = called_json("check", FOUR_BAR, "--set", "crank_length=0.45")
    assert heavy["degrees_of_freedom"] == called_json("check", FOUR_BAR)["degrees_of_freedom"]
    for command in ("check", "explain"):
        said = call(command, FOUR_BAR, "--set", "crank_length=50", code=1).stderr
        assert "cannot be closed" in said
    facts = [
        called_json("explain", PENDULUM, *given)["multipliers"]
        for given in ([], ["--set", "rod.mass=7"])
    ]
    assert facts[0] != facts[1]
    case = '\n[case.long.set]\n"rod.mass" = 7\n'
    Path("swing.toml").write_text(Path(PENDULUM).read_text() + case)
    assert called_json("explain", "swing.toml", "--case", "long")["multipliers"] == facts[1]


def test_until_takes_units(here):
    assert called_json("run", PENDULUM, "--until", "300 ms")["end"] == pytest.approx(0.3)
    said = call("run", PENDULUM, "--until", "2 m", code=2).stderr
    assert "a number in s" in said


def test_a_plain_number_for_one_with_another_unit_is_told(here):
    text = Path(PENDULUM).read_text() + '\n[parameters]\ntilt = "30 deg"\nwidth = "2 m"\n'
    Path("swing.toml").write_text(text)
    said = call("check", "swing.toml", "--set", "tilt=60", "--set", "width=3").stderr
    assert said == (
        "Note: tilt = 60 is taken in rad; the file gives it in deg: --set tilt=60deg is that.\n"
    )
    assert not call("check", "swing.toml", "--set", "tilt=60deg").stderr


def test_redundant_equations_are_told_in_words(here):
    said = call("run", example_path("bricard"), "--until", "0.1").stdout
    assert "1 of the constraint equations follows from the others" in said


def test_explain_refers_to_the_table_below(here):
    said = call("explain", example_path("bricard")).stdout
    assert "passport()" not in said
    assert "Not all reactions are determinate; the table below tells which are." in said


def test_an_unknown_value_lists_what_is_of_the_file(here):
    said = call("run", FOUR_BAR, "--set", "crank_lenght=0.4", code=1).stderr
    assert "Did you mean 'crank_length'" in said
    assert "mass" not in said


#: A door whose two hinges share its load in more ways than one.
DOOR_PLAN = """
model = "door.toml"
until = 0.1
outputs = ["pin = peak(upper.force.magnitude)", "speed = end(upper.angle_rate)"]
[grid]
m = [1, 2]
"""
DOOR = """
[parameters]
m = 1.0
[mechanism]
gravity = [0, 0, -9.81]
[body.door]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
position = [0.4, 0, 0]
[joint.upper]
type = "revolute"
bodies = ["ground", "door"]
at = [0, 0, 0.5]
axis = "z"
[joint.lower]
type = "revolute"
bodies = ["ground", "door"]
at = [0, 0, -0.5]
axis = "z"
[force.push]
type = "force"
body = "door"
force = ["0", "m", "0"]
[output.load]
value = "max(upper.force.magnitude, lower.force.magnitude)"
unit = "N"
[simulation]
until = 0.1
"""


def test_tables_tell_which_numbers_the_motion_leaves_open(here):
    (here / "door.toml").write_text(DOOR)
    (here / "plan.toml").write_text(DOOR_PLAN)
    call("run", "door.toml")
    names = ["load", "upper.force.magnitude", "upper.angle"]
    text = call("export", "door.run", *names, "--summary").output
    assert "load *" in text
    assert "upper.force.magnitude *" in text
    assert "upper.angle *" not in text
    assert "one choice among many" in text
    facts = called_json("export", "door.run", *names, "--summary")
    assert [facts["summary"][n]["determinate"] for n in names] == [False, False, True]
    text = call("export", "door.run", *names, "--units", "--csv", "a.csv").output
    assert "one choice among many" in text
    assert "load [N] (indeterminate)" in (here / "a.csv").read_text().partition("\n")[0]
    call("report", "door.run")
    page = (here / "door.html").read_text()
    chart = page[page.index("<title>load</title>") :]
    assert "stroke-dasharray" in chart[: chart.index("</figure>")]
    assert "pin: indeterminate" in call("sweep", "plan.toml", "--workers", "1").output
    assert called_json("export", "plan.zarr", "--list")["indeterminate"] == ["pin"]


def test_analyses_take_other_values_and_cases(here):
    text = DOOR.replace("[simulation]", "[case.heavy]\nset = { m = 3.0 }\n[simulation]")
    text = text.replace("[0, 0, -9.81]", "[0, 9.81, 0]") + "[equilibrium]\n"
    (here / "door.toml").write_text(text)
    plain = called_json("equilibrium", "door.toml")
    assert plain["stability"]
    for given in (("--set", "m=3"), ("--case", "heavy")):
        other = called_json("equilibrium", "door.toml", *given)
        force = np.array(other["reactions"]["upper"]["force"])
        assert np.linalg.norm(force - plain["reactions"]["upper"]["force"]) > 0.5
    assert "not 'mm'" in call("linearize", "door.toml", "--set", "mm=3", code=1).output
    for command in ("kinematics", "inverse", "servo", "linearize", "equilibrium"):
        told = call(command, "--help").output
        assert "--set" in told
        assert "--case" in told


#: A ball whose bounces become ever shorter.
BALL = """
[mechanism]
plane = "xz"
gravity = [0, -9.81]
[body.ball]
mass = 1
shape = { type = "box", size = [0.1, 0.1, 0.1] }
position = [0, 0.1]
[joint.guide]
type = "prismatic"
bodies = ["ground", "ball"]
axis = "z"
[event.floor]
function = "ball.z"
direction = -1
bounce = 0.4
[simulation]
until = 2
save = 0.01
"""


def test_a_run_that_stops_early_is_kept_and_advice_is_what_one_writes(here):
    (here / "ball.toml").write_text(BALL)
    result = call("run", "ball.toml", code=1)
    assert "is kept in ball.run" in result.output
    assert "zw." not in result.output
    status = (
        "stopped at t = 1 s by events that accumulate, 'wall' the last; where a motion comes to "
        "rest, zw.switch(on=…) goes on with a constraint"
    )
    told = at_the_command_line(status)
    assert "zw." not in told
    assert "[event.NAME]" in told
    told = at_the_command_line("Release one of these; .nearest of this error is the nearest state.")
    assert told == "Release one of these."


def test_what_was_meant_perhaps_comes_before_a_long_list():
    names = [*(f"name{k}" for k in range(60)), "pin.force"]
    error = str(UnknownNameError("channel", "pin.forcee", names))
    assert error.index("Did you mean 'pin.force'?") < error.index("name0")


#: A ram that hangs on a spring, and one that is held where it would not stay.
HUNG = """
[mechanism]
plane = "xz"
gravity = [0, -10]
[body.ram]
mass = 2
shape = { type = "box", size = [0.1, 0.1, 0.1] }
[joint.guide]
type = "prismatic"
bodies = ["ground", "ram"]
axis = "z"
[force.wire]
type = "spring_damper"
bodies = ["ground", "ram"]
at = [[0, 1], [0, 0]]
stiffness = "100 N/m"
length = "0.5 m"
[output.depth]
value = "-ram.z"
unit = "m"
[equilibrium]
"""


def test_an_equilibrium_is_told_in_joints_bodies_springs_and_outputs_with_units(here):
    (here / "a.toml").write_text(HUNG)
    text = call("equilibrium", "a.toml").output
    for told in ("guide.displacement", "0.3 m", "wire.force", "20 N", "depth", "ram"):
        assert told in text
    assert "ram.cos" not in text
    facts = called_json("equilibrium", "a.toml")["values"]
    assert facts["wire.force"] == {"value": pytest.approx(20.0), "unit": "N"}
    assert facts["ram.position"]["value"] == pytest.approx([0.0, 0.0, 0.3])
    held = HUNG.replace("[equilibrium]", '[equilibrium]\nhold = { "guide.displacement" = 0 }')
    (here / "held.toml").write_text(held)
    assert re.search(
        r"guide.displacement is held by -?30 N\.", call("equilibrium", "held.toml").output
    )


def test_what_rounding_leaves_of_the_moment_of_a_spring_at_rest_is_told_as_zero(here):
    text = call("equilibrium", example_path("flexible_joint")).output
    assert re.search(r"gear\.moment +0 N m", text)
    assert "78.48" in text


def test_a_parameter_that_is_missing_where_there_are_none_is_followed_by_how_to_name_others(here):
    text = call("run", example_path("pendulum"), "--set", "nothing=3", code=1).output
    assert "there are none" in text
    assert "rod.mass" in text


def test_studies_of_equilibria_keep_efforts_springs_and_outputs(here):
    (here / "a.toml").write_text(HUNG)
    plan = """
model = "a.toml"
compute = "equilibrium"
outputs = ["wire.force", "depth", "guide.displacement.holding"]
[list]
"analysis.hold.guide.displacement" = [0.0, 0.1]
"""
    (here / "plan.toml").write_text(plan)
    facts = called_json("sweep", "plan.toml", "--workers", "1")["results"]
    assert np.abs(facts["guide.displacement.holding"]) == pytest.approx([30.0, 20.0])
    assert facts["wire.force"] == pytest.approx([50.0, 40.0])
    assert facts["depth"] == pytest.approx([0.0, -0.1])


#: A parallelogram of which all joints are in one line, where it may become an antiparallelogram.
IN_LINE = """
[mechanism]
plane = "xy"
[body.crank]
mass = 1
shape = { type = "rod", length = 0.2, axis = "x" }
position = [0.1, 0]
[body.coupler]
mass = 1
shape = { type = "rod", length = 0.4, axis = "x" }
position = [0.4, 0]
[body.rocker]
mass = 1
shape = { type = "rod", length = 0.2, axis = "x" }
position = [0.5, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "crank"]
at = [0, 0]
[joint.a]
type = "revolute"
bodies = ["crank", "coupler"]
at = [0.2, 0]
[joint.b]
type = "revolute"
bodies = ["coupler", "rocker"]
at = [0.6, 0]
[joint.c]
type = "revolute"
bodies = ["rocker", "ground"]
at = [0.4, 0]
"""


#: A cart that is driven along a rail, with a bar that hangs from it as placed, all but exactly.
DRIVEN = """
[mechanism]
plane = "xz"
gravity = [0, -9.81]
[body.cart]
mass = 1
shape = { type = "box", size = [0.2, 0.2, 0.1] }
[body.bar]
mass = 1
shape = { type = "rod", length = 1 }
position = [1e-17, -0.5]
angle = "90 deg"
[joint.rail]
type = "prismatic"
bodies = ["ground", "cart"]
at = [0, 0]
axis = "x"
[joint.pin]
type = "revolute"
bodies = ["cart", "bar"]
at = [{ body = "cart", at = [0, 0] }, { body = "bar", at = [-0.5, 0] }]
[drive.ram]
of = "rail.displacement"
value = "0.1 * t^3"
[drive.tilt]
of = "pin.angle"
value = "1e-15"
[simulation]
until = 0.1
"""


def test_what_rounding_leaves_is_told_as_zero(here):
    (here / "a.toml").write_text(DRIVEN)
    told = call("equilibrium", "a.toml").output
    assert re.search(r"pin.angle +0 rad \(0 deg\)", told)
    assert called_json("equilibrium", "a.toml")["values"]["pin.angle"]["value"] != 0.0


def test_linearizing_what_is_driven_says_that_nothing_moves_by_itself(here):
    (here / "a.toml").write_text(DRIVEN)
    assert "drivers prescribe all motion" in call("linearize", "a.toml").output


def test_kinematics_without_a_range_names_keys_that_there_are(here):
    (here / "a.toml").write_text(DRIVEN)
    said = call("kinematics", "a.toml", code=1).stderr
    assert "a.toml: expected to = …, or values = […], in [kinematics], but there is no" in said
    assert "give times" not in said
    (here / "a.toml").write_text(f"{DRIVEN}\n[kinematics]\nsteps = 7\n")
    line = (here / "a.toml").read_text().splitlines().index("[kinematics]") + 1
    said = call("kinematics", "a.toml", code=1).stderr
    assert f"line {line}, key kinematics: expected to = …, or values = […], in [kin" in said
    assert "but there is neither." in said


def test_tables_of_analyses_that_are_not_there_are_on_no_line(here):
    (here / "a.toml").write_text(DRIVEN)
    (here / "a.csv").write_text("t,pin.angle\n0,0\n1,1\n2,2\n")
    said = call("servo", "a.toml", code=1).stderr
    assert "a.toml: expected [servo] with program = …, but there is no such table." in said
    said = call("inverse", "a.toml", "a.csv", code=1).stderr
    assert "a.toml: expected [inverse_dynamics] with actuators = […], but there is no such" in said


#: A bar of 1 m above a floor of 1.2 m, 10 degrees from it.
FOLDED = """
[mechanism]
plane = "xz"
[body.floor]
mass = 1
shape = { type = "box", size = [1.2, 0.5, 0.02] }
position = [0, -0.01]
[body.bar]
mass = 1
shape = { type = "rod", length = 1 }
position = [0, 0.1]
angle = "10 deg"
[joint.weld]
type = "fixed"
bodies = ["ground", "floor"]
[joint.pin]
type = "revolute"
bodies = ["floor", "bar"]
at = [0, 0.1]
"""


def test_the_size_of_a_mechanism_is_that_of_its_bodies_as_they_are_turned(here):
    (here / "a.toml").write_text(FOLDED)
    height = 0.02 + 0.1 + 0.5 * np.sin(np.radians(10.0))
    assert called_json("check", "a.toml")["size"][::2] == pytest.approx([1.2, height])


def test_check_tells_singular_starts_and_the_size(here):
    (here / "a.toml").write_text(IN_LINE)
    (here / "door.toml").write_text(DOOR)
    text = call("check", "a.toml").output
    assert "the start is singular: 1 constraint equation" in text
    assert "about 0.6 ×" in text
    assert called_json("check", "a.toml")["redundant_here_alone"] == 1
    assert called_json("check", "door.toml")["redundant_here_alone"] == 0
    assert "singular" not in call("check", "door.toml").output

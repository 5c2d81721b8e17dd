"""Results are one short line at the prompt, and text or tables in a notebook."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang.display import VideoPath, html_table, plain_number

#: Letters that a line at the prompt may have.
SHORT = 260

M, Q = np.diag([3.0, 0.0, 2.0]), np.array([20.0, 0.0, -3.0])
A, b = np.array([[-1, 1, 0], [0, -1, 1], [-1, 0, 1]]), np.zeros(3)


def pendulum() -> zw.System:
    return zw.System(
        coordinates=["x", "z"],
        parameters={"m": 1.0, "L": 2.0},
        mass=lambda p: np.diag([p.m] * 2),
        force=lambda p: [0.0, -9.81 * p.m],
        constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
    )


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    mechanism = zw.library.four_bar()
    run = mechanism.simulate(until=0.2, save=0.1)
    own = pendulum().simulate(q=[2.0, 0.0], v=[0.0, 0.0], until=0.2, save=0.001)
    return {
        "solution": zw.solve(M, Q, A, b),
        "batch": zw.solve(np.stack([M, M]), Q, A, b),
        "passport": zw.passport(M, Q, A, b),
        "explanation": zw.explain(M, A, b),
        "certificate": zw.certify(M, Q, A, b),
        "terms": zw.EquationTerms.of(np.eye(40), np.ones(40)),
        "splits": zw.splits(M, Q, A, b),
        "system": pendulum(),
        "mechanism": mechanism,
        "chain": zw.library.chain(100),
        "run": run,
        "own run": own,
        "state": run.at(0.1),
        "work": run.work,
        "joint forces": mechanism.passport(),
        "mechanism explained": mechanism.explain(),
        "reaction": run.reaction("A"),
        "body": run.body("crank"),
        "error": own.error_estimate(),
        "equilibrium": mechanism.equilibrium(),
    }


class Tags(HTMLParser):
    """Counts tags, and sees that each that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(text)
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_result_is_one_short_line_at_the_prompt(results):
    for name, result in results.items():
        line = repr(result)
        assert len(line) <= SHORT, (name, len(line))
        assert "\n" not in line, name


def test_every_result_shows_itself_in_a_notebook(results):
    for name, result in results.items():
        html = result._repr_html_()
        assert Tags(html).seen, name
        assert "nan" not in html.lower(), name


def test_the_line_names_what_matters(results):
    assert "rank 2" in repr(results["solution"])
    assert "1 free parameter" in repr(results["passport"])
    assert "reached t = 0.2 s" in repr(results["run"])
    assert "shape (40, 40)" in repr(results["terms"])


def test_a_run_of_a_mechanism_has_a_picture_and_its_figures(results):
    html = results["run"]._repr_html_()
    assert {"svg", "table"} <= set(Tags(html).seen)
    assert "3, from 0 to 0.2 s" in html
    assert "svg" not in Tags(results["own run"]._repr_html_()).seen


def test_tables_have_the_numbers_of_the_text(results):
    solution = results["solution"]
    html = solution._repr_html_()
    assert all(f"{a:.8g}" in html for a in solution.acceleration)
    joints = results["joint forces"]
    assert all(
        "<td style=" in joints._repr_html_() and name in joints._repr_html_()
        for name in joints.groups
    )


def test_a_long_mechanism_is_cut(results):
    html = results["chain"]._repr_html_()
    assert "more" in html
    assert "bar100" not in html


def test_a_unit_of_a_heading_stays_in_one_line():
    assert "moment\N{NBSP}[N\N{NBSP}m]</th>" in html_table(["moment [N m]"], [["1"]])


def test_cells_are_text_never_markup():
    html = html_table(["<b>", "n"], [["<script>alert(1)</script>", "12.5"]])
    assert "<script>" not in html
    assert "<b>" not in html
    assert "text-align:right" in html


def test_a_reaction_tells_its_range_and_whether_it_is_determinate(results):
    reaction = results["reaction"]
    sizes = np.linalg.norm(reaction.force, axis=1)
    for shown in (repr(reaction), reaction._repr_html_()):
        assert f"force {sizes.min():.4g} to {sizes.max():.4g} N" in shown
        assert "N m; determinate" in shown
    in_space = zw.library.four_bar(planar=False).simulate(until=0.1).reaction("A")
    assert "indeterminate, the values of least norm" in repr(in_space)  # three redundant rows


def test_a_mechanism_lists_forces_and_parameters():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81), parameters={"torque": 0.25})
    arm = m.body("arm", mass=2.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.actuator("motor", "pin.angle", lambda p: p.torque)
    m.torsion_spring("coil", m.ground, arm, stiffness=2.0)
    html = m._repr_html_()
    for word in ("motor", "actuator", "coil", "torsion spring", "torque", "0.25"):
        assert f">{word}</td>" in html


def test_what_is_left_of_a_zero_is_shown_as_zero():
    state = zw.State(np.array([1.235164e-322, 1.0, -0.0]), np.zeros(3))
    assert repr(state) == "State(q=[0., 1., 0.], v=[0., 0., 0.], t=0)"


def test_numbers_of_tables_have_powers_of_ten_only_where_they_need_them():
    given = (15964.23, 4239.45, 12.3456, -0.0, 3.2e-7, 2e7, 999.96, -1234.5)
    shown = [plain_number(x) for x in given]
    assert shown == ["15964", "4239", "12.35", "0", "3.2e-07", "2e+07", "1000", "-1234"]


def test_a_solution_shows_no_rounding_as_a_number():
    """Beside accelerations of 10, 8e-31 is what is left of a zero."""
    system = zw.System(
        ["x", "y"],
        mass=np.diag([1.0, 1e-3]),
        force=[0.1, 1e-33],
        constraints={"row": lambda q: q[0] - 1e-16 * q[1]},
    )
    solution = system.solve([0.0, 0.0], [0.0, 0.0])
    for shown in (str(solution), solution._repr_html_()):
        assert not re.search(r"\de-[23]\d", shown), shown


def test_columns_of_tables_have_one_side_and_their_headings_too():
    html = html_table(["name", "value", "mixed"], [["a", "1.5", "2"], ["b", "-3", "x, y"]])
    sides = re.findall(r"text-align:(left|right)", html)
    assert sides == ["left", "right", "left"] * 3


def test_parameters_of_a_system_are_written_briefly_and_alike():
    system = zw.System(["x"], mass=[[1.0]], parameters={"c": 0.1 + 0.2, "d": [1.0, 2.0]})
    html = system._repr_html_()
    assert "0.30000000000000004" not in html
    assert "0.3</td>" in html
    assert set(re.findall(r"text-align:(left|right)", html)) == {"left"}


def test_a_video_is_shown_in_a_notebook_and_is_still_a_path(tmp_path):
    path = VideoPath(tmp_path / "swing.gif")
    assert path._repr_html_() is None  # nothing there
    path.write_bytes(b"GIF89a")
    assert path._repr_html_().startswith('<img src="data:image/gif;base64,R0lGODlh"')
    film = path.with_suffix(".mp4")
    film.write_bytes(b"0")
    assert film._repr_html_().startswith('<video src="data:video/mp4')
    assert isinstance(path, Path)
    assert Path(path) == path
    assert path.parent._repr_html_() is None

"""Tables of extremes, plots and reports have both sides of what makes forces jump."""

import numpy as np
import pytest
from tests.braked_cart import CART

import zwang as zw
from zwang.model_files.read import model_of
from zwang.results.channel_summary import summary_of


@pytest.fixture
def run():
    """Saved where nothing of it is seen: the force has decayed a second later."""
    return model_of(CART, "cart.toml", "cart").simulate(until=6.0, save=np.arange(0.0, 6.5, 2.0))


def test_extremes_have_both_sides():
    times = np.arange(0.0, 6.0, 0.013)
    run = model_of(CART, "cart.toml", "cart").simulate(until=6.0, save=times)
    found = summary_of(run, ["damper.effort"])["damper.effort"]
    assert found["least"] == pytest.approx(-400.0)
    assert found["at_least"] == pytest.approx(3.0)
    assert found["greatest"] == pytest.approx(0.0, abs=1e-6)
    # ∫F dt takes the momentum m v = 8 N s.
    assert found["mean"] == pytest.approx(-8.0 / times[-1], rel=1e-3)


def test_plots_draw_both_sides(run):
    (line,) = run.plot("damper.effort").axes[0].get_lines()[:1]
    t, y = line.get_xdata(), line.get_ydata()
    assert y[t < 3.0].tolist() == pytest.approx([0.0, 0.0, 0.0])
    assert y[t >= 3.0][0] == pytest.approx(-400.0)


DAMPED = """
[parameters]
c = 0.0
L = 0.3
[mechanism]
plane = "xy"
[body.cart]
mass = "8 kg"
inertia = 1
[joint.rail]
type = "prismatic"
bodies = ["ground", "cart"]
at = [0, 0]
axis = "x"
[force.damper]
type = "spring_damper"
bodies = ["ground", "cart"]
at = [[-2, 0], ["L", 0]]
damping = "c"
[event.brake]
function = "t"
at = "3 s"
set = { c = 400 }
"""


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("c", 'Give damper.damping without c, and write set = { "damper.damping" = … }.'),
        ("L", "Begin another simulation with other dimensions."),
    ],
)
def test_a_number_of_the_mechanism_that_an_event_sets_is_told_at_its_line(name, advice):
    text = DAMPED.replace("{ c = ", f"{{ {name} = ")
    with pytest.raises(zw.ModelError, match=rf"line 23, key event.brake.set.{name}") as caught:
        model_of(text, "cart.toml", "cart")
    assert advice in str(caught.value)

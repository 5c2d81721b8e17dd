"""Laws called again on a stored run: rounding is told from other values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.results.verify import Verdict
from zwang.simulation import check_controllers
from zwang.simulation.controllers import Sample, Sampling

PERIOD = 0.05
Law = Callable[..., dict[str, float]]


def cart_pole() -> zw.Mechanism:
    """A pole on a cart, whose angle in absolute coordinates is that of the pole less the cart's."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81), parameters={"F": 0.0})
    cart = m.body("cart", mass=0.8, inertia=0.01)
    pole = m.body("pole", inertia=zw.inertia.rod(0.25, 0.6, axis="z"), position=(0, 0.3))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    m.actuator("motor", "rail.displacement", lambda p: p.F)
    return m


def proportional(sample: Sample) -> dict[str, float]:
    return {"F": 20.0 * sample["pin.angle"]}


def integral(sample: Sample, state: dict[str, Any]) -> dict[str, float]:
    state["sum"] += PERIOD * sample["pin.angle"]
    return {"F": 20.0 * sample["pin.angle"] + 5.0 * state["sum"] + 3.0 * sample["pin.angle_rate"]}


def switching(sample: Sample) -> dict[str, float]:
    """A relay that is at its threshold at the start."""
    return {"F": 1.0 if sample["pin.angle"] > 0.05 else -1.0}


@dataclass
class Stored:
    """A run in a folder, with the controllers that made it."""

    path: Path
    controllers: dict[str, Any]

    def verified(self, **others: Any) -> Any:
        return zw.verify(self.path, cart_pole(), controllers=others or self.controllers)


def stored(path: Path, law: Law, state: dict[str, float] | None = None) -> Stored:
    m, controllers = cart_pole(), {"c": zw.controller(law, PERIOD, state=state or {})}
    start = m.assemble(hold={"pin.angle": 0.05})
    m.simulate(start, until=1.0, save=0.01, controllers=controllers, store=path)
    return Stored(path, controllers)


LAWS = [(proportional, None), (integral, {"sum": 0.0}), (switching, None)]


@pytest.mark.parametrize(("law", "state"), LAWS)
def test_rounding_of_what_a_law_reads_is_no_other_value(
    law: Law, state: dict[str, float] | None, tmp_path: Path
) -> None:
    found = stored(tmp_path / "run", law, state).verified()
    assert found.ok, str(found)
    assert found.checked["samples"] == 20
    notes = "\n".join(found.notes)
    assert "the system given has others" not in notes
    assert "F: set by a controller" in notes


@pytest.mark.parametrize("off", [1e-11, -1e-3])
@pytest.mark.parametrize(("law", "state"), LAWS[:2])
def test_values_beyond_rounding_are_noticed(
    law: Law, state: dict[str, float] | None, off: float, tmp_path: Path
) -> None:
    def other(sample: Sample, memory: dict[str, Any]) -> dict[str, float]:
        found = law(sample, memory) if state else law(sample)
        return {"F": found["F"] + (off if sample.number in (7, 12) else 0.0)}

    run = stored(tmp_path / "run", law, state)
    wrong = run.verified(c=zw.controller(other, PERIOD, state=state or {}))
    assert wrong.verdict is Verdict.MISMATCH
    assert "at t = 0.35 s 'F' is stored as" in wrong.findings[-1]
    assert "and so at 1 later sample" in wrong.findings[-1]
    assert wrong.checked["samples"] == 20
    told = re.search(r"stored as (\S+), and the laws .* give ([^\s,]+)", wrong.findings[-1])
    assert told is not None
    assert told[1] != told[2]


def test_a_law_with_a_memory_of_its_own_is_told_to_be_one(tmp_path: Path) -> None:
    calls: list[float] = []

    def counting(sample: Sample) -> dict[str, float]:
        calls.append(sample.t)
        return {"F": 0.1 * len(calls) + sample["pin.angle"]}

    found = stored(tmp_path / "run", counting).verified()
    assert found.verdict is Verdict.MISMATCH
    assert "they give something else" in found.findings[-1]


def test_a_run_saved_afterwards_keeps_its_controllers(tmp_path: Path) -> None:
    m, law = cart_pole(), {"c": zw.controller(proportional, PERIOD)}
    run = m.simulate(m.assemble(hold={"pin.angle": 0.05}), until=1.0, controllers=law)
    run.save(tmp_path / "run")
    assert Stored(tmp_path / "run", law).verified().ok
    assert "controllers (c) were not given" in " ".join(zw.verify(tmp_path / "run", m).notes)
    again = zw.load(tmp_path / "run", m, controllers=law)
    assert again.error_estimate().worst == pytest.approx(run.error_estimate().worst)


def test_one_of_a_kind_is_told_in_the_singular(tmp_path: Path) -> None:
    found = stored(tmp_path / "run", proportional).verified()
    one = type(found)(found.verdict, (), {}, {"samples": 1, "states with forces": 1, "states": 2})
    assert str(one).endswith("1 sample, 1 state with forces, 2 states checked")


def test_sizes_are_those_of_the_largest_of_a_kind() -> None:
    """A length beside longer ones, a direction at zero, and velocities at rest."""
    m = cart_pole().system
    spread = check_controllers.Spread(m, lambda: Sampling(m, {}, 0.0))
    names = (*m.coordinates, *m.velocities)
    y = np.zeros(len(names))
    y[names.index("pole.z")], y[names.index("pole.cos")] = 3.0, 1.0
    sizes = dict(zip(names, spread.sizes(y).tolist(), strict=True))
    assert sizes["cart.x"] == 3.0
    assert max(sizes[name] for name in m.velocities) == 0.0
    assert sizes["pole.sin"] == 1.0

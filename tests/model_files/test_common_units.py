"""Units that are known without pint have its factors."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from zwang.model_files import units
from zwang.model_files.arithmetic import ExpressionError


@pytest.mark.parametrize("unit", units.COMMON)
def test_common_units_have_the_factors_of_pint(unit):
    for name, factor in units.COMMON[unit].items():
        for wanted in (unit, None):
            assert units._factor(name, wanted) == units._factor_by_pint(name, wanted) == factor


def test_a_unit_of_another_kind_is_refused_as_before():
    assert units._factor("mm", "kg") == "length"
    assert units._factor("furlongs_and_more", "m") == "unknown"


def test_common_units_do_not_load_pint():
    text = (
        "import sys; from zwang.model_files.units import quantity;"
        "assert quantity('12 mm', 'm') == 0.012; assert 'pint' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


@pytest.mark.parametrize(
    ("unit", "in_si", "power"),
    [("Hz", 1, 1), ("GHz", 1e9, 1), ("µHz", 1e-6, 1), ("Hz^2", 1, 2), ("N/kHz", 1e-3, -1),
     ("m*Hz", 1, 1), ("kilohertz", 1e3, 1), ("1/Hz", 1, -1), ("rps", 1, 1)],
)  # fmt: skip
def test_a_cycle_is_a_turn_in_products_and_with_all_prefixes(unit, in_si, power):
    assert units.size_of_unit(unit) == pytest.approx(in_si * math.tau**power, rel=1e-14)
    assert units.TURNS.search(unit)


@pytest.mark.parametrize("text", ["20 degC", "68 degF", "3 dB"])
@pytest.mark.parametrize("wanted", [None, ""])
def test_scales_that_do_not_begin_at_zero_are_refused(text, wanted):
    """20 degC had been 20 times the temperature at 1 degC, 5483."""
    with pytest.raises(ExpressionError, match="of a scale with a zero of its own"):
        units.quantity(text, wanted)
    assert units.is_unit(text.split()[1])  # as a label

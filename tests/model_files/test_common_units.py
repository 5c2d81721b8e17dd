"""Units that are known without pint have its factors."""

from __future__ import annotations

import subprocess
import sys

import pytest

from zwang.model_files import units


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

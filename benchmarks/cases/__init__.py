"""The benchmark cases that every engine gets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.cases.chains import chain, skew_chain
from benchmarks.cases.functions import car_axis, particle
from benchmarks.cases.loops import bricard, door, four_bars, slider_crank
from benchmarks.cases.machines import andrews, governor
from benchmarks.cases.model import Work
from benchmarks.cases.vehicle import vehicle
from benchmarks.cases.wheels import bicycle, disk

__all__ = ["WORKS", "Work"]

#: Name → what makes the work, in the order of tables.
WORKS: dict[str, Callable[[], Work]] = {
    **{f"chain({n})": partial(chain, n) for n in (1, 10, 100, 1000, 10_000)},
    **{f"skew_chain({n})": partial(skew_chain, n) for n in (10, 100)},
    **{f"four_bars({n})": partial(four_bars, n) for n in (1, 2, 40)},
    "bricard": bricard,
    "door": door,
    "slider_crank": slider_crank,
    "andrews": andrews,
    "governor": governor,
    "vehicle": vehicle,
    "car_axis": car_axis,
    "nonholonomic_particle": particle,
    "rolling_disk": disk,
    "bicycle": bicycle,
}

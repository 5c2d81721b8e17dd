"""The stored motions are those the script computes, and agree with what has been published."""

import json

import pytest

from reference.make_motions import CASES, FILE, entry
from reference.published import ANDREWS_Q, ANDREWS_TIME, CAR_AXIS, GOOD_TO

STORED = {motion["name"]: motion for motion in json.loads(FILE.read_text(encoding="utf-8"))}

#: Cases that take seconds in many digits; the others are computed anew with every change.
SLOW = {
    "spherical_pendulum",
    "nonholonomic_particle",
    "rolling_disk",
    "rotating_body",
    "car_axis",
    "andrews_squeezer",
}


def test_every_case_is_stored():
    assert list(STORED) == list(CASES)


@pytest.mark.parametrize("name", [name for name in CASES if name not in SLOW])
def test_stored_motion_is_the_computed_one(name):
    assert entry(name) == STORED[name]


@pytest.mark.campaign
@pytest.mark.parametrize("name", sorted(SLOW))
def test_stored_motion_is_the_computed_one_where_that_takes_long(name):
    assert entry(name) == STORED[name]


def test_squeezer_agrees_with_the_published_state():
    stored = STORED["andrews_squeezer"]
    later = ANDREWS_TIME - stored["until"]
    for q, v, published in zip(stored["q_end"], stored["v_end"], ANDREWS_Q, strict=True):
        assert abs(float(q) + later * float(v) - published) < GOOD_TO


def test_car_axis_agrees_with_the_published_state():
    stored = STORED["car_axis"]
    for value, published in zip(stored["q_end"] + stored["v_end"], CAR_AXIS, strict=True):
        assert abs(float(value) - published) < GOOD_TO

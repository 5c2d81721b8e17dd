"""Traces of points of bodies in a plane, which two numbers give."""

import numpy as np
import pytest

import zwang as zw
from zwang.view.scene import scene_of


def test_two_numbers_are_a_point_of_a_body_in_a_plane():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    run = m.simulate(until=0.2, save=0.1)
    (two,) = scene_of(run, traces={"rod": (0.5, 0.1)}).traces
    (three,) = scene_of(run, traces={"rod": (0.5, 0.0, 0.1)}).traces
    np.testing.assert_array_equal(two.points, three.points)
    with pytest.raises(zw.InputError, match="three numbers, or two in a plane"):
        scene_of(run, traces={"rod": (0.5,)})

"""Redundant rows are left out so that those that act stay clear of depending on each other.

Of Bennett's linkage three of twenty equations are redundant, others of them in each position. Rows
that hold a direction hardly, though the linkage holds it well, let stages of a step leave it, and
what they gain there they lose along the motion: velocities jumped by thousands of tolerances.
"""

import numpy as np
import pytest

import zwang as zw


def turn(angle, length, twist):
    """From one hinge of a loop to the next, Denavit and Hartenberg."""
    c, s = np.cos, np.sin
    about = np.array([[c(angle), -s(angle), 0], [s(angle), c(angle), 0], [0, 0, 1]])
    along = np.array([[1, 0, 0], [0, c(twist), -s(twist)], [0, s(twist), c(twist)]])
    return about @ along, about @ [length, 0, 0]


def bennett(a, b, alpha):
    """A linkage of links a and b whose hinges are twisted by alpha and β, moving."""
    beta, first = np.arcsin(b / a * np.sin(alpha)), 1.0
    share = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan2(share * np.cos(first / 2), np.sin(first / 2))
    R, at = np.eye(3), np.zeros(3)
    frames = [(R, at)]
    for angle, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha)):
        rotation, way = turn(angle, length, twist)
        R, at = R @ rotation, at + R @ way
        frames.append((R, at))
    m = zw.Mechanism(gravity=(1.5, -2, -9))
    bodies = [m.ground]
    for k, mass in enumerate([1.0, 0.7, 1.0]):
        (_, p), (_, q) = frames[k], frames[k + 1]
        rod = zw.inertia.cylinder(mass, 0.015, np.linalg.norm(q - p), axis=q - p)
        bodies.append(m.body(f"link{k}", inertia=rod, position=(p + q) / 2))
    bodies.append(m.ground)
    for k, (R, p) in enumerate(frames):
        m.revolute(f"R{k}", bodies[k], bodies[k + 1], at=p, axis=R[:, 2])
    return m, m.assemble(velocity={"hold": {"R0.angle_rate": 2.0}})


#: Largest errors of velocities over many tolerances, in tolerances: a few usually, see
#: `error_estimate`; they were 300 and 14,000 of the first two.
ERRORS = 60.0


@pytest.mark.parametrize("sizes", [(0.4, 0.3, 50), (0.5, 0.35, 60), (0.6, 0.45, 70)])
def test_errors_follow_the_tolerance_whichever_rows_act(sizes):
    m, start = bennett(*sizes[:2], np.radians(sizes[2]))
    choices = {"until": 4.0, "save": 0.05}
    exact = m.simulate(start, **choices, tolerance=1e-12, integrator="gauss")
    cases = [("auto", 1e-7), ("auto", 1e-9)]
    cases += [("absolute", tolerance) for tolerance in 1e-9 * np.linspace(0.97, 1.03, 13)]
    for coordinates, tolerance in cases:
        run = m.simulate(start, **choices, tolerance=tolerance, coordinates=coordinates)
        assert run.finished, run.status
        off = np.abs(run.v - exact.v).max() / tolerance
        assert off < ERRORS, (tolerance, coordinates, off)
        assert np.ptp(run.energy) < ERRORS * tolerance


def test_the_estimate_of_the_error_is_that_of_the_run():
    """Its second run is one in the coordinates of the bodies."""
    m, start = bennett(0.5, 0.35, np.radians(60))
    choices = {"until": 5.0, "save": 0.05}
    exact = m.simulate(start, **choices, tolerance=1e-12, integrator="gauss")
    for tolerance in np.linspace(0.9e-7, 1.1e-7, 9):
        run = m.simulate(start, **choices, tolerance=tolerance)
        error = max(np.abs(run.v - exact.v).max(), np.abs(run.q - exact.q).max())
        assert 0.2 * error < run.error_estimate().worst < 5.0 * error

"""Saved states between steps, where constraint rows that act come close to losing rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.simulation.all_rows import on_all_rows

#: Reference: an implicit method whose steps are a thousandth of a turn, in other coordinates.
REFERENCE: dict[str, Any] = {
    "integrator": "radau5",
    "tolerance": 1e-12,
    "coordinates": "absolute",
}


def bennett(alpha: float, a: float = 0.3, b: float = 0.42, begin: float = 0.9) -> zw.Mechanism:
    """Four hinges at which axes cross at α and β with b sin α = a sin β; two are on the ground."""
    beta = np.arcsin(b * np.sin(alpha) / a)
    ratio = np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha))
    second = 2.0 * np.arctan(ratio / np.tan(0.5 * begin))

    def about_z(x: float) -> np.ndarray:
        return np.array([[np.cos(x), -np.sin(x), 0], [np.sin(x), np.cos(x), 0], [0, 0, 1.0]])

    def about_x(x: float) -> np.ndarray:
        return np.array([[1.0, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])

    first = about_z(begin)
    middle = first @ about_x(alpha) @ about_z(second)
    last = middle @ about_x(beta) @ about_z(-begin)
    one = first @ [a, 0, 0]
    m = zw.Mechanism(gravity=(0, -9.81, 0))
    bodies = []
    for name, mass, length, place, axes in (
        ("crank", 0.8, a, np.zeros(3), first),
        ("coupler", 1.1, b, one, middle),
        ("rocker", 0.7, a, one + middle @ [b, 0, 0], last),
    ):
        inertia = zw.inertia.cylinder(mass, 0.01, length, axis="x").at((length / 2, 0, 0))
        bodies.append(m.body(name, inertia=inertia, position=place, orientation=axes))
    crank, coupler, rocker = bodies
    far, near = (0, -np.sin(alpha), np.cos(alpha)), (0, -np.sin(beta), np.cos(beta))
    m.revolute("J1", m.ground, crank, at=((0, 0, 0), crank.marker((0, 0, 0), axis="z")), axis="z")
    m.revolute(
        "J2",
        crank,
        coupler,
        at=(crank.marker((a, 0, 0), axis=far), coupler.marker((0, 0, 0), axis="z")),
    )
    m.revolute(
        "J3",
        coupler,
        rocker,
        at=(coupler.marker((b, 0, 0), axis=near), rocker.marker((0, 0, 0), axis="z")),
    )
    ground = m.ground.marker((-b, 0, 0), axis=(0, np.sin(beta), np.cos(beta)))
    m.revolute("J4", m.ground, rocker, at=(ground, rocker.marker((a, 0, 0), axis=far)))
    return m


@pytest.mark.parametrize(("degrees", "save"), [(15.0, 0.005), (32.0, [0.0, 0.398507917, 1.0])])
def test_states_beside_a_position_in_line_meet_all_constraints(degrees: float, save: Any) -> None:
    """Velocities between steps were off by 2e-5 there, and reactions contradictions."""
    m = bennett(np.radians(degrees))
    start = m.assemble(velocity={"hold": {"J1.angle_rate": 2.0}})
    run = m.simulate(start, until=1.0, save=save)
    assert run.finished, run.status
    assert run.worst_residual < 1e-11
    assert np.isfinite(run.reaction("J1").force).all()
    exact = m.simulate(start, until=1.0, save=run.t, **REFERENCE)
    assert np.abs(run["J1.angle_rate"] - exact["J1.angle_rate"]).max() < 1e-8


def test_what_drifts_in_its_coordinates_is_not_put_on_its_constraints() -> None:
    """A state off by 1e-5 in velocities alone is; one off by as much in coordinates is not."""
    m = bennett(np.radians(32.0))
    start = m.assemble(velocity={"hold": {"J1.angle_rate": 2.0}})
    run = m.simulate(start, until=0.2, save=0.1)
    equations, p, t = run.system.equations, run.system.parameter_vector(), run.t[1:2]
    y, nq = np.concatenate([run.q[1:2], run.v[1:2]], axis=1), run.q.shape[1]
    rng = np.random.default_rng(0)
    for off_q, off_v, put in ((0.0, 1e-5, True), (1e-5, 1e-5, False), (0.0, 0.1, False)):
        off = y.copy()
        off[:, :nq] += off_q * rng.standard_normal(nq)
        off[:, nq:] += off_v * rng.standard_normal(y.shape[1] - nq)
        found, _ = on_all_rows(equations, off, t, p, 1e-9)
        assert (equations.largest_miss(found, t, p) < 1e-11) == put, (off_q, off_v)
        assert put or np.array_equal(found, off)

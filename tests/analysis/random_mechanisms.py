"""Mechanisms at random for inverse dynamics: trees and loops as placed, with a state and a wish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import zwang as zw

__all__ = ["Wish", "wish"]


@dataclass(frozen=True)
class Wish:
    """A state, accelerations that constraints allow, and actuators."""

    mechanism: zw.Mechanism
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    actuators: tuple[str, ...]


def wish(seed: int) -> Wish:
    """Up to four bodies, joined at random, perhaps in a loop, perhaps with a joint doubled."""
    rng = np.random.default_rng(seed)
    m = zw.Mechanism(gravity=rng.normal(size=3) * 5.0)
    bodies, count = [m.ground], int(rng.integers(1, 5))
    for i in range(count):
        J, turned = rng.normal(size=(3, 3)), rng.normal(size=4)
        body = m.body(
            f"b{i}",
            mass=float(rng.uniform(0.5, 3.0)),
            inertia=J @ J.T + np.trace(J @ J.T) * np.eye(3),
            position=rng.normal(size=3),
            orientation=turned / np.linalg.norm(turned),
        )
        kind = rng.choice(["revolute", "prismatic", "spherical", "cylindrical"])
        axis = {} if kind == "spherical" else {"axis": rng.normal(size=3)}
        parent = bodies[int(rng.integers(len(bodies)))]
        at = rng.normal(size=3)
        getattr(m, kind)(f"j{i}", parent, body, at=at, **axis)
        if rng.random() < 0.2:
            getattr(m, kind)(f"again{i}", parent, body, at=at, **axis)
        bodies.append(body)
    if count > 1 and rng.random() < 0.5:
        m.spherical_link("loop", m.ground, bodies[-1], at=(rng.normal(size=3), rng.normal(size=3)))
    if rng.random() < 0.5:
        m.spring_damper(
            "spring",
            m.ground,
            bodies[-1],
            at=(rng.normal(size=3), rng.normal(size=3)),
            stiffness=20.0,
            damping=3.0,
        )
    system = m.system
    q, _ = system.equations.placement
    zero = np.zeros(len(system.velocities))
    N = _null(system.ideal_terms(q, zero).constraint_matrix)
    v = N @ rng.normal(size=N.shape[1])
    terms = system.terms(q, v)
    A, b = terms.constraint_matrix, terms.constraint_rhs
    a = np.linalg.lstsq(A, b, rcond=1e-10)[0] + N @ rng.normal(size=N.shape[1]) * 3.0
    names = [c for c in system.channels if not c.endswith("_rate")]
    names += [f"b{i}.position.{x}" for i in range(count) for x in "xyz"]
    wanted = int(rng.integers(1, min(len(names), N.shape[1] + 3) + 1))
    return Wish(m, q, v, a, tuple(rng.choice(names, size=wanted, replace=False)))


def _null(A: np.ndarray) -> np.ndarray:
    _, s, Vt = np.linalg.svd(A)
    return Vt[int(np.sum(s > 1e-10 * s.max(initial=1.0))) :].T

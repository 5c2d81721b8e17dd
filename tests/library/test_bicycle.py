"""The bicycle against the published benchmark: eigenvalues of upright, straight motion.

Source: Meijaard, Papadopoulos, Ruina & Schwab (2007), M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0 in lean
and steer, with the canonical matrices of the section on numerical values.
"""

import numpy as np
import pytest

from zwang import library

M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.6854039739756]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
G = 9.81

#: Central differences of order eight; at this step truncation and rounding both leave about 1e-14.
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEP = 0.01
#: Nine digits are asked for; thirteen are reached.
DIGITS = 1e-12


def published(speed):
    """Eigenvalues from the canonical matrices."""
    K = G * K0 + speed**2 * K2
    first = np.block(
        [
            [np.zeros((2, 2)), np.eye(2)],
            [-np.linalg.solve(M, K), -speed * np.linalg.solve(M, C1)],
        ]
    )
    return np.linalg.eigvals(first)


def test_canonical_matrices_give_the_published_eigenvalues():
    expected = [-14.0783896928, -0.775341882196 - 4.46486771379j, -0.322866429004]
    for value in expected:
        assert np.abs(published(5.0) - value).min() < 1e-10


class Reduced:
    """The bicycle's motion in what does not depend on place, heading and the wheels' angles.

    x = (s, δ, ω₁ of the frame, ω₃ of the fork, ω₂ of the rear wheel): s is the height of the
    frame's left-hand unit vector, δ the angle of the head, angular velocities in body axes.
    """

    rates = ("frame.omega1", "fork.omega3", "rear_wheel.omega2")

    def __init__(self, speed):
        self.system = library.whipple_bicycle(speed=speed).system
        v = self.system.assemble().v
        self.here = np.array([0.0, 0.0, *(v[self.system.velocities.index(n)] for n in self.rates)])

    def at(self, y):
        """x and ẋ where the frame's e₁, the head's angle and the rates are y; re-assembled."""
        state = self.system.assemble(
            hold={"frame.e1": y[0], "head.angle": y[1], "frame.e3": 0.0},
            velocity={"hold": dict(zip(self.rates, y[2:], strict=True))},
        )
        q = dict(zip(self.system.coordinates, state.q, strict=True))
        v = dict(zip(self.system.velocities, state.v, strict=True))
        a = dict(zip(self.system.velocities, self.system.solve(state).acceleration, strict=True))
        e0, e1, e2, e3 = (q[f"frame.e{k}"] for k in range(4))
        # s = R₃₂, and its rate from Ṙ = R ω̃′: −R₃₁ ω₃ + R₃₃ ω₁.
        s, R31, R33 = 2 * (e2 * e3 + e0 * e1), 2 * (e1 * e3 - e0 * e2), 2 * (e0**2 + e3**2) - 1
        s_rate = R33 * v["frame.omega1"] - R31 * v["frame.omega3"]
        delta, delta_rate = self.system.joint_states("head.angle", state.q, state.v)
        x = [s, delta, *(v[n] for n in self.rates)]
        return np.array(x, dtype=float), np.array(
            [s_rate, delta_rate, *(a[n] for n in self.rates)], dtype=float
        )

    def eigenvalues(self):
        """Of dẋ/dx, with both differentiated by y."""
        X, F = np.zeros((5, 5)), np.zeros((5, 5))
        for k in range(5):
            h = STEP * max(1.0, abs(self.here[k]))
            for j, weight in enumerate(WEIGHTS):
                if weight:
                    y = self.here.copy()
                    y[k] += (j - 4) * h
                    x, rate = self.at(y)
                    X[:, k] += weight * x / h
                    F[:, k] += weight * rate / h
        return np.linalg.eigvals(F @ np.linalg.inv(X))


@pytest.mark.parametrize(
    "speed", [5.0, *(pytest.param(v, marks=pytest.mark.campaign) for v in (0.5, 2.0, 8.0))]
)
def test_eigenvalues_are_the_published_ones(speed):
    found = Reduced(speed).eigenvalues()
    for value in published(speed):
        assert np.abs(found - value).min() < DIGITS * abs(value)
    assert np.abs(found).min() < 1e-8  # the speed itself neither grows nor dies out

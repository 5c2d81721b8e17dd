"""Motions with one freedom: pendulums, and the slider-crank."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

__all__ = ["pendulum", "slider_crank_angles"]


def _integrated(f: Callable, start: list[float], times: np.ndarray) -> np.ndarray:
    span = (0.0, float(times[-1]))
    return solve_ivp(f, span, start, method="DOP853", rtol=3e-14, atol=1e-14, t_eval=times).y


def pendulum(factor: float, angle: float, rate: float, times: np.ndarray) -> np.ndarray:
    """The angle of θ̈ = factor · sin θ."""
    return _integrated(lambda _, y: [y[1], factor * np.sin(y[0])], [angle, rate], times)[0]


def slider_crank_angles(
    crank: float,
    rod: float,
    moment: float,
    gravity: float,
    start: tuple[float, float],
    times: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Angles φ of the crank and ψ of the rod, from x upwards; crank, rod and slider have 1 kg.

    sin ψ = −(r/l) sin φ. With ′ for d/dφ, and bars of moment J = m l² · `moment`,

        I = Σ m c′·c′ + J₁ + J₂ ψ′²,   I φ̈ = −(Σ m c′·c″ + J₂ ψ′ψ″) φ̇² − V′.
    """

    def bar(phi: float) -> tuple[float, float, float]:
        """ψ, ψ′, ψ″."""
        psi = -np.arcsin(crank / rod * np.sin(phi))
        first = -crank * np.cos(phi) / (rod * np.cos(psi))
        second = (crank * np.sin(phi) + rod * np.sin(psi) * first**2) / (rod * np.cos(psi))
        return psi, first, second

    def f(_: float, y: np.ndarray) -> list[float]:
        phi, rate = y
        psi, psi1, psi2 = bar(phi)
        along, across = np.exp(1j * phi), np.exp(1j * psi)  # x + i z
        tip1, tip2 = 1j * crank * along, -crank * along
        end1 = 1j * rod * across * psi1
        end2 = rod * across * (1j * psi2 - psi1**2)
        centers1 = np.array([tip1 / 2, tip1 + end1 / 2, (tip1 + end1).real])
        centers2 = np.array([tip2 / 2, tip2 + end2 / 2, (tip2 + end2).real])
        inertia = np.sum(abs(centers1) ** 2) + moment * (crank**2 + rod**2 * psi1**2)
        half = np.sum((centers1 * centers2.conj()).real) + moment * rod**2 * psi1 * psi2
        slope = gravity * np.sum(centers1.imag)
        return [rate, -(half * rate**2 + slope) / inertia]

    phi = _integrated(f, list(start), times)[0]
    return phi, np.array([bar(x)[0] for x in phi])

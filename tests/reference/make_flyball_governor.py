"""Write `flyball_governor.json`: the motion of the governor A05 from equations of two freedoms.

    python tests/reference/make_flyball_governor.py

Without the package, and in other coordinates than its library: both rods move alike, the angle a
below the horizontal and the height s of the slider are all there is, and the angular momentum about
the shaft, L = J(a) ψ̇, stays what it was (Routh). With l half the length of a rod

    J(a) = J₀ + 2 [m_r (b + l cos a)² + m_b (b + 2l cos a)² + I_t cos² a + I_a sin² a]
    2 (I_t + m_r l² + 4 m_b l²) ä = ½ J′(a) ψ̇² + 2 (m_r + 2 m_b) g l cos a − 2 F ∂d/∂a
    m_s s̈ = −m_s g − 2 F ∂d/∂s,     F = k (d − d₀) + c ḋ

with d the length of a spring. Integrated by SciPy's DOP853 and by its Radau, which must agree.
"""

from __future__ import annotations

import json
from math import cos, pi, sin, sqrt
from pathlib import Path

import numpy as np
import scipy
from scipy.integrate import solve_ivp

FILE = Path(__file__).with_name("flyball_governor.json")

#: Density 3000 kg/m³; bars of 1 m × 1 cm × 1 cm, a cube of 10 cm.
BAR, CUBE = 0.3, 3.0
AXIAL, ACROSS = BAR * 2e-4 / 12.0, BAR * (1.0 + 1e-4) / 12.0
J0 = AXIAL + CUBE * 2e-2 / 12.0
BALL, ARM, TOP, HALF, REST, G = 5.0, 0.05, 1.0, 0.5, 0.5, 9.81
SPRING, DAMPER = 8e5, 4e4
ANGLE, HEIGHT, SPIN = pi / 6.0, 0.5, 2.0 * pi
SWING = 2.0 * (ACROSS + BAR * HALF**2 + BALL * 4.0 * HALF**2)

TIMES = np.linspace(1.0, 10.0, 10)
#: What the two integrations must agree to; stored digits beyond it are not trusted by tests.
AGREEMENT = 1e-9


def axial_inertia(a: float) -> tuple[float, float]:
    """J(a) and J′(a)."""
    c, s = cos(a), sin(a)
    centre, end = ARM + HALF * c, ARM + 2.0 * HALF * c
    J = J0 + 2.0 * (BAR * centre**2 + BALL * end**2 + ACROSS * c * c + AXIAL * s * s)
    slope = -2.0 * HALF * s * (BAR * centre + 2.0 * BALL * end) + 2.0 * s * c * (AXIAL - ACROSS)
    return J, 2.0 * slope


def derivative(_: float, y: np.ndarray) -> list[float]:
    """Of (ψ, s, a, ṡ, ȧ)."""
    _, s, a, s_dot, a_dot = y
    J, J_slope = axial_inertia(a)
    spin = axial_inertia(ANGLE)[0] * SPIN / J
    across, along = HALF * cos(a), TOP - HALF * sin(a) - s
    d = sqrt(across * across + along * along)
    d_a = (-across * HALF * sin(a) - along * HALF * cos(a)) / d
    d_s = -along / d
    force = SPRING * (d - REST) + DAMPER * (d_a * a_dot + d_s * s_dot)
    weight = 2.0 * (BAR + 2.0 * BALL) * G * HALF * cos(a)
    return [
        spin,
        s_dot,
        a_dot,
        -G - 2.0 * force * d_s / CUBE,
        (0.5 * J_slope * spin**2 + weight - 2.0 * force * d_a) / SWING,
    ]


def motion(method: str, rtol: float) -> np.ndarray:
    """States (ψ, s, a, ṡ, ȧ) at the times."""
    start = [0.0, HEIGHT, ANGLE, 0.0, 0.0]
    options = {"method": method, "rtol": rtol, "atol": rtol, "t_eval": TIMES}
    return solve_ivp(derivative, (0.0, TIMES[-1]), start, **options).y.T


def main() -> None:
    """Integrate and write."""
    states, other = motion("DOP853", 3e-14), motion("Radau", 1e-12)
    difference = float(np.abs(states - other).max())
    assert difference < AGREEMENT, difference
    content = {
        "what": "IFToMM A05, stiff flyball governor; see make_flyball_governor.py",
        "made_with": f"SciPy {scipy.__version__}",
        "agreement": AGREEMENT,
        "names": ["psi", "s", "a", "s_dot", "a_dot"],
        "t": TIMES.tolist(),
        "states": states.tolist(),
    }
    FILE.write_text(json.dumps(content, indent=1) + "\n")
    print(f"the two integrations differ by {difference:.1e}")


if __name__ == "__main__":
    main()

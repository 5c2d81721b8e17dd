"""A universal joint: the driven shaft runs unevenly, and the bearings feel it.

Two shafts at an angle, joined by a cross. While the first turns steadily the second hurries and
lags twice a turn: tan φ₂ = cos β tan φ₁. Three of the fourteen equations are redundant, since the
bearings alone hold the shafts in place.
"""

import numpy as np

import zwang as zw

BEND = 0.7
shaft = zw.library.universal_joint_shaft(bend=BEND, speed=10.0)
shaft.drive("motor", "input_bearing.angle", lambda t: 10.0 * t)


def main() -> zw.Run:
    """Turn twice, and compare with the formula."""
    print(shaft.explain())
    run = shaft.simulate(until=2 * 2 * np.pi / 10.0, save=0.005)
    first, second = run["input_bearing.angle"], run["output_bearing.angle"]
    formula = np.unwrap(np.arctan2(np.cos(BEND) * np.sin(first), np.cos(first)))
    print(f"against tan φ₂ = cos β tan φ₁: {np.abs(second - formula).max():.1e} rad")
    rate = run["output_bearing.angle_rate"]
    print(f"second shaft between {rate.min():.3f} and {rate.max():.3f} rad/s")
    print(f"torque of the motor up to {np.abs(run.multipliers('motor')).max():.3f} N·m")
    return run


if __name__ == "__main__":
    main()

"""Theo Jansen's leg: thirteen lengths found by hand, and a foot that walks level.

A crank drives a linkage of eight links, the ground among them. The motor is a driver: the angle of
the crank is prescribed, and the torque that this takes is the reaction of the constraint.
"""

import numpy as np

import zwang as zw

leg = zw.library.theo_jansen_leg(rate=-2 * np.pi)
leg.drive("motor", "axle.angle", lambda t: 2 * np.pi * t)


def foot_path(run: zw.Run) -> np.ndarray:
    """Way of the foot: 0.49 m from the knee and 0.657 m from the ankle, below both."""
    lower = run.body("lower")  # its origin is the knee, its axes are at first those of the world
    ankle = run.body("f").point((0.197, 0, 0))[0] - lower.position[0]
    g = np.linalg.norm(ankle)
    along = (g**2 + 0.49**2 - 0.657**2) / (2 * g)
    across = np.array([-ankle[2], 0.0, ankle[0]]) / g
    return lower.point(along * ankle / g + np.sqrt(0.49**2 - along**2) * across)


def main() -> zw.Run:
    """Walk two steps, and tell how level the foot is and what the motor does."""
    run = leg.simulate(until=2.0, save=0.005)
    foot = foot_path(run)
    ground = foot[:, 2] < foot[:, 2].min() + 0.01
    print(f"foot within a centimetre of the ground {100 * ground.mean():.0f} percent of the time")
    print(f"stride {np.ptp(foot[ground, 0]):.3f} m, lift {np.ptp(foot[:, 2]):.3f} m")
    torque = run.multipliers("motor")[:, 0]
    print(f"torque of the motor from {torque.min():.2f} to {torque.max():.2f} N·m")
    return run


if __name__ == "__main__":
    main()

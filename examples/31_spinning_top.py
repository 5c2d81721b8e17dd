"""A spinning top: the loops of its tip, and two quantities that are kept.

A top on a fixed point, given different pushes sideways. Its tip runs along waves, cusps or loops
between the same two heights. Energy and the angular momentum about the vertical are kept.
"""

import numpy as np

import zwang as zw


def main() -> dict[float, zw.Run]:
    """Release three tops, and check what is kept."""
    runs = {}
    for push in (4.0, 0.0, -8.0):
        top = zw.library.spinning_top(tilt=0.6, spin=150.0, precession=push)
        run = top.simulate(until=2.2, tolerance=1e-10, save=2e-3)
        body = run.body("top")
        tilt = np.degrees(np.arccos(body.rotation[:, 2, 2]))
        J = body.rotation @ np.diag([2e-4, 2e-4, 1e-4]) @ np.swapaxes(body.rotation, 1, 2)
        spin = np.einsum("tij,tj->ti", J, body.angular_velocity)
        center = body.point((0, 0, 0.05))
        orbit = 0.1 * np.cross(center, np.cross(body.angular_velocity, center))
        momentum = (spin + orbit)[:, 2]
        print(f"push {push:4.1f} rad/s: tilt {tilt.min():.2f} to {tilt.max():.2f} degrees", end="")
        print(f", energy kept to {np.ptp(run.energy):.0e} J", end="")
        print(f", momentum to {np.ptp(momentum):.0e}")
        runs[push] = run
    return runs


if __name__ == "__main__":
    main()

"""From a mechanism to its motor: kinematics of a quick return, then the torque that it needs.

No masses enter the first part; the second asks which torque makes the ram cut at a given speed of
the crank, against a force on the way out.
"""

from typing import Any

import numpy as np

import zwang as zw
from zwang.model_files.examples import example_path


def quick_return() -> zw.Mechanism:
    """The machine of the example file, with a force on its ram on the way out."""
    machine = zw.read_model(example_path("quick_return")).mechanism
    assert machine is not None
    machine.force(
        "cut", "ram", lambda body: [zw.where(body.velocity[0] > 0.0, -400.0, 0.0), 0.0, 0.0]
    )
    return machine


def main() -> tuple[Any, Any]:
    """Stroke and ratio of times, then the motor."""
    machine = quick_return()
    k = machine.kinematics(along=("drive.angle", np.linspace(0.0, 2.0 * np.pi, 181)))
    ends = k.limit_positions("ram.position.x")
    stroke = np.ptp(k["ram.position.x"])
    back = abs(ends[1] - ends[0])
    print(f"stroke {stroke:.3f} m, ratio of times {(2.0 * np.pi - back) / back:.2f}")
    t = np.linspace(0.0, 1.0, 201)
    inv = machine.inverse_dynamics((t, {"drive.angle": lambda t: 2.0 * np.pi * t}), ["drive.angle"])
    print(inv)
    return k, inv


if __name__ == "__main__":
    main()

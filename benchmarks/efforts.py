"""Inverse dynamics of a Stewart platform with heavy legs: python -m benchmarks.efforts."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from analysis.robots import Stewart

#: What the call may take after compilation, in seconds of processor time.
LIMIT = 0.05


def main() -> int:
    """Print the time of the first and of later calls."""
    robot = Stewart()
    motion = robot.mechanism(driven=True).kinematics(times=np.linspace(0.0, 1.0, 1000))
    m, names = robot.mechanism(), [f"leg{i}.displacement" for i in range(6)]
    times = []
    for _ in range(6):
        begun = time.process_time()
        m.inverse_dynamics(motion, names)
        times.append(time.process_time() - begun)
    print(f"first call {times[0]:.2f} s, later {1e3 * min(times[1:]):.1f} ms for 1,000 samples")
    return int(min(times[1:]) > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())

"""A crane whose load follows a program.

Trolley and winch have motors, the load hangs on the rope. The load is to go up and to the side in
three seconds and to hang still at the end. Motors act on it through the swing of the rope alone, so
that efforts follow from four derivatives of the program: a servo constraint of index five. A
simulation with these efforts ends where the program does.
"""

from typing import Any

import numpy as np

import zwang as zw
from zwang.analysis.servo import ServoSolution

TROLLEY, WINCH, LOAD, GRAVITY, SECONDS = 10.0, 4.0, 3.0, 9.81, 3.0


def smooth(t: Any) -> Any:
    """From 0 to 1, with four derivatives that vanish at both ends."""
    u = t / SECONDS
    return 126 * u**5 - 420 * u**6 + 540 * u**7 - 315 * u**8 + 70 * u**9


def crane() -> zw.System:
    """Trolley s, rope l, load (x, z); the efforts of both motors are parameters."""
    return zw.System(
        ["s", "l", "x", "z"],
        parameters={"trolley": 0.0, "winch": 0.0},
        mass=lambda: np.diag([TROLLEY, WINCH, LOAD, LOAD]),
        force=lambda p: [p.trolley, p.winch, 0.0, -LOAD * GRAVITY],
        constraints={"rope": lambda q: (q[2] - q[0]) ** 2 + q[3] ** 2 - q[1] ** 2},
    )


def main() -> ServoSolution:
    """Solve for the efforts, and simulate with a controller that begins 5 cm off."""
    system = crane()
    servo = system.servo(
        program={"x": lambda t: 2.0 * smooth(t), "z": lambda t: -3.0 + smooth(t)},
        actuators=["s", "l"],
        start={"s": 0.0, "l": 3.0, "x": 0.0, "z": -3.0},
    )
    print(servo.realizability)
    solution = servo.solve(np.linspace(0.0, SECONDS, 151))
    for name, effort in solution.effort.items():
        print(f"motor of {name}: from {effort.min():.1f} to {effort.max():.1f} N")
    law = servo.feedback(solution, 0.01, {"s": "trolley", "l": "winch"})
    start = system.assemble(hold={"s": 0.05, "l": 3.0, "x": 0.0}, prefer={"z": -3.0})
    run = system.simulate(start, until=8.0, controllers={"crane": law})
    missed = float(np.hypot(run["x"][-1] - 2.0, run["z"][-1] + 2.0))
    print(f"with feedback, from 5 cm off: {1e3 * missed:.1f} mm from the goal after 8 s")
    return solution


if __name__ == "__main__":
    main()

"""Formulas instead of numbers: equations of motion in closed form, and as LaTeX.

The same model that simulates also gives its equations (extra ``symbolic``): here those of a bead on
a parabolic wire. Their values are compared with the simulation.
"""

import numpy as np

import zwang as zw

bead = zw.System(
    coordinates=["x", "z"],
    parameters={"m": 0.5, "g": 9.81, "p": 0.4},
    mass=lambda p: p.m * np.eye(2),
    potential=lambda q, p: p.m * p.g * q[1],
    constraints={"wire": zw.position(lambda q, p: q[1] - q[0] ** 2 / (2 * p.p))},
)


def main() -> tuple[zw.Run, ...]:
    """Derive, print, simulate, compare."""
    form = bead.derive()
    print(form)
    print()
    print(form.latex())
    runs = []
    for x in (0.1, 0.2, 0.3, 0.4, 0.5):
        start = bead.assemble(hold={"x": x})
        runs.append(bead.simulate(start, until=3.0, save=0.01))
    run = runs[-1]
    x, rate, g, p = run["x"], run["x_dot"], 9.81, 0.4
    by_hand = -x * (rate**2 + g * p) / (p**2 + x**2)
    difference = np.abs(run.acceleration[:, 0] - by_hand).max()
    print(f"\nthe formula, by hand, against the run: {difference:.1e}")
    return tuple(runs)


if __name__ == "__main__":
    main()

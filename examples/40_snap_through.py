"""A shallow arch snaps through.

Two elastic bars lean against each other, and a load presses their apex down. Equilibria over the
load form a path that turns back twice: at the first turning point the arch can carry no more and
jumps to the other side. The path is followed by its arc length, through the unstable part too.
"""

import numpy as np

import zwang as zw
from zwang.analysis.load_path import LoadPath

HALF_SPAN, STIFFNESS = 0.9, 100.0
HEIGHT = float(np.sqrt(1.0 - HALF_SPAN**2))


def arch() -> zw.Mechanism:
    """The arch with its load as a parameter."""
    m = zw.Mechanism(plane="xy", gravity=(0, 0, 0), parameters={"load": 0.0})
    apex = m.body("apex", mass=1.0, inertia=0.01, position=(0, HEIGHT))
    m.prismatic("guide", m.ground, apex, at=(0, 0), axis="y")
    for name, x in (("left", -HALF_SPAN), ("right", HALF_SPAN)):
        m.spring_damper(name, m.ground, apex, at=((x, 0), (0, HEIGHT)), stiffness=STIFFNESS)
    m.force("weight", apex, lambda p: (0.0, -p.load))
    return m


def main() -> LoadPath:
    """Follow the path, and compare the load at which it turns with the closed form."""
    path = arch().load_path("load", [0.0, 6.0])
    for point in path.critical:
        print(f"{point.kind} at {point.value:.6f} N")
    # P(y) = 2 k y (L / √(a² + y²) − 1) has its maximum where a² + y² = (a² L)^(2/3).
    y = np.sqrt(HALF_SPAN ** (4 / 3) - HALF_SPAN**2)
    highest = 2.0 * STIFFNESS * y * (1.0 / np.hypot(HALF_SPAN, y) - 1.0)
    print(f"closed form   {highest:.6f} N")
    print("stability along the path:", ", ".join(dict.fromkeys(path.stability)))
    return path


if __name__ == "__main__":
    main()

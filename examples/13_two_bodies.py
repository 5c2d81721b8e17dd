"""Two bodies on a ball joint, in the three formulations of Nikravesh.

Problem 11.7 of Nikravesh's book, with numbers of our own: two bodies thrown into the air, joined
at a point, under gravity, moments and a force. Formulation I has 8 unknowns a body, II has 7 and
III has 6; the reaction at the joint is the same.
"""

import numpy as np

import zwang as zw

m = zw.Mechanism(gravity=(0, 0, -9.81))
one = m.body(
    "one",
    inertia=zw.inertia.box(3.0, (1.2, 0.3, 0.2)),
    velocity=(0.5, 0.0, 6.0),
    angular_velocity=(0.0, -1.0, 2.0),
    free=True,
)
two = m.body(
    "two",
    inertia=zw.inertia.box(2.0, (0.2, 0.2, 0.9)),
    position=(0.6, 0.0, -0.45),
    free=True,
)
m.spherical("P", one, two, at=(0.6, 0.0, 0.0))
m.force("f1", one, (0, 5, 0), torque=(1, 2, -1))
m.force("n2", two, torque=(0.5, -1, 2))


def main() -> zw.Run:
    """Solve the start by each formulation, then let them fly."""
    start = m.assemble()
    for name in ("nikravesh_1", "nikravesh_2", "nikravesh_3"):
        reaction = m.solve(start, formulation=name).constraint_force[:3]
        print(f"{name}: reaction on the first body {reaction.round(9)} N")
    run = m.simulate(start, until=1.2, save=0.01)
    force = run.reaction("P").force
    print(f"force at the joint up to {np.linalg.norm(force, axis=1).max():.2f} N")
    print(f"the bodies stay together to {run.worst_residual:.1e} m")
    return run


if __name__ == "__main__":
    main()

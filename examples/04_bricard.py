"""Bricard's loop of six hinges: thirty equations for thirty velocities, and it moves all the same.

Counting says that nothing is left to move; one of the equations follows from the others, wherever
the mechanism is. Programs that need independent equations stop here with a singular matrix.
"""

import numpy as np

import zwang as zw


def main() -> zw.Run:
    """Explain the loop, let it fall for ten seconds, and print what can be trusted about it."""
    loop = zw.library.bricard()
    print(loop.explain())
    print()
    run = loop.simulate(until=10.0, tolerance=1e-10, save=0.5)
    corner = run.body("bar2").point((0.0, -0.5, 0.0))  # P3, between the second bar and the third
    print(run.status)
    for note in run.notes:
        print(note)
    print(f"the corner P3 is at {np.round(corner[-1], 6)} m after {run.t[-1]:g} s")
    print(f"it went through {np.ptp(run['hinge1.angle']):.3f} rad in the first hinge")
    print(f"energy kept to {np.ptp(run.energy):.1e} J, joints to {run.worst_residual:.1e} m")
    # What the loop does to itself is left open by rigid bodies; what the ground carries is not.
    first, last = run.reaction("hinge1"), run.reaction("hinge6")
    print(f"force of the first hinge determinate: {bool(first.determinate.all())}")
    support = first.force - last.force  # the last hinge acts on its second body, the ground
    print(f"both hinges together carry {np.round(support[-1], 3)} N")
    return run


if __name__ == "__main__":
    main()

"""A net of 31 bars with 44 ball joints swings: a large mechanism with many loops.

Nothing special is asked of the user: the same builder, the same run. Inside, kinematic loops of
this size are solved block by block. The bars may also spin about themselves: nothing forbids it.
"""

import numpy as np

import zwang as zw

net = zw.library.net(4, 5, mesh=0.2, fold=0.35, lean=0.5, planar=False)


def main() -> zw.Run:
    """Let it swing for two seconds."""
    run = net.simulate(until=2.0, tolerance=1e-7, save=0.02)
    system = net.system
    print(f"{len(system.velocities)} velocities, {len(system.row_names)} equations")
    print(run.status)
    print(f"energy kept to {np.ptp(run.energy):.1e} J, joints to {run.worst_residual:.1e} m")
    left = np.linalg.norm(run.reaction("knot0_0_1").force, axis=1)
    print(f"the left corner carries up to {left.max():.2f} N")
    return run


if __name__ == "__main__":
    main()

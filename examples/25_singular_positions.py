"""Four-bars that lie flat: through a position where the constraints lose rank.

Two parallelograms share a crank. Where they lie flat, each could fold into an antiparallelogram,
and the equations lose two ranks: programs that divide by them stop, or jump to another branch.
The run goes through, again and again, keeps its energy, and lists each passage by name.
"""

import numpy as np

import zwang as zw

linkage = zw.library.four_bars(2)


def main() -> zw.Run:
    """Swing for ten seconds, and list the singular positions that were passed."""
    run = linkage.simulate(until=10.0, tolerance=1e-9, save=0.01)
    print(run.status)
    for change in run.ranks[:6]:
        print(f"t = {change.t:.6f} s: {change.dependent_rows} rows dependent, in", end=" ")
        print(", ".join(change.names))
    print(f"{len(run.ranks)} passages in {run.t[-1]:g} s")
    crossed = np.abs(run["A0.angle"] - run["A2.angle"]).max()
    print(f"outer cranks stay parallel to {crossed:.1e} rad")
    print(f"energy kept to {np.ptp(run.energy):.1e} J, pins to {run.worst_residual:.1e} m")
    return run


if __name__ == "__main__":
    main()

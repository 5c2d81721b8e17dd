"""The speeds at which a bicycle rides by itself.

Whipple's bicycle rolls straight ahead: a steady motion along which nothing changes but its place
and the angles of its wheels. Small motions about it are linear equations, and their eigenvalues
over the speed show weave, which dies out above 4.29 m/s, and capsize, which grows above 6.02 m/s.
"""

import numpy as np

import zwang as zw
from zwang.analysis.root_locus import RootLocus


def main() -> RootLocus:
    """Linearize the bicycle at many speeds, and say where its stability changes."""
    bicycle = zw.library.whipple_bicycle(speed=0.0)
    motion = bicycle.steady_motion({"rear_hub.angle": 5.0 / 0.3})
    lin = motion.linearize(independent=["frame.turn1", "head.angle"])
    print(f"at 5 m/s: {motion.stability}, {len(lin.states)} states")
    for note in lin.notes:
        print(f"  {note}")
    locus = bicycle.root_locus("rear_hub.angle", np.linspace(1.0, 8.0, 71) / 0.3)
    print("stability changes at", ", ".join(f"{0.3 * x:.2f} m/s" for x in locus.crossings()))
    return locus


if __name__ == "__main__":
    main()

"""Where a bicycle rides by itself: a map over speed and wheelbase.

A study of linearizations: for each wheelbase and each speed the steady motion of Whipple's bicycle
is found, and the largest real part among the eigenvalues of small motions about it. The steering
head is moved along the frame, so that the trail stays what it is.
"""

import tempfile
from pathlib import Path

import numpy as np

import zwang as zw

#: Position of the steering head and wheelbase of the benchmark bicycle [m]; radius of its wheel.
HEAD, WHEELBASE, RADIUS = 0.8, 1.02, 0.3


def main() -> zw.Study:
    """Map the growth rate, and print what is stable."""
    bicycle = zw.library.whipple_bicycle(speed=0.0)
    wheelbases, speeds = np.array([0.92, 1.02, 1.12]), np.array([3.0, 4.5, 5.0, 6.5])
    plan = {
        "grid": {
            "head.at_a[0]": HEAD + wheelbases - WHEELBASE,
            "analysis.rates.rear_hub.angle": speeds / RADIUS,
        },
        "compute": "linearization",
        "analysis": {"independent": ["frame.turn1", "head.angle"]},
        "outputs": ["growth = largest_real_part"],
    }
    folder = Path(tempfile.mkdtemp())
    study = zw.study(bicycle, plan, output=folder / "bicycle.zarr").run(progress=False)
    growth = study.on_grid["growth"].values
    print("largest growth rate [1/s] over speed [m/s] and wheelbase [m]")
    print("        " + "  ".join(f"{v:5.1f}" for v in speeds))
    for wheelbase, row in zip(wheelbases, growth, strict=True):
        cells = "  ".join("    ·" if rate < 1e-6 else f"{rate:5.2f}" for rate in row)
        print(f"  {wheelbase:.2f}  {cells}")
    return study


if __name__ == "__main__":
    main()

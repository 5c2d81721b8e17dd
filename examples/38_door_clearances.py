"""A door on three hinges that are not quite in line: Monte Carlo of what they carry.

Rigid hinges in a line are redundant, and what each of them carries is not determined. Real hinges
have clearances and give a little. Here each is a stiff bushing, placed with an error of half a
millimeter; a study draws the errors and shows how the load of the lowest hinge scatters, where
equal shares of the weight would be the same in all doors.
"""

import tempfile
from pathlib import Path

import numpy as np

import zwang as zw

#: Stiffness of a hinge [N/m], damping [N s/m], and standard deviation of its place [m].
STIFFNESS, DAMPING, ERROR = 2e5, 4e3, 5e-4
HEIGHTS = (0.2, 1.0, 1.8)


def door() -> zw.Mechanism:
    """A door of 30 kg, held by three bushings that let it turn about z."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    leaf = m.body("leaf", inertia=zw.inertia.box(30.0, (0.9, 0.04, 2.0)), position=(0.45, 0, 1.0))
    for k, height in enumerate(HEIGHTS, 1):
        m.bushing(
            f"hinge{k}",
            m.ground,
            leaf,
            at=(0.0, 0.0, height),
            stiffness=[STIFFNESS] * 3,
            damping=[DAMPING] * 3,
        )
    return m


def main() -> zw.Study:
    """Draw the places of the hinges, and look at the forces at rest."""
    m = door()
    names = [f"hinge{k}.at_a[{i}]" for k in (1, 2, 3) for i in (0, 2)]
    values = [x for height in HEIGHTS for x in (0.0, height)]
    plan = {
        "random": {
            name: {"normal": [value, ERROR]} for name, value in zip(names, values, strict=True)
        },
        "samples": 100,
        "seed": 1,
        "until": 1.0,
        "outputs": [f"load{k} = end(hinge{k}.force.z)" for k in (1, 2, 3)],
        "settings": {"tolerance": 1e-6},
    }
    folder = Path(tempfile.mkdtemp())
    study = zw.study(m, plan, output=folder / "door.zarr").run(progress=False)
    loads = np.array([study.dataset[f"load{k}"].values for k in (1, 2, 3)])
    print(f"{study.counts()['finished']} doors; together the hinges carry {30 * 9.81:.1f} N:")
    print(f"  sum {loads.sum(axis=0).mean():.1f} ± {loads.sum(axis=0).std():.1f} N")
    for k, load in enumerate(loads, 1):
        print(f"  hinge {k}: {load.mean():.0f} ± {load.std():.0f} N")
    return study


if __name__ == "__main__":
    main()

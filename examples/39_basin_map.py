"""The basins of a linkage with two stable positions, and the boundary between them.

A rod on a pin is pushed over by a spring that is too long for its place: it rests to the left or to
the right of the upright position. Where it comes to rest depends on how it begins. A study maps the
end over the initial angle and rate, and `refine` follows the boundary with few runs.
"""

import tempfile
from pathlib import Path

import zwang as zw
from zwang.studies.refine import Boundary, refine


def linkage() -> zw.Mechanism:
    """A rod in the plane, with a spring between its end and a point above."""
    m = zw.Mechanism(plane="xz")
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, axis="z"), position=(0, 0, 0.5))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0))
    m.spring_damper("spring", m.ground, rod, at=[(0, 0, 1.5), (0, 0, 1.0)], stiffness=100.0,
                    length=0.8)  # fmt: skip
    m.torsion_spring("damper", m.ground, rod, damping=0.3)
    return m


def main() -> Boundary:
    """Follow the boundary between the two basins."""
    plan = {
        "grid": {
            "start.pin.angle": {"from": -0.8, "to": 0.8, "count": 5},
            "start.pin.angle_rate": {"from": -4.0, "to": 4.0, "count": 5},
        },
        "until": 8.0,
        "outputs": ["rest = end(pin.angle)"],
        "settings": {"tolerance": 1e-6},
    }
    folder = Path(tempfile.mkdtemp())
    tolerance = {"start.pin.angle": 0.1, "start.pin.angle_rate": 0.5}
    edge = refine(linkage(), plan, folder / "rounds", of="rest", tolerance=tolerance)
    first = edge.studies[0].dataset["rest"].values
    print(f"of {len(first)} starts on the first grid {int((first > 0).sum())} end on the right")
    print(edge)
    return edge


if __name__ == "__main__":
    main()

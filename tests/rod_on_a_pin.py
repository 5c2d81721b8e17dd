"""A rod that swings on a pin, as a model file with outputs and events of its own."""

from pathlib import Path

import zwang as zw

MODEL = """
[constants]
depth = "-0.4 m"
turn = "60 deg"
[mechanism]
gravity = [0, 0, -9.81]
[body.rod]
mass = 1
shape = { type = "rod", length = 1, axis = "x" }
position = [0.5, 0, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
axis = "y"
[simulation]
until = 1
"""

#: The same in a plane, to which settings are to be added.
PLANAR = """
[mechanism]
plane = "xy"
gravity = [0, -9.81]
[body.rod]
mass = 1
inertia = 0.1
position = [0.5, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0]
"""


def written(folder: Path, more: str = "") -> Path:
    """The file with further tables."""
    path = folder / "rod.toml"
    path.write_text(MODEL + more, encoding="utf-8")
    return path


def read(folder: Path, more: str = "") -> zw.Model:
    """The model with further tables."""
    return zw.read_model(written(folder, more))

"""Commented model files to start from."""

from __future__ import annotations

import json

from zwang.errors import UnknownNameError

__all__ = ["starter"]

_MECHANISM = """\
# NAME: a model for zwang. Lines that begin with # are comments.
# Numbers are in SI units and radians, or text with a unit: "12 mm", "30 deg".
# Expressions are text too: "a * sin(omega * t)". Nothing in this file is executed.

[model]
name = TITLE
description = "A rod on a pin with a spring"

# Numbers for use below; they are fixed when the file is read.
[constants]
L = "60 cm"

# Numbers for use in expressions; they can be changed for each run.
[parameters]
push = 2.0

[mechanism]
gravity = [0, 0, "-9.81 m/s^2"]
# plane = "xz"                   # for a planar mechanism

[body.rod]
mass = "0.8 kg"
shape = { type = "rod", length = "L", axis = "x" }     # box, cylinder, tube, sphere, plate, point
position = ["L / 2", 0, 0]                             # of the body's origin
# orientation = { axis = "y", angle = "30 deg" }       # or a quaternion [w, x, y, z]

[joint.pin]
type = "revolute"                # prismatic, spherical, universal, fixed, …: see the docs
bodies = ["ground", "rod"]
at = [0, 0, 0]                   # in the world, as placed
axis = "y"

[force.spring]
type = "spring_damper"           # torsion_spring, bushing, force, user
bodies = ["ground", "rod"]
at = [["L", 0, "0.5 m"], ["L", 0, 0]]
stiffness = "60 N/m"
damping = 0.4

[force.wind]
type = "force"
body = "rod"
force = ["push * sin(3 * t)", 0, 0]

# [constraint.mine]              # a condition of your own, zero when it holds
# bodies = ["rod"]
# equations = ["rod.position[2] + 0.1"]

# [drive.motor]                  # a prescribed motion
# of = "pin.angle"
# value = "2 * t"

# [friction.pin]
# coefficient = 0.2
# radius = "10 mm"

[start]
hold = { "pin.angle" = "20 deg" }

[simulation]
until = "10 s"
tolerance = 1e-9
save = 0.02                      # seconds between saved states
"""

_SYSTEM = """\
# NAME: a system of functions for zwang. Lines that begin with # are comments.
# Numbers are in SI units and radians, or text with a unit: "12 mm", "30 deg".
# Expressions are text too: "m * g * z". Nothing in this file is executed.

[model]
name = TITLE
description = "A point mass on a rod, in Cartesian coordinates"

[parameters]
m = 1.0
g = 9.81
L = 2.0

[system]
coordinates = ["x", "y", "z"]                # velocities are x_dot, y_dot, z_dot
mass = ["m", "m", "m"]                       # the diagonal, or rows of the matrix
potential = "m * g * z"
# force = ["-0.1 * x_dot", 0, "-m * g"]      # in place of a potential, or beside it
# kinetic_energy = "m * dot(v, v) / 2"       # in place of mass

[constraint.rod]
position = "x^2 + y^2 + z^2 - L^2"           # or velocity = …, or A and b
# [nonideal.rod]                             # a force that depends on the reaction
# force = ["-0.1 * abs(reaction[0]) * x_dot", 0, 0]

[start]
hold = { x = 1.0, y = 0.0 }
near = { z = -1.7 }                          # chooses between the two ways
velocity = { hold = { y_dot = 1.0 } }

# [event.floor]
# function = "z + 1.9"
# direction = -1
# stop = true

[simulation]
until = 10.0
tolerance = 1e-9
save = 0.02
"""


def starter(name: str, kind: str = "mechanism") -> str:
    """A commented model to start from.

    Parameters
    ----------
    name : of the model.
    kind : ``"mechanism"``, or ``"system"`` for one of functions.
    """
    texts = {"mechanism": _MECHANISM, "system": _SYSTEM}
    if kind not in texts:
        raise UnknownNameError("kind of model", kind, texts)
    title = json.dumps(name, ensure_ascii=False)
    return texts[kind].replace("TITLE", title).replace("NAME", name.replace("\n", " "), 1)

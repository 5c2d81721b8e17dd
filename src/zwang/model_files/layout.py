"""The tables of a model file and their keys: the one description of what may be written in it."""

from __future__ import annotations

from typing import Any

from zwang.analysis.effort_rules import RULES
from zwang.integrators.settings import METHODS, Coordinates, Drift, OnSingular
from zwang.model_files.cases import GivenValue
from zwang.model_files.document import Item
from zwang.model_files.fields import (
    Choice,
    Constants,
    Direction,
    Field,
    FieldKind,
    Flag,
    Formulas,
    Map,
    NameList,
    NumberArrayField,
    NumberField,
    OneOf,
    Orientation,
    PlaceField,
    TableField,
    TableList,
    Text,
)
from zwang.model_files.geometry import GeometryMap
from zwang.multibody.joints import KINDS
from zwang.multibody.pose import PLANES

__all__ = ["ANALYSIS_TABLES", "CURVE", "FILE", "FORCES", "MECHANISM_ONLY", "SHAPES", "SYSTEM_ONLY"]

_LENGTH, _ANGLE, _MASS, _PLAIN = (
    NumberField("m"),
    NumberField("rad"),
    NumberField("kg", least=0.0),
    NumberField(""),
)
_POINT = NumberArrayField("m", ((2,), (3,)))
_VELOCITY = NumberArrayField("m/s", ((2,), (3,)))

#: Shape of a body → its sizes.
SHAPES: dict[str, dict[str, Field]] = {
    "rod": {
        "length": Field(_LENGTH, "of the rod", required=True),
        "axis": Field(Direction(), "it lies along, x if not given"),
    },
    "box": {"size": Field(NumberArrayField("m", ((3,),)), "along x, y, z", required=True)},
    "cylinder": {
        "radius": Field(_LENGTH, "of the cylinder", required=True),
        "length": Field(_LENGTH, "of the cylinder", required=True),
        "axis": Field(Direction(), "it lies along, z if not given"),
    },
    "tube": {
        "inner": Field(_LENGTH, "radius", required=True),
        "outer": Field(_LENGTH, "radius", required=True),
        "length": Field(_LENGTH, "of the tube", required=True),
        "axis": Field(Direction(), "it lies along, z if not given"),
    },
    "sphere": {"radius": Field(_LENGTH, "of the sphere", required=True)},
    "plate": {
        "sides": Field(
            NumberArrayField("m", ((2,),)), "along the other two axes in turn", required=True
        ),
        "normal": Field(Direction(), "z if not given"),
    },
    "point": {"at": Field(_POINT, "where the mass is, body axes")},
}

_SHAPE = TableField(
    {
        "type": Field(Choice(tuple(SHAPES)), "what it is", required=True),
        "mass": Field(_MASS, "of this part, where a body has several"),
        "position": Field(_POINT, "of its center, in the body's frame"),
        "orientation": Field(Orientation(), "in the body's frame"),
        **{
            key: Field(entry.kind, f"{entry.help} ({kind})")
            for kind, entries in SHAPES.items()
            for key, entry in entries.items()
        },
    }
)

_DRAWN = TableField(
    {
        "kind": Field(Choice(tuple(SHAPES)), "shape", required=True),
        "size": Field(
            NumberArrayField("m", ((0,),)), "its sizes, as zwang.inertia.Shape", required=True
        ),
        "center": Field(NumberArrayField("m", ((3,),)), "in the body's frame", required=True),
        "axes": Field(NumberArrayField("", ((3, 3),)), "as columns, body axes", required=True),
    }
)


_TENSOR = TableField(
    {
        "tensor": Field(
            NumberArrayField("kg*m^2", ((3, 3),)), "with signs as a matrix", required=True
        ),
        "about": Field(_POINT, "point of the body that it refers to; the center if not given"),
        "axes": Field(Orientation(), "from the axes of the tensor to the body's"),
        "check": Field(Flag(), "false to accept moments that no mass distribution has"),
    }
)

_MESH = TableField(
    {
        "file": Field(Text(), "STL or OBJ; a path that begins beside this file", required=True),
        "scale": Field(_LENGTH, "length of one unit of the mesh, as '1 mm'"),
        "position": Field(_POINT, "of the mesh's origin, in the body's frame"),
        "orientation": Field(Orientation(), "from the axes of the mesh to the body's"),
    }
)


_BODY = TableField(
    {
        "mass": Field(
            _MASS,
            "mass; none if not given, and neither weight nor moments, which 'zwang check' tells; "
            "without shape and inertia a point mass",
        ),
        "shape": Field(TableList(_SHAPE), "what inertia follows from: one part or several"),
        "inertia": Field(
            OneOf(_TENSOR, NumberArrayField("kg*m^2", ((), (3,), (3, 3)))),
            "about the center of mass, body axes: about the normal of the plane, three principal "
            "moments, or the tensor; or a tensor about another point and in other axes",
        ),
        "center": Field(
            _POINT, "center of mass in the body's frame, with inertia; its origin if not given"
        ),
        "drawn": Field(TableList(_DRAWN), "what it looks like, with inertia"),
        "position": Field(
            _POINT, "of the body's origin, in the world or in relative_to; 0 if not given"
        ),
        "orientation": Field(Orientation(), "from body axes to those of the world or relative_to"),
        "angle": Field(
            _ANGLE,
            "the same in a planar mechanism, about the normal: x toward y, y toward z, z toward x",
        ),
        "velocity": Field(_VELOCITY, "of the origin, world axes; 0 if not given"),
        "angular_velocity": Field(
            NumberArrayField("rad/s", ((), (3,))), "world axes; 0 if not given"
        ),
        "relative_to": Field(
            OneOf(PlaceField(pair=False), Text()), "a body named before, or a marker on it"
        ),
        "free": Field(
            Flag(), "that it is meant to move without joints or forces, false if not given"
        ),
        "mesh": Field(
            OneOf(_MESH, Text()), "what pictures show: an STL or OBJ file, beside this file"
        ),
    }
)

_COORDINATE = TableField(
    {
        "mass": Field(NumberField(None, least=0.0), "its mass, or inertia; 0 if not given"),
        "value": Field(NumberField(), "at the start, 0 if not given"),
        "rate": Field(NumberField(), "at the start, 0 if not given"),
    }
)

_BETWEEN = {
    "bodies": Field(NameList(2), "the two bodies, ground among them", required=True),
    "at": Field(PlaceField(), "point in the world as placed, or one for each body"),
}

#: The joint that is described by a function and not by numbers.
CURVE = "point_on_curve"
#: What other programs and textbooks call joints.
KNOWN_AS = {
    "slider": ("prismatic", "point_on_line"),
    "slot": ("point_on_line",),
    "rail": ("prismatic", "point_on_line"),
    "translational": ("prismatic",),
    "linear": ("prismatic",),
    "inline": ("point_on_line",),
    "hinge": ("revolute",),
    "pin": ("revolute",),
    "pivot": ("revolute",),
    "rotational": ("revolute",),
    "ball": ("spherical",),
    "ball_joint": ("spherical",),
    "weld": ("fixed",),
    "rigid": ("fixed",),
    "cardan": ("universal",),
    "hooke": ("universal",),
    "rod": ("spherical_link",),
    "link": ("spherical_link",),
    "helical": ("screw",),
    "cam": ("point_on_curve",),
}

_JOINT = TableField(
    {
        "type": Field(Choice((*KINDS, CURVE), KNOWN_AS), "kind of joint", required=True),
        **_BETWEEN,
        "axis": Field(Direction(), "of the joint, in the world as placed"),
        "axis_b": Field(Direction(), "in the second body where it differs"),
        "reference": Field(Direction(), "from which angles count"),
        "radius": Field(_LENGTH, "of pinion, ball or disk"),
        "radius_a": Field(_LENGTH, "of the first wheel; a ring gear is negative"),
        "radius_b": Field(_LENGTH, "of the second wheel"),
        "pressure_angle": Field(
            OneOf(Flag(), _ANGLE, bool),
            "of the teeth of a gear or a rack, 20 deg if not given; false ties rates alone",
        ),
        "arm_angle": Field(
            _ANGLE, "between the arms of the cross of a universal joint; 90 deg if not given"
        ),
        "length": Field(_LENGTH, "of a link; as placed if not given"),
        "pitch": Field(_LENGTH, "advance of a screw per revolution"),
        "curve": Field(Formulas(), "of s, t and parameters: the curve in the first body's frame"),
        "start": Field(NumberField(), "s at the start, about; 0 if not given"),
    }
)

_CONSTRAINT = TableField(
    {
        "bodies": Field(NameList(), "of a mechanism: the bodies it is about"),
        "equations": Field(Formulas(), "expressions that are zero; the level is found"),
        "position": Field(Formulas(), "of a system: φ(q, t) that is zero"),
        "velocity": Field(Formulas(), "of a system: ψ(q, v, t) that is zero"),
        "A": Field(Formulas(2), "of a system: rows of A v̇ = b"),
        "b": Field(Formulas(), "of a system: right-hand side of A v̇ = b"),
    }
)

_DRIVE = TableField(
    {
        "of": Field(Text(), "what is driven: pin.angle, crank.position", required=True),
        "value": Field(Formulas(2), "expression of t and parameters", required=True),
        "at": Field(
            _POINT, "for a position, the point of the body in its own axes; its origin if not given"
        ),
    }
)

_COUPLE = TableField(
    {
        "first": Field(Text(), "joint coordinate", required=True),
        "second": Field(Text(), "joint coordinate", required=True),
        "ratio": Field(
            NumberField(None), "rate of the first for that of the second", required=True
        ),
    }
)

_DOF_STIFFNESS = NumberArrayField("N/m", ((3,),))

#: Type of a force → its keys.
FORCES: dict[str, TableField] = {
    "spring_damper": TableField(
        {
            **_BETWEEN,
            "stiffness": Field(NumberField("N/m"), "of the linear part, 0 if not given"),
            "damping": Field(NumberField("N*s/m"), "of the linear part, 0 if not given"),
            "length": Field(_LENGTH, "without force; as placed if not given"),
            "force": Field(Formulas(0), "further tension, of length, rate, t and parameters"),
        }
    ),
    "torsion_spring": TableField(
        {
            **_BETWEEN,
            "axis": Field(Direction(), "of rotation"),
            "stiffness": Field(NumberField("N*m/rad"), "moment for a radian, 0 if not given"),
            "damping": Field(
                NumberField("N*m*s/rad"), "moment for a radian in a second, 0 if not given"
            ),
            "angle": Field(_ANGLE, "at rest, from the placement; 0 if not given"),
            "moment": Field(
                Formulas(0), "additional moment against the rotation, of twist, rate, t"
            ),
        }
    ),
    "bushing": TableField(
        {
            **_BETWEEN,
            "axis": Field(Direction(), "z axis of the bed"),
            "reference": Field(Direction(), "x axis of the bed as far as that can be, with axis"),
            "stiffness": Field(_DOF_STIFFNESS, "along three axes, 0 if not given"),
            "damping": Field(
                NumberArrayField("N*s/m", ((3,),)), "along three axes, 0 if not given"
            ),
            "turn_stiffness": Field(
                NumberArrayField("N*m/rad", ((3,),)), "about three axes, 0 if not given"
            ),
            "turn_damping": Field(
                NumberArrayField("N*m*s/rad", ((3,),)), "about three axes, 0 if not given"
            ),
        }
    ),
    "cartesian_spring": TableField(
        {
            **_BETWEEN,
            "stiffness": Field(
                NumberArrayField("N/m", ((), (3,))),
                "along x, y, z of the world, or one for all; 0 if not given",
            ),
            "damping": Field(
                NumberArrayField("N*s/m", ((), (3,))),
                "along x, y, z of the world, or one for all; 0 if not given",
            ),
            "offset": Field(_POINT, "between its points without force; zero if not given"),
        }
    ),
    "actuator": TableField(
        {
            "of": Field(Text(), "joint coordinate: pin.angle, slide.displacement", required=True),
            "effort": Field(
                Formulas(0),
                "along it, of joint coordinates such as pin.angle_rate, t, parameters",
                required=True,
            ),
        }
    ),
    "force": TableField(
        {
            "body": Field(Text(), "it acts on", required=True),
            "force": Field(Formulas(), "three expressions, or one that is a vector"),
            "torque": Field(Formulas(), "three expressions, or one that is a vector"),
            "at": Field(_POINT, "point of the body, in its own frame; its origin if not given"),
            "axes": Field(Choice(("world", "body")), "of the components, world if not given"),
        }
    ),
    "user": TableField(
        {
            "bodies": Field(NameList(), "they act on", required=True),
            "on": Field(
                Map(
                    TableField(
                        {
                            "force": Field(Formulas(), "on the body, world axes"),
                            "moment": Field(Formulas(), "about its center of mass, world axes"),
                            "effort": Field(Formulas(0), "on an extra generalized coordinate"),
                        }
                    )
                ),
                "body → what acts on it",
                required=True,
            ),
        }
    ),
}


class _Force(FieldKind):
    """A force: the keys that its type has."""

    def read(self, item: Item, constants: Constants) -> dict[str, Any]:
        if not isinstance(item.value, dict):
            raise item.error(expected="a table")
        kind = Field(Choice(tuple(FORCES)), "kind of force", required=True)
        if "type" not in item:
            raise item.error(
                but="there is no key 'type'", expected=f"type = …, one of {', '.join(FORCES)}"
            )
        name = kind.kind.read(item["type"], constants)
        return TableField({"type": kind, **FORCES[name].fields}).read(item, constants)

    def schema(self) -> dict[str, Any]:
        return {
            "anyOf": [
                TableField(
                    {"type": Field(Choice((name,)), "kind", required=True), **t.fields}
                ).schema()
                for name, t in FORCES.items()
            ]
        }


_FRICTION = TableField(
    {
        "coefficient": Field(
            NumberField("", least=0.0),
            "Coulomb's, of the force perpendicular to the axis; viscous alone if not given",
        ),
        "radius": Field(NumberField("m", least=0.0), "of the bearing, where the joint rotates"),
        "viscous": Field(
            NumberField(None, least=0.0), "moment per rad/s, or force per m/s; none if not given"
        ),
        "velocity": Field(
            NumberField(None, least=0.0),
            "over which the sign is smoothed [rad/s or m/s], 0.001 if not given",
        ),
        "effort": Field(
            Formulas(0),
            "in place of these, torque or force along the joint's coordinate: of pressure, the "
            "force across the axis, of rate, t, parameters",
        ),
    }
)

_SYSTEM = TableField(
    {
        "coordinates": Field(NameList(), "names of q", required=True),
        "velocities": Field(
            NameList(), "names of quasi-velocities v; v = q̇ if not given, named x_dot"
        ),
        "kinematics": Field(Formulas(2), "N of q̇ = N v + n₀"),
        "drift": Field(Formulas(), "n₀ of q̇ = N v + n₀, 0 if not given"),
        "mass": Field(Formulas(2), "mass matrix M, or its diagonal"),
        "force": Field(Formulas(), "applied force Q"),
        "potential": Field(Formulas(0), "V, for force and energy"),
        "kinetic_energy": Field(Formulas(0), "T, in place of a mass matrix"),
        "dissipation": Field(Formulas(0), "Rayleigh's function, with kinetic_energy"),
    }
)

_VALUES = Map(NumberField())

_START = TableField(
    {
        "hold": Field(_VALUES, "coordinate → value, met"),
        "prefer": Field(_VALUES, "coordinate → value, approached"),
        "weights": Field(_VALUES, "of a system: preferred coordinate → weight"),
        "near": Field(_VALUES, "of a system: coordinates where the search begins"),
        "bodies": Field(NameList(), "of a mechanism: bodies that stay as placed"),
        "velocity": Field(
            OneOf(
                TableField(
                    {
                        "hold": Field(_VALUES, "velocity → value, met"),
                        "prefer": Field(_VALUES, "velocity → value, approached"),
                        "weights": Field(_VALUES, "of a system: preferred velocity → weight"),
                    }
                ),
                Choice(("exact",)),
            ),
            'the same for velocities; "exact" of a mechanism: those of bodies, or a refusal',
        ),
        "q": Field(_VALUES, "all coordinates by name, in place of a search"),
        "v": Field(_VALUES, "velocities by name, with q; zero where not given"),
        "t": Field(NumberField("s"), "time of the start, 0 if not given"),
    }
)

_SIMULATION = TableField(
    {
        "until": Field(NumberField("s"), "end of the simulation"),
        "tolerance": Field(NumberField("", least=0.0), "local error of a step, 1e-9 if not given"),
        "integrator": Field(Choice(tuple(METHODS)), "method, auto if not given"),
        "drift": Field(Choice(tuple(Drift)), "how constraints are kept, projection if not given"),
        "baumgarte": Field(NumberField("1/s"), "rate, with drift = 'baumgarte'; 20 if not given"),
        "step": Field(
            NumberField("s"),
            "a fixed step, for generalized_alpha and rattle; chosen by tolerance if not given",
        ),
        "largest_step": Field(NumberField("s"), "a limit of the step, none if not given"),
        "spectral_radius": Field(_PLAIN, "of generalized_alpha, 0.8 if not given"),
        "formulation": Field(Text(), "auto, or a name in zwang.FORMULATIONS; auto if not given"),
        "on_singular": Field(
            Choice(tuple(OnSingular)),
            "go on or stop where constraints lose rank, continue if not given",
        ),
        "coordinates": Field(
            Choice(tuple(Coordinates)),
            "of a mechanism: what it is integrated in, auto if not given",
        ),
        "save": Field(
            NumberArrayField("s", ((), (0,))),
            "interval between saved states, or their times; every step if not given",
        ),
        "scales": Field(_VALUES, "coordinate or velocity → size"),
        "parameters": Field(
            Map(NumberArrayField(None, ((), (0,), (0, 0)))), "values in place of defaults"
        ),
        "inactive": Field(
            NameList(), "constraints that do not act at the start, nor where it is assembled"
        ),
        "certify": Field(
            OneOf(Flag(), NumberField("s"), bool),
            "solve a sample of states by every formulation, or one each so many seconds; "
            "false if not given",
        ),
        "forces": Field(
            Flag(), "compute forces and energies meanwhile, and keep them; false if not given"
        ),
    }
)

_KINEMATICS = TableField(
    {
        "along": Field(Text(), "driver or coordinate that is varied; time if not given"),
        "from": Field(NumberField(), "first value, 0 if not given"),
        "to": Field(NumberField(), "last value"),
        "steps": Field(NumberField("", least=1.0), "from the first to the last, 100 if not given"),
        "values": Field(
            NumberArrayField(None, ((0,),)), "all values, in place of from, to and steps"
        ),
        "outputs": Field(NameList(), "quantities to print, as slider.position.x"),
    }
)

_INVERSE_DYNAMICS = TableField(
    {
        "actuators": Field(NameList(), "coordinates that they work on, or drivers", required=True),
        "rule": Field(
            Choice(RULES), "which of the efforts that make the same motion, least norm if not given"
        ),
        "weights": Field(Map(NumberField("", least=0.0)), "actuator → weight of its effort"),
    }
)

_SERVO = TableField(
    {
        "program": Field(
            Map(Formulas(0)), "quantity → what it is to be: expression of t", required=True
        ),
        "actuators": Field(NameList(), "as many coordinates that they work on", required=True),
        "from": Field(NumberField("s"), "first time, 0 if not given"),
        "to": Field(NumberField("s"), "last time"),
        "steps": Field(NumberField("", least=1.0), "from the first to the last, 100 if not given"),
        "times": Field(NumberArrayField("s", ((0,),)), "all times, in place of from, to and steps"),
        "outputs": Field(NameList(), "quantities to print beside the efforts"),
    }
)

_EVENT = TableField(
    {
        "function": Field(
            Formulas(0),
            "expression that crosses a value, or a channel such as pin.force.x",
            required=True,
        ),
        "at": Field(NumberField(), "the value, 0 if not given"),
        "direction": Field(NumberField(""), "1 from below, -1 from above, 0 both and if not given"),
        "bounce": Field(NumberField("", least=0.0), "restitution of an impact"),
        "set": Field(Map(NumberArrayField(None, ((), (0,), (0, 0)))), "parameter → new value"),
        "on": Field(NameList(), "constraints that begin to act"),
        "off": Field(NameList(), "constraints that cease to act"),
        "stop": Field(Flag(), "whether the simulation ends, false if not given"),
    }
)

_OUTPUT = TableField(
    {
        "value": Field(
            Formulas(0), "expression of channels such as pin.force.x, t, parameters", required=True
        ),
        "unit": Field(
            Text(),
            "that the value is in; nothing is converted. If not given, what follows from channels",
        ),
        "description": Field(Text(), "for tables"),
    }
)

_MECHANISM = TableField(
    {
        "gravity": Field(
            NumberArrayField("m/s^2", ((2,), (3,))), "acceleration, world axes; none if not given"
        ),
        "plane": Field(
            Choice(tuple(PLANES)),
            "for a planar mechanism; angles are about its normal: in xy x toward y, in yz y toward "
            "z, in xz z toward x",
        ),
    }
)

_EQUILIBRIUM = TableField(
    {
        "hold": Field(_VALUES, "coordinate or joint coordinate → value that is kept"),
        "prefer": Field(_VALUES, "the same, for the start alone"),
        "t": Field(NumberField("s"), "time at which forces and drivers are taken, 0 if not given"),
        "rates": Field(_VALUES, "of a steady motion in place of rest: joint coordinate → rate"),
    }
)

_LINEARIZE = TableField(
    {
        "inputs": Field(NameList(), "forces, efforts at joints, parameters or drivers"),
        "outputs": Field(NameList(), "coordinates, velocities, joint coordinates, reactions"),
        "independent": Field(NameList(), "coordinates that become states"),
        "modes": Field(NumberField("", least=0.0), "how many modes to print, all if not given"),
    }
)

_CASE = TableField(
    {
        "description": Field(Text(), "what it is"),
        "set": Field(Map(OneOf(Map(GivenValue()), GivenValue())), "constant or parameter → value"),
        "simulation": Field(_SIMULATION, "settings in place of those of [simulation]"),
    }
)

#: The whole file.
FILE = TableField(
    {
        "model": Field(
            TableField({"name": Field(Text(), "name"), "description": Field(Text(), "what it is")}),
            "what the file is about",
        ),
        "constants": Field(Map(NumberField()), "numbers to be used in numbers and expressions"),
        "parameters": Field(
            Map(NumberArrayField(None, ((), (0,), (0, 0)))), "numbers that can be changed at a run"
        ),
        "define": Field(Map(Formulas(2)), "names for expressions, used in others"),
        "mechanism": Field(_MECHANISM, "a mechanism from bodies and joints"),
        "body": Field(GeometryMap(_BODY), "bodies"),
        "coordinate": Field(GeometryMap(_COORDINATE), "extra generalized coordinates"),
        "joint": Field(GeometryMap(_JOINT), "joints"),
        "constraint": Field(Map(_CONSTRAINT), "conditions of your own"),
        "drive": Field(GeometryMap(_DRIVE), "prescribed motions"),
        "couple": Field(GeometryMap(_COUPLE), "ties between joint coordinates"),
        "force": Field(GeometryMap(_Force()), "forces"),
        "friction": Field(GeometryMap(_FRICTION), "joint → friction in it"),
        "system": Field(_SYSTEM, "a system from functions"),
        "nonideal": Field(
            Map(TableField({"force": Field(Formulas(), "C, of q, v, t, reaction", required=True)})),
            "constraint → force whose work it does",
        ),
        "output": Field(Map(OneOf(_OUTPUT, Formulas(0))), "quantities of your own, from channels"),
        "start": Field(_START, "where the motion begins"),
        "event": Field(Map(_EVENT), "what happens when something crosses a value"),
        "simulation": Field(_SIMULATION, "what to simulate and save"),
        "case": Field(Map(_CASE), "values and settings under a name, for zwang run --case NAME"),
        "kinematics": Field(_KINEMATICS, "times or values of a driver for zwang kinematics"),
        "inverse_dynamics": Field(_INVERSE_DYNAMICS, "actuators for zwang inverse"),
        "servo": Field(_SERVO, "program, actuators and times for zwang servo"),
        "equilibrium": Field(_EQUILIBRIUM, "what zwang equilibrium and linearize look for"),
        "linearize": Field(_LINEARIZE, "inputs, outputs and states of zwang linearize"),
    }
)

#: Tables of analyses, which a model keeps as they are.
ANALYSIS_TABLES = ("kinematics", "inverse_dynamics", "servo", "equilibrium", "linearize", "case")

MECHANISM_ONLY = ("body", "coordinate", "joint", "drive", "couple", "force", "friction")
SYSTEM_ONLY = ("nonideal",)

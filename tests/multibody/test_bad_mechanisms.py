"""Planted mistakes in mechanisms: one sentence that names the thing, what was found and expected.

Each case builds a small mechanism with one thing wrong. Its message must contain all the words
given here in their order: the name, what was found, what was expected and, where there is one, the
advice; and it must not have come about while another error was being handled.
"""

import re

import numpy as np
import pytest

import zwang as zw
from zwang.errors import AssemblyError, NotUniqueError, UnknownNameError, ZwangError
from zwang.rotation.quaternion import rotation_matrix

NAN = float("nan")
PLANTED = []


def planted(*words):
    """Register a case; `words` appear in the message one after the other."""

    def register(case):
        PLANTED.append(pytest.param(case, words, id=case.__name__))
        return case

    return register


def pendulum(**given):
    """A rod on a pin."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), **given)
    rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    return m, rod


def two_rods():
    m, rod = pendulum()
    bar = m.body("bar", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(1.5, 0, 0))
    m.revolute("elbow", rod, bar, at=(1, 0, 0), axis="y")
    return m, rod, bar


def plane():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    return m, m.body("rod", mass=1.0, inertia=0.1, position=(0.5, 0))


def body(**given):
    zw.Mechanism().body("b", **{"mass": 2.0, **given})


def ball(**where):
    m, rod = pendulum()
    m.spherical("ball", m.ground, rod, **where)


def spring(**given):
    m, rod = pendulum()
    m.spring_damper("spring", m.ground, rod, **{"at": ((0, 0, 0), (1, 0, 0)), **given})
    m.solve()


def own(f, **parameters):
    m, rod = pendulum(parameters=parameters)
    m.constraint("own", [rod], f)
    m.solve()


def own_force(f):
    m, rod, bar = two_rods()
    m.user_force("wind", [rod, bar], f)
    m.solve()


def driven(value, what="pin.angle"):
    m, _ = pendulum()
    m.drive("motor", what, value)
    m.solve()


# --- bodies ---------------------------------------------------------------------------------------


@planted("mass of body 'b' must be zero or a positive number, not -1.")
def negative_mass():
    body(mass=-1)


@planted("mass of body 'b' must be a finite number, not nan.")
def mass_not_a_number():
    body(mass=NAN)


@planted("mass of body 'b' must be a number, not 'heavy'.")
def mass_in_words():
    body(mass="heavy", inertia=zw.inertia.sphere(1, 1))


@planted("mass of body 'b' must be the same as in the inertia, but is 2 here and 1 there.")
def two_masses():
    body(inertia=zw.inertia.sphere(1, 1))


@planted(
    "inertia of body 'b' must have principal moments of which none exceeds the sum of",
    "but they are 1, 1 and 3.",
)
def inertia_against_the_triangle_inequality():
    body(inertia=(1, 1, 3))


@planted("inertia of body 'b' must be symmetric, but has 0.1 and 0 across the diagonal.")
def inertia_not_symmetric():
    body(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]])


@planted(
    "inertia of body 'b' must have principal moments of zero or more",
    "but has a principal moment of -1.",
)
def inertia_negative():
    body(inertia=(-1, 1, 1))


@planted(
    "inertia of body 'b' must be a zwang.inertia shape, three moments or a (3, 3)", "not 'sphere'."
)
def inertia_in_words():
    body(inertia="sphere")


@planted(
    "inertia of body 'b' must be a zwang.inertia shape, three moments or a (3, 3) tensor",
    "not [[1, 2], [3]].",
)
def inertia_ragged():
    body(inertia=[[1, 2], [3]])


@planted("sides of plate must be two lengths, not (1, 2, 3).")
def plate_with_three_sides():
    zw.inertia.plate(1, (1, 2, 3))


@planted("position of body 'b' must be three finite numbers, not (1, 2).")
def position_of_two_numbers_in_space():
    body(position=(1, 2))


@planted("velocity of body 'b' must be three finite numbers, not (1, 2, nan).")
def velocity_not_a_number():
    body(velocity=(1, 2, NAN))


@planted("orientation of body 'b' must be a rotation, not a reflection.")
def orientation_a_reflection():
    body(orientation=np.diag([1, 1, -1]))


@planted(
    "orientation of body 'b' must be a rotation matrix or a nonzero quaternion (w, x, y,",
    "not (0, 0, 0, 0).",
)
def orientation_zero():
    body(orientation=(0, 0, 0, 0))


@planted(
    "orientation of body 'b' must be a rotation matrix or a quaternion (w, x, y, z)", "not 'up'."
)
def orientation_in_words():
    body(orientation="up")


@planted(
    "angle of body 'b' must be given in a planar mechanism, in place of orientation=",
    "but this one is in space.",
)
def angle_in_space():
    body(angle=1.0)


@planted(
    "relative_to of body 'x' must refer to a body of this mechanism",
    "but body 'rod' belongs to another.",
)
def relative_to_another_mechanism():
    _, other = pendulum()
    zw.Mechanism().body("x", mass=1, relative_to=other)


@planted("name of body must be letters, digits and _, and no Python keyword, not 'left arm'.")
def name_that_is_no_word():
    zw.Mechanism().body("left arm", mass=1)


@planted("name of body must begin with a letter, but '1' begins with a digit.")
def name_that_begins_with_a_digit():
    zw.Mechanism().body("1", mass=1)


@planted("body 'pin' must have a name of its own, but a joint has the same name.")
def name_taken():
    m, _ = pendulum()
    m.body("pin", mass=1)


@planted(
    "parameter 'energy' must have a name of its own, but the kinetic plus potential energy of "
    "every run has the same name. Give it another name."
)
def parameter_called_as_an_energy():
    zw.Mechanism(parameters={"energy": 1.0})


@planted("value of coordinate 'x' must be a finite number, not nan.")
def coordinate_not_a_number():
    zw.Mechanism().coordinate("x", 1.0, value=NAN)


@planted("gravity must be three finite numbers, not 9.81.")
def gravity_a_number():
    zw.Mechanism(gravity=9.81)


@planted("gravity must be two finite numbers in the plane, or three, not -9.81.")
def gravity_a_number_in_a_plane():
    zw.Mechanism(plane="xz", gravity=-9.81)


@planted("gravity must be two numbers in the plane, or three, not 'down'.")
def gravity_a_word_in_a_plane():
    zw.Mechanism(plane="xz", gravity="down")


@planted("position of body 'b' must be two finite numbers in the plane, or three, not 1.0.")
def position_a_number_in_a_plane():
    zw.Mechanism(plane="xz").body("b", mass=1.0, inertia=0.1, position=1.0)


@planted("parameter 'k' must be finite numbers, not nan.")
def parameter_not_a_number():
    zw.Mechanism(parameters={"k": NAN})


@planted(
    "body 'ghost' must be connected to the rest of the mechanism",
    "but has no joint or force.",
    "free=True",
)
def unconnected_body():
    m, _ = pendulum()
    m.body("ghost", mass=1)
    m.solve()


@planted("mechanism must have at least one body, but has none.")
def empty_mechanism():
    zw.Mechanism().solve()


# --- joints ---------------------------------------------------------------------------------------


@planted("axis of revolute joint 'hinge' must be a nonzero direction.")
def zero_axis():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar, axis=(0, 0, 0))


@planted("axis of revolute joint 'hinge' must be 'x', 'y', 'z' or three numbers, not 'w'.")
def axis_of_no_letter():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar, axis="w")


@planted("revolute joint 'hinge' must have an axis: axis=, a direction in the world or 'x',")
def no_axis():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar)


@planted("reference direction of revolute joint 'hinge' must not be parallel to the axis.")
def reference_along_the_axis():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar, axis="x", reference="x")


@planted("spherical joint 'loop' must connect two different bodies", "but 'rod' is on both sides.")
def joint_of_a_body_with_itself():
    m, rod = pendulum()
    m.spherical("loop", rod, rod)


@planted(
    "spherical joint 'loop' must connect two different bodies", "but the ground is on both sides."
)
def joint_of_the_ground_with_itself():
    m, _ = pendulum()
    m.spherical("loop", m.ground, m.ground)


@planted(
    "spherical joint 'ball' must refer to a body of this mechanism",
    "but body 'rod' belongs to another.",
)
def body_of_another_mechanism():
    m, _ = pendulum()
    _, other = pendulum()
    m.spherical("ball", m.ground, other)


@planted("body of spherical joint 'ball' must be one of ground, rod, not 'rood'.")
def unknown_body():
    m, _ = pendulum()
    m.spherical("ball", "ground", "rood")


@planted("revolute joint 'hinge' must connect bodies, but the coordinate 'x' is no body.")
def joint_of_a_coordinate():
    m, rod = pendulum()
    m.revolute("hinge", m.coordinate("x", 1.0), rod, axis="y")


@planted("point of spherical joint 'ball' must be three finite numbers, not (1, 2, 3, 4).")
def point_of_four_numbers():
    ball(at=(1, 2, 3, 4))


@planted("point of spherical joint 'ball' must be a point, a marker or a pair of these", "not 1.0.")
def point_a_number():
    ball(at=1.0)


@planted("point of spherical joint 'ball' must be three finite numbers, not (0, 0, nan).")
def point_not_a_number():
    ball(at=((0, 0, 0), (0, 0, NAN)))


@planted(
    "kind of joint: 'revolut' is not known.",
    "Did you mean 'revolute'?",
    "It must be one of spherical, revolute, cylindrical, prismatic, screw,",
)
def unknown_kind_of_joint():
    m, rod = pendulum()
    m.joint("revolut", "hinge", m.ground, rod)


@planted(
    "argument of spherical joint 'ball' must be one of at, axis, axis_b, reference,",
    "not 'radius'.",
)
def number_that_the_kind_does_not_have():
    ball(radius=1.0)


@planted("rolling_sphere joint 'wheel' must be given radius=, a number.")
def radius_left_out():
    m, rod = pendulum()
    m.rolling_sphere("wheel", m.ground, rod, axis="z")


@planted("pitch of screw joint 'nut' must be a number, not 'fine'.")
def pitch_in_words():
    m, rod = pendulum()
    m.screw("nut", m.ground, rod, axis="z", pitch="fine")


@planted("length of spherical_link joint 'link' must be a positive number, not -1.")
def negative_length():
    m, rod = pendulum()
    m.spherical_link("link", m.ground, rod, at=((0, 0, 0), (1, 0, 0)), length=-1)


@planted(
    "points of spherical_link joint 'link' must be apart, as the line between them is",
    "but are both at (0.0, 0.0, 0.0).",
)
def link_of_no_length():
    m, rod = pendulum()
    m.spherical_link("link", m.ground, rod, at=(0, 0, 0))


@planted(
    "radius_a of gear joint 'teeth' must be a nonzero radius, negative for a ring gear,", "not 0."
)
def gear_of_no_radius():
    m, rod, bar = two_rods()
    m.gear("teeth", rod, bar, axis="y", radius_a=0.0, radius_b=1.0)


@planted("rolling_disk joint 'wheel' must have axis_b=, the axis of the disk, in addition to")
def disk_without_its_axis():
    m, rod = pendulum()
    m.rolling_disk("wheel", m.ground, rod, axis="z", radius=1.0, at=((0, 0, 0), (0.5, 0, 1)))


@planted(
    "constraint 'wheel[0]' must be finite", "but has a value that is not finite at this state."
)
def disk_that_lies_flat():
    m, rod = pendulum()
    where = {"at": ((0, 0, 0), (0.5, 0, 0)), "axis": "z", "axis_b": "z"}
    m.rolling_disk("wheel", m.ground, rod, radius=1.0, **where)
    m.solve()


# --- planar mechanisms ----------------------------------------------------------------------------


@planted("plane must be one of xy, xz, yz, not 'zx'.")
def unknown_plane():
    zw.Mechanism(plane="zx")


@planted(
    "axis of revolute joint 'hinge' must be the normal of the plane xz, or a direction",
    "not (0.5773502691896258, 0.5773502691896258, 0.5773502691896258).",
)
def axis_askew_to_the_plane():
    m, rod = plane()
    m.revolute("hinge", m.ground, rod, axis=(1, 1, 1))


@planted("body 'b' must move in the plane xz, but has a velocity of 1 perpendicular to it.")
def velocity_out_of_the_plane():
    zw.Mechanism(plane="xz").body("b", mass=1, velocity=(0, 1, 0))


@planted("body 'b' must move in the plane xz, but has axes rotated out of it by 0.96.")
def orientation_out_of_the_plane():
    zw.Mechanism(plane="xz").body("b", mass=1, orientation=(0.8, 0.6, 0, 0))


@planted(
    "planar joint 'glide' must be in a mechanism in space", "but the mechanism is planar, in xz."
)
def planar_joint_in_its_own_plane():
    m, rod = plane()
    m.planar("glide", m.ground, rod, axis="y")


@planted(
    "axis of revolute joint 'hinge' must be the normal of the plane, y",
    "not a direction in the plane xz.",
)
def hinge_in_the_plane():
    m, rod = plane()
    m.revolute("hinge", m.ground, rod, axis="x")


@planted(
    "axis of prismatic joint 'slide' must be a direction in the plane xz",
    "not y, the normal of the plane.",
)
def slide_across_the_plane():
    m, rod = plane()
    m.prismatic("slide", m.ground, rod, axis="y")


@planted("gravity must lie in the plane xz, but has -9.81 along y, perpendicular to it.")
def gravity_across_the_plane():
    zw.Mechanism(plane="xz", gravity=(0, -9.81, 0))


@planted("force 'push' must lie in the plane xz, but has 3 along y, perpendicular to it.")
def force_across_the_plane():
    m, rod = plane()
    m.force("push", rod, (1.0, 3.0, 0.0))


@planted(
    "body 'alone' must be connected to the rest of the mechanism", "but has no joint or force."
)
def only_body_held_by_nothing():
    m = zw.Mechanism()
    m.body("alone", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.simulate(until=1.0)


@planted("knife_edge joint 'blade' must have reference=, the direction of its blade, in")
def blade_without_direction():
    m, rod = pendulum()
    m.knife_edge("blade", m.ground, rod, axis="z")


@planted("friction in 'pin' must have a radius=, that of the bearing, where a coefficient is")
def friction_on_no_radius():
    m, _ = pendulum()
    m.friction("pin", coefficient=0.1)


@planted("hold must be a dictionary of names and requested values, not ['pin.angle'].")
def hold_without_values():
    pendulum()[0].assemble(hold=["pin.angle"])


@planted("hold velocity must be a dictionary of names and requested values, not 3.0.")
def hold_of_one_number():
    pendulum()[0].assemble(velocity={"hold": 3.0})


@planted(
    "axes of universal joint 'cross' must be both normal to the plane or both in it",
    "but one is in the plane and one is normal to it.",
)
def axes_in_and_across_the_plane():
    m, rod = plane()
    m.universal("cross", m.ground, rod, axis="y", axis_b="x")


# --- drivers and constraints of one's own ---------------------------------------------------------


@planted("coordinate of driver 'motor' must be one of pin.angle, not 'pin.angel'.")
def driver_of_an_unknown_coordinate():
    driven(1.0, "pin.angel")


@planted("coordinate of driver 'motor' must be a name such as 'pin.angle' or", "not <body 'rod'>.")
def driver_of_a_body_itself():
    m, rod = pendulum()
    m.drive("motor", rod, 1.0)


@planted("driver 'motor' must give one value, but gives 2.")
def driver_with_two_values():
    driven((1.0, 2.0))


@planted("driver 'motor' must give three values, but gives 2.")
def driver_of_a_position_with_two_values():
    driven(lambda t: (t, 2.0), "rod.position")


@planted(
    "driver 'motor' must give a rotation matrix or a quaternion (w, x, y, z)",
    "but gives shape (3,).",
)
def driver_of_an_orientation_with_three_values():
    driven((1.0, 0.0, 0.0), "rod.orientation")


@planted("driver 'motor' must give one value, but returns None.")
def driver_that_returns_nothing():
    driven(lambda t: None)


@planted(
    "driver 'motor' must be a function of (t, p), or of some of these by name",
    "not a function of (x).",
)
def driver_of_something_else():
    driven(lambda x: x)


@planted("ratio of coupler 'belt' must be a number, not 'half'.")
def coupler_with_a_ratio_in_words():
    m, _, _ = two_rods()
    m.couple("belt", "pin.angle", "elbow.angle", "half")


@planted("constraint 'own' must return a value, but returned None.")
def constraint_that_returns_nothing():
    own(lambda bodies: None)


@planted(
    "constraint 'own' must restrict the motion of its bodies",
    "but no motion of its bodies changes its equations.",
)
def constraint_that_is_constant():
    own(lambda bodies: 1.0)


@planted(
    "constraint 'own' must return numbers, lists or arrays computed from the arguments,",
    "but returned a str.",
)
def constraint_that_returns_words():
    own(lambda bodies: "zero")


@planted(
    "constraint 'own' (line ",
    "must consist of arithmetic and NumPy functions of the arguments, but raises",
)
def constraint_that_fails():
    own(lambda bodies: bodies[3].position[0])


@planted(
    "constraint 'own' (line ",
    "must consist of arithmetic and NumPy functions of the arguments, but contains a",
    "zw.where",
)
def constraint_with_an_if():
    own(lambda bodies: 1.0 if bodies[0].position[0] > 0 else bodies[0].position[1])


@planted("parameter in constraint 'own' (line ", "must be one of length, not 'lengths'.")
def constraint_of_an_unknown_parameter():
    own(lambda bodies, p: bodies[0].position[0] - p.lengths, length=1.0)


@planted("constraint 'own' (line ", "a point or vector of a body takes three numbers, not (1, 2)")
def constraint_at_a_point_of_two_numbers():
    own(lambda bodies: bodies[0].point((1, 2))[0])


@planted("constraint 'own' must be finite, but has a value that is not finite at this state.")
def constraint_with_a_logarithm_of_zero():
    own(lambda bodies: np.log(bodies[0].position[2]))


@planted("constraint 'own' must have bodies that move, but the ground is among them.")
def constraint_on_the_ground():
    m, rod = pendulum()
    m.constraint("own", [m.ground, rod], lambda bodies: 0.0)


# --- forces ---------------------------------------------------------------------------------------


@planted("force 'wind' must be a list of 2 results, one for each body, not a list of 1.")
def forces_for_too_few_bodies():
    own_force(lambda bodies: [((0, 0, 0), (0, 0, 0))])


@planted("force of force 'wind' on 'bar' must give three values, but gives 2.")
def force_of_two_components():
    own_force(lambda bodies: [((0, 0, 0), (0, 0, 0)), ((0, 0), (0, 0, 0))])


@planted(
    "force 'wind' on 'rod' must be a pair (force, moment about the centre of mass)",
    "not (1, 2, 3).",
)
def force_without_its_moment():
    own_force(lambda bodies: [(1, 2, 3), (1, 2, 3)])


@planted("force 'push' must have a force, a torque or both, but has neither.")
def force_of_nothing():
    m, rod = pendulum()
    m.force("push", rod)


@planted("force 'push' must act on a body, but 'x' is a coordinate.")
def force_on_a_coordinate():
    m, _ = pendulum()
    m.force("push", m.coordinate("x", 1.0), (0, 0, 1))


@planted(
    "friction in 'ball' must be in a revolute, prismatic or cylindrical joint",
    "but this is a spherical joint.",
)
def friction_in_a_ball():
    m, rod = pendulum()
    m.spherical("ball", m.ground, rod)
    m.friction("ball", coefficient=0.1)


@planted("coefficient of friction in 'pin' must be zero or a positive number, not -0.1.")
def negative_friction():
    m, _ = pendulum()
    m.friction("pin", coefficient=-0.1, radius=0.05)


@planted("friction in 'pin' must be given once, but the joint has friction already.")
def friction_twice():
    m, _ = pendulum()
    m.friction("pin", coefficient=0.1, radius=0.05)
    m.friction("pin", coefficient=0.1, radius=0.05)


@planted(
    "points of spring_damper 'spring' must be apart, as the line between them is its",
    "but are both at (0.0, 0.0, 0.0).",
)
def spring_of_no_length():
    spring(at=((0, 0, 0), (0, 0, 0)), stiffness=1.0)


@planted("stiffness of spring_damper 'spring' must be a number, not (1, 2).")
def spring_with_two_stiffnesses():
    spring(stiffness=(1, 2))


@planted(
    "spring_damper 'spring' must be a function of (length, rate, t, p), or of some of",
    "not a function of (a, b).",
)
def spring_law_of_something_else():
    spring(force=lambda a, b: a)


@planted("torsion_spring 'coil' must have an axis: axis=, a direction in the world or 'x',")
def torsion_spring_without_axis():
    m, rod = pendulum()
    m.torsion_spring("coil", m.ground, rod, stiffness=1.0)


@planted("stiffness of bushing 'pad' must be three finite numbers, not 5.")
def bushing_with_one_stiffness():
    m, rod = pendulum()
    m.bushing("pad", m.ground, rod, at=(0, 0, 0), stiffness=5)


# --- assembly and use -----------------------------------------------------------------------------


@planted(
    "name in hold must be one of pin.angle, rod.x, rod.y, rod.z, rod.e0, rod.e1, rod.e2,",
    "not 'pin.angel'.",
    "Did you mean 'pin.angle'",
)
def hold_an_unknown_coordinate():
    pendulum()[0].assemble(hold={"pin.angel": 1.0})


@planted("hold 'pin.angle' must be a number, in rad, m or the model's units, not 'up'.")
def hold_at_a_value_in_words():
    pendulum()[0].assemble(hold={"pin.angle": "up"})


@planted(
    "hold 'rod' must be True, as a body is held where it was placed, not 3.0.",
    "'rod.x' take values",
)
def hold_a_body_at_a_number():
    pendulum()[0].assemble(hold={"rod": 3.0})


@planted(
    "name in hold velocity must be one of pin.angle_rate, rod.vx, rod.vy, rod.vz,",
    "not 'pin.angle'.",
    "Did you mean",
)
def hold_the_rate_of_a_position():
    pendulum()[0].assemble(velocity={"hold": {"pin.angle": 1.0}})


@planted("revolute joint pin, hold pin.angle_rate and hold rod.vz contradict each other")
def hold_velocities_that_contradict():
    held = {"pin.angle_rate": 1.0, "rod.vz": 1.0}
    pendulum()[0].assemble(velocity={"hold": held})


@planted(
    "q must have 7 values (rod.x, rod.y, rod.z, rod.e0, rod.e1, rod.e2, rod.e3)",
    "but has 3 values.",
)
def start_of_the_wrong_length():
    pendulum()[0].simulate([1, 2, 3], until=1.0)


@planted(
    "constraint 'pin[0]' at position level must be satisfied by the initial state",
    "but is violated by -0.48.",
)
def start_off_the_constraints():
    m, _ = pendulum()
    m.simulate(m.system.parts.start[0] + 0.3, until=1.0)


@planted(
    "parameter must be one of gravity, rod.mass, rod.inertia, pin.at_a, pin.axes_a,",
    "not 'rod.mas'.",
    "Did you mean 'rod.mass'",
)
def unknown_parameter():
    pendulum()[0].solve(parameters={"rod.mas": 2.0})


@planted("mass of body 'rod', parameter rod.mass must be zero or a positive number, not -2.")
def parameter_no_body_can_have():
    pendulum()[0].solve(parameters={"rod.mass": -2.0})


@planted("inactive constraint must be one of pin, not 'pinn'.")
def unknown_inactive_constraint():
    pendulum()[0].simulate(until=1.0, inactive=["pinn"])


@planted(
    "program must be given to a system made from functions",
    "but this is a mechanism, whose equations come from its bodies and joints.",
    "inverse_dynamics, for a program of other quantities by servo",
)
def program_of_a_mechanism():
    m, _ = pendulum()
    m.system.control_force(m.assemble(), program={"line": lambda q: q[2]})


@planted("rod.e0, rod.e1, rod.e2 and rod.e3 must not all be zero, as they describe the")
def start_that_is_not_turned_any_way():
    pendulum()[0].assemble(start=[0.5, 0, 0, 0, 0, 0, 0])


@planted("groups must be a dictionary of names and their rows, not ['pin'].")
def groups_without_names():
    pendulum()[0].passport(groups=["pin"])


@planted("parameter 'rod.inertia' must be numbers, not [[1, 1, 1], [1, 1]].")
def parameters_of_different_lengths():
    pendulum()[0].simulate_many(until=0.1, parameters={"rod.inertia": [[1, 1, 1], [1, 1]]})


@planted("start must be one state, not an array of states of shape (3,).")
def several_starts_to_assemble_from():
    pendulum()[0].assemble(start=np.ones((3, 7)))


@pytest.mark.parametrize(("case", "words"), PLANTED)
def test_one_sentence_tells_what_is_wrong(case, words):
    with pytest.raises(ZwangError) as caught:
        case()
    message = str(caught.value)
    pattern = ".*".join(re.escape(word) for word in words)
    assert re.search(pattern, message), message
    assert "nan" not in message or message.endswith(("not nan.", "nan).", "gives nan."))
    assert caught.value.found or caught.value.expected
    # Raised on purpose: not while another error was being handled.
    assert (
        caught.value.__cause__ is not None
        or caught.value.__suppress_context__
        or (caught.value.__context__ is None)
    )


def test_there_are_at_least_forty():
    assert len(PLANTED) >= 40


def test_a_refused_part_leaves_its_name_free():
    m, rod = pendulum()
    with pytest.raises(ZwangError):
        m.body("bob", mass=-1.0)
    with pytest.raises(ZwangError):
        m.revolute("hinge", rod, m.ground, axis=(0, 0, 0))
    bob = m.body("bob", inertia=zw.inertia.sphere(1.0, 0.1), position=(1, 0, 0))
    m.revolute("hinge", rod, bob, at=(1, 0, 0), axis="y")
    assert m.solve().acceleration.shape == (12,)


# --- reactions and results ------------------------------------------------------------------------


def test_results_are_asked_for_by_names_that_exist():
    run = pendulum()[0].simulate(until=0.01)
    with pytest.raises(
        UnknownNameError, match=r"joint must be one of pin, not 'pinn'.*Did you mean 'pin'"
    ):
        run.reaction("pinn")
    with pytest.raises(
        UnknownNameError, match=r"body must be one of rod, not 'rood'.*Did you mean 'rod'"
    ):
        run.body("rood")
    with pytest.raises(
        UnknownNameError,
        match=r"channel: 'pin\.angel' is not known. Did you mean 'pin.angle'.*one of rod\.x,",
    ):
        run["pin.angel"]
    with pytest.raises(
        ZwangError, match=r"point of body 'rod' must be three finite numbers, not \(1, 2\)"
    ):
        run.body("rod").point((1, 2))


# --- loops that do not close, drivers that contradict ---------------------------------------------


def four_bar(ground):
    """Links of 1, 2 and 1 metres over a base of a given length; another body hangs near by."""
    m = zw.Mechanism(plane="xy")
    a = m.body("a", mass=1, inertia=0.1, position=(0, 0.5), angle=np.pi / 2)
    b = m.body("b", mass=1, inertia=0.1, position=(1, 1))
    c = m.body("c", mass=1, inertia=0.1, position=(2, 0.5), angle=np.pi / 2)
    m.revolute("j1", m.ground, a, at=(0, 0))
    m.revolute("j2", a, b, at=(0, 1))
    m.revolute("j3", b, c, at=(2, 1))
    m.revolute("j4", c, m.ground, at=(c.marker((-0.5, 0)), (ground, 0)))
    m.revolute("aside", m.ground, m.body("d", mass=1, inertia=1.0), at=(0, 0))
    return m


def test_the_joint_that_alone_is_open_as_placed_is_named():
    """A brace between bars that are placed rightly has one end too far, and no loop can close."""
    m = zw.Mechanism(plane="xy")
    a = m.body("a", mass=1, inertia=0.1, position=(0, 0.5), angle=np.pi / 2)
    b = m.body("b", mass=1, inertia=0.1, position=(1, 1))
    c = m.body("c", mass=1, inertia=0.1, position=(2, 0.5), angle=np.pi / 2)
    brace = m.body("brace", mass=1, inertia=0.1, position=(1, 0.5))
    m.revolute("j1", m.ground, a, at=(0, 0))
    m.revolute("j2", a, b, at=(0, 1))
    m.revolute("j3", b, c, at=(2, 1))
    m.revolute("j4", c, m.ground, at=(2, 0))
    m.revolute("left", a, brace, at=(0, 0.5))
    m.revolute("right", brace, c, at=(brace.marker((5.0, 0)), c.marker()))
    with pytest.raises(AssemblyError, match="as placed all of these hold but right by 4"):
        m.assemble()
    with pytest.raises(AssemblyError, match="as placed all of these hold but j4 by 5"):
        four_bar(7.0).assemble()


def test_an_open_loop_is_named_with_its_gap_in_metres():
    with pytest.raises(
        AssemblyError, match="the loop of joints j1, j2, j3 and j4 cannot"
    ) as caught:
        four_bar(7.0).assemble()
    # Stretched out the links reach 4 m; the rest of 7 m is missing.
    assert caught.value.gap == pytest.approx(3.0, abs=1e-3)
    assert "gaps add up to 3 m" in str(caught.value)
    assert set(caught.value.group) == {"j1", "j2", "j3", "j4"}


@pytest.mark.parametrize("plane", ["xz", None])
@pytest.mark.parametrize("length", [2.0, lambda t: 2.0 + t], ids=["fixed", "driven"])
@pytest.mark.parametrize("arm", [0.0, 0.3])
def test_gaps_of_links_are_what_is_missing_from_their_length(plane, length, arm):
    """Equations of links have squares in them, which are no lengths far from where they hold."""
    m = zw.Mechanism(plane=plane)
    size = 0.1 if plane else (0.1, 0.1, 0.1)
    ball = m.body("ball", mass=1.0, inertia=size, position=(1 - arm, 0.5, 0))
    end = ball.marker((arm, 0, 0))
    m.spherical_link("rod", m.ground, ball, at=((0, 0.5, 0), end), length=1.0)
    m.spherical_link("long", m.ground, ball, at=((0, 0.5, 0), end), length=length)
    with pytest.raises(AssemblyError) as caught:
        m.assemble()
    state = caught.value.nearest
    x, z, *turn = state.q if plane else state.q[[0, 2, 3, 4, 5, 6]]
    if plane:
        tip = np.array([x + arm * turn[0], 0.0, z - arm * turn[1]])
    else:
        tip = state.q[:3] - [0, 0.5, 0] + rotation_matrix(np.array(turn)) @ [arm, 0, 0]
    reach = np.linalg.norm(tip)
    assert 1.1 < reach < 1.9
    assert caught.value.gap == pytest.approx(abs(reach - 1) + abs(2 - reach), rel=1e-9)
    assert f"the largest {2 - reach:.3g} m in long" in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (lambda t: 0.0 * t, lambda t: 0.5 + 0.0 * t, "driver d1 and driver d2 contradict"),
        (
            lambda t: t,
            lambda t: 2.0 * t,
            "no velocity satisfies all joints and held values: driver d1 and",
        ),
        (
            lambda t: t**2,
            lambda t: 2.0 * t**2,
            "constraints d1 and d2 contradict each other: d1 − d2 is zero on the",
        ),
    ],
    ids=["position", "velocity", "acceleration"],
)
def test_drivers_that_contradict_are_named(first, second, words):
    m, _ = pendulum()
    m.drive("d1", "pin.angle", first)
    m.drive("d2", "pin.angle", second)
    with pytest.raises(ZwangError, match=words):
        m.simulate(until=1.0)


@pytest.mark.parametrize("placed", [False, True], ids=["rates alone", "among closed joints"])
def test_rates_that_contradict_in_a_large_mechanism_are_named(placed):
    m = zw.Mechanism()
    balls = [m.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), free=True) for k in range(20)]
    if placed:
        m.spherical("socket", m.ground, balls[1], at=(0, 0, 0))
    for name, pace in (("slow", 1.0), ("fast", 3.0)):
        m.constraint(name, balls[:1], lambda bodies, pace=pace: bodies[0].velocity[0] - pace)
    assert m.system.equations.by_elements
    with pytest.raises(AssemblyError, match=r"velocity.*constraint slow and constraint fast") as e:
        m.assemble()
    # The nearest velocity lies half way between.
    assert e.value.gap == pytest.approx(2.0, abs=1e-6)
    assert e.value.nearest.v[0] == pytest.approx(2.0, abs=1e-6)


def parting(first, second):
    """A pendulum with two drivers of its angle."""
    m, _ = pendulum()
    m.drive("d1", "pin.angle", first)
    m.drive("d2", "pin.angle", second)
    return m


@pytest.mark.parametrize("save", [None, 0.01], ids=["at steps", "between steps"])
def test_drivers_that_part_later_end_the_run_where_they_do(save):
    m = parting(lambda t: t**4, lambda t: 0.0 * t)
    run = m.simulate(until=1.0, save=save)
    assert not run.finished
    assert "constraints d1 and d2 contradict each other: d1 − d2 is zero on the left" in run.status
    # Accelerations part by 12 t²; what is kept is what was right before.
    stopped = float(run.status.split("t = ")[1].split(" s")[0])
    assert run.t[-1] < stopped <= 0.01
    assert run.t[-1] == 0.0 or run.t[-1] < 1e-3
    assert np.abs(run.q[:, 2]).max() < 1e-12
    assert not any("largest_step" in note for note in run.notes)


def test_drivers_that_part_at_a_kink_keep_what_was_before_it():
    m = parting(lambda t: np.maximum(t - 0.5, 0.0), lambda t: 0.0 * t)
    run = m.simulate(until=1.0, save=0.01)
    assert "t = 0.51 s: constraints d1 and d2 contradict each other" in run.status
    assert run.t[-1] == 0.5


def test_drivers_that_have_parted_are_named_where_only_the_end_is_saved():
    m = parting(lambda t: t**4, lambda t: 0.0 * t)
    run = m.simulate(until=1.0, save=[0.0, 1.0])
    assert "constraints d1 and d2 contradict each other: the nearest position" in run.status
    assert run.t.tolist() == [0.0]


def test_an_event_after_a_contradiction_does_not_happen():
    m = parting(lambda t: t**4, lambda t: 0.0 * t)
    run = m.simulate(until=1.0, save=0.01, events={"late": zw.event(lambda t: t - 0.9, "stop")})
    assert "constraints d1 and d2 contradict each other" in run.status
    assert not run.events


def test_only_events_before_a_contradiction_are_kept():
    m = parting(lambda t: t**4, lambda t: 0.0 * t)
    events = {"early": zw.event(lambda t: t - 0.005), "late": zw.event(lambda t: t - 0.05)}
    run = m.simulate(until=1.0, save=0.01, events=events)
    assert run.status.startswith("stopped at t = 0.01 s: constraints d1 and d2")
    assert [event.name for event in run.events] == ["early"]


# --- bodies that nothing determines ---------------------------------------------------------------


def with_ghost(count):
    """A chain of rods in space whose last one carries a massless body on a ball."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    before = m.ground
    for k in range(count):
        rod = m.body(f"rod{k}", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5 + k, 0, 0))
        m.revolute(f"pin{k}", before, rod, at=(k, 0, 0), axis="y")
        before = rod
    m.body("ghost")
    m.spherical("ball", before, "ghost", at=(count, 0, 0))
    return m


@pytest.mark.parametrize("count", [1, 11], ids=["small", "large"])
@pytest.mark.parametrize("use", ["solve", "simulate"])
def test_a_massless_body_that_nothing_determines_is_refused_by_name(count, use):
    m = with_ghost(count)
    with pytest.raises(NotUniqueError) as caught:
        m.solve() if use == "solve" else m.simulate(until=1.0)
    message = str(caught.value)
    assert message.startswith(
        "body 'ghost' must have every motion determined by mass, inertia or a joint"
    )
    assert f"ghost turns about y through ({count}, 0, 0)" in message
    assert "Give ghost mass and inertia, or a joint" in message
    assert caught.value.directions.shape == (6 * count + 6, 3)


def test_a_point_mass_on_a_ball_spins_about_the_line_to_it():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    m.body("bob", mass=1.0, position=(0, 0, -1))
    m.spherical("ball", m.ground, "bob", at=(0, 0, 0))
    with pytest.raises(NotUniqueError, match=r"bob turns about z through \(0, 0, [-−]1\)"):
        m.solve()
    # Nothing else notices that spin: the motion goes on without it.
    assert m.simulate(until=0.1).finished
    m.force("twist", "bob", torque=(0, 0, 0.3))
    with pytest.raises(
        NotUniqueError, match=r"through \(0, 0, [-−]1\)\), and a force or moment acts"
    ):
        m.simulate(until=0.1)


def test_a_massless_coordinate_is_refused_by_name():
    m, _ = pendulum()
    m.coordinate("x")
    with pytest.raises(
        NotUniqueError,
        match=r"coordinate 'x' must have every motion.*but there is a motion with none of",
    ):
        m.solve()

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


@planted("mass of body 'b': found -1; expected zero or a positive number")
def negative_mass():
    body(mass=-1)


@planted("mass of body 'b': found nan; expected a finite number")
def mass_not_a_number():
    body(mass=NAN)


@planted("mass of body 'b': found 'heavy'; expected a number")
def mass_in_words():
    body(mass="heavy", inertia=zw.inertia.sphere(1, 1))


@planted("mass of body 'b': found 2, and 1 in its inertia; expected the same mass. Leave out mass=")
def two_masses():
    body(inertia=zw.inertia.sphere(1, 1))


@planted("inertia of body 'b': found principal moments 1, 1 and 3; expected", "sum of the others")
def inertia_against_the_triangle_inequality():
    body(inertia=(1, 1, 3))


@planted(
    "inertia of body 'b': found a tensor that is not symmetric, 0.1 against 0; expected J = Jᵀ"
)
def inertia_not_symmetric():
    body(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]])


@planted("inertia of body 'b': found a principal moment of -1; expected none below zero")
def inertia_negative():
    body(inertia=(-1, 1, 1))


@planted("inertia of body 'b': found 'sphere'; expected a zwang.inertia shape, three moments or")
def inertia_in_words():
    body(inertia="sphere")


@planted("inertia of body 'b': found [[1, 2], [3]]; expected", "a (3, 3) tensor")
def inertia_ragged():
    body(inertia=[[1, 2], [3]])


@planted("sides of plate: found (1, 2, 3); expected two lengths")
def plate_with_three_sides():
    zw.inertia.plate(1, (1, 2, 3))


@planted("position of body 'b': found (1, 2); expected three finite numbers")
def position_of_two_numbers_in_space():
    body(position=(1, 2))


@planted("velocity of body 'b': found (1, 2, nan); expected three finite numbers")
def velocity_not_a_number():
    body(velocity=(1, 2, NAN))


@planted("orientation of body 'b': found a reflection; expected a rotation")
def orientation_a_reflection():
    body(orientation=np.diag([1, 1, -1]))


@planted("orientation of body 'b': found (0, 0, 0, 0); expected", "that is not zero")
def orientation_zero():
    body(orientation=(0, 0, 0, 0))


@planted("orientation of body 'b': found 'up'; expected numbers")
def orientation_in_words():
    body(orientation="up")


@planted("angle of body 'b': found an angle in space; expected an orientation in space")
def angle_in_space():
    body(angle=1.0)


@planted("relative_to of body 'x': found body 'rod' of another mechanism; expected bodies of this")
def relative_to_another_mechanism():
    _, other = pendulum()
    zw.Mechanism().body("x", mass=1, relative_to=other)


@planted("name of body: found 'left arm'; expected letters, digits and _")
def name_that_is_no_word():
    zw.Mechanism().body("left arm", mass=1)


@planted("body 'pin': found a joint of the same name; expected distinct names. Give it another")
def name_taken():
    m, _ = pendulum()
    m.body("pin", mass=1)


@planted("value of coordinate 'x': found nan; expected a finite number")
def coordinate_not_a_number():
    zw.Mechanism().coordinate("x", 1.0, value=NAN)


@planted("gravity: found 9.81; expected three finite numbers")
def gravity_a_number():
    zw.Mechanism(gravity=9.81)


@planted("parameter 'k': found nan; expected finite numbers")
def parameter_not_a_number():
    zw.Mechanism(parameters={"k": NAN})


@planted("body 'ghost': found no joint or force on it; expected a connection", "free=True")
def unconnected_body():
    m, _ = pendulum()
    m.body("ghost", mass=1)
    m.solve()


@planted("mechanism: found no bodies; expected at least one. Add one by m.body")
def empty_mechanism():
    zw.Mechanism().solve()


# --- joints ---------------------------------------------------------------------------------------


@planted("axis of revolute joint 'hinge': found the zero vector; expected a direction")
def zero_axis():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar, axis=(0, 0, 0))


@planted("axis of revolute joint 'hinge': found 'w'; expected 'x', 'y', 'z' or three numbers")
def axis_of_no_letter():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar, axis="w")


@planted("revolute joint 'hinge': found no axis; expected axis=")
def no_axis():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar)


@planted(
    "reference direction of revolute joint 'hinge': found one along the axis; expected one acr"
)
def reference_along_the_axis():
    m, rod, bar = two_rods()
    m.revolute("hinge", rod, bar, axis="x", reference="x")


@planted("spherical joint 'loop': found 'rod' on both sides; expected two different bodies")
def joint_of_a_body_with_itself():
    m, rod = pendulum()
    m.spherical("loop", rod, rod)


@planted("spherical joint 'loop': found the ground on both sides; expected two different bodies")
def joint_of_the_ground_with_itself():
    m, _ = pendulum()
    m.spherical("loop", m.ground, m.ground)


@planted("spherical joint 'ball': found body 'rod' of another mechanism; expected bodies of this")
def body_of_another_mechanism():
    m, _ = pendulum()
    _, other = pendulum()
    m.spherical("ball", m.ground, other)


@planted(
    "spherical joint 'ball', body: found 'rood'; expected one of ground, rod. Did you mean 'ro"
)
def unknown_body():
    m, _ = pendulum()
    m.spherical("ball", "ground", "rood")


@planted("revolute joint 'hinge': found the coordinate 'x'; expected a body. Tie coordinates by")
def joint_of_a_coordinate():
    m, rod = pendulum()
    m.revolute("hinge", m.coordinate("x", 1.0), rod, axis="y")


@planted("point of spherical joint 'ball': found (1, 2, 3, 4); expected three finite numbers")
def point_of_four_numbers():
    ball(at=(1, 2, 3, 4))


@planted("point of spherical joint 'ball': found 1.0; expected a point, a marker or a pair")
def point_a_number():
    ball(at=1.0)


@planted("point of spherical joint 'ball': found (0, 0, nan); expected three finite numbers")
def point_not_a_number():
    ball(at=((0, 0, 0), (0, 0, NAN)))


@planted("kind of joint: found 'revolut'; expected one of spherical,", "Did you mean 'revolute'")
def unknown_kind_of_joint():
    m, rod = pendulum()
    m.joint("revolut", "hinge", m.ground, rod)


@planted("spherical joint 'ball', argument: found 'radius'; expected one of at, axis")
def number_that_the_kind_does_not_have():
    ball(radius=1.0)


@planted("rolling_sphere joint 'wheel': found no radius; expected radius=, a number")
def radius_left_out():
    m, rod = pendulum()
    m.rolling_sphere("wheel", m.ground, rod, axis="z")


@planted("pitch of screw joint 'nut': found 'fine'; expected a number")
def pitch_in_words():
    m, rod = pendulum()
    m.screw("nut", m.ground, rod, axis="z", pitch="fine")


@planted("length of spherical_link joint 'link': found -1; expected a positive number")
def negative_length():
    m, rod = pendulum()
    m.spherical_link("link", m.ground, rod, at=((0, 0, 0), (1, 0, 0)), length=-1)


@planted(
    "points of spherical_link joint 'link': found both at (0.0, 0.0, 0.0); expected two points"
)
def link_of_no_length():
    m, rod = pendulum()
    m.spherical_link("link", m.ground, rod, at=(0, 0, 0))


@planted("radius_a of gear joint 'teeth': found 0; expected a radius")
def gear_of_no_radius():
    m, rod, bar = two_rods()
    m.gear("teeth", rod, bar, axis="y", radius_a=0.0, radius_b=1.0)


@planted("rolling_disk joint 'wheel': found no axis_b; expected axis_b=, the axis of the disk")
def disk_without_its_axis():
    m, rod = pendulum()
    m.rolling_disk("wheel", m.ground, rod, axis="z", radius=1.0, at=((0, 0, 0), (0.5, 0, 1)))


@planted("constraint 'wheel[0]': found a value that is not finite at this state; expected finite")
def disk_that_lies_flat():
    m, rod = pendulum()
    where = {"at": ((0, 0, 0), (0.5, 0, 0)), "axis": "z", "axis_b": "z"}
    m.rolling_disk("wheel", m.ground, rod, radius=1.0, **where)
    m.solve()


# --- planar mechanisms ----------------------------------------------------------------------------


@planted("plane: found 'zx'; expected one of xy, xz, yz")
def unknown_plane():
    zw.Mechanism(plane="zx")


@planted("axis of revolute joint 'hinge': found (0.57", "expected the normal of the plane xz, or a")
def axis_askew_to_the_plane():
    m, rod = plane()
    m.revolute("hinge", m.ground, rod, axis=(1, 1, 1))


@planted("body 'b': found a velocity of 1 across it; expected a body that moves in the plane xz")
def velocity_out_of_the_plane():
    zw.Mechanism(plane="xz").body("b", mass=1, velocity=(0, 1, 0))


@planted("body 'b': found axes turned out of it by 0.96; expected a body that moves in the plane")
def orientation_out_of_the_plane():
    zw.Mechanism(plane="xz").body("b", mass=1, orientation=(0.8, 0.6, 0, 0))


@planted("planar joint 'glide': found a planar mechanism, in xz; expected a mechanism in space.")
def planar_joint_in_its_own_plane():
    m, rod = plane()
    m.planar("glide", m.ground, rod, axis="y")


@planted(
    "axis of revolute joint 'hinge': found a direction in the plane xz; expected its normal, y"
)
def hinge_in_the_plane():
    m, rod = plane()
    m.revolute("hinge", m.ground, rod, axis="x")


@planted(
    "axis of prismatic joint 'slide': found y, the normal of the plane xz; expected a directio"
)
def slide_across_the_plane():
    m, rod = plane()
    m.prismatic("slide", m.ground, rod, axis="y")


@planted("gravity: found -9.81 along y, across the plane; expected a vector in the plane xz")
def gravity_across_the_plane():
    zw.Mechanism(plane="xz", gravity=(0, -9.81, 0))


@planted("force 'push': found 3 along y, across the plane; expected a vector in the plane xz")
def force_across_the_plane():
    m, rod = plane()
    m.force("push", rod, (1.0, 3.0, 0.0))


@planted(
    "body 'alone': found no joint or force on it; expected a connection to the rest of the mech"
)
def only_body_held_by_nothing():
    m = zw.Mechanism()
    m.body("alone", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.simulate(until=1.0)


@planted(
    "knife_edge joint 'blade': found no reference; expected reference=, the direction of its b"
)
def blade_without_direction():
    m, rod = pendulum()
    m.knife_edge("blade", m.ground, rod, axis="z")


@planted(
    "friction in 'pin': found a coefficient and no radius; expected radius=, that of the beari"
)
def friction_on_no_radius():
    m, _ = pendulum()
    m.friction("pin", coefficient=0.1)


@planted("hold: found ['pin.angle']; expected a dictionary, of what is wished for and its value")
def hold_without_values():
    pendulum()[0].assemble(hold=["pin.angle"])


@planted("hold velocity: found 3.0; expected a dictionary, of what is wished for and its value")
def hold_of_one_number():
    pendulum()[0].assemble(velocity={"hold": 3.0})


@planted("axes of universal joint 'cross': found one in the plane and one across it; expected both")
def axes_in_and_across_the_plane():
    m, rod = plane()
    m.universal("cross", m.ground, rod, axis="y", axis_b="x")


# --- drivers and constraints of one's own ---------------------------------------------------------


@planted("driver 'motor', coordinate: found 'pin.angel'; expected one of pin.angle. Did you mean")
def driver_of_an_unknown_coordinate():
    driven(1.0, "pin.angel")


@planted("coordinate of driver 'motor': found <body 'rod'>; expected a name such as 'pin.angle'")
def driver_of_a_body_itself():
    m, rod = pendulum()
    m.drive("motor", rod, 1.0)


@planted("driver 'motor': found 2 values; expected one")
def driver_with_two_values():
    driven((1.0, 2.0))


@planted("driver 'motor': found 2 values; expected three")
def driver_of_a_position_with_two_values():
    driven(lambda t: (t, 2.0), "rod.position")


@planted("driver 'motor': found a value of shape (3,); expected a rotation matrix or a quaternion")
def driver_of_an_orientation_with_three_values():
    driven((1.0, 0.0, 0.0), "rod.orientation")


@planted("driver 'motor': found a function that returns None; expected one value. Is a 'return'")
def driver_that_returns_nothing():
    driven(lambda t: None)


@planted("driver 'motor': found a function of (x); expected a function of (t, p)")
def driver_of_something_else():
    driven(lambda x: x)


@planted("ratio of coupler 'belt': found 'half'; expected a number")
def coupler_with_a_ratio_in_words():
    m, _, _ = two_rods()
    m.couple("belt", "pin.angle", "elbow.angle", "half")


@planted("constraint 'own': found a function that returns None; expected a value. Is a 'return'")
def constraint_that_returns_nothing():
    own(lambda bodies: None)


@planted(
    "constraint 'own': found equations that no motion of its bodies changes; expected at least"
)
def constraint_that_is_constant():
    own(lambda bodies: 1.0)


@planted("constraint 'own': found a result of type str; expected numbers")
def constraint_that_returns_words():
    own(lambda bodies: "zero")


@planted(
    "constraint 'own' (line ", "found IndexError: list index out of range; expected arithmetic"
)
def constraint_that_fails():
    own(lambda bodies: bodies[3].position[0])


@planted("constraint 'own' (line ", "found a decision by the value of a symbol", "zw.where")
def constraint_with_an_if():
    own(lambda bodies: 1.0 if bodies[0].position[0] > 0 else bodies[0].position[1])


@planted(
    "constraint 'own' (line ", "parameter: found 'lengths'; expected one of length. Did you mean"
)
def constraint_of_an_unknown_parameter():
    own(lambda bodies, p: bodies[0].position[0] - p.lengths, length=1.0)


@planted("constraint 'own' (line ", "a point or vector of a body takes three numbers, not (1, 2)")
def constraint_at_a_point_of_two_numbers():
    own(lambda bodies: bodies[0].point((1, 2))[0])


@planted(
    "constraint 'own': found a value that is not finite at this state; expected finite numbers"
)
def constraint_with_a_logarithm_of_zero():
    own(lambda bodies: np.log(bodies[0].position[2]))


@planted("constraint 'own': found the ground among its bodies; expected bodies that move")
def constraint_on_the_ground():
    m, rod = pendulum()
    m.constraint("own", [m.ground, rod], lambda bodies: 0.0)


# --- forces ---------------------------------------------------------------------------------------


@planted("force 'wind': found 1 results; expected a list of 2, one for each body")
def forces_for_too_few_bodies():
    own_force(lambda bodies: [((0, 0, 0), (0, 0, 0))])


@planted("force of force 'wind' on 'bar': found 2 values; expected three")
def force_of_two_components():
    own_force(lambda bodies: [((0, 0, 0), (0, 0, 0)), ((0, 0), (0, 0, 0))])


@planted("force 'wind' on 'rod': found (1, 2, 3); expected a pair (force, moment")
def force_without_its_moment():
    own_force(lambda bodies: [(1, 2, 3), (1, 2, 3)])


@planted("force 'push': found neither force nor torque; expected one or both")
def force_of_nothing():
    m, rod = pendulum()
    m.force("push", rod)


@planted(
    "force 'push': found the coordinate 'x'; expected a body. m.user_force acts on coordinates"
)
def force_on_a_coordinate():
    m, _ = pendulum()
    m.force("push", m.coordinate("x", 1.0), (0, 0, 1))


@planted(
    "friction in 'ball': found a spherical joint; expected a revolute, prismatic or cylindrica"
)
def friction_in_a_ball():
    m, rod = pendulum()
    m.spherical("ball", m.ground, rod)
    m.friction("ball", coefficient=0.1)


@planted("coefficient of friction in 'pin': found -0.1; expected zero or a positive number")
def negative_friction():
    m, _ = pendulum()
    m.friction("pin", coefficient=-0.1, radius=0.05)


@planted("friction in 'pin': found friction that it has already; expected one law for each joint")
def friction_twice():
    m, _ = pendulum()
    m.friction("pin", coefficient=0.1, radius=0.05)
    m.friction("pin", coefficient=0.1, radius=0.05)


@planted(
    "points of spring_damper 'spring': found both at (0.0, 0.0, 0.0); expected two points apar"
)
def spring_of_no_length():
    spring(at=((0, 0, 0), (0, 0, 0)), stiffness=1.0)


@planted("stiffness of spring_damper 'spring': found (1, 2); expected a number")
def spring_with_two_stiffnesses():
    spring(stiffness=(1, 2))


@planted(
    "spring_damper 'spring': found a function of (a, b); expected a function of (length, rate,"
)
def spring_law_of_something_else():
    spring(force=lambda a, b: a)


@planted("torsion_spring 'coil': found no axis; expected axis=")
def torsion_spring_without_axis():
    m, rod = pendulum()
    m.torsion_spring("coil", m.ground, rod, stiffness=1.0)


@planted("stiffness of bushing 'pad': found 5; expected three finite numbers")
def bushing_with_one_stiffness():
    m, rod = pendulum()
    m.bushing("pad", m.ground, rod, at=(0, 0, 0), stiffness=5)


# --- assembly and use -----------------------------------------------------------------------------


@planted("hold: found 'pin.angel'; expected one of pin.angle,", "Did you mean 'pin.angle'")
def hold_an_unknown_coordinate():
    pendulum()[0].assemble(hold={"pin.angel": 1.0})


@planted("hold 'pin.angle': found 'up'; expected a number")
def hold_at_a_value_in_words():
    pendulum()[0].assemble(hold={"pin.angle": "up"})


@planted("hold 'rod': found 3.0; expected True", "'rod.x' take values")
def hold_a_body_at_a_number():
    pendulum()[0].assemble(hold={"rod": 3.0})


@planted("hold velocity: found 'pin.angle'; expected one of pin.angle_rate", "Did you mean")
def hold_the_rate_of_a_position():
    pendulum()[0].assemble(velocity={"hold": {"pin.angle": 1.0}})


@planted("revolute joint pin, hold pin.angle_rate and hold rod.vz contradict each other")
def hold_velocities_that_contradict():
    held = {"pin.angle_rate": 1.0, "rod.vz": 1.0}
    pendulum()[0].assemble(velocity={"hold": held})


@planted("q: found 3 values; expected 7: rod.x")
def start_of_the_wrong_length():
    pendulum()[0].simulate([1, 2, 3], until=1.0)


@planted(
    "start, constraint 'pin[0]'", "found a violation of", "expected a start that satisfies all"
)
def start_off_the_constraints():
    m, _ = pendulum()
    m.simulate(m.system.parts.start[0] + 0.3, until=1.0)


@planted("parameter: found 'rod.mas'; expected one of gravity", "Did you mean 'rod.mass'")
def unknown_parameter():
    pendulum()[0].solve(parameters={"rod.mas": 2.0})


@planted("mass of body 'rod', parameter rod.mass: found -2; expected zero or a positive number")
def parameter_no_body_can_have():
    pendulum()[0].solve(parameters={"rod.mass": -2.0})


@planted("inactive constraint: found 'pinn'; expected one of pin. Did you mean 'pin'")
def unknown_inactive_constraint():
    pendulum()[0].simulate(until=1.0, inactive=["pinn"])


@planted("program: found a mechanism", "expected a system made from functions", "drive or constr")
def program_of_a_mechanism():
    m, _ = pendulum()
    m.system.control_force(m.assemble(), program={"line": lambda q: q[2]})


@planted("rod.e0, rod.e1, rod.e2 and rod.e3: found zeros; expected numbers of which not all are")
def start_that_is_not_turned_any_way():
    pendulum()[0].assemble(start=[0.5, 0, 0, 0, 0, 0, 0])


@planted("groups: found ['pin']; expected a dictionary")
def groups_without_names():
    pendulum()[0].passport(groups=["pin"])


@planted("parameter 'rod.inertia': found [[1, 1, 1], [1, 1]]; expected")
def parameters_of_different_lengths():
    pendulum()[0].simulate_many(until=0.1, parameters={"rod.inertia": [[1, 1, 1], [1, 1]]})


@planted("start: found states of shape (3,); expected one state")
def several_starts_to_assemble_from():
    pendulum()[0].assemble(start=np.ones((3, 7)))


@pytest.mark.parametrize(("case", "words"), PLANTED)
def test_one_sentence_tells_what_is_wrong(case, words):
    with pytest.raises(ZwangError) as caught:
        case()
    message = str(caught.value)
    pattern = ".*".join(re.escape(word) for word in words)
    assert re.search(pattern, message), message
    assert "nan" not in message or "found" in message
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
    with pytest.raises(UnknownNameError, match=r"joint: found 'pinn'.*Did you mean 'pin'"):
        run.reaction("pinn")
    with pytest.raises(UnknownNameError, match=r"body: found 'rood'.*Did you mean 'rod'"):
        run.body("rood")
    with pytest.raises(UnknownNameError, match=r"found 'pin.angel'.*Did you mean 'pin.angle'"):
        run["pin.angel"]
    with pytest.raises(ZwangError, match=r"point of body 'rod': found \(1, 2\); expected three"):
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


def test_an_open_loop_is_named_with_its_gap_in_metres():
    with pytest.raises(
        AssemblyError, match="the loop of joints j1, j2, j3 and j4 cannot"
    ) as caught:
        four_bar(7.0).assemble()
    # Stretched out the links reach 4 m; the rest of 7 m is missing.
    assert caught.value.gap == pytest.approx(3.0, abs=1e-3)
    assert "gaps add up to 3 m" in str(caught.value)
    assert set(caught.value.group) == {"j1", "j2", "j3", "j4"}


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (lambda t: 0.0 * t, lambda t: 0.5 + 0.0 * t, "driver d1 and driver d2 contradict"),
        (lambda t: t, lambda t: 2.0 * t, "assembly, velocity: .* driver d1 and driver d2"),
        (lambda t: t**2, lambda t: 2.0 * t**2, "constraints d1 and d2: found a contradiction"),
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
    assert m.system.by_blocks
    with pytest.raises(AssemblyError, match=r"velocity.*constraint slow and constraint fast") as e:
        m.assemble()
    # The nearest velocity lies half way between.
    assert e.value.gap == pytest.approx(2.0, abs=1e-6)
    assert e.value.nearest.v[0] == pytest.approx(2.0, abs=1e-6)


def test_drivers_that_part_later_end_the_run():
    m, _ = pendulum()
    m.drive("d1", "pin.angle", lambda t: t**4)
    m.drive("d2", "pin.angle", lambda t: 0.0 * t)
    run = m.simulate(until=1.0)
    assert not run.finished
    assert "contradict each other: 'd2' is missed by" in run.status


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
    assert message.startswith("body 'ghost': found a motion with neither mass nor constraint")
    assert f"ghost turns about y through ({count}, 0, 0)" in message
    assert "Give ghost mass and inertia, or a joint" in message
    assert caught.value.directions.shape == (6 * count + 6, 3)


def test_a_point_mass_on_a_ball_spins_about_the_line_to_it():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    m.body("bob", mass=1.0, position=(0, 0, -1))
    m.spherical("ball", m.ground, "bob", at=(0, 0, 0))
    with pytest.raises(NotUniqueError, match=r"bob turns about z through \(0, 0, -1\)"):
        m.solve()
    # Nothing else notices that spin: the motion goes on without it.
    assert m.simulate(until=0.1).finished


def test_a_massless_coordinate_is_refused_by_name():
    m, _ = pendulum()
    m.coordinate("x")
    with pytest.raises(NotUniqueError, match=r"coordinate 'x': found .* \(x changes\)"):
        m.solve()

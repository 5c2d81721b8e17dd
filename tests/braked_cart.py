"""A cart whose force jumps at an event, as a model file."""

#: At 1 m/s, stopped by a damper from t = 3 s on: v = exp(−c/m·(t − 3)), of 400 N at first.
CART = """
[parameters]
c = 0.0
[mechanism]
plane = "xy"
gravity = [0, 0]
[body.cart]
mass = "8 kg"
inertia = 1
velocity = ["1 m/s", 0]
[joint.rail]
type = "prismatic"
bodies = ["ground", "cart"]
at = [0, 0]
axis = "x"
[force.damper]
type = "actuator"
of = "rail.displacement"
effort = "-c * rail.displacement_rate"
[event.brake]
function = "t"
at = "3 s"
set = { c = 400 }
"""

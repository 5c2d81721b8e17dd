"""Groups of joints, drivers and held values that contradict each other are irreducible.

Released alone, any member lets the others be assembled; left alone, they cannot be.
"""

import numpy as np
import pytest

import zwang as zw
from zwang.assembly.contradiction import Subsets

L = 1.2


def crossed_arms(reach, only=None, *, platform=False, height=0.0):
    """Two arms with a pin in their middle, one end on the ground, one on a slider that is driven.

    Parameters
    ----------
    only : names of the joints and drivers that there are; all where not given.
    height : of the slider's guide.
    """
    half, angle = L / 2, np.radians(25)
    x, z = half * np.cos(angle), half * np.sin(angle)
    m = zw.Mechanism(plane="xz")
    rod = {"inertia": zw.inertia.rod(mass=1.0, length=L), "position": (x, z), "free": True}
    a = m.body("a", **rod, angle=-angle)
    b = m.body("b", **rod, angle=angle)
    light = {"mass": 1, "inertia": 0.1, "free": True}
    slider = m.body("slider", **light, position=(2 * x, 0))
    top = m.body("top", **light, position=(half, 2 * z)) if platform else None
    joints = {
        "foot": lambda: m.revolute("foot", m.ground, a, at=((0, 0), a.marker((-half, 0)))),
        "middle": lambda: m.revolute("middle", a, b, at=(a.marker(), b.marker())),
        "guide": lambda: m.prismatic(
            "guide", m.ground, slider, at=((0, height), slider.marker()), axis="x"
        ),
        "pin": lambda: m.revolute("pin", slider, b, at=(slider.marker(), b.marker((half, 0)))),
        # Without the guide, to which it belongs, it is what it prescribes.
        "spindle": lambda: (
            m.drive("spindle", "guide.displacement", lambda t: reach)
            if keeps("guide")
            else m.point_on_line(
                "spindle", m.ground, slider, at=((reach, 0), slider.marker()), axis="z"
            )
        ),
    }
    if top is not None:
        joints |= {
            "hinge": lambda: m.revolute(
                "hinge", top, b, at=(top.marker((-half, 0)), b.marker((-half, 0)))
            ),
            "slide": lambda: m.point_on_line(
                "slide", top, a, at=(top.marker((-half, 0)), a.marker((half, 0))), axis="x"
            ),
        }

    def keeps(name):
        return only is None or name in only

    for name, add in joints.items():
        if keeps(name):
            add()
    return m


def group_of(m, **choices):
    with pytest.raises(zw.AssemblyError) as caught:
        m.assemble(**choices)
    return caught.value


@pytest.mark.parametrize("platform", [False, True])
@pytest.mark.parametrize(("reach", "height"), [(1.3, 0.0), (1.39, 0.0), (1.0, -3.0)])
def test_a_group_is_irreducible_beyond_reach(reach, height, platform):
    """The pin in the middle has no gap in the nearest configuration, and is needed."""
    error = group_of(crossed_arms(reach, platform=platform, height=height))
    own = {"guide"} if height else {"spindle"}
    assert set(error.group) == {"foot", "middle", "pin", *own}
    build = {"platform": platform, "height": height}
    group_of(crossed_arms(reach, error.group, **build))
    for name in error.group:
        rest = [other for other in error.group if other != name]
        crossed_arms(reach, rest, **build).assemble()


def test_what_is_likely_to_be_wrong_is_told():
    assert group_of(crossed_arms(1.0, height=-3.0)).likely == ("guide",)
    assert group_of(crossed_arms(1.3)).likely == ("spindle",)


def test_a_held_value_is_named_with_all_that_it_needs():
    error = group_of(crossed_arms(1.0, platform=True), hold={"middle.angle": 0.1})
    assert set(error.group) == {"foot", "middle", "guide", "pin", "spindle", "hold middle.angle"}


def chain(count, reach):
    """Many links in a row whose ends are pinned too far apart."""
    m = zw.Mechanism(plane="xz")
    before, at = m.ground, (0, 0)
    for k in range(count):
        link = m.body(f"l{k}", mass=1, inertia=0.1, position=(k + 0.5, 0))
        m.revolute(f"j{k}", before, link, at=(at, link.marker((-0.5, 0))))
        hung = m.body(f"h{k}", mass=1, inertia=0.1, position=(k + 0.5, -1))
        m.revolute(f"hang{k}", link, hung, at=(k + 0.5, 0))
        before, at = link, link.marker((0.5, 0))
    m.revolute("end", before, m.ground, at=(at, (reach, 0)))
    return m


@pytest.mark.parametrize("count", [8, 20, 90])
def test_groups_of_large_mechanisms_have_a_whole_loop_and_no_joint_aside(count):
    error = group_of(chain(count, count + 3))
    assert set(error.group) == {"end", *(f"j{k}" for k in range(count))}


def test_a_group_that_could_not_be_searched_to_its_end_says_so(monkeypatch):
    monkeypatch.setattr(Subsets, "worn_out", property(lambda self: True))
    error = group_of(crossed_arms(1.3, platform=True))
    assert "(perhaps not all of them have a part in it)" in str(error)
    assert {"foot", "middle", "pin", "spindle"} <= set(error.group)

"""Whether the motion determines an output of the user's that is made of indeterminate reactions.

Multipliers may differ by any z with Aᵀz = 0, and the force of a group by A_gᵀ z_g. An output that
is a sum of components with factors changes by the same sum of these: it is determinate if that is
zero for all z, as the load on both hinges of a door is. Where it is no such sum, as a magnitude, it
counts as determinate only if all that it is made of is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.diagnosis.passport import Passport
from zwang.multibody.wrench import joint_wrench
from zwang.results.channel_catalog import PARTS, ChannelEntry, catalog
from zwang.results.determined import motion_is_open
from zwang.results.driver_efforts import driver_speed, effort_along
from zwang.results.event_rows import changed
from zwang.results.output_values import written_out
from zwang.results.segments import Segment
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.tracing.own_output import OwnOutput

__all__ = ["Look", "looks_at", "output_is_determinate"]

#: Saved states that are looked at, evenly spread: axes of the ground turn against the bodies.
STATES = 5
#: A change below this share of what is added up is rounding.
NO_CHANGE = 1e-9


class Look(NamedTuple):
    """A saved state, and what is known of multipliers there.

    Attributes
    ----------
    row : its number.
    segment : the one it belongs to.
    passport : of the constraints that act.
    """

    row: int
    segment: Segment
    passport: Passport


def looks_at(run: Run) -> list[Look]:
    """Some saved states of a run."""
    found = []
    for i in np.unique(np.linspace(0, len(run) - 1, STATES).astype(int)).tolist():
        segment = next(s for s in run.segments if s.first <= i < s.last)
        state = run.q[i], run.v[i], float(run.t[i])
        passport = segment.system.passport(*state, parameters=segment.parameters)
        found.append(Look(i, segment, passport))
    return found


def output_is_determinate(run: Run, output: OwnOutput, looks: list[Look]) -> bool:
    """Whether no admissible multipliers change an output at the states that are looked at."""
    import casadi as ca

    value, channels = written_out(run, output)
    open_ = {name: x for name, x in channels.items() if not run.channels.determinate(name)}
    if not open_ or motion_is_open(run):
        return not open_
    symbols = ca.vertcat(*open_.values())
    slope = ca.densify(ca.jacobian(value, symbols))
    # Of forces of unknown size, as of teeth, the bases tell nothing.
    if ca.depends_on(slope, symbols) or any(look.passport.notes for look in looks):
        return False
    s = run.system.equations.symbols
    function = ca.Function("slope", [s.q, s.v, s.t, s.p, *channels.values()], [slope])
    entries = catalog(run.system, run.mechanism)
    given = {name: run[name] for name in channels}
    for look in looks:
        found = [_change(run, look, name, entries) for name in open_]
        changes = [change for change in found if change is not None]
        if len(changes) < len(found):
            return False
        i, p = look.row, run.system.parameter_vector(look.segment.parameters)
        at = function(run.q[i], run.v[i], run.t[i], p, *(x[i] for x in given.values()))
        factors, change = np.array(at).ravel(), np.vstack(changes)
        added = np.abs(factors) @ np.abs(change)
        if np.abs(factors @ change).max(initial=0.0) > NO_CHANGE * added.max(initial=0.0):
            return False
    return True


def _change(
    run: Run, look: Look, name: str, entries: Mapping[str, ChannelEntry]
) -> FloatArray | None:
    """What a channel or a component changes by with each z, (parts, k); None where unknown."""
    owner, _, part = name.rpartition(".")
    component = name not in entries and part in PARTS
    entry = entries[owner if component else name]
    group = look.passport.groups.get(entry.owner)
    if group is None or (component and part == "magnitude"):
        return None
    if entry.kind in ("multiplier", "coupler"):
        row = group.rows[int(entry.quantity) if entry.quantity.isdigit() else 0]
        return look.passport.basis[row : row + 1]
    parts = run.mechanism
    if parts is None or entry.owner not in parts.joints:
        return None
    joint, basis = parts.joints[entry.owner], group.basis.T
    state = np.full(len(basis), look.row)
    if entry.kind == "reaction":
        if joint.toothed or joint.a is None or joint.b is None:
            return None
        wrench = joint_wrench(parts, joint, basis, run.q[state])
        change = wrench.force if entry.quantity == "force" else wrench.moment
        return change.T[[PARTS.index(part)]] if component else change.T
    if entry.kind != "driver" or entry.quantity not in ("effort", "power"):
        return None
    segment = Segment(0, len(basis), look.segment.system, look.segment.parameters)
    same = changed(run, t=run.t[state], q=run.q[state], v=run.v[state], segments=(segment,))
    effort = effort_along(same, f"{joint.drives}_rate", basis)
    return (effort if entry.quantity == "effort" else effort * driver_speed(same, joint))[None]

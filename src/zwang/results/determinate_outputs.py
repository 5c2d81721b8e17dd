"""Whether the motion determines an output of the user's that is made of indeterminate reactions.

Multipliers may differ by any z with Aᵀz = 0, and the force of a group by A_gᵀ z_g. An output that
is a sum of components with factors changes by the same sum of these: it is determinate if that is
zero for all z, as the load on both hinges of a door is. An output that is no sum of them, as a
magnitude, is determinate if all sums are that it is made of (`open_sums`).
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
from zwang.results.open_sums import OpenQuantity, SumWalk
from zwang.results.output_values import written_out
from zwang.results.segments import Segment
from zwang.terms import EPSILON, FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.tracing.own_output import OwnOutput

__all__ = ["Look", "looks_at", "output_is_determinate"]

#: Saved states that are looked at, evenly spread: axes of the ground turn against the bodies.
STATES = 5
#: A sum is off by so many roundings of what is added up, and by so many times what Aᵀz is not zero
#: by: states satisfy constraints to a tolerance, and constraints are redundant to the same.
ROUNDINGS = 64.0


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
    value, channels = written_out(run, output)
    open_ = {name: x for name, x in channels.items() if not run.channels.determinate(name)}
    if not open_ or motion_is_open(run):
        return not open_
    # Of forces of unknown size, as of teeth, the bases tell nothing.
    if any(look.passport.notes for look in looks):
        return False
    s = run.system.equations.symbols
    walk = SumWalk(value, [s.q, s.v, s.t, s.p, *channels.values()])
    entries = catalog(run.system, run.mechanism)
    given = {name: run[name] for name in channels}
    decided = False
    for look in looks:
        quantities: dict[int, OpenQuantity] = {}
        for name, symbols in open_.items():
            found = _change(run, look, name, entries)
            if found is None:
                return False
            hashes = (symbols[k].element_hash() for k in range(symbols.numel()))
            quantities |= dict(zip(hashes, found, strict=True))
        i, p = look.row, run.system.parameter_vector(look.segment.parameters)
        state = [run.q[i], run.v[i], run.t[i], p, *(x[i] for x in given.values())]
        known = walk.is_determinate(state, quantities, _rounding(look))
        if known is False:
            return False
        decided = decided or known is not None
    return decided


def _rounding(look: Look) -> float:
    """What a sum of changes may be off by, relative to what is added up."""
    of_groups = [group.basis for group in look.passport.groups.values()]
    added = np.sum(np.abs(of_groups), axis=0).max(axis=0, initial=0.0)
    left = np.abs(np.sum(of_groups, axis=0)).max(axis=0, initial=0.0)
    off = np.divide(left, added, out=np.zeros_like(left), where=added > 0.0)
    return ROUNDINGS * max(EPSILON, float(off.max(initial=0.0)))


def _change(
    run: Run, look: Look, name: str, entries: Mapping[str, ChannelEntry]
) -> list[OpenQuantity] | None:
    """What the parts of a channel, or a component, change by with each z; None where unknown."""
    owner, _, part = name.rpartition(".")
    component = name not in entries and part in PARTS
    entry = entries[owner if component else name]
    group = look.passport.groups.get(entry.owner)
    if group is None or (component and part == "magnitude"):
        return None
    if entry.kind in ("multiplier", "coupler"):
        row = group.rows[int(entry.quantity) if entry.quantity.isdigit() else 0]
        return _quantities(look.passport.basis[row : row + 1], look.passport.basis)
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
        rows = change.T[[PARTS.index(part)]] if component else change.T
        return _quantities(rows, wrench.force.T, wrench.moment.T, group.basis)
    if entry.kind != "driver" or entry.quantity not in ("effort", "power"):
        return None
    segment = Segment(0, len(basis), look.segment.system, look.segment.parameters)
    same = changed(run, t=run.t[state], q=run.q[state], v=run.v[state], segments=(segment,))
    effort = effort_along(same, f"{joint.drives}_rate", basis)
    along = effort if entry.quantity == "effort" else effort * driver_speed(same, joint)
    return _quantities(along[None], along[None])


def _quantities(rows: FloatArray, *of: FloatArray) -> list[OpenQuantity]:
    """Changes (parts, k) as quantities that are computed of numbers of such sizes."""
    size = np.abs(np.concatenate(of)).max(axis=0, initial=0.0)
    return [OpenQuantity(row, size) for row in rows]

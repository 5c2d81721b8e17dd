"""Tables of a report: what was simulated, reactions, drivers, energies, settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from zwang.assembly.large_moves import extent
from zwang.diagnosis.passport import Status
from zwang.display import (
    counted,
    plain_number,
    power_of_ten,
    residual_size,
    without_rounding,
    written_out,
)
from zwang.errors import ZwangError
from zwang.multibody.connections import bodies_in_words
from zwang.results.channel_summary import means
from zwang.results.controllers_of_runs import controllers_of, set_by_controllers
from zwang.results.held_means import Nodes
from zwang.results.mechanism_run import parts_of
from zwang.results.model_digest import versions
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.results.unbounded import unbounded_at
from zwang.view.channels import PASSPORT_ROWS, reacting_joints
from zwang.view.efforts import effort_series, effort_words
from zwang.view.joints import joint_kind
from zwang.view.reaction_sizes import forces_beside
from zwang.view.report_springs import first_largest, spring_rows
from zwang.view.scene import statuses

__all__ = [
    "constraints",
    "drivers",
    "energy_balance",
    "explanation",
    "history",
    "made_with",
    "reactions",
    "springs",
    "summary",
]

#: Saved states × (velocities + constraint rows)² up to which works are computed from all of them,
#: which takes some seconds at this limit; of more from as many as that, but at least so many.
LEDGER_WORK, LEDGER_STATES = 1e7, 50
#: Work, against the largest potential energy, that is the rounding of a difference of two.
NO_WORK = 1e-12
#: Force against the largest it is in balance with, and mean against the root mean square, that is
#: what rounding and the tolerance of a run leave of a zero; the time of a largest value of zero.
NO_FORCE, NOWHEN = 1e-10, "–"
#: Moment about the point of a joint against that of its force about others: their rounding.
NO_MOMENT = 1e-13
#: Work or change of energy, against the largest energy, that is the rounding of the numbers that it
#: is the difference of, and that is at most the error of a run, of which two digits tell enough.
NO_CHANGE, ERROR = 1e-15, 1e-8
#: Heading of a column of times; units stay with what they belong to, on a phone too.
AT = "at\N{NBSP}t\N{NBSP}[s]"
#: Of a reaction of which some part is determinate, but no component along the axes.
OTHERWISE = "determinate: a combination of components"
#: In place of a number.
UNBOUNDED = "unbounded"
#: What holds bodies together and is no joint of some kind: several have an s.
NOUNS = ("driver", "coupler", "own constraint")
#: Constraints of a system of functions in a table.
MOST_CONSTRAINTS = 40


def summary(run: Run) -> str:
    """The figures that matter, in one table."""
    system = run.system
    rows = sum(len(r) for r in system.groups.values())
    c, s = run.counts, run.settings
    facts: list[tuple[str, str]] = []
    if run.mechanism is not None:
        parts = run.mechanism
        plane = "in space" if parts.kind.plane is None else f"in the plane {parts.kind.name}"
        facts += [("mechanism", f"{bodies_in_words(b.kind for b in parts.bodies)}, {plane}")]
        own = not any(j.kind is not None for j in parts.joints.values()) and parts.joints
        facts += [("constraints" if own else "joints", _kinds(parts))]
    facts += [
        ("coordinates, velocities", f"{len(system.coordinates)}, {len(system.velocities)}"),
        ("constraint rows", f"{rows}{_rank(run)}"),
        ("simulated", f"{run.t[0]:g} to {run.t[-1]:.6g} s, {len(run)} states saved"),
        ("integrator", f"{s.integrator}, {_tolerance(s)}"),
        ("steps", f"{c.steps} accepted, {c.rejected} rejected"),
        ("evaluations", f"{c.evaluations}"),
    ]
    if rows:
        facts.append(("largest residual", residual_size(run.worst_residual)))
    if run.potential_energy is not None:
        energy, unit = run.energy, "" if run.mechanism is None else " J"
        change = _change(np.abs(energy - energy[0]).max(), _size(run), 4)
        facts.append(("energy, largest change", power_of_ten(change) + unit))
    return table([], [[escape(k), escape(v)] for k, v in facts], kind="full")


def _rank(run: Run) -> str:
    rows = sum(len(r) for r in run.system.groups.values())
    # Ranks begin with that of the start where rows are dependent there, and else with a later one.
    at_start = [change for change in run.ranks if change.t <= run.t[0]]
    dependent = at_start[-1].dependent_rows if at_start else 0
    freedom = len(run.system.velocities) - rows + dependent
    redundant = f", {dependent} of them redundant" if dependent else ""
    return f"{redundant}; {counted(freedom, 'degree')} of freedom at the start"


def explanation(run: Run) -> str:
    """`explain` at the start."""
    if sum(len(r) for r in run.system.groups.values()) > PASSPORT_ROWS:
        return "<p>Too large to be explained here; ask explain() for it.</p>"
    try:
        text = run.segments[0].system.explain(
            run.q[0], run.v[0], float(run.t[0]), parameters=run.parameters
        )
    except ZwangError as error:
        return f"<p>{escape(str(error))}</p>"
    return f'<pre tabindex="0">{escape(str(text))}</pre>'


def reactions(run: Run, even: Run) -> str:
    """Largest forces and moments of the joints, with their determinacy."""
    joints = reacting_joints(run)
    if not joints:
        return ""
    known, parts = statuses(even), parts_of(run)
    rows = []
    try:
        forces = {name: np.linalg.norm(even.reaction(name).force, axis=1) for name in joints}
        peaks = {name: float(force.max(initial=0.0)) for name, force in forces.items()}
        infinite = {name: unbounded_at(even, f"{name}.force") for name in joints}
        beside = forces_beside(even, peaks, {n for n, t in infinite.items() if t is not None})
        arm = float(np.linalg.norm(extent(parts, even.q[0])))  # of the moments of forces
        for name in joints:
            joint = parts.joints[name]
            markers = [m for m in (joint.a, joint.b) if m is not None]
            most = np.linalg.norm(even.reaction(name).moment, axis=1).max()
            force = without_rounding(peaks[name], beside[name], NO_FORCE)
            moment = without_rounding(most, beside[name] * arm, NO_FORCE)
            moment = without_rounding(moment, peaks[name] * arm, NO_MOMENT)
            when = f"{even.t[first_largest(forces[name])]:.3g}" if force else NOWHEN
            poles = [infinite[name], unbounded_at(even, f"{name}.moment")]
            when = when if poles[0] is None else f"{poles[0]:.3g}"
            bodies = ["ground" if m.body < 0 else parts.bodies[m.body].name for m in markers]
            rows.append(
                [
                    escape(name),
                    escape(joint_kind(parts, joint)),
                    escape(" – ".join(bodies)),
                    plain_number(force) if poles[0] is None else UNBOUNDED,
                    when,
                    plain_number(moment) if poles[1] is None else UNBOUNDED,
                    _tag(known[name]) + _known_components(even, name, known[name]),
                ]
            )
    except ZwangError as error:
        return f"<h2>Reactions</h2><p>{escape(str(error))}</p>"
    force, moment = "largest force\N{NBSP}[N]", "largest moment\N{NBSP}[N\N{NBSP}m]"
    heads = ["joint", "kind", "between", force, AT, moment, "determinacy"]
    made = table(heads, rows, (3, 4, 5), "full")
    return f"<h2>Reactions</h2>{_wide(made, 'reactions')}{_meaning(known.values())}"


def drivers(even: Run, nodes: Nodes | None = None) -> str:
    """Effort, speed and power of what drives joint coordinates: peak and root mean square.

    Parameters
    ----------
    nodes : for means of what jumps where controllers change parameters.
    """
    words = effort_words(even)
    if not words:
        return ""
    heading = f"<h2>{words.capitalize()}</h2>"
    rows = []
    try:
        between = list(effort_series(nodes.run)) if nodes is not None and nodes.run else None
        for k, of in enumerate(effort_series(even)):
            y, pole = of.values, unbounded_at(even, of.channel)
            peak = first_largest(y)
            rms, mean = means(even.t, y, nodes, None if between is None else between[k].values)
            rows.append(
                [
                    escape(of.name) if k % 3 == 0 else "",
                    escape(of.along) if k % 3 == 0 else "",
                    f"{of.quantity} [{of.unit}]",
                    *(
                        [
                            plain_number(y[peak]),
                            f"{even.t[peak]:.3g}" if y[peak] else NOWHEN,
                            plain_number(rms) if np.isfinite(rms) else NOWHEN,
                            plain_number(without_rounding(mean, rms, NO_FORCE))
                            if np.isfinite(mean)
                            else NOWHEN,
                        ]
                        if pole is None
                        else [UNBOUNDED, f"{pole:.3g}", UNBOUNDED, NOWHEN]
                    ),
                ]
            )
    except ZwangError as error:
        return f"{heading}<p>{escape(str(error))}</p>"
    name = words.replace("drivers", "driver").replace("actuators", "actuator")
    heads = [name.replace(" and ", " or "), "along", "quantity", "peak", AT, "RMS", "mean"]
    return f"{heading}{_wide(table(heads, rows, (3, 4, 5, 6), 'full'), words)}"


def springs(even: Run, nodes: Nodes | None = None) -> str:
    """Forces of springs and dampers: peak, root mean square and mean."""
    rows = spring_rows(even, nodes)
    if not rows:
        return ""
    made = table(["force", "unit", "peak", AT, "RMS", "mean"], rows, (2, 3, 4, 5), "full")
    return f"<h2>Springs and dampers</h2>{_wide(made, 'springs and dampers')}"


def constraints(even: Run) -> str:
    """Largest multipliers and generalized forces of constraints that are no joints."""
    joints = set(reacting_joints(even))
    names = [name for name in even.system.groups if name not in joints][:MOST_CONSTRAINTS]
    if not names:
        return ""
    rows = []
    try:
        for name in names:
            multipliers, force = even.multipliers(name), even.constraint_force(name)
            peak = first_largest(np.abs(force).max(axis=1, initial=0.0))
            most = int(np.argmax(np.abs(force[peak]))) if force.shape[1] else 0
            rows.append(
                [
                    escape(name),
                    f"{multipliers.shape[1]}",
                    plain_number(np.abs(multipliers).max(initial=0.0)),
                    plain_number(np.abs(force[peak]).max(initial=0.0)),
                    escape(even.system.velocities[most]),
                    f"{even.t[peak]:.3g}" if np.any(force[peak]) else NOWHEN,
                ]
            )
    except ZwangError as error:
        return f"<h2>Forces of constraints</h2><p>{escape(str(error))}</p>"
    heads = ["constraint", "equations", "largest multiplier", "largest generalized force"]
    made = table([*heads, "along", AT], rows, (1, 2, 3, 5), "full")
    return f"<h2>Forces of constraints</h2>{_wide(made, 'forces of constraints')}"


def energy_balance(run: Run) -> str:
    """Where the energy came from and went to."""
    T, V, size = run.kinetic_energy, run.potential_energy, _size(run)
    rows = [
        ["kinetic energy, start", plain_number(T[0], 6)],
        ["kinetic energy, end", plain_number(without_rounding(T[-1], T.max()), 6)],
    ]
    if V is not None:
        rows += [
            ["potential energy, start", plain_number(V[0], 6)],
            ["potential energy, end", plain_number(V[-1], 6)],
            ["sum, end minus start", _change(run.energy[-1] - run.energy[0], size)],
        ]
    extra, sentence = _works(run, size)
    unit = "" if run.mechanism is None else "J"
    return table(["quantity", unit or "value"], [*rows, *extra], numbers=(1,)) + sentence


def _works(run: Run, size: float) -> tuple[list[list[str]], str]:
    """Works of the kinds of forces; a sentence where they are not computed."""
    constraint_rows = sum(len(r) for r in run.system.groups.values())
    states = int(LEDGER_WORK / max(len(run.system.velocities) + constraint_rows, 1) ** 2)
    if len(run) > states and states < LEDGER_STATES:
        return [], (
            '<p class="soft">The works of single kinds of forces would take long for a system '
            "of this size. In Python, work of the run computes them.</p>"
        )
    try:
        if len(run) > states:
            kept = np.linspace(0, len(run) - 1, states).astype(int)
            run = at_times(run, np.unique(run.t[kept]))
        work = run.work
    except ZwangError as error:
        return [], f"<p>{escape(str(error))}</p>"
    names = {
        "applied": "work of applied forces",
        "constraint": _work_of_constraints(run),
        "nonideal": "work of non-ideal forces",
        "inertia": "taken up by masses that change with time",
        "impulses": "impulses at events",
    }
    works = {key: getattr(work, key) for key in names}
    if not _mass_changes_with_time(run.system):
        # Velocity terms that come with M(q) are part of Q, and give back what M(q) takes up.
        works["applied"] = works["applied"] + works["inertia"]
        works["inertia"] = np.zeros(len(run))
    V, inside = run.potential_energy, ""
    if V is not None:  # weights and springs are in the sum above: what is left adds up to it
        names["applied"], inside = "work of applied forces without a potential", "of that, "
        rest = works["applied"] + (V - V[0])
        works["applied"] = np.where(np.abs(rest) > NO_WORK * np.abs(V).max(), rest, 0.0)
    rows = []
    for key, label in names.items():
        values = works[key]
        if key in ("applied", "constraint") or np.any(values):
            rows.append([inside + label, _change(values[-1], size)])
    rows.append(["largest imbalance", f"{np.abs(work.balance).max():.1e}"])
    return rows, ""


def _work_of_constraints(run: Run) -> str:
    """What work of constraints is by: joints at rest do none, drivers do."""
    parts = run.mechanism
    if parts is None:
        return "work of ideal constraint forces"
    own = [joint for joint in parts.joints.values() if joint.kind is None]
    drivers = [joint for joint in own if joint.prescribes]
    if not drivers:
        return "work of ideal constraint forces"
    return "work of drivers" if len(own) == len(drivers) else "work of drivers and constraints"


def _size(run: Run) -> float:
    """The largest energy of a run, of which its numbers are differences."""
    parts = [run.kinetic_energy, np.zeros(1)]
    if run.potential_energy is not None:
        parts.append(run.potential_energy)
    return max(float(np.abs(part).max()) for part in parts)


def _change(value: float, size: float, digits: int = 6) -> str:
    """A work or a change of energy: two digits where it is the error of a run, 0 of rounding."""
    value = without_rounding(value, size, NO_CHANGE)
    return f"{value:.1e}" if 0.0 < abs(value) < ERROR * size else plain_number(value, digits)


def _mass_changes_with_time(system: Any) -> bool:
    """Whether the mass matrix depends on time itself, and not on the coordinates alone."""
    import casadi as ca

    if system.mechanism is not None:
        return False
    model = system.model
    return bool(ca.depends_on(model.M, model.state.t))


def history(run: Run) -> str:
    """Changes of rank, and events, in order."""
    rows = [
        [f"{r.t:.6g}", f"{counted(r.dependent_rows, 'constraint row')} dependent on others"]
        for r in run.ranks
    ]
    rows += [[f"{e.t:.6g}", f"event {escape(e.name)}"] for e in run.events]
    if not rows and not run.system.groups:
        return "<p>There are no constraints, and no event happened.</p>"
    if not rows:
        return "<p>All constraint rows were independent throughout, and no event happened.</p>"
    return table(["t\N{NBSP}[s]", "what"], sorted(rows, key=lambda r: float(r[0])), numbers=(0,))


def made_with(run: Run) -> str:
    """Parameters, controllers, settings and versions, folded away."""
    controllers = controllers_of(run)
    by_controllers = set_by_controllers(run, controllers)
    values = [
        [escape(name), "set by a controller" if name in by_controllers else _number_of(value)]
        for name, value in run.parameters.items()
    ]
    chosen = [
        [escape(k), escape(power_of_ten(f"{v:g}") if isinstance(v, float) else str(v))]
        for k, v in run.settings.to_dict().items()
    ]
    # Of the processor its name; its features are a page by themselves.
    packages = [[escape(k), escape(" ".join(v.split()[:2]))] for k, v in versions().items()]
    folded = ""
    if values:
        count = counted(len(values), "parameter")
        count += "" if run.mechanism is None else ", in SI units"
        made = _wide(table([], values), "parameters")
        folded = f"<details><summary>{count}</summary>{made}</details>"
    if controllers:
        heads = ["controller", "sampled every [s]", "first sample after [s]"]
        every = [
            [escape(name), f"{one['period']:g}", f"{one['offset']:g}"]
            for name, one in controllers.items()
        ]
        made = _wide(table(heads, every, (1, 2)), "controllers")
        count = counted(len(every), "controller")
        folded += f"<details open><summary>{count}</summary>{made}</details>"
    made = _wide(table([], chosen), "settings")
    folded += f"<details><summary>settings</summary>{made}</details>"
    return folded + table([], packages)


def _number_of(value: Any) -> str:
    return escape(written_out(value))


# --- pieces ---------------------------------------------------------------------------------------


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[int] = (),
    kind: str = "narrow",
) -> str:
    """A table of cells that are HTML already."""

    def line(cells: Sequence[str], tag: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        made = [
            f"<{tag}{scope} class=n>{power_of_ten(cell)}</{tag}>"
            if k in numbers
            else f"<{tag}{scope}>{cell}</{tag}>"
            for k, cell in enumerate(cells)
        ]
        return f"<tr>{''.join(made)}</tr>"

    head = line(heads, "th") if heads else ""
    return f"<table class={kind}>{head}{''.join(line(row, 'td') for row in rows)}</table>"


def _wide(made: str, name: str) -> str:
    """A table that may be wider than a phone: it scrolls by itself, and has a name of its own."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{name}">{made}</div>'


def _tag(status: Status | None) -> str:
    text = "unknown" if status is None else status.value
    return f'<span class="tag {text}">{text}</span>'


def _known_components(run: Run, joint: str, status: Status | None) -> str:
    """Which components of a reaction are determinate, where others are not.

    Of one that is indeterminate those alone along which the joint transmits nothing: they are zero.
    """
    if status is not Status.PARTLY:
        return ""
    told = []
    for quantity in ("force", "moment"):
        channel = f"{joint}.{quantity}"
        sure = [x for x in "xyz" if run.channels.determinate(f"{channel}.{x}")]
        if sure:
            told.append(f"{quantity} {', '.join(sure)}")
    return f" determinate: {'; '.join(told)}" if told else f" {OTHERWISE}"


def _meaning(known: Iterable[Status | None]) -> str:
    every = set(known)
    if None in every:
        return '<p class="soft">The mechanism is too large for determinacy of reactions here.</p>'
    if every <= {Status.DETERMINATE}:
        return '<p class="soft">The motion determines all reactions.</p>'
    return (
        '<p class="soft">Where constraints are redundant the motion leaves open how joints share '
        "their load: of what is not determinate the numbers are those with the least norm, one "
        "choice among many.</p>"
    )


def _kinds(parts: Any) -> str:
    counts: dict[str, int] = {}
    for joint in parts.joints.values():
        name = joint_kind(parts, joint)
        name = "own constraint" if name == "constraint" else name
        counts[name] = counts.get(name, 0) + 1
    told = [counted(n, k) if k in NOUNS else f"{n} {k}" for k, n in counts.items()]
    return ", ".join(told) or "none"


def _tolerance(settings: Any) -> str:
    if settings.step > 0.0:
        return f"step {settings.step:g} s"
    return f"tolerance {power_of_ten(f'{settings.tolerance:g}')}"

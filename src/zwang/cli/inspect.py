"""``zwang check``, ``explain``, ``verify``, ``derive``, ``info``: commands that change nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import typer

from zwang.analysis.later_contradictions import speeds_may_contradict
from zwang.analysis.singular_position import rows_redundant_here_alone
from zwang.assembly.large_moves import BodyMove, extent, large_moves, notable_moves
from zwang.cli.assembled import listed_moves, moved_in_words
from zwang.cli.output import FAILURE, Printer
from zwang.cli.run import read_given
from zwang.cli.words import at_the_command_line
from zwang.diagnosis.wording import listing
from zwang.display import counted
from zwang.errors import InputError, UnknownNameError, ZwangError
from zwang.model_files.given_values import parsed_values
from zwang.model_files.missing_mass import mass_notes
from zwang.model_files.model import Model, read_model
from zwang.multibody.connections import connections
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR

__all__ = ["check", "derive", "explain", "info", "verify"]

#: Bodies whose masses are listed one by one.
LISTED_MASSES = 12
#: Joints with redundant rows that are named; of more `zwang explain` tells.
NAMED_JOINTS = 12
#: Energy [J] that a pendulum of 1 kg may gain or lose in a second at the default tolerance.
ENERGY_OF_A_PENDULUM = 1e-6


def check(
    out: Printer, path: Path, values_given: Sequence[str] = (), case: str | None = None
) -> None:
    """Read a model and assemble its start."""
    model = read_given(path, values_given, case)
    system, parameters = model.acting, _parameters(model)
    state = model.start()
    with model.telling("start"):
        explanation = system.explain(state, parameters=parameters)
        # raises if the motion is undetermined or constraints contradict
        system.solve(state, parameters=parameters)
    residuals = system.residuals(state, parameters=parameters)
    values = [np.abs(x).max(initial=0.0) for x in (residuals.position, residuals.velocity)]
    facts = {
        "model": model.name,
        "kind": "system" if model.mechanism is None else "mechanism",
        "coordinates": len(system.coordinates),
        "velocities": len(system.velocities),
        "constraint_rows": len(system.row_names),
        "degrees_of_freedom": explanation.degrees_of_freedom,
        "redundant_rows": explanation.redundancy,
        "residual_at_start": float(max(values)),
        "moved_to_assemble": float(getattr(state, "distance", 0.0)),
    }
    moves, slight = tuple[BodyMove, ...](), tuple[BodyMove, ...]()
    if model.mechanism is not None:
        parts = model.mechanism.parts
        moves, slight = large_moves(parts, state.q), notable_moves(parts, state.q)
        facts |= _bodies_and_joints(parts)
        facts["moved"] = {m.body: {"distance": m.distance, "angle": m.angle} for m in slight}
        facts["moved_far"] = {move.body: move.distance for move in moves}
        facts["size"] = extent(parts, state.q).tolist()
        facts["masses"] = _masses(model, parameters)
        facts["gravity"] = _gravity(model, parameters)
    alone = rows_redundant_here_alone(system, state, explanation, parameters)
    facts["redundant_here_alone"] = alone
    facts["contradiction"] = _contradiction(model, state, facts)
    upward = [] if model.mechanism is None else _upward(model, facts["gravity"])
    facts["notes"] = [*mass_notes(model), *upward, *_doubts(facts)]
    out.result(facts)
    told_in_words = ("moved", "moved_far", "size", "masses", "gravity", "redundant_here_alone")
    apart = ("model", "contradiction", "notes", *told_in_words)
    shown = {k: v for k, v in facts.items() if k not in apart}
    rows = {name.replace("_", " "): _shown(value) for name, value in shown.items()}
    if facts["redundant_rows"]:
        rows["redundant rows"] = _redundant(facts["redundant_rows"], explanation)
    if slight:
        told = moved_in_words(moves, model) if moves else listed_moves(slight)
        rows["moved to assemble"] += f": {told}"
    if model.mechanism is not None:
        rows["size"] = _box(facts["size"], model.mechanism.parts.kind.plane)
        rows["mass"] = _weighed(facts["masses"])
        rows["gravity"] = _pulled(facts["gravity"], model.mechanism.parts.kind.plane)
    for name in () if case is not None else model.analysis_tables.get("case", {}):
        read_given(path, values_given, name)  # raises if values of the case do not fit
    out.table(model.name, rows)
    for note in facts["notes"]:
        out.say(f"Note: {note.removesuffix('.')}.")
    if facts["contradiction"]:
        typer.echo(f"Error: a run is {facts['contradiction']}", err=True)
        raise typer.Exit(FAILURE)
    out.say(f"{path} has no errors.")


def _redundant(count: int, explanation: Any) -> str:
    """How many rows depend on others, and the joints that these are of."""
    groups = getattr(explanation, "dependent_joints", ())
    names = list(dict.fromkeys(name for group in groups for name in group.joints))
    told = f", among those of {listing(names)}" if 0 < len(names) <= NAMED_JOINTS else ""
    return f"{count}{told} (zwang explain names what can go)"


def _bodies_and_joints(parts: Parts) -> dict[str, int]:
    """How many bodies, extra coordinates, joints of each kind and forces there are."""
    extra = sum(b.kind is SCALAR for b in parts.bodies)
    joined = connections(parts.joints.values())
    return {
        "bodies": len(parts.bodies) - extra,
        **({"extra_coordinates": extra} if extra else {}),
        **{f"{kind.replace(' ', '_')}s": count for kind, count in joined.items()},
        "forces": len(parts.forces) + len(parts.friction),
    }


def _contradiction(model: Model, state: Any, facts: Mapping[str, Any]) -> str:
    """How a motion ends whose constraints come to contradict each other; empty if none is found.

    Redundant equations agree at the start; whether they do later is looked at where they prescribe
    speeds that do not agree.
    """
    until = model.simulation.until
    if until is None or facts["redundant_here_alone"] or not facts["redundant_rows"]:
        return ""
    with suppress(ZwangError):
        t = speeds_may_contradict(model.acting, state, until, _parameters(model))
        if t is not None:
            run = model.simulate(until=t)
            return "" if run.finished or "contradict" not in run.status else run.status
    return ""


def _masses(model: Model, parameters: Mapping[str, Any]) -> dict[str, float]:
    """Mass of each body at these parameters [kg]."""
    assert model.mechanism is not None
    values = model.system.parameter_values(parameters)
    bodies = [body for body in model.mechanism.parts.bodies if body.kind is not SCALAR]
    return {b.name: float(values.get(f"{b.name}.mass", b.inertia.mass)) for b in bodies}


def _weighed(masses: Mapping[str, float]) -> str:
    """The masses of bodies and their sum."""
    each = [f"{name} {mass:.4g}" for name, mass in masses.items()]
    more = f" and {len(each) - LISTED_MASSES} more" if len(each) > LISTED_MASSES else ""
    single = len(each) == 1
    total = f"{sum(masses.values()):.6g} kg"
    return total if single else f"{total}: {', '.join(each[:LISTED_MASSES])}{more}"


def _gravity(model: Model, parameters: Mapping[str, Any]) -> list[float]:
    """Acceleration of gravity at these parameters [m/s²], world axes."""
    values = model.system.parameter_values(parameters)
    assert model.mechanism is not None
    found = values.get("gravity", model.mechanism.parts.gravity)
    return np.asarray(found, dtype=float).tolist()


def _pulled(gravity: Sequence[float], plane: Sequence[int] | None) -> str:
    """Gravity as a file gives it, in the plane of a mechanism."""
    if not any(gravity):
        return "none"
    axes = range(3) if plane is None else sorted(plane[:2])
    numbers = ", ".join(f"{gravity[k]:.6g}" for k in axes)
    return f"[{numbers}] m/s^2 along {', '.join('xyz'[k] for k in axes)}"


def _upward(model: Model, gravity: Sequence[float]) -> list[str]:
    """That gravity acts along the axis that most models draw upward: z, in the plane xy y."""
    assert model.mechanism is not None
    plane = model.mechanism.parts.kind.plane
    up = 2 if plane is None else max(plane[:2])
    if gravity[up] <= 0.0 or gravity[up] < max(map(abs, gravity)):
        return []
    axis = "xyz"[up]
    return [
        f"gravity acts along +{axis}: bodies fall toward larger {axis}, and up is along -{axis}"
    ]


def _box(edges: Sequence[float], plane: Sequence[int] | None) -> str:
    """The box around a mechanism, in its plane."""
    shown = edges if plane is None else [edges[k] for k in sorted(plane[:2])]
    axes = "xyz" if plane is None else "".join("xyz"[k] for k in sorted(plane[:2]))
    told = " × ".join(f"{edge:.3g}" for edge in shown)
    return f"about {told} m along {', '.join(axes)}, all bodies and joints together"


def _doubts(facts: Mapping[str, Any]) -> list[str]:
    """What is peculiar about the start."""
    told = []
    here, free = facts["redundant_here_alone"], facts["degrees_of_freedom"]
    if here:
        told.append(
            f"the start is singular: {counted(here, 'constraint equation')} "
            f"{'follows' if here == 1 else 'follow'} from the others in this position alone, so "
            "that the mechanism may move in more ways than it has degrees of freedom elsewhere. "
            "Begin beside it, unless that is meant."
        )
    free -= here  # of a dead center alone
    if facts.get("drivers") and free > 0:
        told.append(
            f"beside what drivers prescribe {counted(free, 'degree')} of freedom "
            f"{'is' if free == 1 else 'are'} left: forces decide the rest of the motion."
        )
    return told


def _shown(value: object) -> str:
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def _parameters(model: Model) -> Mapping[str, Any]:
    """Values of parameters that the simulation of a model is given."""
    return model.simulation.choices.get("parameters", {})


def explain(out: Printer, model: Model) -> None:
    """Degrees of freedom, redundancy and determinacy of reactions at the initial state."""
    state, parameters = model.start(), _parameters(model)
    with model.telling("start"):
        explanation = model.acting.explain(state, parameters=parameters)
    if explanation.exists is False:
        out.result({"model": model.name, "explanation": explanation.to_dict()})
        out.say(str(explanation))
        raise typer.Exit(FAILURE)
    with model.telling("start"):
        passport = model.acting.passport(state, parameters=parameters)
    out.result(
        {
            "model": model.name,
            "explanation": explanation.to_dict(),
            "multipliers": {
                name: {"least_norm": value, "status": str(status)}
                for name, value, status in zip(
                    passport.names, passport.multipliers.tolist(), passport.statuses, strict=True
                )
            },
            "reactions": {name: str(group.status) for name, group in passport.groups.items()},
        }
    )
    told = [f"Note: {note}." for note in mass_notes(model)]
    out.say("\n".join([f"{explanation}", *told, "", f"{passport}"]))


def verify(out: Printer, folder: Path, model: Path | None) -> None:
    """Check a stored run against its model."""
    from zwang.simulation.stored_runs import verify as verify_run

    if not folder.is_dir():
        raise InputError(
            str(folder),
            expected="the folder of a run",
            found="a file" if folder.exists() else "a path that does not exist",
            advice="'zwang run MODEL.toml' makes one.",
        )
    found = verify_run(folder, read_model(folder if model is None else model).system)
    out.result({"run": str(folder), "verified": bool(found), "report": str(found).splitlines()})
    out.say(str(found))
    if not found:
        raise typer.Exit(FAILURE)


def derive(
    out: Printer,
    path: Path,
    values: Sequence[str],
    case: str | None,
    *,
    letters: str | None,
    terms: bool,
    use_constraints: bool,
    latex: bool,
    bodies: bool,
    seconds: float,
) -> None:
    """Closed forms of a model; of a mechanism in the coordinates of its joints, or bodies.

    Parameters
    ----------
    values : of ``--set``, numbers in place of parameters.
    letters : names that stay letters, with commas between them, or ``all``.
    """
    model = read_given(path, values, case)
    whole = model.system if bodies or model.mechanism is None else model.mechanism
    form = whole.derive(
        solve=not terms,
        use_constraints=use_constraints,
        seconds=seconds,
        parameters=_in_formulas(model, parsed_values(values), letters),
    )
    solved = form.equations(solved=not terms)
    text = form.latex(notes=False) if latex else "\n".join(f"{e.lhs} = {e.rhs}" for e in solved)
    notes = [at_the_command_line(note) for note in form.notes]
    out.result({"model": model.name, "closed_form": text, "notes": notes})
    out.say(text)
    for note in () if out.as_json else notes:
        typer.echo(f"Note: {note}", err=True)


def _in_formulas(model: Model, values: Mapping[str, Any], letters: str | None) -> dict[str, Any]:
    """What stands in formulas in place of parameters: numbers that are set, letters that stay."""
    own = dict(model.system.definition.parameters)
    parts = None if model.mechanism is None else model.mechanism.parts
    dimensions = () if parts is None or parts.geometry is None else parts.geometry.names
    if parts is not None:
        for name in _parameters(model):
            if name in values:
                raise InputError(
                    f"--set {name}",
                    expected="a constant or parameter of the file",
                    found="a number that is a letter of the formulas",
                )
        own = dict(parts.parameters)
    if letters == "all":
        kept = [name for name in dimensions if not np.ndim(own[name])]
    else:
        kept = [name.strip() for name in (letters or "").split(",") if name.strip()]
    for name in kept:
        if name not in own:
            raise UnknownNameError("parameter of --letters", name, own)
    given: dict[str, Any] = {name: own[name].tolist() for name in values if name in own}
    if kept:
        from sympy import Symbol

        given |= {name: Symbol(name) for name in kept}
    return given


def info(out: Printer) -> None:
    """What is installed, where compiled code is kept, and whether a pendulum moves."""
    import platform
    from importlib.util import find_spec

    from zwang.codegen.cache import folder
    from zwang.results.model_digest import versions

    extras = {
        "symbolic": ("sympy",),
        "plot": ("matplotlib", "av"),
        "data": ("xarray",),
        "view": ("viser",),
        "control": ("control",),
        "cluster": ("dask", "distributed"),
    }
    present = {name: all(find_spec(p) for p in needed) for name, needed in extras.items()}
    place = folder()
    facts = {
        **versions(),
        "platform": platform.platform(),
        "processors": str(os.cpu_count()),
        "cache": str(place or "none"),
        "cache_size": _size(place),
        **_pendulum(),
    }
    out.result({**facts, "extras": present})
    # For people the processor's name will do; all its features decide the machine code.
    facts["processor"] = " ".join(facts["processor"].split()[:2])
    shown = {name.replace("_", " "): value for name, value in facts.items()}
    out.table("zwang", {**shown, "extras": ", ".join(k for k, v in present.items() if v) or "none"})


def _size(place: Path | None) -> str:
    """How much a folder holds."""
    if place is None or not place.is_dir():
        return "empty"
    sizes = []
    for path in place.rglob("*"):
        with suppress(OSError):  # another process may remove it meanwhile
            sizes.append(path.stat().st_size if path.is_file() else 0)
    return f"{sum(sizes) / 1e6:.1f} MB in {sum(map(bool, sizes))} files"


def _pendulum() -> dict[str, str]:
    """A compiled motion of a pendulum: whether it is right, and the time of a second call."""
    from time import perf_counter

    from zwang.codegen.environment import noted
    from zwang.system import System

    system = System(
        ["x", "z"],
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -9.81],
        potential=lambda q: 9.81 * q[1],
        constraints={"rod": lambda q: q @ q - 1.0},
    )
    try:
        times = [perf_counter()]
        system.simulate([1.0, 0.0], until=1.0)
        times.append(perf_counter())
        run = system.simulate([1.0, 0.0], until=1.0)
        times.append(perf_counter())
    except ZwangError as error:
        return {"pendulum": f"fails: {error}"}
    right = run.finished and float(np.ptp(run.energy)) < ENERGY_OF_A_PENDULUM
    verdict = "right" if right else "wrong: please report it"
    first, again = 1e3 * (times[1] - times[0]), 1e3 * (times[2] - times[1])
    return {
        "machine_code": "; ".join(noted(())) or "works",
        "pendulum": f"{verdict}, {again:.2f} ms a call, {first:.0f} ms the first",
    }

"""Record what the library does, and compare two records: for changes that must not change it.

    python .ci/behaviour.py take BEFORE.json [--src ../parent/src] [--quick]
    python .ci/behaviour.py take AFTER.json --stores BEFORE.stores
    python .ci/behaviour.py compare BEFORE.json AFTER.json [--words] [--ignore 'signature/*']

Motions by every integrator in every kind of coordinates, as digests of their bits; what is answered
and what is refused, in words; signatures; the schema of model files; runs that are stored,
interrupted and resumed. `take` writes the interrupted ones beside the record: with ``--stores`` of
an earlier one those are resumed as well. All of it through the public interface, so that modules
may move. Bits are those of one machine: take both records on the same. Three minutes of a core with
compiled code in the cache; ``--quick`` takes order8 and gauss in coordinates of their choice, in
one.

A record has facts (digests, counts, names) and words (sentences). The numbers in a sentence are
facts too: ``compare --words`` passes what says the same in other words, and lists it.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import io
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

try:
    import zwang as zw
except ImportError:  # to compare records takes nothing of it
    zw: Any = None

ROOT = Path(__file__).resolve().parents[1]
#: One order of summation, one width of tables, no colours; the same in every process.
FIXED = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "100", "NO_COLOR": "1"}
FIXED |= {"MPLBACKEND": "Agg", "TERM": "dumb"}

COORDINATES = ("auto", "absolute", "planar", "joint")
INTEGRATORS = ("order8", "gauss", "order5", "radau5", "generalized_alpha", "rattle")
#: Those with a step that is given, and how many of them.
FIXED_STEP, STEPS = INTEGRATORS[4:], 40
#: Seconds of a motion, and those of quick, sticking or eventful ones.
LENGTH = 0.2
LENGTHS = {"andrews": 0.01, "andrews_squeezer": 0.01, "rough_wire_bead": 0.05}
LENGTHS |= {"flyball_governor": 0.02, "bouncing_pendulum": 1.5}
#: Further members of the library: in space what moves in a plane, other forms, and sizes beyond
#: which equations are written element by element, link by link, or not as dense matrices; friction.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((n, {"planar": False}) for n in ("four_bar", "slider_crank", "andrews", "theo_jansen_leg")),
    *(("rolling_disk", {"form": f}) for f in ("inertial", "coordinates", "velocities")),
    ("sliding_disk", {"form": "coordinates"}),
    ("chain", {"n": 6, "planar": False}),
    ("chain", {"n": 20, "planar": False}),
    ("chain", {"n": 40}),
    ("chain", {"n": 60, "planar": False}),
    ("net", {"n": 3, "m": 3, "planar": False}),
    ("net", {"n": 5, "m": 5}),
    ("four_bars", {"n": 8, "planar": False}),
    ("chain", {"n": 120, "planar": False}),
    ("four_bars", {"n": 40, "planar": False}),
    ("chain", {"n": 24, "rubbing": (1, 12)}),
]
#: Further choices of a simulation, tried on one system and one mechanism.
CHOICES: list[dict[str, Any]] = [
    {"integrator": "auto"},
    {"drift": "baumgarte"},
    {"drift": "none", "integrator": "radau5"},
    {"formulation": "udwadia_kalaba"},
    {"formulation": "projection", "integrator": "order5"},
    {"on_singular": "stop"},
    {"step": 0.01},
    {"largest_step": 0.01, "save": "steps"},
    {"certify": True},
    {"tolerance": 1e-5, "scales": {}},
]
#: What takes longer than 20 s, as patterns of keys: found by trying, so that it is always the same.
SKIPPED = (
    *(f"library/chain(n=60,planar=False)/*/{name}" for name in ("radau5", "generalized_alpha")),
    "library/four_bars(n=8,planar=False)/*/generalized_alpha",
    *(f"library/chain(n=120,planar=False)/*/{name}" for name in INTEGRATORS[3:]),
    *(f"library/four_bars(n=40,planar=False)/*/{name}" for name in INTEGRATORS[3:]),
)


class Words(str):
    """A sentence for people."""

    __slots__ = ()


@dataclass
class Problem:
    """A system, where its motion begins, and what integrates it from there."""

    system: Any
    start: Any
    simulate: Callable[..., Any]
    until: float


class Record:
    """Facts and words under readable keys."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.words: dict[str, str] = {}

    def take(self, key: str, ask: Callable[[], Any]) -> Any:
        """Keep what a call returns, or how it fails; what it returned, or None."""
        if any(fnmatch(key, pattern) for pattern in SKIPPED):
            self.facts[key] = "skipped: takes too long"
            return None
        began, found = perf_counter(), None
        try:
            found = ask()
            self.keep(key, plain(found))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is recorded
            self.facts[f"{key}/refused"] = type(error).__name__
            self.words[f"{key}/refused"] = clean(str(error))
        print(f"{perf_counter() - began:7.2f} s  {key}", file=sys.stderr, flush=True)
        return found

    def keep(self, key: str, value: Any) -> None:
        """Keep a value: sentences with their numbers, parts one by one, arrays as digests."""
        if isinstance(value, Words):
            self.words[key] = clean(value)
            numbers = re.findall(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", clean(value))
            if numbers:
                self.facts[f"{key}/numbers"] = " ".join(sorted(numbers))
        elif isinstance(value, dict):
            for name, part in value.items():
                self.keep(f"{key}/{name}", part)
        elif isinstance(value, np.ndarray):
            bits = np.ascontiguousarray(value)
            self.facts[key] = f"{bits.shape} {hashlib.sha256(bits.tobytes()).hexdigest()}"
        else:
            self.facts[key] = json.loads(json.dumps(value, default=str))


def clean(text: str) -> str:
    """A text without addresses, places of the disk, and places in this script."""
    text = re.sub(r"line \d+: `[^`]*`", "line …", text.replace(str(Path.cwd()), "."))
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", text)


def plain(value: Any) -> Any:
    """What is kept of an answer of the library."""
    if isinstance(value, Problem):
        return plain(value.start)
    if isinstance(value, zw.Run):
        motion = {"t": value.t, "q": value.q, "v": value.v, "finished": value.finished}
        ranks = [[r.t, r.dependent_rows, r.lasting, list(r.names)] for r in value.ranks]
        events = [[e.name, e.t, *e.q, *e.v, *e.v_after] for e in value.events]
        counts = ", ".join(f"{n} {name}" for name, n in vars(value.counts).items())
        told = {"status": Words(value.status), "notes": Words("\n".join(value.notes))}
        return {**motion, "ranks": ranks, "counts": counts, "events": events, **told}
    if isinstance(value, zw.Solution):
        arrays = {n: getattr(value, n) for n in ("acceleration", "constraint_force", "multipliers")}
        ranks = [np.asarray(x).tolist() for x in vars(value.ranks).values()]
        told = {"reason": Words(value.reason), "notes": Words("\n".join(value.notes))}
        return {**arrays, "ranks": ranks, "formulation": value.formulation, **told}
    if isinstance(value, zw.State | zw.Assembly):
        notes = {"notes": Words("\n".join(getattr(value, "notes", ())))}
        return {"q": value.q, "v": value.v, "t": np.asarray(value.t).tolist(), **notes}
    return value


# --- motions --------------------------------------------------------------------------------------


def problems() -> dict[str, Callable[[], Problem]]:
    """Key → what builds a problem: the example files, then the library and its variants."""
    found = {f"examples/{f.stem}": partial(example, f) for f in sorted(Path().glob("*.toml"))}
    for name in (*zw.library.names(), *zw.library.mechanism_names()):
        found[f"library/{name}"] = partial(member, name)
    for name, options in VARIANTS:
        listed = ",".join(f"{k}={v}" for k, v in options.items())
        found[f"library/{name}({listed})"] = partial(member, name, **options)
    return found


def example(file: Path) -> Problem:
    """The problem of a model file, with its events and settings."""
    model = zw.read_model(file)
    start = model.start()
    until = float(start.t) + LENGTHS.get(file.stem, LENGTH)
    return Problem(model.system, start, lambda **c: model.simulate(start, **c), until)


def member(name: str, **options: Any) -> Problem:
    """The problem of a member of the library: as placed, as published, or from a drawn state.

    The option `rubbing` lists joints of a chain that have friction.
    """
    rubbing = options.pop("rubbing", ())
    made = getattr(zw.library, name)(**options)
    for k in rubbing:
        made.friction(f"joint{k}", coefficient=0.2, radius=0.01, velocity=0.5)
    if isinstance(made, zw.Mechanism):
        system, start = made.system, made.assemble()
    else:
        system = made
        try:
            start = zw.library.start(name, **options)
        except zw.ZwangError:
            drawn = zw.library.states(name, np.random.default_rng(0), 1, **options)
            start = zw.State(drawn.q[0], drawn.v[0], float(np.ravel(drawn.t)[0]))
    until = float(start.t) + LENGTHS.get(name, LENGTH)
    return Problem(system, start, lambda **c: system.simulate(start, **c), until)


def take_motions(record: Record, key: str, p: Problem, *, quick: bool) -> None:
    """What is said of a problem where it begins, its motions, and what follows from one of them."""
    begin, at = float(p.start.t), p.start
    record.take(f"{key}/explain", lambda: Words(p.system.explain(at)))
    record.take(f"{key}/passport", lambda: Words(p.system.passport(at)))
    record.take(f"{key}/solve", lambda: p.system.solve(at))
    for coordinates in COORDINATES[:1] if quick else COORDINATES:
        for integrator in INTEGRATORS[:2] if quick else INTEGRATORS:
            choices = {"until": p.until, "save": np.linspace(begin, p.until, 5), "progress": False}
            choices |= {"coordinates": coordinates, "integrator": integrator}
            choices |= {"step": (p.until - begin) / STEPS} if integrator in FIXED_STEP else {}
            run = record.take(f"{key}/{coordinates}/{integrator}", partial(p.simulate, **choices))
            if run is not None and (coordinates, integrator) == ("auto", "order8"):
                take_answers(record, f"{key}/answers", run)
    if not quick:
        record.take(f"{key}/many", lambda: ensemble(p))


def take_answers(record: Record, key: str, run: Any) -> None:
    """What a run answers about forces, energies, joints, and times between the saved ones."""
    joints = list(run.system.groups)[:4]
    asked: dict[str, Callable[[], Any]] = {
        "acceleration": lambda: run.acceleration,
        "multipliers": run.multipliers,
        "force": run.constraint_force,
        "energy": lambda: run.energy,
        "power": lambda: run.power,
        "work": lambda: vars(run.work),
        "residual": lambda: run.worst_residual,
        "channels": lambda: np.array([run[name] for name in run.names]),
        "between": lambda: run.at([0.3 * run.t[0] + 0.7 * run.t[-1], run.t[-1]]),
    }
    for name, ask in asked.items():
        record.take(f"{key}/{name}", ask)
    for name in joints:
        record.take(f"{key}/reaction {name}", partial(reaction, run, name))


def reaction(run: Any, joint: str) -> dict[str, Any]:
    """Force and moment of a joint, and whether they are known."""
    found = run.reaction(joint)
    return {n: getattr(found, n) for n in ("force", "moment", "point", "determinate")}


def ensemble(p: Problem) -> dict[str, Any]:
    """Nine motions at once, one more than there are lanes, that begin at several speeds."""
    speeds = 1.0 - 0.1 * np.arange(9.0)
    q, v = np.tile(p.start.q, (9, 1)), speeds[:, None] * np.asarray(p.start.v)
    times = {"start": float(p.start.t), "until": p.until, "threads": 1, "progress": False}
    found = p.system.simulate_many(q, v, save=(p.until - float(p.start.t)) / 4.0, **times)
    last = dict(zip("qv", found.last, strict=True))
    return {**last, "status": Words("\n".join(found.status)), "first": plain(found[0])}


def answers() -> dict[str, Callable[[], Any]]:
    """Questions beyond motions."""
    q, v = [0.6, -0.8], [0.8, 0.6]
    pace = {"pace": zw.velocity(lambda q, v: q[0] * v[1] - q[1] * v[0] - 1.0)}

    def angle(s: Any, p: Any) -> list[Any]:
        return [p.L * np.sin(s[0]), -p.L * np.cos(s[0])]

    def run() -> Any:
        return pendulum().simulate(q, v, until=0.3, progress=False)

    def reduced(**given: Any) -> dict[str, Any]:
        system = pendulum().reduce(**given)
        at = ([0.3], [1.0]) if "map" in given else (q, [0.8])
        back, motion = system.way_back(*at), system.simulate(*at, until=0.3, progress=False)
        return {
            "force": back.constraint_force,
            "solution": plain(system.solve(*at)),
            "run": plain(motion),
        }

    def written() -> Words:
        zw.read_model("four_bar.toml").write("planted/written.toml")
        return Words(Path("planted/written.toml").read_text(encoding="utf-8"))

    return {
        "derive": lambda: Words(pendulum().derive()),
        "reduce by a map": lambda: reduced(coordinates=["s"], map=angle),
        "reduce at a state": lambda: reduced(at=q),
        "integrability": lambda: Words(zw.library.knife_edge().integrability()),
        "quasi-velocities": lambda: Words(zw.library.rolling_disk().quasi_velocities()),
        "splits": lambda: Words(zw.library.bricard().splits()),
        "certify": lambda: Words(zw.certify(**GOOD)),
        "portrait": lambda: Words(zw.portrait(**GOOD)),
        "certify a run": lambda: Words(run().certify()),
        "error estimate": lambda: run().error_estimate().q,
        "control": lambda: pendulum().control_force(q, v, program=pace).force,
        "program": lambda: pendulum().with_program(pace).solve(q, v),
        "branches": lambda: np.array([a.q for a in pendulum().assemble({"x": 0.5}, branches=True)]),
        "copy": lambda: deepcopy(member("four_bar").simulate(until=0.1)),
        "write": written,
    }


def take_choices(record: Record) -> None:
    """Motions under other choices than integrator and coordinates, and questions beyond them."""
    for name, ask in answers().items():
        record.take(f"answer/{name}", ask)
    for name, options in (("spherical_pendulum", {}), ("four_bar", {"planar": False})):
        p = member(name, **options)
        for choice in CHOICES:
            key = ", ".join(f"{k}={v}" for k, v in choice.items())
            given = {"until": p.until, "progress": False, **choice}
            record.take(f"choices/{name}/{key}", partial(p.simulate, **given))


# --- stored runs ----------------------------------------------------------------------------------


def pendulum() -> Any:
    """A pendulum from functions."""
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.0},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda p: [0.0, -p.m * p.g],
        potential=lambda q, p: p.m * p.g * q[1],
        constraints={"rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2)},
    )


def stored(integrator: str, earlier: Path | None, kept: Path) -> dict[str, Any]:
    """A run that is stored and interrupted, and what becomes of it: of an earlier one as well."""
    system, path, calls = pendulum(), Path(f"stored-{integrator}"), count(1)
    events = {
        "low": zw.event(lambda q: q[1] + 0.8, [zw.set_parameters(g=9.5)], direction=-1),
        "wall": zw.event(lambda q: q[0] + 0.5, zw.bounce(0.9), direction=-1),
    }
    choices = {"until": 4.0, "save": 0.02, "integrator": integrator, "events": events}
    choices |= {"step": 0.005} if integrator in FIXED_STEP else {}

    def press(_: Any) -> None:
        if next(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    whole = system.simulate([1.0, 0.0], progress=False, **choices)
    part = system.simulate([1.0, 0.0], store=path, progress=press, **choices)
    shutil.copytree(path, kept / integrator)
    if earlier is not None:
        shutil.copytree(earlier / integrator, f"earlier-{integrator}")
    found: dict[str, Any] = {"whole": plain(whole), "interrupted": not part.finished}
    for name, place in (("own", path), ("earlier", Path(f"earlier-{integrator}"))):
        if not place.exists():  # there is none yet: its own stands for it
            found[name] = found["own"]
            continue
        resumed = zw.resume(place, system, events=events, progress=False)
        verdict = zw.verify(place, system, intervals=100)
        loaded = zw.load(place, system)
        found[name] = {
            "resumed": plain(resumed),
            "loaded": loaded.q,
            "verdict": str(verdict.verdict),
            "figures": verdict.figures,
            "account": Words(verdict),
            "force": loaded.constraint_force(),
        }
    return found


# --- surface --------------------------------------------------------------------------------------


def take_surface(record: Record) -> None:
    """Signatures of public names and their methods, and the schema of model files."""
    for name in zw.__all__:
        take_signature(record, f"signature/{name}", getattr(zw, name))
    for module in (zw.library, zw.inertia, zw.rotation):
        for name in getattr(module, "__all__", ()):
            key = f"signature/{module.__name__.rpartition('.')[2]}.{name}"
            take_signature(record, key, getattr(module, name))
    (file,) = Path(zw.__file__).parent.rglob("schema.json")
    take_schema(record, "schema", json.loads(file.read_text(encoding="utf-8")))


def take_signature(record: Record, key: str, thing: Any) -> None:
    """Names and defaults of arguments as facts, with annotations as words; of a class, its own."""
    if inspect.isclass(thing):
        for name in sorted(n for n in {*dir(thing)} - {*dir(Exception)} if n[0] != "_"):
            take_signature(record, f"{key}.{name}", inspect.getattr_static(thing, name))
    if isinstance(thing, classmethod | staticmethod):
        thing = thing.__func__
    if not callable(thing):
        record.facts[key] = "attribute"
        return
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        record.facts[key] = "without signature"
        return
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    record.facts[key] = clean(str(found.replace(parameters=bare, return_annotation=found.empty)))
    record.words[key] = clean(str(found))


def take_schema(record: Record, key: str, node: Any) -> None:
    """Leaves of the schema; descriptions are words."""
    if isinstance(node, dict | list) and node:
        for name, part in node.items() if isinstance(node, dict) else enumerate(node):
            take_schema(record, f"{key}/{name}", part)
    elif key.endswith("/description"):
        record.words[key] = str(node)
    else:
        record.facts[key] = node


def command(*arguments: str) -> dict[str, Any]:
    """What a command of ``zwang`` prints, but for how long it took, and its exit code."""
    out, code = io.StringIO(), 0
    with patch.object(sys, "argv", ["zwang", *arguments]):
        try:
            with redirect_stdout(out), redirect_stderr(out):
                runpy.run_module("zwang", run_name="__main__")
        except SystemExit as end:
            code = end.code
    printed = re.sub(r"(?m)^  (time|speed) .*\n", "", out.getvalue())
    return {"exit": code, "printed": Words(printed)}


def take_commands(record: Record) -> None:
    """The commands that look at, run, verify and report model files."""
    for file in sorted(Path().glob("*.toml")):
        run, page = f"cli-{file.stem}", f"{file.stem}.html"
        length = str(LENGTHS.get(file.stem, LENGTH))
        for line in (
            ["check", file.name],
            ["explain", file.name],
            ["run", file.name, "--until", length, "--output", run],
            ["verify", run],
            ["report", run, "--output", page],
        ):
            record.take(f"command/{file.stem}/{line[0]}", partial(command, *line))
        if Path(page).exists():
            found = hashlib.sha256(Path(page).read_bytes()).hexdigest()
            record.words[f"command/{file.stem}/page"] = found
    for line in (["run", "none.toml"], ["fly"], ["check"], ["examples"], ["--version"]):
        record.take(f"command/{' '.join(line)}", partial(command, *line))


# --- refusals -------------------------------------------------------------------------------------

GOOD = {"M": np.diag([2.0, 2.0, 1.0]), "Q": [0.0, -20.0, 1.0], "b": [0.0, 2.0]}
GOOD |= {"A": [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}
#: Changes of one of these terms, or further arguments, that `zwang.solve` refuses.
TERMS: dict[str, list[Any]] = {
    "M": [5.0, np.ones((3, 2)), None, [[1.0, 0.0], [0.0]], np.diag([1.0, -2.0, 1.0])],
    "Q": [[1.0, 2.0], np.zeros((3, 1)), [0.0, np.nan, 0.0], ["a", "b", "c"], [1e300, 0.0, 0.0]],
    "A": [[1.0, 1.0, 0.0], None, np.ones((2, 2)), [[1, 1, 0], [0, 0, 0]], [[1, 1, 0], [2, 2, 0]]],
    "b": [None, [0.0, 1j], [0.0, 1.0, 2.0]],
    "C": [[1.0], [0.0, np.nan, 0.0]],
    "formulation": ["projektion", 3],
    "names": [["a", "a"], ["a"], "ab"],
    "tolerances": [1e-9],
}
#: Arguments that `simulate` of the pendulum refuses.
ARGUMENTS: dict[str, list[Any]] = {
    "q": [[1.1, 0.0], [1.0], [[1.0, 0.0], [1.0, 0.0]]],
    "v": [[0.5, 0.0]],
    "until": [-1.0, "noon", np.inf],
    "start": ["noon"],
    "tolerance": [1e-20, [1e-9]],
    "integrator": ["order9", "rattle", ["order8"]],
    "drift": ["tape"],
    "coordinates": ["polar"],
    "formulation": ["best"],
    "on_singular": ["jump"],
    "save": ["all", [0.2, 0.1], [0.0, 5.0], -0.1],
    "scales": [{"z": 1.0}, {"x": 0.0}, 3.0],
    "parameters": [{"l": 1.0}, [1.0]],
    "inactive": [["road"]],
    "events": [{"e": lambda q: q}],
    "step": [-0.1, 1e-30],
    "spectral_radius": [2.0],
    "store": [5],
    "store_every": [-1.0, "often"],
    "progress": ["bar"],
    "colour": ["red"],
}
#: Edits of example files, each a mistake: file, what stands there, what is put in its place.
EDITS: list[tuple[str, str, str]] = [
    ("friction", "mass = 2.0", "mass = -2.0"),
    ("friction", "mass = 2.0", "mass ="),
    ("friction", "mass = 2.0", 'mass = "2 m"'),
    ("friction", "mass = 2.0", 'mass = "heavy"'),
    ("friction", "[body.block]", "[bdy.block]"),
    ("friction", 'type = "box"', 'type = "boxx"'),
    ("friction", '"revolute"', '"revolut"'),
    ("friction", '["block", "pendulum"]', '["block", "pendulun"]'),
    ("friction", '["block", "pendulum"]', '["block", "block"]'),
    ("friction", "[friction.pin]", "[friction.pim]"),
    ("friction", 'radius = "15 mm"\n', ""),
    ("friction", "coefficient = 0.25", "coefficient = -0.25"),
    ("friction", '"pin.angle"', '"pin.angel"'),
    ("friction", "tolerance = 1e-7", 'integrator = "order9"'),
    ("friction", "until = 3.0", 'until = "3 m"'),
    ("slider_crank", "0.65 - piston.position[0]", "0.65 - piston.place[0]"),
    ("slider_crank", "drag * rate", "drag rate"),
    ("slider_crank", 'plane = "xz"', 'plane = "xx"'),
    ("slider_crank", 'axis = "x"\n', 'axis = "w"\n'),
    ("gear_train", 'radius_a = "20 mm"\n', ""),
    ("four_bar", '"A.angle"', '"A.displacement"'),
    ("four_bar", "base = 2.0", "base = 9.0"),
    ("bouncing_pendulum", "bounce = 0.7", "bounce = 2.0"),
    ("bouncing_pendulum", "x^2 + y^2 - L^2", "x^2 + y_dot"),
    ("bouncing_pendulum", "x = -0.8", "x = -3.0"),
    ("spherical_pendulum", 'mass = ["m", "m", "m"]', 'mass = ["m", "m"]'),
    ("spherical_pendulum", '["x", "y", "z"]', '["x", "x", "z"]'),
]


def edited(number: int, name: str, old: str, new: str) -> Any:
    """The start of an example with an edit."""
    text = Path(f"{name}.toml").read_text(encoding="utf-8")
    if old not in text:
        raise LookupError(old)
    path = Path("planted", f"{number}.toml")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    model = zw.read_model(path)
    return model.system.solve(model.start())


def pair(**changes: Any) -> Any:
    """Two bars in space, the second placed as told, for calls that are refused."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), parameters={"k": 1.0})
    a = m.body("a", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
    b = m.body("b", **{"mass": 1.0, "inertia": [0.1, 0.1, 0.1], "position": (1.5, 0, 0), **changes})
    m.revolute("pin", m.ground, a, at=(0, 0, 0), axis="y")
    return m, a, b


def calls() -> dict[str, Callable[[], Any]]:
    """Calls that are refused, by name."""

    def joined(kind: str = "revolute", **where: Any) -> Any:
        m, a, b = pair()
        m.joint(kind, "knee", a, b, **{"at": (1, 0, 0), "axis": "y", **where})
        return m

    def twice() -> Any:
        m = joined()
        m.revolute("knee", m.ground, m.ground, at=(0, 0, 0))

    def run() -> Any:
        return pendulum().simulate([1.0, 0.0], until=0.1, progress=False)

    def system(**changes: Any) -> Any:
        whole = {"mass": lambda: np.eye(2), "force": lambda: [0.0, -1.0], **changes}
        return zw.System(["x", "y"], **whole).solve([0.0, 0.0], [1.0, 0.0])

    def ramp(reaction: Any) -> list[Any]:
        return [3.0 * np.abs(reaction[0]), 0.0]

    wire = {"ramp": zw.position(lambda q: q[0] + q[1])}
    return {
        "a kind of joint that is none": lambda: joined("hinge"),
        "a joint without axis": lambda: joined(axis=None),
        "an axis of length zero": lambda: joined(axis=(0, 0, 0)),
        "a screw without pitch": lambda: joined("screw"),
        "a name twice": twice,
        "a body that nothing holds": lambda: pair()[0].simulate(until=0.1),
        "a negative mass": lambda: pair(mass=-1.0),
        "moments that no body has": lambda: pair(inertia=[0.1, 0.1, 0.5]),
        "a position of two": lambda: pair(position=(1.0, 2.0)),
        "friction in nothing": lambda: joined().friction("hip", coefficient=0.1),
        "a driver of nothing": lambda: joined().drive("motor", "knee.way", lambda t: t),
        "a start that cannot be": lambda: joined().assemble(hold={"a.x": 9.0}),
        "a start of nothing": lambda: joined().assemble(hold={"hip.angle": 1.0}),
        "a plane that is none": lambda: joined("spherical").simulate(
            until=0.1, coordinates="planar"
        ),
        "a plane of names": lambda: zw.Mechanism(plane="xx"),
        "mass of another size": lambda: system(mass=lambda: np.eye(3)),
        "mass that is not symmetric": lambda: system(mass=lambda: [[1.0, 0.2], [0.1, 1.0]]),
        "negative energy": lambda: system(mass=lambda: np.diag([1.0, -1.0])),
        "force of another size": lambda: system(force=lambda: [1.0]),
        "an argument that is none": lambda: system(force=lambda z: [z, z]),
        "a branch on a symbol": lambda: system(force=lambda q: [1.0 if q[0] > 0 else 0.0, 0.0]),
        "a force that is no number": lambda: system(force=lambda q: [1.0 / q[0], 0.0]),
        "two solutions": lambda: system(constraints=wire, nonideal={"ramp": ramp}),
        "friction of no constraint": lambda: system(nonideal={"ramp": ramp}),
        "a contradiction": lambda: pendulum().assemble(hold={"x": 3.0}),
        "time after the run": lambda: run().at(1.5),
        "no such channel": lambda: run()["z"],
        "no such constraint": lambda: run().multipliers("rope"),
        "no mechanism": lambda: run().reaction("rod"),
        "no body": lambda: run().body("rod"),
        "no run": lambda: zw.load("nowhere"),
        "no model": lambda: zw.read_model("friction_.toml"),
        "a model that has functions": lambda: zw.write_model(pendulum(), "written.toml"),
        "a reduction that violates": lambda: pendulum().reduce(["s"], map=lambda s: [s[0], s[0]]),
        "no such system": lambda: zw.library.states("pendulum", np.random.default_rng(0), 1),
        "no start": lambda: zw.library.start("knife_edge"),
        "no bars": lambda: zw.library.chain(0),
    }


def take_refusals(record: Record) -> None:
    """Messages of what is refused."""
    for name, values in TERMS.items():
        for i, value in enumerate(values):
            record.take(f"refusal/solve/{name} {i}", partial(zw.solve, **GOOD | {name: value}))
    system = pendulum()
    for name, values in ARGUMENTS.items():
        for i, value in enumerate(values):
            given = {"q": [1.0, 0.0], "until": 1.0, "progress": False, name: value}
            record.take(f"refusal/simulate/{name} {i}", partial(system.simulate, **given))
    for i, edit in enumerate(EDITS):
        record.take(f"refusal/file/{i} {edit[0]}", partial(edited, i, *edit))
    for name, call in calls().items():
        record.take(f"refusal/call/{name}", call)


# --- commands -------------------------------------------------------------------------------------


def take(file: Path, earlier: Path | None, *, quick: bool) -> None:
    """Ask for everything in a folder of its own, and write what was answered."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    stores = file.with_suffix(".stores")
    shutil.rmtree(stores, ignore_errors=True)
    stores.mkdir(parents=True)
    record, began = Record(), perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for example_file in sorted((ROOT / "examples").glob("*.toml")):
            shutil.copy(example_file, folder)
        os.chdir(folder)
        Path("planted").mkdir()
        take_surface(record)
        take_refusals(record)
        take_choices(record)
        for name in INTEGRATORS:
            record.take(f"stored/{name}", partial(stored, name, earlier, stores))
        take_commands(record)
        for key, build in problems().items():
            problem = record.take(f"{key}/start", build)
            if problem is not None:
                take_motions(record, key, problem, quick=quick)
        os.chdir(ROOT)
    content = {"facts": record.facts, "words": record.words}
    file.write_text(json.dumps(content, indent=0, ensure_ascii=False, sort_keys=True), "utf-8")
    keys = len(record.facts.keys() | record.words.keys())
    print(f"{keys} keys in {perf_counter() - began:.0f} s: {file}", file=sys.stderr)


def compare(before: Path, after: Path, ignored: list[str], *, words: bool) -> int:
    """Print what differs; whether anything does that counts."""
    a, b = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    counted = 0
    for kind in ("facts", "words"):
        was, now = ({k: json.dumps(x) for k, x in one[kind].items()} for one in (a, b))  # NaN too
        keys = [k for k in sorted(was.keys() | now.keys()) if was.get(k) != now.get(k)]
        keys = [k for k in keys if not any(fnmatch(k, pattern) for pattern in ignored)]
        counted += len(keys) if kind == "facts" or not words else 0
        print(f"{len(keys)} of {len(a[kind])} {kind} differ")
        for key in keys:
            print(f"{key}\n  - {a[kind].get(key, '(none)')}\n  + {b[kind].get(key, '(none)')}")
    return int(counted > 0)


def main() -> int:
    """Parse the command line; `take` goes on in a process with a fixed environment."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    taking = commands.add_parser("take", help="record what a source tree does")
    taking.add_argument("file", type=Path)
    taking.add_argument("--src", type=Path, default=ROOT / "src", help="src of a whole checkout")
    taking.add_argument("--stores", type=Path, help="interrupted runs of an earlier record")
    taking.add_argument("--quick", action="store_true", help="two integrators, one coordinates")
    comparing = commands.add_parser("compare", help="print what differs between two records")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--words", action="store_true", help="texts may differ")
    comparing.add_argument("--ignore", action="append", default=[], help="pattern of keys")
    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.before, given.after, given.ignore, words=given.words)
    wanted = {**FIXED, "PYTHONPATH": str(given.src.resolve())}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        return subprocess.call([sys.executable, *sys.argv], env={**os.environ, **wanted})
    if zw is None or not Path(zw.__file__).is_relative_to(given.src.resolve()):
        parser.error(f"{given.src} is not where zwang is loaded from")
    earlier = None if given.stores is None else given.stores.resolve()
    if earlier == given.file.with_suffix(".stores").resolve():
        parser.error(f"{given.stores} would be replaced: name another record")
    take(given.file.resolve(), earlier, quick=given.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Zwang: one call of `simulate` a run, everything that Python does in it included.

One ladder for all works: the tolerance, with ``integrator="auto"``. Only stiff works are also given
to the implicit integrator, as one would to any engine that has one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import zwang as zw
from benchmarks.cases.model import Work
from benchmarks.engines.base import Ran, Settings
from benchmarks.references import known_motion
from zwang import library
from zwang.codegen.call import call
from zwang.codegen.jit import loop
from zwang.integrators.registry import LOOPS
from zwang.integrators.settings import Settings as Choices
from zwang.simulation.select_program import ProgramStart, select_program

MODULE, PACKAGES = "zwang", ("zwang",)
STEPPED = "compiled, Gauss of order 16 or explicit of order 8, error control"

TOLERANCES = [10.0**-k for k in range(4, 13)]
#: Works that are systems of functions; the others are mechanisms.
FUNCTIONS = {"nonholonomic_particle", "car_axis", "rolling_disk"}


def mechanism(work: Work) -> zw.Mechanism:
    """The work of bodies and joints, as a user would state it."""
    m = zw.Mechanism(gravity=work.gravity, plane="xz" if work.planar else None)
    bodies = [m.ground]
    for k, body in enumerate(work.bodies):
        bodies.append(
            m.body(
                f"b{k}",
                inertia=zw.inertia.principal(body.mass, body.inertia),
                position=body.center,
                orientation=None if work.planar else body.axes,
                velocity=body.velocity,
                angular_velocity=body.omega,
            )
        )
    for k, joint in enumerate(work.joints):
        add = m.revolute if joint.kind == "pin" else m.prismatic
        add(f"j{k}", bodies[joint.a + 1], bodies[joint.b + 1], at=joint.point, axis=joint.axis)
    for k, spring in enumerate(work.springs):
        m.spring_damper(
            f"s{k}",
            bodies[spring.a + 1],
            bodies[spring.b + 1],
            at=(spring.at_a, spring.at_b),
            stiffness=spring.stiffness,
            damping=spring.damping,
            length=spring.length,
        )
    for k, mount in enumerate(work.mounts):
        m.cartesian_spring(
            f"m{k}",
            bodies[mount.a + 1],
            bodies[mount.b + 1],
            at=mount.point,
            stiffness=mount.stiffness,
            damping=mount.damping,
        )
    for k, wheel in enumerate(work.wheels):
        hub = work.bodies[wheel.body].center
        m.rolling_disk(
            f"w{k}",
            m.ground,
            bodies[wheel.body + 1],
            at=((0.0, 0.0, 0.0), hub),
            axis="z",
            axis_b=wheel.axis,
            radius=wheel.radius,
        )
    for k, (number, torque) in enumerate(work.torques):
        m.force(f"t{k}", bodies[number + 1], torque=torque)
    return m


def _centers(work: Work, run: zw.Run) -> np.ndarray:
    return np.stack([run.body(f"b{k}").center for k in work.points], axis=1)


def _from_library(work: Work) -> tuple[Any, Any, Callable[[zw.Run], np.ndarray]]:
    """Model, start, and what gives the points of a run, for works stated by functions."""
    motion = known_motion(work.name)
    system = getattr(library, motion["system"])(**motion["options"])
    start = zw.State(np.array(motion["q"]), np.array(motion["v"]), 0.0)

    def points(run: zw.Run) -> np.ndarray:
        q = run.q
        if work.name == "car_axis":
            return np.insert(q.reshape(-1, 2, 2), 1, 0.0, axis=2)
        if work.name == "rolling_disk":
            return np.stack([q[:, 0], q[:, 1], 0 * q[:, 0]], axis=1)[:, None]
        return q[:, None]

    return system, start, points


def model(work: Work) -> tuple[Any, Any, Callable[[zw.Run], np.ndarray]]:
    """The model of a work, its start, and what gives the points of a run."""
    if work.name in FUNCTIONS:
        return _from_library(work)
    m = mechanism(work)
    return m, m.assemble(), lambda run: _centers(work, run)


@contextmanager
def in_the_loop() -> Iterator[list[float]]:
    """Collect the processor time that is spent in compiled time loops."""
    spent = [0.0]
    originals = {kind: kind.run for kind in set(LOOPS.values())}

    def timed(original: Callable[..., int]) -> Callable[..., int]:
        def run(*arguments: Any) -> int:
            begin = time.process_time()
            code = original(*arguments)
            spent[0] += time.process_time() - begin
            return code

        return run

    for kind, original in originals.items():
        kind.run = timed(original)
    try:
        yield spent
    finally:
        for kind, original in originals.items():
            kind.run = original


def settings(work: Work) -> Settings:
    """Tolerances from 1e-4 to 1e-12."""
    begin = time.process_time()
    subject, start, points = model(work)
    few = [0.0, work.until * 1e-6]
    subject.simulate(start, until=few[1], save=few, integrator="auto")
    build = time.process_time() - begin

    def run(tolerance: float, integrator: str = "auto") -> Ran:
        with in_the_loop() as spent:
            begin = time.process_time()
            result = subject.simulate(
                start,
                until=work.until,
                tolerance=tolerance,
                save=work.times,
                integrator=integrator,
            )
            whole = time.process_time() - begin
        if not result.finished:
            nowhere = np.full((len(work.times), len(work.points) or 1, 3), np.nan)
            return Ran(whole, nowhere, build, spent[0])
        evaluations = result.counts.evaluations
        return Ran(whole, lambda: points(result), build, spent[0], evaluations)

    ladder: Settings = {f"auto, tolerance {x:g}": lambda x=x: run(x) for x in TOLERANCES}
    if work.stiff:
        ladder |= {f"radau5, tolerance {x:g}": lambda x=x: run(x, "radau5") for x in TOLERANCES}
    return ladder


@loop
def repeat(address, q, v, t, p, q_dot, v_dot, work, count):  # noqa: ANN001 - as loops are
    """Call a kernel so many times."""
    for _ in range(count):
        call(address, q, v, t, p, q_dot, v_dot, work)


def evaluation(work: Work) -> Callable[[int], None]:
    """q̇ and v̇ in the coordinates that a run takes, in a compiled loop as integrators call it."""
    subject, start, _ = model(work)
    system = getattr(subject, "system", subject)
    y, p = np.concatenate([start.q, start.v]), system.parameter_vector()
    program = select_program(system.equations, ProgramStart(y, 0.0, p), Choices(until=1.0))
    if program.carrier is not None:
        y, p = (x[:, 0] for x in program.carrier.enter(y[:, None], 0.0, p[:, None]))
    kernel = program.kernel("derivative")
    q_dot, v_dot = (np.empty(port.size) for port in kernel.outputs)
    q, v = y[: program.nq].copy(), y[program.nq :].copy()
    given = (q, v, np.zeros(1), np.append(p, 0.0), q_dot, v_dot)
    space = kernel.work()

    def evaluate(count: int) -> None:
        # Through the program, which owns what its kernels work with.
        repeat(program.kernel("derivative").address, *given, space, count)

    return evaluate

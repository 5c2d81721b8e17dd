"""Cost of one evaluation of mechanisms, beside MuJoCo and Pinocchio where they are installed.

    python benchmarks/evaluations.py            # print the figures beside their goals
    python benchmarks/evaluations.py --check    # and end with an error if a goal is missed
    python benchmarks/evaluations.py --large    # with a chain of 10,000 bodies as well

CPU time of one core, the least of several passes in which the contenders take turns. An evaluation
of ours is q̇ and v̇ with all constraint forces; that of MuJoCo is `mj_forward`, that of Pinocchio
`aba`, both in joint coordinates. Everything is measured in one run; compare ratios.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np

import zwang as zw
from zwang.integrators.settings import Coordinates, Settings
from zwang.programs import program_of

PASSES = 7
#: Seconds that one pass of one contender takes, about.
SPAN = 0.02
#: Bodies up to which the peers take part: the data of Pinocchio for 1,000 joints fill 20 GB.
PEERS = 100
#: Exponent of the cost from 100 bodies on, and seconds to make a chain of 1,000 ready, warm.
EXPONENT, READY = 1.05, 1.0


def chain(n: int, plane: str | None = None, *, skew: bool = False) -> zw.Mechanism:
    """Rods of 1 m and 1 kg on pins about y, from the horizontal; or about axes that turn."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane=plane)
    previous = m.ground
    for i in range(n):
        inertia = zw.inertia.principal(1.0, (1e-4, 1 / 12, 1 / 12))
        body = m.body(f"b{i}", inertia=inertia, position=(i + 0.5, 0, 0))
        axis = (0.0, np.cos(0.7 * i), np.sin(0.7 * i)) if skew else (0, 1, 0)
        m.revolute(f"j{i}", previous, body, at=(i, 0, 0), axis=axis)
        previous = body
    return m


def four_bar() -> zw.Mechanism:
    """Three rods and four pins in a plane."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    points = [(0, 0), (0, 1), (1, 1), (1, 0)]
    bodies = [m.ground]
    for i in range(3):
        a, b = np.array(points[i], float), np.array(points[i + 1], float)
        inertia = zw.inertia.rod(1.0, 1.0, "x" if a[1] == b[1] else "z")
        bodies.append(m.body(f"b{i}", inertia=inertia, position=(a + b) / 2))
    bodies.append(m.ground)
    for i in range(4):
        m.revolute(f"j{i}", bodies[i], bodies[i + 1], at=points[i])
    return m


def ours(m: zw.Mechanism) -> Callable[[int], None]:
    """Evaluations of the derivative, called in a loop from Python with bare pointers."""
    system = m.system
    start = system.assemble()
    y, p = np.concatenate([start.q, start.v]), system.parameter_vector()
    # In the bodies' own coordinates: a chain about parallel axes would else be carried in a plane.
    settings = Settings(until=1.0, coordinates=Coordinates.ABSOLUTE)
    program = program_of(system, y, 0.0, p, settings)
    kernel = program.kernel("derivative")
    q, v, t = start.q.copy(), start.v.copy(), np.zeros(1)
    out = [np.empty(port.size) for port in kernel.outputs]
    arrays = [q, v, t, p, *out, kernel.work()]
    pointers = [a.ctypes.data for a in arrays]
    function = kernel._function  # noqa: SLF001 - what calling it costs least

    def work(count: int) -> None:
        for _ in range(count):
            function(*pointers)

    work.keep = (arrays, kernel, program)  # type: ignore[attr-defined]
    return work


def without_python(work: Callable[[int], None]) -> Callable[[int], None]:
    """The same evaluations, called from a compiled loop: as the integrators call them."""
    from zwang.kernels.call import call
    from zwang.kernels.jit import jit

    arrays, kernel, _ = work.keep  # type: ignore[attr-defined]

    @jit
    def loop(count: int, address: int, *arrays: np.ndarray) -> None:
        for _ in range(count):
            call(address, *arrays)

    return lambda count: loop(count, kernel.address, *arrays)


def mujoco_chain(n: int) -> Callable[[int], None] | None:
    """MuJoCo's forward dynamics of the chain."""
    if importlib.util.find_spec("mujoco") is None:
        return None
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = (0, 0, -9.81)
    parent = spec.worldbody
    for i in range(n):
        parent = parent.add_body(
            pos=(0.5 if i == 0 else 1.0, 0, 0),
            mass=1.0,
            inertia=(1e-4, 1 / 12, 1 / 12),
            ipos=(0, 0, 0),
            explicitinertial=True,
        )
        parent.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, pos=(-0.5, 0, 0), axis=(0, 1, 0))
    model = spec.compile()
    data = mujoco.MjData(model)

    def work(count: int) -> None:
        for _ in range(count):
            mujoco.mj_forward(model, data)

    return work


def pinocchio_chain(n: int) -> Callable[[int], None] | None:
    """Pinocchio's articulated-body algorithm on the chain."""
    if importlib.util.find_spec("pinocchio") is None:
        return None
    import pinocchio as pin

    model, parent = pin.Model(), 0
    for i in range(n):
        place = pin.SE3(np.eye(3), np.array([0.0 if i == 0 else 1.0, 0.0, 0.0]))
        parent = model.addJoint(parent, pin.JointModelRY(), place, f"j{i}")
        inertia = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([1e-4, 1 / 12, 1 / 12]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    data = model.createData()
    q, v, tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)

    def work(count: int) -> None:
        for _ in range(count):
            pin.aba(model, data, q, v, tau)

    return work


def microseconds(contenders: dict[str, Callable[[int], None]]) -> dict[str, float]:
    """Least cost of one evaluation of each, in turns."""
    counts, best = {}, dict.fromkeys(contenders, np.inf)
    for name, work in contenders.items():
        work(3)
        begin = time.process_time()
        work(10)
        counts[name] = max(10, int(10 * SPAN / max(time.process_time() - begin, 1e-5)))
    for _ in range(PASSES):
        for name, work in contenders.items():
            begin = time.process_time()
            work(counts[name])
            best[name] = min(best[name], (time.process_time() - begin) / counts[name])
    return {name: 1e6 * value for name, value in best.items()}


def main() -> int:
    """Print all figures; 1 if a goal is missed and that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="end with an error on a missed goal")
    parser.add_argument("--large", action="store_true", help="a chain of 10,000 bodies as well")
    arguments = parser.parse_args()
    sizes = [10, 100, 1000, *([10_000] if arguments.large else [])]
    missed = []
    spatial: dict[int, float] = {}
    for n in sizes:
        work = {"space": ours(chain(n)), "plane": ours(chain(n, "xz"))}
        if n <= 1000:
            work["skew axes"] = ours(chain(n, skew=True))
        if n <= PEERS:
            peers = {"MuJoCo": mujoco_chain(n), "Pinocchio": pinocchio_chain(n)}
            work |= {name: peer for name, peer in peers.items() if peer is not None}
        cost = microseconds(work)
        spatial[n] = cost["space"]
        best = min((cost[x] for x in ("MuJoCo", "Pinocchio") if x in cost), default=np.nan)
        figures = ", ".join(f"{name} {value:.2f} µs" for name, value in cost.items())
        print(f"chain of {n:>6}: {figures}; plane / best peer {cost['plane'] / best:.2f}")
    called = ours(four_bar())
    cost = microseconds({"from Python": called, "from a compiled loop": without_python(called)})
    print(f"four-bar in its plane: {', '.join(f'{x} {c:.3f} µs' for x, c in cost.items())}")
    several = [n for n in sizes if n >= 100]
    slope = np.polyfit(np.log(several), np.log([spatial[n] for n in several]), 1)[0]
    print(f"exponent of the cost from 100 bodies on: {slope:.3f} (goal: at most {EXPONENT})")
    if slope > EXPONENT:
        missed.append("exponent")
    begin = time.process_time()
    ours(chain(1000))(1)
    ready = time.process_time() - begin
    print(f"chain of 1,000 ready, warm: {ready:.2f} s (goal: at most {READY} s)")
    if ready > READY:
        missed.append("build")
    print("missed: " + (", ".join(missed) or "nothing"))
    return 1 if missed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())

"""Short trials of what the other engines accept: one sentence each, as it comes out.

    python -m benchmarks.capabilities                # every engine that is installed
    python -m benchmarks.capabilities --one Drake    # one, in this process

The docs page 'What can it do that others can't' tells what is seen here. Every trial runs in a
process of its own, as one of them ends in a segmentation fault.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases import WORKS
from benchmarks.engines import ENGINES, installed

TIMEOUT = 120.0


# --- MuJoCo ---------------------------------------------------------------------------------------


def mujoco_massless() -> str:
    """A body without mass between two others."""
    import mujoco as mj

    spec = mj.MjSpec()
    body = spec.worldbody.add_body(mass=0.0, inertia=[0, 0, 0], explicitinertial=True)
    body.add_joint(type=mj.mjtJoint.mjJNT_HINGE)
    spec.compile()
    return "accepted"


def mujoco_constraints() -> str:
    """Kinds of constraints."""
    import mujoco as mj

    return ", ".join(name[5:] for name in mj.mjtEq.__members__)


def mujoco_reactions() -> str:
    """Forces in joints of the door on three hinges, whose sharing rigid bodies leave open."""
    import mujoco as mj

    from benchmarks.engines.mujoco import build

    model, data = build(WORKS["door"](), 1e-3)
    mj.mj_rnePostConstraint(model, data)
    forces = data.efc_force.reshape(-1, 6)[:, :3]
    return f"one set of forces, {np.abs(forces).max(axis=1).round(2)} N, without a word on sharing"


def mujoco_derivatives() -> str:
    """Derivatives of a step."""
    import mujoco as mj

    from benchmarks.engines.mujoco import build

    model, data = build(WORKS["chain(10)"](), 1e-3, mj.mjtIntegrator.mjINT_EULER)
    A = np.zeros((20, 20))
    mj.mjd_transitionFD(model, data, 1e-6, 1, A, None, None, None)
    return "finite differences of a step (mjd_transitionFD)"


# --- Pinocchio ------------------------------------------------------------------------------------


def pinocchio_massless() -> str:
    """A body without mass at the end of a chain."""
    import pinocchio as pin

    model = pin.Model()
    model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "a")
    found = pin.aba(model, model.createData(), np.zeros(1), np.zeros(1), np.zeros(1))
    return f"acceleration {found[0]}, no error"


def pinocchio_own_rows() -> str:
    """Rows and their drift given by the user."""
    import pinocchio as pin

    from benchmarks.engines.pinocchio import build

    built = build(WORKS["chain(1)"](), 1.0)
    zero, rows = np.zeros(1), np.array([[1.0]])
    a = pin.forwardDynamics(built.model, built.data, zero, zero, zero, rows, np.array([0.5]), 1e-12)
    return f"accepted as numbers at each evaluation; residual {abs(a[0] + 0.5):.0e}"


def pinocchio_order_of_joints() -> str:
    """The same four-bar with its joints added in another order."""
    import pinocchio as pin

    from benchmarks.engines.pinocchio import build

    work = WORKS["four_bars(1)"]()
    q = 0.3 * np.array([1.0, -1.0, 1.0])
    good = build(work, 1.0)
    right = good.acceleration()(q, good.v)
    object.__setattr__(work, "tree", [work.joints[k] for k in (0, 1, 2)])
    other = build(work, 1.0)
    wrong = other.acceleration()(0.3 * np.array([1.0, 1.0, -1.0]), other.v)
    del pin
    return f"crank's acceleration {right[0]:.2f} or {wrong[0]:.2f} rad/s², by the order of joints"


# --- Exudyn ---------------------------------------------------------------------------------------


def exudyn_redundant() -> str:
    """Bricard's loop with the solver's defaults."""
    import exudyn as exu

    from benchmarks.engines.exudyn import Model

    model = Model(WORKS["bricard"]())
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime, settings.timeIntegration.numberOfSteps = 0.1, 100
    settings.timeIntegration.verboseMode, settings.solution.file.write = 0, False
    model.mbs.SolveDynamic(settings, showHints=False)
    return "accepted"


def exudyn_nonholonomic() -> str:
    """A condition on velocities as a function in Python."""
    from benchmarks.engines.exudyn import particle

    work = WORKS["nonholonomic_particle"]()
    return (
        f"accepted with its Jacobian by hand; error {work.error(particle(work, 1e-3).places):.0e} m"
    )


# --- Drake ----------------------------------------------------------------------------------------


def drake_continuous_loop() -> str:
    """The four-bar in continuous time."""
    from pydrake.systems.analysis import Simulator

    from benchmarks.engines.drake import build

    plant, _, _ = build(WORKS["four_bars(1)"](), 0.0)
    Simulator(plant).AdvanceTo(0.01)
    return "accepted"


def drake_ball_to_ground() -> str:
    """Bricard's loop, closed on the ground, in discrete time."""
    from pydrake.systems.analysis import Simulator

    from benchmarks.engines.drake import build

    plant, _, _ = build(WORKS["bricard"](), 1e-3)
    Simulator(plant).AdvanceTo(0.01)
    return "accepted"


# --- OpenSim --------------------------------------------------------------------------------------


def opensim_constraints() -> str:
    """Kinds of constraints."""
    import opensim as osim

    names = [name for name in dir(osim) if name.endswith("Constraint")]
    return ", ".join(name for name in names if not name.startswith("Moco"))


def opensim_four_bar() -> str:
    """The four-bar through its flat positions."""
    from benchmarks.engines.opensim import settings

    work = WORKS["four_bars(1)"]()
    run = settings(work)["Merson, accuracy 1e-07"]
    return f"an error of {work.error(run().places):.2g} m, no message"


# --- SymPy ----------------------------------------------------------------------------------------


def sympy_nonlinear() -> str:
    """A condition that is not linear in the velocities."""
    import sympy.physics.mechanics as me

    x, y, u, v = me.dynamicsymbols("x y u v")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    point = origin.locatenew("G", x * frame.x + y * frame.y)
    point.set_vel(frame, u * frame.x + v * frame.y)
    kane = me.KanesMethod(
        frame,
        q_ind=[x, y],
        u_ind=[u],
        u_dependent=[v],
        velocity_constraints=[u**2 + v**2 - 1],
        kd_eqs=[u - x.diff(), v - y.diff()],
    )
    kane.kanes_equations([me.Particle("P", point, 1)], [(point, frame.y)])
    return "accepted"


TRIALS: dict[str, dict[str, Callable[[], str]]] = {
    "MuJoCo": {
        "a body without mass": mujoco_massless,
        "kinds of constraints": mujoco_constraints,
        "reactions of a door on three hinges": mujoco_reactions,
        "derivatives": mujoco_derivatives,
    },
    "Pinocchio": {
        "a body without mass at the end": pinocchio_massless,
        "rows of the user's own": pinocchio_own_rows,
        "order of joints": pinocchio_order_of_joints,
    },
    "Exudyn": {
        "redundant rows, solver's defaults": exudyn_redundant,
        "a condition on velocities": exudyn_nonholonomic,
    },
    "Drake": {
        "a loop in continuous time": drake_continuous_loop,
        "a loop closed on the ground": drake_ball_to_ground,
    },
    "OpenSim": {
        "kinds of constraints": opensim_constraints,
        "four-bar through flat positions": opensim_four_bar,
    },
    "SymPy": {"a condition nonlinear in velocities": sympy_nonlinear},
}


def tried(trial: Callable[[], Any]) -> str:
    """What came out, or the error that was raised."""
    try:
        return str(trial())
    except Exception as error:  # noqa: BLE001 - the error is the finding
        return f"{type(error).__name__}: {' '.join(str(error).split())[:110]}"


def main() -> None:
    """One line a trial."""
    if sys.argv[1:2] == ["--one"]:
        _, _, name, number = sys.argv
        print("\n" + tried(list(TRIALS[name].values())[int(number)]))
        return
    for name in (name for name in installed() if name in TRIALS):
        for number, what in enumerate(TRIALS[name]):
            command = [sys.executable, "-m", "benchmarks.capabilities", "--one", name, str(number)]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
            ended = f"the process ended with {done.returncode}"
            answer = done.stdout.strip().splitlines()[-1] if done.returncode == 0 else ended
            print(f"{name:<10} {what:<38} {answer}", flush=True)


if __name__ == "__main__":
    assert set(TRIALS) <= set(ENGINES)
    main()

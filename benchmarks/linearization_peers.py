"""The chains of `benchmarks.linearization` in Pinocchio, Drake and SymPy, where they are installed.

Rods that hang below each other on hinges about x and y in turn. None of the peers has constraint
rows in these: joint coordinates are all they know, so that they begin where a linearization of
bodies and joints ends. Each gives the eigenvalues of its A, so that the same thing is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

__all__ = ["DrakeChain", "Peer", "PinocchioChain", "drake", "pinocchio", "sympy_chain"]

#: Of each rod: mass [kg], center below its hinge [m], moments about the center [kg m²].
MASS, CENTER, MOMENTS = 1.0, 0.5, (0.1, 0.12, 0.05)
GRAVITY = 9.81


class Peer(NamedTuple):
    """A way to linearize: a call to be timed, and what it gives for comparison."""

    name: str
    call: Callable[[], Any]
    eigenvalues: Callable[[], np.ndarray]


class PinocchioChain:
    """The chain as a Pinocchio model."""

    def __init__(self, links: int) -> None:
        self.pin: Any = import_module("pinocchio")
        pin, parent = self.pin, 0
        self.model = pin.Model()
        for k in range(links):
            joint = pin.JointModelRX() if k % 2 == 0 else pin.JointModelRY()
            place = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.0 if k == 0 else -1.0]))
            parent = self.model.addJoint(parent, joint, place, f"pin{k}")
            own = pin.Inertia(MASS, np.array([0.0, 0.0, -CENTER]), np.diag(MOMENTS))
            self.model.appendBodyToJoint(parent, own, pin.SE3.Identity())
        self.data = self.model.createData()

    def linearized(self) -> Any:
        """Its derivatives of forward dynamics at rest."""
        q, rest = np.zeros(self.model.nq), np.zeros(self.model.nv)
        return self.pin.computeABADerivatives(self.model, self.data, q, rest, rest)

    def efforts(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Torques of many states by the recursive Newton–Euler algorithm, one call each."""
        rows = zip(q, v, a, strict=True)
        return np.array([self.pin.rnea(self.model, self.data, *row) for row in rows])


def pinocchio(links: int) -> Peer | None:
    """Pinocchio's derivatives of the articulated-body algorithm; None without it."""
    try:
        chain = PinocchioChain(links)
    except ImportError:
        return None

    def eigenvalues() -> np.ndarray:
        chain.linearized()
        return _eigenvalues(chain.data.ddq_dq)

    return Peer("Pinocchio computeABADerivatives", chain.linearized, eigenvalues)


class DrakeChain:
    """The chain as a MultibodyPlant in continuous time."""

    def __init__(self, links: int) -> None:
        tree: Any = import_module("pydrake.multibody.tree")
        plants: Any = import_module("pydrake.multibody.plant")
        transforms: Any = import_module("pydrake.math")
        self.primitives: Any = import_module("pydrake.systems.primitives")
        framework: Any = import_module("pydrake.systems.framework")
        self.no_port = (
            framework.InputPortSelection.kNoInput,
            framework.OutputPortSelection.kNoOutput,
        )
        plant = plants.MultibodyPlant(0.0)
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
        about_hinge = np.array(MOMENTS) / MASS + np.array([CENTER**2, CENTER**2, 0.0])
        inertia = tree.SpatialInertia(MASS, [0.0, 0.0, -CENTER], tree.UnitInertia(*about_hinge))
        frame = plant.world_frame()
        for k in range(links):
            body = plant.AddRigidBody(f"rod{k}", inertia)
            axis = [1.0, 0.0, 0.0] if k % 2 == 0 else [0.0, 1.0, 0.0]
            plant.AddJoint(tree.RevoluteJoint(f"pin{k}", frame, body.body_frame(), axis))
            end = transforms.RigidTransform([0.0, 0.0, -1.0])
            frame = plant.AddFrame(tree.FixedOffsetFrame(f"end{k}", body.body_frame(), end))
        plant.Finalize()
        self.forces = tree.MultibodyForces
        self.plant, self.context = plant, plant.CreateDefaultContext()

    def linearized(self) -> Any:
        """A at rest, by automatic differentiation."""
        return self.primitives.Linearize(self.plant, self.context, *self.no_port).A()

    def efforts(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Torques of many states, one call each."""
        forces, found = self.forces(self.plant), []
        for at, rate, wanted in zip(q, v, a, strict=True):
            self.plant.SetPositions(self.context, at)
            self.plant.SetVelocities(self.context, rate)
            self.plant.CalcForceElementsContribution(self.context, forces)
            found.append(self.plant.CalcInverseDynamics(self.context, wanted, forces))
        return np.array(found)


def drake(links: int) -> Peer | None:
    """Drake's Linearize; None without it."""
    try:
        chain = DrakeChain(links)
    except ImportError:
        return None
    return Peer("Drake Linearize", chain.linearized, lambda: np.linalg.eigvals(chain.linearized()))


def sympy_chain(links: int) -> Callable[[], Peer] | None:
    """SymPy's linearizer of a planar chain, to be derived; None without it."""
    try:
        sm: Any = import_module("sympy")
        me: Any = import_module("sympy.physics.mechanics")
    except ImportError:
        return None

    def derived() -> Peer:
        q, u = me.dynamicsymbols(f"q:{links}"), me.dynamicsymbols(f"u:{links}")
        N = me.ReferenceFrame("N")
        last = me.Point("O")
        last.set_vel(N, 0)
        bodies, loads = [], []
        for k in range(links):
            frame = N.orientnew(f"F{k}", "Axis", [q[k], N.y])
            frame.set_ang_vel(N, u[k] * N.y)
            center, end = last.locatenew(f"C{k}", -frame.z / 2), last.locatenew(f"P{k}", -frame.z)
            center.v2pt_theory(last, N, frame)
            end.v2pt_theory(last, N, frame)
            inertia = me.inertia(frame, 0, sm.Rational(1, 10), 0)
            bodies.append(me.RigidBody(f"rod{k}", center, frame, 1, (inertia, center)))
            loads.append((center, -sm.Float(GRAVITY) * N.z))
            last = end
        kane = me.KanesMethod(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)])
        kane.kanes_equations(bodies, loads)
        at_rest = {x: 0 for v in u for x in (v, v.diff())}
        A, _ = kane.to_linearizer().linearize(A_and_B=True, op_point=at_rest)
        evaluate = sm.lambdify([*q, *u], A, cse=True)
        zero = [0.0] * (2 * links)
        return Peer(
            "SymPy linearizer", lambda: evaluate(*zero), lambda: np.linalg.eigvals(evaluate(*zero))
        )

    return derived


def _eigenvalues(K: np.ndarray) -> np.ndarray:
    """Of q̈ = K q at rest, where nothing damps."""
    n = len(K)
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [K, np.zeros((n, n))]]))

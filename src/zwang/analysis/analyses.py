"""The analyses that users call besides simulation, written once for systems and mechanisms.

Each call is that of the module that does it; `zwang.System` and `zwang.Mechanism` have them all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from zwang.analysis.effort_result import InverseDynamics
    from zwang.analysis.kinematics_result import Kinematics
    from zwang.analysis.linearization import Linearization
    from zwang.analysis.load_path import LoadPath
    from zwang.analysis.root_locus import RootLocus
    from zwang.analysis.servo import Servo
    from zwang.analysis.statics import Equilibrium
    from zwang.analysis.steady_motion import SteadyMotion
    from zwang.system import System

from zwang.arguments.keywords import known_keywords_of_methods

__all__ = ["Analyses"]


@known_keywords_of_methods
class Analyses(ABC):
    """Equilibria, small motions, kinematics and inverse dynamics."""

    @abstractmethod
    def _analyzed(self) -> System:
        """The system that is analyzed."""

    # --- rest and small motions -------------------------------------------------------------------

    def equilibrium(
        self,
        start: Any = None,
        hold: Mapping[str, Any] | None = None,
        prefer: Mapping[str, Any] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
    ) -> Equilibrium:
        """A configuration at rest: Q + Aᵀλ = 0 on the constraints.

        Where forces have a potential, the search goes downhill along the constraints and ends in a
        stable equilibrium; a start that is at rest already is kept. Otherwise Newton's method,
        continuation and a damped motion are tried in turn, and the answer says which it was.

        Parameters
        ----------
        start : where the search begins: a state, coordinates or a mapping of some of them; for a
            mechanism, its placement if not given.
        hold : coordinate or joint coordinate → value that is kept; the effort that this takes is
            `Equilibrium.holding`.
        prefer : the same, for the start alone; chooses between ways of assembling.
        t : time [s] at which forces and drivers are taken.
        parameters : values that replace defaults.

        Raises
        ------
        NoEquilibriumError : nothing holds the system, or none was found; the error names the motion
            and what drives it.

        Examples
        --------
        >>> import zwang as zw
        >>> pendulum = zw.library.spherical_pendulum(L=2.0)  # y points down
        >>> rest = pendulum.equilibrium(start=[0.3, 0.1, 0.2])
        >>> rest.stability, rest.q.round(6) + 0.0
        ('stable', array([0., 2., 0.]))

        Of a mechanism, from its placement:

        >>> import zwang as zw
        >>> m = zw.Mechanism(gravity=(0, 0, -9.81))
        >>> rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
        >>> m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        >>> rest = m.equilibrium()
        >>> rest.stability, rest.reaction("pin").force.round(9) + 0.0
        ('stable', array([0.  , 0.  , 9.81]))
        """
        from zwang.analysis.statics import equilibrium

        return equilibrium(self._analyzed(), start, hold, prefer, t, parameters)

    def equilibria(
        self,
        starts: Any = None,
        count: int = 40,
        hold: Mapping[str, Any] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        seed: int = 0,
        spread: float = 3.0,
    ) -> list[Equilibrium]:
        """Several equilibria, stable or not, nearest to the first start first.

        What the search finds from random starts is not known to be all there are.

        Parameters
        ----------
        starts : configurations to begin from, beside random ones.
        count : number of random starts.
        hold, t, parameters : as for `equilibrium`.
        seed : of the random starts.
        spread : how far they lie from the first one, in each direction [m, rad].
        """
        from zwang.analysis.statics import equilibria

        return equilibria(self._analyzed(), starts, count, hold, t, parameters, seed, spread)

    def load_path(
        self,
        parameter: str,
        values: Any,
        start: Any = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        largest_step: float | None = None,
        limit: int = 2000,
    ) -> LoadPath:
        """Equilibria while a parameter changes: load stepping, with turning and buckling points.

        The path is followed by its arc length, so that it goes on where the load has a maximum.

        Parameters
        ----------
        parameter : name of a parameter that is one number; ``gravity.z`` for a part of a vector.
        values : of the parameter, from which the path begins and towards which it goes, in order.
        start, t, parameters : as for `equilibrium`.
        largest_step : of the coordinates, from one point of the path to the next.
        limit : number of points at most.
        """
        from zwang.analysis.load_path import load_path

        return load_path(
            self._analyzed(), parameter, values, start, t, parameters, largest_step, limit
        )

    def linearize(
        self,
        state: Any = None,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        independent: Sequence[str] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
    ) -> Linearization:
        """Linear equations of small motions about an equilibrium, in independent coordinates.

        Constraints may be redundant or nonholonomic, and mass may be missing where a spring or a
        damper acts. About motions that stay the same: `steady_motion`.

        Parameters
        ----------
        state : an `Equilibrium`, or a state of rest in which forces balance; if not given, the
            equilibrium that is found from the placement of a mechanism.
        inputs : velocities or coordinates (a generalized force), coordinates of joints (an effort),
            parameters of forces, or drivers (their acceleration).
        outputs : coordinates, velocities, channels of joints, rows of constraints (a multiplier),
            ``pin.force.x`` or ``pin.moment.z``.
        independent : coordinates that become states; what is missing is chosen by a rank-revealing
            decomposition, joint coordinates first.
        t : time [s], unless the state knows it.
        parameters : values that replace defaults.

        Examples
        --------
        >>> import zwang as zw
        >>> pendulum = zw.library.spherical_pendulum(L=2.0, g=9.81)
        >>> lin = pendulum.linearize([0.0, 2.0, 0.0])
        >>> [round(mode.frequency**2, 9) for mode in lin.modes()]
        [4.905, 4.905]
        """
        from zwang.analysis.linearization import linearize

        if state is None:
            state = self.equilibrium(t=t, parameters=parameters)
        return linearize(self._analyzed(), state, inputs, outputs, independent, t, parameters)

    def steady_motion(
        self,
        rates: Mapping[str, float],
        start: Any = None,
        hold: Mapping[str, Any] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
    ) -> SteadyMotion:
        """A motion that stays the same in a frame that moves with it, near a start.

        Symmetries are found by themselves: cyclic coordinates of a system of functions; of a
        mechanism shifts and turns of the whole, and turns of round bodies about their axes.

        Parameters
        ----------
        rates : what is given of them. Of a mechanism the rate of a joint coordinate
            (``"hinge.angle"``), ``"wheel.spin"`` of a round body against the frame that moves with
            the whole, ``"yaw"`` of the whole about the vertical, or a velocity (``"frame.vx"``);
            of a system a cyclic coordinate, its rate. The others follow, or stay near the start's.
        start : a state near it; for a mechanism, its placement if not given.
        hold : coordinate → value that is kept, such as a lean.
        t : time [s].
        parameters : values that replace defaults.

        Raises
        ------
        NoEquilibriumError : there is no symmetry, or no such motion near the start.
        """
        from zwang.analysis.steady_motion import steady_motion

        return steady_motion(self._analyzed(), rates, start, hold, t, parameters)

    def root_locus(
        self,
        parameter: str,
        values: Any,
        start: Any = None,
        rates: Mapping[str, float] | None = None,
        hold: Mapping[str, Any] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
    ) -> RootLocus:
        """Eigenvalues of small motions while a parameter, or a rate of steady motion, changes.

        Parameters
        ----------
        parameter : name of a parameter that is one number, or of a rate as in `steady_motion`.
        values : of it; each equilibrium or motion is looked for from the one before.
        start, hold, t, parameters : as for `equilibrium` and `steady_motion`.
        rates : further rates that are given, if it is about steady motions.
        """
        from zwang.analysis.root_locus import root_locus

        return root_locus(self._analyzed(), parameter, values, start, rates, hold, t, parameters)

    # --- kinematics -------------------------------------------------------------------------------

    def kinematics(
        self,
        times: ArrayLike | None = None,
        along: tuple[str, ArrayLike] | None = None,
        start: Any = None,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Kinematics:
        """Positions, velocities and accelerations where constraints alone determine the motion.

        No masses are needed. The branch of the start is kept, past singular positions too; dead
        points and change points on the way are found.

        Parameters
        ----------
        times : increasing times [s].
        along : in place of times a coordinate that is varied, or the driver that holds it, and its
            values, increasing or decreasing; all that depends on time stands still. Rates are then
            those for a unit rate of the coordinate.
        start : a state, or coordinates, near which the motion begins; it chooses the branch.
        parameters : values that replace defaults.

        Raises
        ------
        NotUniqueError : constraints leave a motion open; the error names it.
        AssemblyError : they cannot be satisfied at the first value.

        Examples
        --------
        >>> import numpy as np, zwang as zw
        >>> m = zw.Mechanism(plane="xy")
        >>> crank = m.body("crank", position=(0, 0))
        >>> rod, slider = m.body("rod", position=(1, 0)), m.body("slider", position=(4, 0))
        >>> m.revolute("main", m.ground, crank, at=(0, 0))
        >>> m.revolute("pin", crank, rod, at=(1, 0))
        >>> m.revolute("gudgeon", rod, slider, at=(4, 0))
        >>> m.prismatic("guide", m.ground, slider, at=(4, 0), axis="x")
        >>> k = m.kinematics(along=("main.angle", [0.0, np.pi / 2, np.pi]))
        >>> k["slider.position.x"].round(4)
        array([4.    , 2.8284, 2.    ])
        """
        from zwang.analysis.kinematics import kinematics

        return kinematics(self._analyzed(), times, along, start, parameters=parameters)

    def inverse_dynamics(
        self,
        motion: Any,
        actuators: Sequence[str],
        rule: str = "least norm",
        weights: Any = None,
        *,
        start: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> InverseDynamics:
        """Efforts of actuators that a wanted motion needs: motor torques, cylinder forces.

        Parameters
        ----------
        motion : a run or kinematics over time of a mechanism with the same bodies; or
            ``(times, {quantity: f})`` with f a function of t or samples at the times, such as
            ``{"j1.angle": lambda t: np.sin(t)}``; the rest follows from the constraints.
        actuators : coordinates of joints (``"j1.angle"``), components of bodies
            (``"slider.position.x"``), coordinates or drivers; a driver of the same coordinate is
            let go. An effort is positive along its coordinate.
        rule : of efforts that make the same motion, those of ``"least norm"``, of the least
            Σ wᵢτᵢ² (``"weights"``), or of the ``"smallest maximum"`` of |τᵢ|, or wᵢ|τᵢ|.
        weights : w, by actuator or in their order.
        start : a state near which a motion from quantities begins.
        parameters : values that replace defaults.

        Raises
        ------
        NotUniqueError : the quantities do not determine the motion; the error names what is open.
        AssemblyError : they cannot be met, or contradict each other.

        Examples
        --------
        A rod held level by a motor:

        >>> import zwang as zw
        >>> m = zw.Mechanism(gravity=(0, 0, -10.0))
        >>> rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
        >>> m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        >>> inv = m.inverse_dynamics(([0.0, 1.0], {"pin.angle": lambda t: 0.0 * t}), ["pin.angle"])
        >>> inv.effort["pin.angle"].round(9)
        array([-5., -5.])
        """
        from zwang.analysis.inverse_dynamics import inverse_dynamics

        return inverse_dynamics(
            self._analyzed(), motion, actuators, rule, weights, start=start, parameters=parameters
        )

    def servo(
        self,
        program: Mapping[str, Any],
        actuators: Any,
        *,
        start: Any = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
    ) -> Servo:
        """Servo constraints with given actuators: whether and how they follow a program.

        ``servo.realizability`` tells rank, relative degrees, index, internal dynamics and the
        smoothness that the program must have; ``servo.solve(times)`` gives motion and efforts.

        Parameters
        ----------
        program : quantity → function of t: coordinates, coordinates of joints, components such as
            ``"load.position.x"``.
        actuators : as many names of quantities, or a matrix B (nv, k) or a function of (q, v, t, p)
            that returns it, as in `System.control_force`.
        start : a state near which the program begins.
        t : time of the start [s].
        parameters : values that replace defaults.

        Raises
        ------
        UnreachableError : there are not as many actuators as programs.
        """
        from zwang.analysis.servo import servo

        return servo(self._analyzed(), program, actuators, start=start, t=t, parameters=parameters)

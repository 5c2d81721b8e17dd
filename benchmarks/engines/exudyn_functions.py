"""Works for Exudyn whose constraints or forces are functions in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items  # noqa: N813 - our words for its names
import numpy as np

from benchmarks.references import known_motion

__all__ = ["CarAxis", "Particle"]

OUT = exu.OutputVariableType


class _Functions(ABC):
    """A system of its own; `places` tells where its points are at the start and now."""

    def __init__(self, name: str) -> None:
        self.motion = known_motion(name)
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.nodes = self._build()
        self.mbs.Assemble()
        self.start = self._now()

    @abstractmethod
    def _build(self) -> list[Any]:
        """Make it, and name the nodes that are its points."""

    def _now(self) -> np.ndarray:
        return np.array([self.mbs.GetNodeOutput(node, OUT.Position) for node in self.nodes])

    def places(self) -> np.ndarray:
        """Start and end, (2, points, 3)."""
        return np.array([self.start, self._now()])

    def _coordinates(self, node: Any) -> Any:
        return self.mbs.AddMarker(items.MarkerNodeCoordinates(nodeNumber=node))

    def _rule(self, markers: list[Any], sizes: tuple[int, int], **rule: Any) -> None:
        """A constraint on the coordinates of two nodes."""
        none = [np.zeros((1, n)) if n else [] for n in sizes]
        self.mbs.AddObject(
            items.CoordinateVectorConstraint(
                markerNumbers=markers,
                scalingMarker0=none[0],
                scalingMarker1=none[1],
                quadraticTermMarker0=[],
                quadraticTermMarker1=[],
                offset=[0.0],
                **rule,
            )
        )


class Particle(_Functions):
    """The nonholonomic particle."""

    def __init__(self) -> None:
        super().__init__("nonholonomic_particle")

    def _build(self) -> list[Any]:
        mbs, motion = self.mbs, self.motion
        node = mbs.AddNode(
            items.NodePoint(initialCoordinates=motion["q"], initialVelocities=motion["v"])
        )
        mbs.AddObject(items.MassPoint(physicsMass=1.0, nodeNumber=node))
        forces = (np.cos, lambda t: 1.0 + np.sin(2.0 * t), lambda t: t - 1.0)
        for k, force in enumerate(forces):
            marker = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
            mbs.AddLoad(
                items.LoadCoordinate(
                    markerNumber=marker,
                    load=1.0,
                    loadUserFunction=lambda _mbs, t, _load, force=force: float(force(t)),
                )
            )
        ground = mbs.AddNode(items.NodePointGround())

        def condition(_mbs: Any, t: float, _item: int, q: Any, q_t: Any, _level: Any) -> list:
            return [q_t[1] - q[2] * q_t[0] - np.sin(t)]

        def rows(_mbs: Any, _t: float, _item: int, q: Any, _q_t: Any, _level: Any) -> np.ndarray:
            return np.array([[-q[2], 1.0, 0.0]])

        self._rule(
            [self._coordinates(ground), self._coordinates(node)],
            (0, 3),
            velocityLevel=True,
            constraintUserFunction=condition,
            jacobianUserFunction=rows,
        )
        return [node]


class CarAxis(_Functions):
    """The car axis: masses and a driven wheel as points of the plane (its y is our z)."""

    def __init__(self) -> None:
        super().__init__("car_axis")

    def _build(self) -> list[Any]:
        mbs, q, v = self.mbs, self.motion["q"], self.motion["v"]
        mass = 10.0 * 0.01**2 / 2.0
        ends = [self._mass(q[k : k + 2], v[k : k + 2], mass) for k in (0, 2)]
        for end in ends:
            marker = mbs.AddMarker(items.MarkerNodePosition(nodeNumber=end))
            mbs.AddLoad(items.Force(markerNumber=marker, loadVector=[0.0, -mass, 0.0]))
        wheel = self._mass([1.0, 0.0], [0.0, 1.0], mass)
        drives = (
            lambda t: np.sqrt(1.0 - (0.1 * np.sin(10.0 * t)) ** 2),
            lambda t: 0.1 * np.sin(10.0 * t),
        )
        nowhere = mbs.AddNode(items.NodePointGround())
        fixed = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nowhere, coordinate=0))
        for k, drive in enumerate(drives):
            driven = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=wheel, coordinate=k))
            mbs.AddObject(
                items.CoordinateConstraint(
                    markerNumbers=[fixed, driven],
                    offset=1.0,
                    offsetUserFunction=lambda _mbs, t, _item, _offset, f=drive: float(f(t)),
                )
            )
        for foot, end in ((nowhere, ends[0]), (wheel, ends[1])):
            pair = [mbs.AddMarker(items.MarkerNodePosition(nodeNumber=n)) for n in (foot, end)]
            spring = items.SpringDamper(markerNumbers=pair, referenceLength=0.5, stiffness=1.0)
            mbs.AddObject(spring)
        pair = [mbs.AddMarker(items.MarkerNodePosition(nodeNumber=n)) for n in ends]
        mbs.AddObject(items.DistanceConstraint(markerNumbers=pair, distance=1.0))

        def condition(_mbs: Any, _t: float, _item: int, q: Any, q_t: Any, level: Any) -> list:
            if level:
                return [q[2] * q_t[0] + q[0] * q_t[2] + q[3] * q_t[1] + q[1] * q_t[3]]
            return [q[2] * q[0] + q[3] * q[1]]

        def rows(_mbs: Any, _t: float, _item: int, q: Any, _q_t: Any, _level: Any) -> np.ndarray:
            return np.array([[q[2], q[3], q[0], q[1]]])

        self._rule(
            [self._coordinates(ends[0]), self._coordinates(wheel)],
            (2, 2),
            constraintUserFunction=condition,
            jacobianUserFunction=rows,
        )
        return ends

    def _mass(self, q: list[float], v: list[float], mass: float) -> Any:
        node = self.mbs.AddNode(items.NodePoint2D(initialCoordinates=q, initialVelocities=v))
        self.mbs.AddObject(items.MassPoint2D(physicsMass=mass, nodeNumber=node))
        return node

    def _now(self) -> np.ndarray:
        flat = super()._now()
        return np.stack([flat[:, 0], 0 * flat[:, 0], flat[:, 1]], axis=1)

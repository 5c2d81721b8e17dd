"""Block programs: the layout of a large system, its kinds of bodies and elements with instances.

Nothing here knows what a body or a joint is. A *node* carries coordinates, velocities and a mass
block; an *element* is a function of the configurations of a few nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import casadi

__all__ = [
    "BlockElement",
    "BlockFriction",
    "BlockLayout",
    "ElementType",
    "LawType",
    "Node",
    "NodeType",
]


@dataclass(frozen=True, eq=False)
class NodeType:
    """A kind of node.

    Attributes
    ----------
    nq, nv, config : numbers of coordinates, velocities and entries of the configuration.
    terms : (q, v, data, shared) → (config, N, M, force).
    unit : coordinates of unit length together.
    shift : mass of each velocity that has none before the mass block is inverted, where it may be
        singular.
    memo : what was made from it.
    """

    nq: int
    nv: int
    config: int
    terms: casadi.Function
    unit: tuple[int, ...] = ()
    shift: tuple[float, ...] = ()
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class ElementType:
    """A kind of element between nodes.

    Attributes
    ----------
    terms : (config…, v…, t, numbers, shared) → (φ, ψ, b, A…) for a constraint, where φ is empty at
        the level of velocities, or → (V, force…) for a force.
    rows : number of equations; 0 for a force.
    position : whether the equations are of positions.
    kinds : node type of each of its nodes, None for the ground.
    same : for each of its nodes the first place at which the same node stands.
    memo : what was made from it.
    """

    terms: casadi.Function
    rows: int
    position: bool
    kinds: tuple[NodeType | None, ...]
    same: tuple[int, ...]
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class LawType:
    """A kind of force that depends on the multipliers of a constraint.

    Attributes
    ----------
    terms : (config…, v…, t, numbers, shared, own numbers, λ) → force on each node of the
        constraint; all but the last two are the constraint's own arguments.
    element : kind of the constraint.
    memo : what was made from it.
    """

    terms: casadi.Function
    element: ElementType
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Node:
    """An instance of a node type: where its numbers are in p."""

    type: NodeType
    data: tuple[int, int]


@dataclass(frozen=True)
class BlockElement:
    """An instance of an element type.

    Attributes
    ----------
    nodes : indices of its nodes, −1 for the ground.
    numbers : where its numbers are in p.
    row : number of its first equation among all rows of the system.
    """

    type: ElementType
    nodes: tuple[int, ...]
    numbers: tuple[int, int]
    row: int = 0


@dataclass(frozen=True)
class BlockFriction:
    """An instance of a law: which constraint it belongs to, where its own numbers are in p."""

    type: LawType
    constraint: int
    numbers: tuple[int, int]


@dataclass(frozen=True)
class BlockLayout:
    """A large system.

    Attributes
    ----------
    shared, node_shared : where the numbers that all elements, and all nodes, use are in p.
    parameters : length of p.
    independent : whether no row can depend on others, as in trees; then nothing is regularised.
    distinct : whether none does but in singular positions; then pivots are kept from zero.
    laws : forces that depend on multipliers, at most one for each constraint.
    """

    nodes: list[Node]
    constraints: list[BlockElement]
    forces: list[BlockElement]
    shared: tuple[int, int]
    node_shared: tuple[int, int]
    parameters: int
    independent: bool = False
    laws: tuple[BlockFriction, ...] = ()
    distinct: bool = False

    @property
    def q_starts(self) -> list[int]:
        """Where the coordinates of each node begin."""
        return _starts([node.type.nq for node in self.nodes])

    @property
    def v_starts(self) -> list[int]:
        """Where the velocities of each node begin."""
        return _starts([node.type.nv for node in self.nodes])

    @property
    def singular(self) -> bool:
        """Whether some node can move without inertia."""
        return any(node.type.shift for node in self.nodes)

    @property
    def rows(self) -> int:
        """Number of equations."""
        return sum(element.type.rows for element in self.constraints)


def _starts(sizes: list[int]) -> list[int]:
    result = [0]
    for size in sizes:
        result.append(result[-1] + size)
    return result

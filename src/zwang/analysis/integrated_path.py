"""Kinematic analysis with constraints of velocity: gears, screws, couplers, rolling.

Such a row has no φ to correct with. The path is integrated by arc length, x′ = N̂ T(x) with the
tangent T of all rows, by an explicit method of order eight (Dormand & Prince; Hairer, Nørsett &
Wanner 1993, section II.5) to rounding; position rows are corrected afterwards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zwang.analysis.path_following import DEAD, Follower, Path, PathNode
from zwang.terms import FloatArray

__all__ = ["integrated_path"]

#: Local error, of coordinates of size one, and the longest step, which shows singular positions.
TOLERANCE, LONGEST = 1e-13, 0.2
#: Arc length after which a path is given up.
FAR = 5_000.0


def integrated_path(follower: Follower, node: PathNode, until: float) -> Path:
    """Nodes from one on, until s has passed a value or turns back."""
    from scipy.integrate import DOP853, OdeSolution

    equations, ahead = follower.equations, [node.tangent]
    direction = np.sign(node.tangent[-1])

    def slope(_: float, x: FloatArray) -> FloatArray:
        free = follower.free(equations.unit(x.copy()))
        tangent = free @ (free.T @ ahead[0])
        return equations.rate(x, follower.D * tangent / np.linalg.norm(tangent))

    solver = DOP853(
        slope, node.length, node.x, FAR, rtol=TOLERANCE, atol=TOLERANCE, max_step=LONGEST
    )
    path, lengths, pieces = Path([node], []), [node.length], []
    while not path.reached and not any(p.kind == DEAD for p in path.singular):
        solver.step()
        if solver.status != "running":
            path.reason = "steps became too short"
            break
        lengths.append(solver.t)
        pieces.append(solver.dense_output())
        solution = OdeSolution(lengths, pieces)
        path.dense = lambda at, solution=solution: np.asarray(solution(at)).T
        last = follower.node(equations.unit(solver.y.copy()), ahead[0], path.nodes[-1])
        path.nodes.append(replace(last, length=solver.t))
        ahead[0] = last.tangent
        follower.look_back(path)
        path.reached = bool((last.s - until) * direction >= 0.0)
    if path.singular and path.singular[-1].kind == DEAD:
        path.reached = bool((path.singular[-1].x[-1] - until) * direction > 0.0)
    return path

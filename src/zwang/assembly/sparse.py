"""Assembly of a large mechanism with sparse matrices, and the error if it cannot be closed.

Without requests, by the corrections of its block program; with held or preferred values like other
mechanisms, by conditions whose slopes are sparse.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.assembly.mechanism import AssemblyTable, moved_by_name
from zwang.assembly.newton import MASSLESS_SPARSE
from zwang.assembly.result import Assembly
from zwang.diagnosis.wording import listing
from zwang.errors import AssemblyError
from zwang.multibody.frozen import Parts
from zwang.multibody.graph import loops
from zwang.multibody.joint_coordinates import JointChannel
from zwang.state import Residuals
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.elements import ElementEquations

__all__ = ["LargeTable", "assembled_by_blocks"]

#: Corrections at most; the residual at which they end, and the one with which they may.
CORRECTIONS = 60
CLOSED, ALMOST_CLOSED = 1e-13, 1e-10
#: Constraints with a rate residual below this share of the largest are not part of the conflict.
TAKES_PART = 1e-3


def assembled_by_blocks(
    equations: ElementEquations, q: FloatArray, v: FloatArray, t: float, p: FloatArray
) -> Assembly:
    """A state near (q, v) that satisfies all joints, by the corrections that follow each step."""
    given, program = v, equations.block_program()
    residual = program.kernel("residual")
    steps, worst = 0, np.inf
    while steps < CORRECTIONS:
        (ratios,) = residual(q, v, [t], p)
        worst = float(np.abs(ratios).max(initial=0.0))
        if worst <= CLOSED or not np.isfinite(worst):
            break
        q, v, _ = program.kernel("project")(q, v, [t], p)  # not written where all is closed
        steps += 1
    if not worst <= ALMOST_CLOSED:
        # Corrections that cannot close a loop may end at bodies that have grown with it.
        q = equations.on_unit_length(q)
        left = equations.residuals_at(q, v, np.asarray(t), p)
        raise _gap(equations.parts, Assembly(q, v, t), left)
    table, notes = LargeTable(equations, t, p), ()
    moved = q - table.parts.start[0]
    if steps or given.any():
        # Velocities once more, as an impulse there makes them of those given. At rest, where all is
        # closed and no driver asks for a rate, there is none.
        v = table.velocities({}, q, given)
        notes = table.about_velocities(q, given, v)
    named = moved_by_name(equations, moved, v - given)
    return Assembly(q, v, t, named, float(np.linalg.norm(moved)), steps, notes)


class LargeTable(AssemblyTable):
    """Conditions evaluated element by element."""

    equations: ElementEquations
    massless = MASSLESS_SPARSE

    def position_rows(self, q: FloatArray) -> tuple[FloatArray, Any]:
        """φ of all constraints of positions and their rows of A, sparse."""
        phi, _, A = self.equations.sparse_rows(q, np.zeros(self.nv), self.t, self.p)
        of_positions = [k for k, x in enumerate(self.equations.row_levels()) if x == "position"]
        return phi, A[of_positions]

    def rate_rows(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, Any]:
        """Rates of all constraints and their rows of A, sparse."""
        _, psi, A = self.equations.sparse_rows(q, v, self.t, self.p)
        return psi, A

    def root(self, q: FloatArray, *, masses: bool = True) -> Any:
        """R with R Rᵀ = M⁻¹, or with all masses alike, sparse."""
        from scipy.sparse import block_diag

        return block_diag(self.roots(q, masses=masses), format="csr")

    def masses(self, q: FloatArray) -> list[FloatArray]:
        """Blocks of M, one a body."""
        blocks, *_ = self.equations.bulk.bodies(q[None], np.zeros((1, self.nv)), self.p)
        return [block[0] for block in blocks]

    def moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """q after an increment of the velocities' kind, body by body."""
        return self.equations.on_unit_length(q + self.equations.bulk.rates(q, step))

    def block(self, q: FloatArray, i: int) -> FloatArray:
        """N of one body, column by column."""
        q_starts, v_starts = self.parts.places
        unit = np.zeros((v_starts[i + 1] - v_starts[i], self.nv))
        unit[:, v_starts[i] : v_starts[i + 1]] = np.eye(len(unit))
        columns = [self.equations.bulk.rates(q, v)[q_starts[i] : q_starts[i + 1]] for v in unit]
        return np.array(columns).T

    def state_and_slope(
        self, channel: JointChannel, q: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """A joint's coordinate and rate at rest, and the derivative of its rate by v, (nv,)."""
        _, starts = self.parts.places
        own = [k for i in channel.element.bodies if i >= 0 for k in range(starts[i], starts[i + 1])]
        # Rates are linear in v: at rest, and with each velocity of the joint's bodies alone.
        v = np.zeros((len(own) + 1, len(self.equations.velocities)))
        v[np.arange(len(own)) + 1, own] = 1.0
        t = np.full(len(v), self.t)
        states = self.equations.joint_states_at(channel, np.tile(q, (len(v), 1)), v, t, self.p)
        slope = np.zeros(v.shape[1])
        np.add.at(slope, own, states[1:, -1] - states[0, -1])
        return states[0], slope


def _gap(parts: Parts, nearest: Assembly, left: Residuals) -> AssemblyError:
    """The error for joints that cannot be closed, or rates that contradict each other."""
    gaps = _gaps(parts, left.position_names, left.position)
    size = max(1.0, float(np.abs(nearest.q).max()))
    if max(gaps.values(), default=0.0) <= ALMOST_CLOSED * size:
        gaps = _gaps(parts, left.velocity_names, left.velocity)
        worst = max(gaps, key=lambda name: gaps[name])
        group = tuple(name for name in gaps if gaps[name] > TAKES_PART * gaps[worst])
        return AssemblyError(
            "no velocity satisfies all joints and drivers",
            nearest=nearest,
            gap=sum(gaps.values()),
            group=group,
            found=f"{listing([parts.described(name) for name in group])} contradict each other; "
            f"at the nearest velocities {worst} has a residual of {gaps[worst]:.3g}",
            advice="Release one of these, or change its value.",
        )
    worst = max(gaps, key=lambda name: gaps[name])
    closed = (loop for loop in loops(parts.joints.values()) if worst in loop)
    loop = min(closed, key=len, default=())
    where = f"the loop of joints {listing(loop)}" if loop else parts.described(worst)
    return AssemblyError(
        "no configuration satisfies all joints",
        nearest=nearest,
        gap=sum(gaps.values()),
        group=loop or (worst,),
        found=f"near the placement, {where} cannot be closed; the largest gap, {gaps[worst]:.3g} "
        f"m, is in {worst}",
        advice="Move bodies nearer to where they belong; .nearest of this error shows the gap.",
    )


def _gaps(parts: Parts, names: Iterable[str], values: FloatArray) -> dict[str, float]:
    """Joint or constraint → the norm of the residual of its rows."""
    gaps: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        owner = parts.owner(name.split("[")[0])
        gaps[owner] = float(np.hypot(gaps.get(owner, 0.0), value))
    return gaps

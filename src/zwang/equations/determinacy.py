"""Equations of a mechanism at one state: which motions they allow, which reactions they determine.

By dense matrices, or by sparse ones where the mechanism is too large for these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.diagnosis.determinate import determinate_groups
from zwang.diagnosis.explain import explain_terms
from zwang.diagnosis.passport import (
    Groups,
    Passport,
    Status,
    chosen_groups,
    passport_terms,
    require_groups,
    with_untold,
)
from zwang.diagnosis.wording import listing
from zwang.multibody.explanation import MechanismExplanation, explained
from zwang.multibody.unknown_tooth_forces import UNTOLD, untold_joints, untold_rows
from zwang.terms import EquationTerms, FloatArray

if TYPE_CHECKING:
    from zwang.equations.mechanism import MechanismEquations
    from zwang.multibody.frozen import Parts
    from zwang.multibody.marker import Joint
    from zwang.multibody.wrench import Wrench

__all__ = ["At", "determinate_joints", "explanation_at", "groups_of_joints", "passport_at"]

#: q, v, t and p of one state.
At = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def explanation_at(equations: MechanismEquations, at: At) -> MechanismExplanation:
    """Loops, redundant equations, freedoms and contradictions at a state, by joint and body.

    Of the motions that a very large mechanism allows, the first are told.
    """
    elements = equations.by_elements
    if elements is not None and elements.too_large_for_dense:
        none = np.zeros(len(equations.velocities))
        found = elements.diagnosis_at(*at, none)
        return found.explanation(elements.undetermined_motions(*at))
    terms = equations.ideal_terms_at(*at)
    return explained(equations.parts, at[0], terms, explain_terms(terms))


def passport_at(equations: MechanismEquations, at: At, groups: Groups | None) -> Passport:
    """Which reactions are determinate at a state, of joints or of groups of them."""
    elements = equations.by_elements
    solved = None if elements is None else elements.sparse_solution_at(*at)
    chosen = groups_of_joints(equations, groups)
    if solved is None:
        terms = equations.terms_at(*at)
        plain, own = passport_terms(terms, groups=chosen), chosen_groups(terms, chosen)
    else:
        terms, own = solved.diagnosis.terms, chosen_groups(solved.diagnosis.terms, chosen)
        plain = solved.diagnosis.passport(solved.acceleration, solved.multipliers, own)
    plain = _with_wrenches(equations, plain, at, terms.constraint_matrix)
    untold = _untold(equations, at[0], terms.constraint_matrix)
    if not untold:
        return plain
    wider = _with_untold(equations, own, terms.constraint_count, untold)
    if solved is None:
        beside = _beside(terms, untold, plain.acceleration)
        told = passport_terms(beside, groups=wider)
    else:
        beside = _beside(terms, untold, solved.acceleration)
        from zwang.multibody.sparse_explanation import SparseDiagnosis

        more = SparseDiagnosis(equations.parts, at[0], beside, independent=False)
        told = more.passport(solved.acceleration, np.zeros(beside.constraint_count), wider)
    return with_untold(plain, told, [f"{name} {UNTOLD}." for name in untold])


def determinate_joints(equations: MechanismEquations, at: At) -> dict[str, bool]:
    """Joint → whether its reaction follows from the motion, at a state."""
    elements = equations.by_elements
    if elements is None:
        groups = passport_at(equations, at, None).groups
        return {name: group.status is Status.DETERMINATE for name, group in groups.items()}
    rows = equations.rows_of_joints
    if equations.rows_independent:
        return dict.fromkeys(rows, True)
    q, v, t, p = at
    M, A = elements.sparse_matrices(q[None], v[None], np.reshape(t, 1), p)
    untold = _untold(equations, q, A)
    if untold:
        rows = _with_untold(equations, rows, A.shape[0], untold)
        A = _stacked(A, np.concatenate(list(untold.values())))
    return determinate_groups(M, A, rows)


def groups_of_joints(
    equations: MechanismEquations, groups: Groups | None
) -> dict[str, list[int | str]]:
    """Groups with joints given by name as rows; without any, all joints one by one."""
    joints = equations.rows_of_joints
    chosen: dict[str, list[int | str]] = {}
    for name, members in (joints if groups is None else require_groups(groups)).items():
        chosen[name] = []
        for member in [members] if isinstance(members, str) else members:
            known = isinstance(member, str) and member in joints
            chosen[name] += joints[str(member)] if known else [member]
    return chosen


def _with_wrenches(equations: MechanismEquations, found: Passport, at: At, A: Any) -> Passport:
    """A passport with resultant force and moment of the groups that are joints with a body in
    common, which may be the ground.
    """
    parts, rows = equations.parts.at_vector(at[3]), equations.rows_of_joints
    groups, apart = dict(found.groups), []
    for key, group in found.groups.items():
        names = [name for name, own in rows.items() if set(own) <= set(group.rows)]
        joints = [parts.joints[name] for name in names]
        whole = sum(len(rows[name]) for name in names) == len(group.rows)
        if not whole or any(joint.a is None or joint.b is None for joint in joints):
            continue
        signs = _on_one_side(joints)
        if signs is None:
            apart.append(key)
            continue
        wrenches = [_wrench(equations, parts, found, at, A, name) for name in names]
        force, moment = np.zeros(3), np.zeros(3)
        for sign, wrench in zip(signs, wrenches, strict=True):
            arm = wrench.point[0] - wrenches[0].point[0]
            force = force + sign * wrench.force[0]
            moment = moment + sign * (wrench.moment[0] + np.cross(arm, wrench.force[0]))
        groups[key] = replace(group, resultant=force, moment=moment)
    notes = [f"{listing(apart)} {'has' if len(apart) == 1 else 'have'} {APART}"] if apart else []
    told = bool(apart) or any(group.resultant is not None for group in groups.values())
    return replace(found, groups=groups, of_joints=told, notes=(*found.notes, *notes))


#: Of groups of joints that have no body in common.
APART = "no resultant: the joints act on different bodies."


def _on_one_side(joints: list[Joint]) -> list[float] | None:
    """Signs with which forces on the second bodies of joints add up to a force on one side.

    On the second body of the first joint where all have it, and otherwise away from its first body;
    None where they have neither in common.
    """
    bodies = [(joint.a.body, joint.b.body) for joint in joints if joint.a and joint.b]
    for side in (1, 0):
        common = bodies[0][side] if bodies else None
        if bodies and all(common in pair for pair in bodies):
            return [1.0 if pair[side] == common else -1.0 for pair in bodies]
    return None


def _wrench(
    equations: MechanismEquations, parts: Parts, found: Passport, at: At, A: Any, name: str
) -> Wrench:
    """What one joint exerts on its second body at its point."""
    from zwang.multibody.wrench import joint_wrench

    (q, v, t, p), own = at, list(equations.rows_of_joints[name])
    state, multipliers = (q[None], v[None], np.reshape(t, 1)), found.multipliers[own]
    force, point = (A[own].T @ multipliers)[None], None
    if parts.joints[name].toothed:
        force = force + equations.tooth_force(name, *state, multipliers[None], p)
        point = equations.pitch_point(name, state[0], state[2], p)
    return joint_wrench(parts, parts.joints[name], force, state[0], point)


# --- teeth whose force is not known ---------------------------------------------------------------


def _untold(equations: MechanismEquations, q: FloatArray, A: Any) -> dict[str, FloatArray]:
    """Gear or rack without a known tooth force → rows that carry it."""
    parts = equations.parts
    found = {joint.name: untold_rows(parts, joint, q, A) for joint in untold_joints(parts)}
    return {name: K for name, K in found.items() if len(K)}


def _with_untold(
    equations: MechanismEquations,
    groups: Mapping[str, Iterable[int]],
    first: int,
    untold: Mapping[str, FloatArray],
) -> dict[str, list[int]]:
    """Groups of rows with those of unknown tooth forces, which begin at `first`."""
    result, own = {name: list(rows) for name, rows in groups.items()}, equations.groups
    for joint, K in untold.items():
        for rows in result.values():
            if set(own[joint]) & set(rows):
                rows.extend(range(first, first + len(K)))
        first += len(K)
    return result


def _beside(
    terms: EquationTerms, untold: Mapping[str, FloatArray], acceleration: FloatArray
) -> EquationTerms:
    """Terms with rows that carry unknown tooth forces beside the others."""
    K = np.concatenate(list(untold.values()))
    return replace(
        terms,
        constraint_matrix=_stacked(terms.constraint_matrix, K),
        constraint_rhs=np.concatenate([terms.constraint_rhs, K @ acceleration]),
        names=(*terms.names, *(f"teeth {i}" for i in range(len(K)))),
        rhs_rounding=None,
    )


def _stacked(A: Any, K: FloatArray) -> Any:
    """Rows under those of a matrix, dense or sparse."""
    if isinstance(A, np.ndarray):
        return np.concatenate([A, K])
    from scipy.sparse import csr_array, vstack

    return vstack([A, csr_array(K)], format="csr")

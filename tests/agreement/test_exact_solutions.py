"""Every formulation against exact rational solutions, over all ranks and sizes.

Switched on: singular and regular M, coordinates without mass, redundant and zero rows, more rows
than coordinates, non-ideal forces, differing units; n from 1 to 60, κ ≤ 1e4.
Errors are norms in the coordinates and rows as given, relative to the norm of the exact vector.

    python -m pytest -m campaign tests/agreement        the whole, some minutes
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import zwang as zw
from reference.make_agreement import FILE, read, system
from reference.oracle import ExactSolution, solve_exactly
from reference.systems import Draws, Systems, condition, random_systems
from zwang.solvers.dense import FORMULATIONS
from zwang.terms import EquationTerms

#: What is promised for κ ≤ 1e4. The answers are refined by exact residuals, so what is measured
#: is rounding, about 1e-15; the promise leaves room for κ·1e-16 and dimensions of hundreds.
PROMISED = 1e-11

#: The published formulas by themselves, unrefined and on unscaled terms, lose what the condition
#: number κ of those terms says, κ·1e-16, times a factor for products of several matrices. In 6,000
#: systems the largest is 600 (Udwadia & Schutte: α = 1 adds a unit mass, whatever the unit of M).
UNREFINED = 1e-12

#: Rounding of the force itself: as many multiplications as its own digits need, and no κ.
CANCELLED = 1e-14

QUANTITIES = ("acceleration", "constraint_force", "multipliers")
STORED = json.loads(FILE.read_text(encoding="utf-8"))
SLICE = [(1, 0), (1, 4), (2, 3), (3, 1), (4, 4), (6, 9), (9, 5), (12, 8), (16, 20), (25, 12)]


def exact_solutions(systems: Systems) -> list[ExactSolution]:
    return [solve_exactly(*systems[k].terms) for k in range(len(systems))]


def errors(exact: ExactSolution, one: Systems, *found: np.ndarray) -> dict[str, float]:
    """Relative errors of acceleration, constraint force and multipliers, in this order."""
    # Where the exact vector vanishes there is only the size of the forces to compare with.
    forces = float(np.linalg.norm(one.Q) + np.linalg.norm(one.C)) or 1.0
    return {
        name: getattr(exact, name).relative_error(value, if_zero=forces)
        for name, value in zip(QUANTITIES, found, strict=True)
    }


def applicable(name: str, exact: ExactSolution, n: int) -> bool:
    return name != "udwadia_kalaba" or exact.mass_rank == n


def worst_of_all_formulations(systems: Systems, exact: list[ExactSolution]) -> dict[str, float]:
    """Largest error of each formulation through `zwang.solve`; ranks must be exact."""
    n = systems.M.shape[-1]
    worst: dict[str, float] = {}
    for name in ["auto", *FORMULATIONS]:
        chosen = [k for k, e in enumerate(exact) if applicable(name, e, n)]
        if not chosen:
            continue
        s = zw.solve(*systems[np.array(chosen)].terms, formulation=name)
        for i, k in enumerate(chosen):
            found = errors(exact[k], systems[k], *(getattr(s, name)[i] for name in QUANTITIES))
            worst[name] = max(worst.get(name, 0.0), *found.values())
            ranks = (s.ranks.constraint[i], s.ranks.mass[i], s.ranks.stacked[i])
            e = exact[k]
            assert ranks == (e.constraint_rank, e.mass_rank, e.stacked_rank), (name, k)
    return worst


@pytest.mark.parametrize("size", SLICE, ids=str)
def test_every_formulation_gives_the_exact_solution(size):
    systems = random_systems(Draws(7, *size), 12, *size)
    worst = worst_of_all_formulations(systems, exact_solutions(systems))
    assert set(worst) >= set(FORMULATIONS) - {"udwadia_kalaba"}
    assert max(worst.values()) <= PROMISED, worst


@pytest.mark.parametrize("stored", STORED, ids=lambda s: f"{s['n']}x{s['m']}-{s['seed']}")
def test_every_formulation_gives_the_stored_solution(stored):
    one, exact = system(stored["n"], stored["m"], stored["seed"]), read(stored)
    for name in ["auto", *FORMULATIONS]:
        if applicable(name, exact, stored["n"]):
            s = zw.solve(*one.terms, formulation=name)
            found = errors(exact, one, s.acceleration, s.constraint_force, s.multipliers)
            assert max(found.values()) <= PROMISED, (name, found)


@pytest.mark.parametrize("stored", STORED, ids=lambda s: f"{s['n']}x{s['m']}-{s['seed']}")
def test_published_formulas_give_the_stored_solution(stored):
    """The classes of the formulations, as published: no scaling, no refinement."""
    one = system(stored["n"], stored["m"], stored["seed"])
    worst = worst_of_published_formulas(one, read(stored))
    assert max(worst.values()) <= UNREFINED, worst


def worst_of_published_formulas(one: Systems, exact: ExactSolution) -> dict[str, float]:
    """Largest error of the formulas of each class, divided by κ."""
    terms = EquationTerms.of(*one.terms)
    kappa = plain_condition(one, exact.constraint_rank)
    worst: dict[str, float] = {}
    for name, kind in FORMULATIONS.items():
        if not applicable(name, exact, terms.coordinate_count):
            continue
        f = kind(terms)
        found = errors(exact, one, f.acceleration, f.constraint_force, f.multipliers)
        if name == "saddle_point":
            # Acceleration and multipliers are one vector there, whatever their units are, and
            # errors are relative to the whole of it.
            parts = [np.linalg.norm(getattr(exact, quantity).high) for quantity in QUANTITIES]
            whole = np.hypot(parts[0], parts[2])
            sizes = (whole, np.linalg.norm(one.A) * whole + parts[1], whole)
            for quantity, part, size in zip(QUANTITIES, parts, sizes, strict=True):
                found[quantity] *= part / size if part else 1.0
        worst[name] = max(found.values()) / kappa
    return worst


def plain_condition(one: Systems, rank: int) -> float:
    """κ of the terms as given, without scaling."""
    M, A = one.M, one.A
    saddle = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    values = np.sort(np.abs(np.linalg.eigvalsh(saddle)))[::-1]
    return float(values[0] / values[len(M) + rank - 1])


def test_force_keeps_its_digits_where_large_multipliers_cancel():
    # Nearly dependent rows: multipliers up to 1e7 times the force that they make up.
    for n, m in [(4, 3), (9, 7), (15, 12)]:
        systems = random_systems(Draws(23, n, m), 40, n, m, most=1e8, weak=True)
        s, exact = zw.solve(*systems.terms), exact_solutions(systems)
        force = [
            e.constraint_force.relative_error(s.constraint_force[k], if_zero=1.0)
            for k, e in enumerate(exact)
        ]
        assert max(force) <= CANCELLED


def test_multipliers_of_rows_of_very_different_size_are_the_least():
    # Redundant rows, each with a unit of its own, from 1e-6 to 1e6.
    for n, m in [(2, 4), (6, 9), (12, 15)]:
        draws = Draws(29, n, m)
        systems = random_systems(draws, 20, n, m)
        unit = 2.0 ** draws.integers(-20, 20, len(systems), m)
        systems = systems.with_rows(systems.A * unit[..., None], systems.b * unit)
        worst = worst_of_all_formulations(systems, exact_solutions(systems))
        assert max(worst.values()) <= PROMISED, worst
        # They give the force as well, which small multipliers of large rows carry.
        s = zw.solve(*systems.terms)
        force = s.constraint_force - systems.C
        missing = (s.multipliers[:, None, :] @ systems.A)[:, 0] - force
        d = s.scaled.velocity_scale
        size = np.linalg.norm(force * d, axis=-1)
        assert np.all(np.linalg.norm(missing * d, axis=-1) <= PROMISED * size)


def test_condition_of_a_solution_is_that_of_its_scaled_terms():
    # Scales are rounded to powers of two in the library and exact here: a factor of two for each
    # of two coordinates of M and a row, and for coordinates without mass a balance of their own.
    systems = random_systems(Draws(11), 60, 9, 6)
    ratio = zw.solve(*systems.terms).condition / condition(systems)
    assert np.all((ratio > 1 / 64) & (ratio < 64))


@pytest.mark.campaign
@pytest.mark.parametrize("n", range(1, 61))
def test_every_formulation_gives_the_exact_solution_at_all_sizes(n):
    draws = Draws(13, n)
    solved: dict[str, float] = {}
    published: dict[str, float] = {}
    for m in sorted({0, 1, n // 3, n // 2, n - 1, n, n + 1, n + 5, 2 * n if n < 20 else n + 9}):
        systems = random_systems(draws, 12, n, m)
        exact = exact_solutions(systems)
        _keep_worst(solved, worst_of_all_formulations(systems, exact))
        for k, solution in enumerate(exact):
            _keep_worst(published, worst_of_published_formulas(systems[k], solution))
    print(f"\nn = {n}: solve {_line(solved)}\n        published / κ {_line(published)}")
    assert max(solved.values()) <= PROMISED
    assert max(published.values()) <= UNREFINED


def _keep_worst(worst: dict[str, float], found: dict[str, float]) -> None:
    for name, error in found.items():
        worst[name] = max(worst.get(name, 0.0), error)


def _line(worst: dict[str, float]) -> str:
    return ", ".join(f"{name} {error:.1e}" for name, error in worst.items())

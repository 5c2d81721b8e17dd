"""The error estimate of `certify` against the true error, known from exact rational solutions.

Switched on: everything of `test_exact_solutions`, and nearly dependent rows and nearly vanishing
masses, so that κ spreads from 1 to 1e8, three orders away from the rank threshold of 1e-11.
Errors are norms in scaled coordinates (velocities by the roots of their masses), as those of
`certify` are, relative to the exact vector.

    python -m pytest -m campaign tests/agreement        the whole, some minutes
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import zwang as zw
from reference.oracle import DoubleDouble, solve_exactly
from reference.systems import Draws, Systems, condition, random_systems

#: The estimate may be below the true error by this factor at most …
FACTOR = 10.0
#: … in all but this share of the cases.
MISSES = 0.01
#: Above the true error it lies by this factor at most, in the median.
OVERESTIMATE = 100.0

SLICE = [(1, 2), (3, 2), (4, 5), (6, 4), (9, 12), (12, 8), (16, 10), (24, 26)]


@dataclass(frozen=True)
class Sample:
    """True and estimated relative errors of one quantity, with κ of the systems."""

    true: np.ndarray
    estimated: np.ndarray
    kappa: np.ndarray

    def joined(self, other: Sample) -> Sample:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Sample(*(np.concatenate(pair) for pair in pairs))

    @property
    def missed(self) -> np.ndarray:
        """Where the estimate is too small by more than the factor."""
        return self.estimated * FACTOR < self.true

    @property
    def median_overestimate(self) -> float:
        """Estimate over true error, where there is a true error."""
        inexact = self.true > 0.0
        return float(np.median(self.estimated[inexact] / self.true[inexact]))


def sample(systems: Systems) -> dict[str, Sample]:
    """Estimates and true errors of a batch."""
    certificate = zw.certify(*systems.terms)
    s, scaled = certificate.solution, certificate.solution.scaled
    exact = [solve_exactly(*systems[k].terms) for k in range(len(systems))]
    d, e, kappa = scaled.velocity_scale, scaled.row_scale, condition(systems)

    def quantity(name: str, scale: np.ndarray) -> Sample:
        values: list[DoubleDouble] = [getattr(solution, name) for solution in exact]
        found = getattr(s, name)
        pairs = [
            (np.linalg.norm(v.error(x) * w), np.linalg.norm(v.high * w))
            for v, x, w in zip(values, found, scale, strict=True)
        ]
        error, size = np.array(pairs).T
        true = np.divide(error, size, out=np.where(error > 0.0, np.inf, 0.0), where=size > 0.0)
        return Sample(true, getattr(certificate.error_estimate, name), kappa)

    return {
        "acceleration": quantity("acceleration", 1.0 / d),
        "constraint_force": quantity("constraint_force", d),
        "multipliers": quantity("multipliers", 1.0 / e),
    }


def samples(seed: int, sizes: list[tuple[int, int]], count: int) -> dict[str, Sample]:
    """All sizes together, half of the systems made weak."""
    total: dict[str, Sample] = {}
    for n, m in sizes:
        draws = Draws(seed, n, m)
        for weak in (False, True):
            systems = random_systems(draws, count, n, m, most=1e8, weak=weak)
            for name, found in sample(systems).items():
                total[name] = total[name].joined(found) if name in total else found
    return total


def check(total: dict[str, Sample]) -> None:
    for name, found in total.items():
        share, over = float(np.mean(found.missed)), found.median_overestimate
        worst = np.max(found.true, where=np.isfinite(found.true), initial=0.0)
        print(
            f"\n{name:>16}: {len(found.true)} systems, κ to {found.kappa.max():.0e}, true error to "
            f"{worst:.1e}; too small in {share:.2%}, median over-estimate {over:.1f}"
        )
        assert share <= MISSES, name
        assert over <= OVERESTIMATE, name


def test_estimate_bounds_the_true_error():
    total = samples(3, SLICE, 12)
    assert total["acceleration"].kappa.max() > 1e6
    check(total)


@pytest.mark.campaign
def test_estimate_bounds_the_true_error_at_all_sizes():
    draws = Draws(5)
    sizes = [(n, draws.integer(0, n + 6)) for n in range(1, 61)]
    check(samples(5, sizes, 25))


def test_formulations_agree_on_a_structure_at_rest() -> None:
    m = zw.Mechanism(gravity=(0.3, 0.2, -9.81))
    table = m.body("table", inertia=zw.inertia.box(20.0, (1.0, 1.0, 0.1)), position=(0, 0, 1.0))
    for k, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        m.spherical(f"leg{k}", m.ground, table, at=(x / 2, y / 2, 1.0))
    certificate = m.certify()  # accelerations are rounding: of what the forces alone would give
    assert certificate.gauss_residual < 1e-12
    assert certificate.error_estimate.acceleration < 1e-9

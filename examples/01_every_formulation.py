"""One system, every formulation: do they agree, and what do they say about it?

An engine pulls a wagon. Between them sits a coupling so light that its mass is left out, which makes
the mass matrix singular. Two bolts hold it, and a safety chain joins engine and wagon directly: one
constraint more than needed. Rolling resistance does work, so the constraints are not ideal.

    engine (3 t) ──front bolt── coupling (0) ──rear bolt── wagon (2 t)
        └──────────────────────safety chain──────────────────┘

Run it with  python examples/01_every_formulation.py
"""

from __future__ import annotations

import numpy as np

import zwang as zw

COORDINATES = ["engine", "coupling", "wagon"]
CONSTRAINTS = ["front bolt", "rear bolt", "safety chain"]

Q = np.array([20.0, 0.0, -3.0])  # traction and drag [kN]
C = np.array([-1.2, 0.0, -0.8])  # rolling resistance, the work the rails take [kN]
A = np.array(
    [
        [-1.0, 1.0, 0.0],  # front bolt: the coupling moves with the engine
        [0.0, -1.0, 1.0],  # rear bolt: the wagon moves with the coupling
        [-1.0, 0.0, 1.0],  # safety chain: the wagon moves with the engine
    ]
)
b = np.zeros(3)


def mass_matrix(coupling: float) -> np.ndarray:
    """Masses of engine, coupling and wagon [t]."""
    return np.diag([3.0, coupling, 2.0])


def compare(M: np.ndarray) -> None:
    """Print acceleration and constraint force by each formulation, and their spread."""
    reference = zw.solve(M, Q, A, b, C)
    print(
        f"{'formulation':>20}  {'acceleration [m/s²]':>24}  {'constraint force [kN]':>24}  difference"
    )
    for name in zw.FORMULATIONS:
        try:
            solution = zw.solve(M, Q, A, b, C, formulation=name)
        except zw.NotApplicableError as error:
            print(f"{name:>20}  {error.what}")
            continue
        difference = max(
            np.max(np.abs(solution.acceleration - reference.acceleration)),
            np.max(np.abs(solution.constraint_force - reference.constraint_force)),
        )
        print(
            f"{name:>20}  {row(solution.acceleration)}  {row(solution.constraint_force)}  "
            f"{difference:.1e}"
        )


def row(values: np.ndarray) -> str:
    """Three numbers in columns."""
    return "".join(f"{value:8.3f}" for value in values)


def main() -> None:
    """Solve, compare, explain, certify."""
    for coupling in (0.0, 0.1):
        print(f"\n=== coupling of {coupling} t\n")
        compare(mass_matrix(coupling))

    M = mass_matrix(0.0)
    print("\n=== the solution\n")
    print(zw.solve(M, Q, A, b, C, names=CONSTRAINTS, coordinates=COORDINATES))
    print("\n=== what the constraints are\n")
    print(zw.explain(M, A, b, names=CONSTRAINTS, coordinates=COORDINATES))
    print("\n=== which reactions are determinate\n")
    print(zw.passport(M, Q, A, b, C, names=CONSTRAINTS))
    print("\n=== the certificate\n")
    print(zw.certify(M, Q, A, b, C))


if __name__ == "__main__":
    main()

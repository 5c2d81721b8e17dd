"""One system by every formulation, and what they say about it.

An engine pulls a wagon. Between them sits a coupling so light that its mass is left out, which
makes the mass matrix singular. Two bolts hold it, and a safety chain joins engine and wagon
directly: one constraint more than needed. Rolling resistance does work, so the constraints are
not ideal.

    engine (3 t) ──front bolt── coupling (0) ──rear bolt── wagon (2 t)
        └─────────────────────safety chain───────────────────┘
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
    """Print what each formulation answers, and how far it is from the refined answer."""
    certificate = zw.certify(M, Q, A, b, C)
    heads = ("formulation", "acceleration [m/s²]", "constraint force [kN]", "difference")
    print("{:<20}{:>25}{:>25}{:>12}".format(*heads))
    for name, answer in certificate.answers.items():
        errors = certificate.differences(name)
        worst = max(float(errors.acceleration), float(errors.constraint_force))
        print(
            f"{name:<20}{columns(answer.acceleration)}{columns(answer.constraint_force)}"
            f"{worst:>12.1e}"
        )
    for name, reason in certificate.not_applicable.items():
        print(f"{name:<20}  does not apply: {reason}")


def columns(values: np.ndarray) -> str:
    """Three numbers side by side."""
    # Adding 0 turns −0 into 0.
    return " " + "".join(f"{value:8.3f}" for value in np.round(values, 3) + 0.0)


def main() -> zw.Solution:
    """Compare, solve, explain, certify."""
    for coupling in (0.0, 0.1):
        print(f"\n=== coupling of {coupling} t, by every formulation\n")
        compare(mass_matrix(coupling))

    M = mass_matrix(0.0)
    print("\n=== the solution\n")
    solution = zw.solve(M, Q, A, b, C, names=CONSTRAINTS, coordinates=COORDINATES)
    print(solution)
    print("\n=== what the constraints say\n")
    print(zw.explain(M, A, b, names=CONSTRAINTS, coordinates=COORDINATES))
    print("\n=== which reactions are determinate\n")
    print(zw.passport(M, Q, A, b, C, names=CONSTRAINTS))
    print("\n=== the certificate\n")
    print(zw.certify(M, Q, A, b, C))
    return solution


if __name__ == "__main__":
    main()

"""A body that tumbles: one motion, in four forms of its equations.

Section 4 of Udwadia and Schutte (2010) and Formulations I to III of Nikravesh. Written in the four
components of a quaternion the mass matrix of a turning body has rank 3; the constraint |u| = 1
makes up for it. The body is thrown about its middle axis, which is unstable: it turns over, again
and again.
"""

import numpy as np

import zwang as zw
from zwang.rotation import quaternion

J = np.diag([1.0, 1.5, 2.0])
FORMS = ("lagrange", "auxiliary", "explicit", "velocities")


def main() -> zw.Run:
    """Simulate all forms, and compare them."""
    u, omega = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.02, 3.0, 0.0])
    runs = {}
    for form in FORMS:
        body = zw.library.rotating_body(form, J=J)
        v = omega if form == "velocities" else quaternion.rate(u, omega)
        runs[form] = body.simulate(u, v, until=30.0, tolerance=1e-11, save=0.05)
    reference = runs["velocities"]
    for form in FORMS[:-1]:
        print(f"{form:10} differs by {np.abs(runs[form].q - reference.q).max():.1e}")
    rank = zw.library.rotating_body(J=J).solve(u, quaternion.rate(u, omega)).ranks
    print(f"rank of the mass matrix {rank.mass}, with the constraint {rank.stacked}")
    turned = np.diff(np.sign(reference["omega2"])) != 0
    print(f"turned over {turned.sum()} times, energy kept to {np.ptp(reference.energy):.1e} J")
    return reference


if __name__ == "__main__":
    main()

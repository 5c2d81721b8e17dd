"""The geometry of constrained motion: what is allowed, what is forced, and the two together.

The pictures of Udwadia and Mogharabin (2022). The acceleration of a constrained system has two
parts at right angles: A⁺b, which the constraints fix, and a part in the null space of A, which
the forces choose. `portrait` gives all the vectors of that picture for any system.
"""

import numpy as np

import zwang as zw

M = np.diag([1.0, 2.5])  # two sliders on perpendicular rails
Q = np.array([3.5, 1.2])
C = np.array([-0.4, -0.3])  # the rails rub
q, v = np.array([0.6, 0.8]), np.array([0.72, -0.54])
A, b = q[None, :], np.array([-v @ v])  # the rod between them: x² + y² = L²


def main() -> zw.Portrait:
    """Print the two parts of acceleration and constraint force."""
    portrait = zw.portrait(M, Q, A, b, C)
    print(portrait)
    return portrait


if __name__ == "__main__":
    main()

"""Lines of over-constrained linkages that move, from their Denavit–Hartenberg numbers.

    T = Π Rot_z(θᵢ) Trans_z(dᵢ) Trans_x(aᵢ) Rot_x(αᵢ) = 1

Joint i turns about z of the frame in front of its factor. The angles that close a linkage are found
by Gauss–Newton to rounding; conditions on a, α, d under which a linkage then moves are those of the
literature, named with each family.
"""

from __future__ import annotations

import numpy as np

__all__ = ["bennett", "closed", "lines"]

#: What closing may miss, and how often another guess is tried.
CLOSED, ATTEMPTS = 1e-14, 60


def _factor(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [c, -s * ca, s * sa, a * c],
            [s, c * ca, -c * sa, a * s],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def lines(
    theta: np.ndarray, d: np.ndarray, a: np.ndarray, alpha: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points and axes of the joints, one a row, and the frame after the last."""
    T, points, axes = np.eye(4), [], []
    for numbers in zip(theta, d, a, alpha, strict=True):
        points.append(T[:3, 3])
        axes.append(T[:3, 2])
        T = T @ _factor(*numbers)
    return np.array(points), np.array(axes), T


def closed(
    rng: np.random.Generator, d: np.ndarray, a: np.ndarray, alpha: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Points and axes of a closed position, the first angle at random."""
    n = len(a)
    for _ in range(ATTEMPTS):
        theta = rng.uniform(-np.pi, np.pi, n)
        for _ in range(40):
            points, axes, T = lines(theta, d, a, alpha)
            miss = np.concatenate([T[:3, 3], _turned(T[:3, :3])])
            if np.abs(miss).max() < CLOSED:
                return points, axes
            # A turn about joint i moves the last frame by its screw about that line.
            J = np.vstack([np.cross(axes, T[:3, 3] - points).T, axes.T])[:, 1:]
            step = np.linalg.lstsq(J, -miss, rcond=1e-9)[0]
            theta[1:] += step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300))
    message = "this linkage was not closed from any guess"
    raise ArithmeticError(message)


def _turned(R: np.ndarray) -> np.ndarray:
    """The vector of a rotation; zero only for none, as turns by π are far from it."""
    w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return w if np.trace(R) > 1.0 else w + (3.0 - np.trace(R)) * np.array([1.0, 0.7, 0.4])


def bennett(a: float, alpha: float, b: float, theta: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and axes P, Q, R, S of Bennett's linkage: a/sin α = b/sin β, tan ½θ tan ½φ given.

    G. T. Bennett, A new mechanism, Engineering 76 (1903) 777. The link PQ has length a and twist
    α; it lies along x from P, whose axis is z.
    """
    beta = np.arcsin(b * np.sin(alpha) / a)
    ratio = np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha))
    phi = 2.0 * np.arctan(ratio / np.tan(0.5 * theta))
    angles = np.array([theta, phi, -theta, -phi])
    numbers = np.zeros(4), np.array([a, b, a, b]), np.array([alpha, beta, alpha, beta])
    best = None
    for signs in ([1, 1, 1, 1], [1, -1, 1, -1]):
        points, axes, T = lines(angles * np.array(signs), *numbers)
        miss = np.abs(T - np.eye(4)).max()
        if best is None or miss < best[0]:
            best = miss, points, axes
    assert best is not None
    assert best[0] < 1e-12, "Bennett's relation does not close"
    # Into axes in which P is the origin, its axis z, and the link PQ along x.
    points, axes = best[1:]
    x = (points[1] - points[0]) / a
    E = np.array([x, np.cross(axes[0], x), axes[0]])
    return (points - points[0]) @ E.T, axes @ E.T

"""Random free bodies: orientation, rates, inertia, torque; and how close is close."""

import numpy as np

BATCH = (4, 25)
# Products of three or four well-conditioned matrices: some ten roundings of 1.1e-16.
TOLERANCE = 1e-13


class Bodies:
    """Batch of bodies: u (…, 4) of length one, u̇ ⟂ u, ω = body rate, J positive definite."""

    def __init__(self, seed=0, batch=BATCH):
        rng = np.random.default_rng(seed)
        u = rng.standard_normal((*batch, 4))
        self.u = u / np.linalg.norm(u, axis=-1, keepdims=True)
        u_dot = rng.standard_normal((*batch, 4))
        self.u_dot = u_dot - (u_dot * self.u).sum(-1, keepdims=True) * self.u
        frame = np.linalg.qr(rng.standard_normal((*batch, 3, 3)))[0]
        moments = rng.uniform(0.5, 3.0, (*batch, 3))
        self.J = (frame * moments[..., None, :]) @ np.swapaxes(frame, -1, -2)
        self.torque_body = rng.standard_normal((*batch, 3))
        self.torque = rng.standard_normal((*batch, 4))  # with a part along u
        self.omega = np.array([body_rate(a, b) for a, b in self.pairs()]).reshape(*batch, 3)
        self.alpha = rng.uniform(0.3, 2.0, batch) * np.where(rng.random(batch) < 0.5, -1.0, 1.0)
        self.z = rng.standard_normal(batch)

    def pairs(self):
        return zip(self.u.reshape(-1, 4), self.u_dot.reshape(-1, 4), strict=True)


def quaternion_product(p, q):
    """Hamilton's product, (w, x, y, z), written with dot and cross product."""
    w = p[0] * q[0] - p[1:] @ q[1:]
    return np.concatenate([[w], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def body_rate(u, u_dot):
    """ω = vector part of 2 ū u̇."""
    return 2.0 * quaternion_product(u * [1, -1, -1, -1], u_dot)[1:]


def column(x):
    return np.asarray(x)[..., None]


def mv(matrix, vector):
    return np.einsum("...ij,...j->...i", matrix, vector)


def assert_close(actual, expected, tolerance=TOLERANCE):
    """Within the tolerance of the largest entry of the body's own result, or of 1."""
    actual, expected = np.broadcast_arrays(actual, expected)
    axes = tuple(range(len(BATCH), expected.ndim))
    size = np.maximum(np.abs(expected).max(axis=axes, initial=1.0, keepdims=True), 1.0)
    error = np.abs(actual - expected) / size
    assert error.max() <= tolerance, f"relative error {error.max():.2e}"

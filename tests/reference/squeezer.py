"""Andrews' squeezer mechanism in one coordinate, by quadrature.

The crank angle β decides all others: E, G and H are tips of two-bar groups. The drive torque has a
potential, so that ½ I(β) β̇² = W(β), the work of torque and spring since the start at rest, and

    t(β) = ∫ √(I / 2W) dβ = ∫ √(2 I s² / W) ds,   β = β₀ + s²,

has a smooth integrand. Places of the mass centres and pins are those of the seven bodies in the
plane, not the mass matrix in angles of the test set.
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf

__all__ = ["squeezer_end"]

# Lengths [m], masses [kg], inertia about the mass centre [kg·m²] (IVP test set, "andrews").
XA, YA, XB, YB, XC, YC = (mpf(x) for x in (-0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072))
D, E, RR, SS, U, ZF, ZT = (mpf(x) for x in (0.028, 0.02, 0.007, 0.035, 0.04, 0.02, 0.04))
MOM, C0, L0 = mpf(0.033), mpf(4530.0), mpf(0.07785)
MASSES = [mpf(x) for x in (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)]
INERTIAS = [mpf(x) for x in (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)]
#: Mass centres in the body frames; bodies 4 and 6 are measured from the pin E in the test set.
CENTRES = [
    (mpf(0.00092), mpf(0)),
    (-mpf(0.0115), mpf(0)),
    (mpf(0.01043), -mpf(0.01874)),
    (mpf(0), mpf(0.01421) - E),
    (mpf(0.02308), mpf(0.00916)),
    (ZF - mpf(0.01421), mpf(0)),
    (-mpf(0.00449), -mpf(0.01228)),
]
SPRING = (mpf(0.02), -mpf(0.018))  # its end on body 3
BETA = "-0.0617138900142764496358948458001"

Point = tuple[Any, Any]


def _tip(a: Point, ra: Any, b: Point, rb: Any, side: int) -> Point:
    """The point at distance ra from a and rb from b, to the left (+1) or right of a → b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    square = dx**2 + dy**2
    along = (square + ra**2 - rb**2) / (2 * square)
    across = side * mp.sqrt(ra**2 / square - along**2)
    return a[0] + along * dx - across * dy, a[1] + along * dy + across * dx


def _tip_rate(p: Point, a: Point, a_rate: Point, b: Point, b_rate: Point) -> Point:
    """Rate of a point whose distances from two moving points do not change."""
    ax, ay, bx, by = p[0] - a[0], p[1] - a[1], p[0] - b[0], p[1] - b[1]
    fa = ax * a_rate[0] + ay * a_rate[1]
    fb = bx * b_rate[0] + by * b_rate[1]
    determinant = ax * by - ay * bx
    return (fa * by - fb * ay) / determinant, (ax * fb - bx * fa) / determinant


def _turning(p: Point, p_rate: Point, a: Point, a_rate: Point) -> Any:
    """Angular velocity of a bar from a to p."""
    x, y = p[0] - a[0], p[1] - a[1]
    return (x * (p_rate[1] - a_rate[1]) - y * (p_rate[0] - a_rate[0])) / (x**2 + y**2)


def _angle(p: Point, a: Point) -> Any:
    return mp.atan2(p[1] - a[1], p[0] - a[0])


def _bodies(beta: Any) -> list[tuple[Any, Any, Point, Point]]:
    """Angle, d(angle)/dβ, origin and d(origin)/dβ of each body."""
    rest, A, B = (mpf(0), mpf(0)), (XA, YA), (XB, YB)
    F = (RR * mp.cos(beta), RR * mp.sin(beta))
    F_rate = (-F[1], F[0])
    e = _tip(F, D, B, SS, +1)
    e_rate = _tip_rate(e, F, F_rate, B, rest)
    g = _tip(A, ZT, e, E, +1)
    g_rate = _tip_rate(g, A, rest, e, e_rate)
    h = _tip(A, U, e, ZF, -1)
    h_rate = _tip_rate(h, A, rest, e, e_rate)
    quarter = mp.pi / 2
    return [
        (beta, mpf(1), rest, rest),
        (_angle(F, e), _turning(F, F_rate, e, e_rate), F, F_rate),
        (_angle(e, B) + quarter, _turning(e, e_rate, B, rest), B, rest),
        (_angle(e, g) + quarter, _turning(e, e_rate, g, g_rate), g, g_rate),
        (_angle(g, A), _turning(g, g_rate, A, rest), A, rest),
        (_angle(e, h), _turning(e, e_rate, h, h_rate), h, h_rate),
        (_angle(h, A) + quarter, _turning(h, h_rate, A, rest), A, rest),
    ]


def _inertia_and_energy(beta: Any) -> tuple[Any, Any]:
    """I(β), and the energy of spring and torque."""
    bodies = _bodies(beta)
    inertia = mpf(0)
    for (angle, turning, _, rate), mass, own, (x, y) in zip(
        bodies, MASSES, INERTIAS, CENTRES, strict=True
    ):
        c, s = mp.cos(angle), mp.sin(angle)
        vx = rate[0] - turning * (s * x + c * y)
        vy = rate[1] + turning * (c * x - s * y)
        inertia += mass * (vx**2 + vy**2) + own * turning**2
    angle, _, B, _ = bodies[2]
    c, s = mp.cos(angle), mp.sin(angle)
    end = B[0] + c * SPRING[0] - s * SPRING[1], B[1] + s * SPRING[0] + c * SPRING[1]
    length = mp.sqrt((end[0] - XC) ** 2 + (end[1] - YC) ** 2)
    return inertia, C0 * (length - L0) ** 2 / 2 - MOM * beta


def _coordinates(beta: Any) -> tuple[list[Any], list[Any]]:
    """(β, Θ, γ, Φ, δ, Ω, ε) and its derivative by β."""
    angles, rates = zip(*((angle, rate) for angle, rate, _, _ in _bodies(beta)), strict=True)

    def apart(x: Any) -> list[Any]:
        return [x[0], x[1] - x[0], x[2], x[3] - x[4], x[4], x[5] - x[6], x[6]]

    return apart(angles), apart(rates)


def squeezer_end(until: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Start, and q and v at a time, in the coordinates of the test set."""
    with mp.workdps(mp.dps + 10):
        start = mpf(BETA)
        _, energy = _inertia_and_energy(start)

        def speed(beta: Any) -> Any:
            inertia, now = _inertia_and_energy(beta)
            return mp.sqrt(2 * (energy - now) / inertia)

        def integrand(s: Any) -> Any:
            return 2 * s / speed(start + s**2)

        s = mp.sqrt(mpf("15.8107711") - start)  # near the end; corrected below
        t = mp.quad(integrand, mp.linspace(0, s, 41), method="gauss-legendre")
        beta = start + s**2
        for _ in range(4):  # each correction squares the error
            beta_new = beta + speed(beta) * (until - t)
            t += mp.quad(lambda b: 1 / speed(b), [beta, beta_new], method="gauss-legendre")
            beta = beta_new
        q, ratio = _coordinates(beta)
        rate = speed(beta)
        return _coordinates(start)[0], q, [rate * x for x in ratio]

"""Write `motions.json`: motions known to 30 digits, without any of the package.

    python tests/reference/make_motions.py

Each entry holds a system of `zwang.library`, its start, the end of its motion, and how long that is
and why. The end comes from a closed form where there is one, otherwise from equations in as many
coordinates as there are freedoms, derived here and integrated by `extrapolation`. Parameters are
the float64 defaults of the library, taken exactly. `test_motions_file.py` fails when this script
would write something else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

sys.path.insert(0, str(Path(__file__).parents[1]))

import itertools

from reference.extrapolation import integrate
from reference.squeezer import squeezer_end

FILE = Path(__file__).with_name("motions.json")

DIGITS = 30
#: Digits carried in closed forms and asked of each step of an integration, so that 30 are right.
WORKING = 36

G = mpf(9.81)

CASES: dict[str, Callable[[], dict[str, Any]]] = {}


def case(function: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Enter a case under the name of its function."""
    CASES[function.__name__] = function
    return function


def motion(
    system: str,
    start: tuple[list[Any], list[Any]],
    until: float,
    end: tuple[list[Any], list[Any]],
    horizon: str,
    **options: Any,
) -> dict[str, Any]:
    """An entry of the file."""
    return {
        "system": system,
        "options": options,
        "horizon": horizon,
        "q": [float(x) for x in start[0]],
        "v": [float(x) for x in start[1]],
        "until": until,
        "q_end": [mp.nstr(mpf(x), DIGITS, strip_zeros=False) for x in end[0]],
        "v_end": [mp.nstr(mpf(x), DIGITS, strip_zeros=False) for x in end[1]],
    }


# ------------------------------------------------------------------------------ Udwadia & Kalaba


@case
def spherical_pendulum() -> dict[str, Any]:
    """Polar angles: θ̈ = sin θ cos θ φ̇² − (g/L) sin θ, sin²θ φ̇ = const; y downwards."""
    L, until = mpf(2), 10.0
    theta, turn = mpf(1.25), mpf(1.5)
    momentum = mp.sin(theta) ** 2 * turn

    def f(t: Any, y: Any) -> list[Any]:
        s, c = mp.sin(y[0]), mp.cos(y[0])
        phi_dot = momentum / s**2
        return [y[1], s * c * phi_dot**2 - G / L * s, phi_dot]

    def cartesian(theta: Any, theta_dot: Any, phi: Any) -> tuple[list[Any], list[Any]]:
        s, c, sp, cp = mp.sin(theta), mp.cos(theta), mp.sin(phi), mp.cos(phi)
        phi_dot = momentum / s**2
        return [L * s * cp, L * c, L * s * sp], [
            L * (c * cp * theta_dot - s * sp * phi_dot),
            -L * s * theta_dot,
            L * (c * sp * theta_dot + s * cp * phi_dot),
        ]

    end = integrate(f, [theta, 0, 0], until, steps=30, digits=WORKING)
    why = "10 s: seven swings between two parallels, neither of them near the pole"
    return motion("spherical_pendulum", cartesian(theta, 0, 0), until, cartesian(*end), why)


@case
def kepler() -> dict[str, Any]:
    """Kepler's equation E − ε sin E = M, the aphelion on the positive x axis."""
    epsilon, p, c = mpf(0.5), mpf(1), mpf(1)
    a = p / (1 - epsilon**2)
    b = a * mp.sqrt(1 - epsilon**2)
    n = c / (a * b)
    until = float(10 * 2 * mp.pi / n)
    mean = mp.pi + n * mpf(until)
    E = mp.findroot(lambda E: E - epsilon * mp.sin(E) - mean, mean)
    E_dot = n / (1 - epsilon * mp.cos(E))
    q = [-a * (mp.cos(E) - epsilon), -b * mp.sin(E)]
    v = [a * mp.sin(E) * E_dot, -b * mp.cos(E) * E_dot]
    why = "ten periods: the error in phase adds up, nothing else can go wrong on the ellipse"
    return motion("kepler_laws", ([2, 0], [0, 0.5]), until, (q, v), why)


@case
def nonholonomic_particle() -> dict[str, Any]:
    """ẏ = zẋ + sin t: z̈ = t − 1 by itself, and (1 + z²) ẍ = X + zY − z(żẋ + cos t)."""
    until, z0, z0_dot = 8.0, mpf(1.5), mpf(2.75)

    def z(t: Any) -> tuple[Any, Any]:
        return z0 + z0_dot * t + t**3 / 6 - t**2 / 2, z0_dot + t**2 / 2 - t

    def f(t: Any, y: Any) -> list[Any]:
        x_dot, (height, rate) = y[1], z(t)
        X, Y = mp.cos(t), 1 + mp.sin(2 * t)
        x_ddot = (X + height * Y - height * (rate * x_dot + mp.cos(t))) / (1 + height**2)
        return [x_dot, x_ddot, height * x_dot + mp.sin(t)]

    x, x_dot, y = integrate(f, [0, 1, 0], until, steps=60, digits=WORKING)
    height, rate = z(mpf(until))
    end = [x, y, height], [x_dot, height * x_dot + mp.sin(mpf(until)), rate]
    why = "8 s: z grows from 1.5 to 77, and the slope of the constraint with it"
    start = [0, 0, z0], [1, z0, z0_dot]
    return motion("nonholonomic_particle", start, until, end, why)


# ------------------------------------------------------------------------- nonlinear in velocities


@case
def appell_hamel() -> dict[str, Any]:
    """Constant acceleration along a straight line: −g/(1 + κ²) downwards, κ times it ahead."""
    kappa, until = mpf(1.5), 4.0
    t, z_dot = mpf(until), mpf(-0.5)
    ahead = [mpf(0.6), mpf(0.8)]
    fall = G / (1 + kappa**2)
    way = z_dot * t - fall * t**2 / 2
    speed = z_dot - fall * t
    end = [-kappa * way * e for e in ahead], [-kappa * speed * e for e in ahead]
    start = [0, 0, 0], [-kappa * z_dot * e for e in ahead] + [z_dot]
    why = "4 s: a quadratic motion, which the method follows exactly at every tolerance"
    return motion("appell_hamel", start, until, (end[0] + [way], end[1] + [speed]), why)


@case
def constant_speed() -> dict[str, Any]:
    """The angle α of the velocity above the horizon: α̇ = −(g/s) cos α, a Gudermannian."""
    s, until = mpf(3), 1.5
    rate, alpha = G / s, mpf(1.25)
    a = mp.asinh(mp.tan(alpha))  # tan α = sinh(a − rate t)
    b = a - rate * mpf(until)
    x = s / rate * 2 * (mp.atan(mp.tanh(a / 2)) - mp.atan(mp.tanh(b / 2)))
    z = s / rate * mp.log(mp.cosh(a) / mp.cosh(b))
    end = [x, 0, z], [s / mp.cosh(b), 0, s * mp.tanh(b)]
    start = [0, 0, 0], [s * mp.cos(alpha), 0, s * mp.sin(alpha)]
    why = "1.5 s: from steeply up to steeply down; the motion forgets its errors after that"
    return motion("constant_speed_particle", start, until, end, why)


# ---------------------------------------------------------------------------------------- skates


@case
def knife_edge() -> dict[str, Any]:
    """φ = φ₀ + ωt; the speed along the blade is u̇ = g sin(slope) cos φ."""
    pull, until = G * mp.sin(mpf(0.4)), 12.0
    t, w, phi, u = mpf(until), mpf(1.25), mpf(0.5), mpf(2)
    c0, s0 = mp.cos(phi), mp.sin(phi)
    end = phi + w * t
    c, s = mp.cos(end), mp.sin(end)
    # u = k + (pull/w) sin φ, and ẋ = u cos φ, ẏ = u sin φ
    k = u - pull / w * s0
    x = k / w * (s - s0) + pull / w**2 * (s**2 - s0**2) / 2
    y = -k / w * (c - c0) + pull / w**2 * ((end - phi) / 2 - (s * c - s0 * c0) / 2)
    speed = k + pull / w * s
    start = [0, 0, phi], [u * c0, u * s0, w]
    why = "12 s: two and a half turns"
    return motion("knife_edge", start, until, ([x, y, end], [speed * c, speed * s, w]), why)


@case
def chaplygin_sleigh() -> dict[str, Any]:
    """u = U tanh τ, kω = U sech τ with τ̇ = aU/k², k² = I/m + a²; x and y by quadrature."""
    m, inertia, a, until = mpf(2), mpf(0.7), mpf(0.4), 5.0
    k = mp.sqrt(inertia / m + a**2)
    u, w = mpf(-1), mpf(0.75)
    U = mp.sqrt(u**2 + k**2 * w**2)
    tau0, rate = mp.atanh(u / U), a * U / k**2

    def gudermann(x: Any) -> Any:
        return 2 * mp.atan(mp.tanh(x / 2))

    def theta(t: Any) -> Any:
        return k / a * (gudermann(tau0 + rate * t) - gudermann(tau0))

    def along(t: Any) -> Any:
        return U * mp.tanh(tau0 + rate * t)

    parts = mp.linspace(0, mpf(until), 11)
    x = mp.quad(lambda t: along(t) * mp.cos(theta(t)), parts)
    y = mp.quad(lambda t: along(t) * mp.sin(theta(t)), parts)
    t = mpf(until)
    c, s = mp.cos(theta(t)), mp.sin(theta(t))
    end = [x, y, theta(t)], [along(t) * c, along(t) * s, U / k / mp.cosh(tau0 + rate * t)]
    why = "5 s: through the turn from running backwards to forwards, before ω has died away"
    return motion("chaplygin_sleigh", ([0, 0, 0], [u, 0, w]), until, end, why)


# ------------------------------------------------------------------------------------ friction


@case
def rough_wire() -> dict[str, Any]:
    """On the turning wire s̈ = Ω²s − μ√(4Ω²ṡ² + g²), ṡ > 0 throughout."""
    W, mu, until = mpf(2), mpf(0.3), 4.0

    def f(t: Any, y: Any) -> list[Any]:
        return [y[1], W**2 * y[0] - mu * mp.sqrt(4 * W**2 * y[1] ** 2 + G**2)]

    def cartesian(t: Any, s: Any, s_dot: Any) -> tuple[list[Any], list[Any]]:
        c, d = mp.cos(W * t), mp.sin(W * t)
        return [s * c, s * d, 0], [s_dot * c - s * W * d, s_dot * d + s * W * c, 0]

    end = integrate(f, [1, 1], until, steps=16, digits=WORKING)
    why = "4 s: outwards from 1 m to 260 m, so that there are steps enough for a slope"
    start = cartesian(0, mpf(1), mpf(1))
    return motion("rough_wire_bead", start, until, cartesian(mpf(until), *end), why)


# -------------------------------------------------------------------------------- singular masses


def _chain(masses: list[Any], stiffness: list[Any], places: list[Any], until: float) -> Any:
    """m_k ẍ_k = k_{k+1}(x_{k+1} − x_k) − k_k(x_k − x_{k−1}), from rest, by its normal modes."""
    n = len(masses)
    K = mp.matrix(n, n)
    for i in range(n):
        K[i, i] += stiffness[i]
        if i:
            K[i - 1, i - 1] += stiffness[i]
            K[i, i - 1] -= stiffness[i]
            K[i - 1, i] -= stiffness[i]
    root = [mp.sqrt(m) for m in masses]
    scaled = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            scaled[i, j] = K[i, j] / (root[i] * root[j])
    squares, modes = mp.eigsy(scaled)
    t = mpf(until)
    x, v = [mpf(0)] * n, [mpf(0)] * n
    for k in range(n):
        size = mp.fsum(modes[i, k] * root[i] * places[i] for i in range(n))
        w = mp.sqrt(squares[k])
        for i in range(n):
            x[i] += modes[i, k] / root[i] * size * mp.cos(w * t)
            v[i] -= modes[i, k] / root[i] * size * w * mp.sin(w * t)
    return x, v


def _taken_apart(places: list[Any]) -> list[Any]:
    """x₁, q₁, x₂, … of the chain cut at its joints: each part held where the one before ends."""
    result = [places[0]]
    for before, place in itertools.pairwise(places):
        result += [before, place - before]
    return result


def _cut_chain(name: str, masses: list[Any], stiffness: list[Any], places: list[Any]) -> Any:
    until = 6.0
    x, v = _chain(masses, stiffness, places, until)
    end = _taken_apart(x), _taken_apart(v)
    start = _taken_apart(places), [0] * (2 * len(masses) - 1)
    why = "6 s: about seven periods of the fastest mode, incommensurable with the others"
    return motion(name, start, until, end, why)


@case
def two_mass_chain() -> dict[str, Any]:
    return _cut_chain("two_mass_chain", [mpf(1), mpf(2)], [mpf(30), mpf(20)], [mpf(0.25), mpf(1)])


@case
def three_mass_chain() -> dict[str, Any]:
    masses, stiffness = [mpf(1), mpf(2), mpf(0.5)], [mpf(30), mpf(20), mpf(10)]
    return _cut_chain("three_mass_chain", masses, stiffness, [mpf(0.25), mpf(1), mpf(0.5)])


# ------------------------------------------------------------------------------------- the disk


def _disk_state(q: list[Any], rates: list[Any]) -> tuple[list[Any], list[Any]]:
    """(x, y, φ, θ, ψ) and its rate, rolling with r = ½."""
    phi, psi_dot = q[2], rates[2]
    along = [-psi_dot * mp.cos(phi) / 2, -psi_dot * mp.sin(phi) / 2]
    return q, along + rates


@case
def rolling_disk() -> dict[str, Any]:
    """Newton and Euler in the frame ξηζ that leans and turns with the disk but does not spin.

    ω = (a, b, c) and Ω = (a, b, Z), Z = b tan θ, in that frame; the centre moves with
    r(−c, 0, a). Force and moment of the ground eliminated:
        (J + mr²) ȧ = J Z b − (2J + mr²) b c − m g r sin θ,
        ḃ = 2ac − aZ,   (2J + mr²) ċ = mr² a b,
    with θ̇ = −a, φ̇ = b/cos θ, ψ̇ = c − Z.
    """
    m, r, until = mpf(1), mpf(0.5), 5.0
    J, k = m * r**2 / 4, m * r**2

    def rates(theta: Any, w: Any) -> list[Any]:
        a, b, c = w
        return [b / mp.cos(theta), -a, c - b * mp.tan(theta)]

    def f(t: Any, y: Any) -> list[Any]:
        phi, theta, _, a, b, c = y[2:]
        turning, leaning, spinning = rates(theta, (a, b, c))
        Z = b * mp.tan(theta)
        return [
            -r * spinning * mp.cos(phi),
            -r * spinning * mp.sin(phi),
            turning,
            leaning,
            spinning,
            (J * Z * b - (2 * J + k) * b * c - m * G * r * mp.sin(theta)) / (J + k),
            2 * a * c - a * Z,
            k * a * b / (2 * J + k),
        ]

    theta, turning, leaning, spinning = mpf(0.25), mpf(0.75), mpf(-0.5), mpf(-6)
    w = [
        -leaning,
        turning * mp.cos(theta),
        spinning + turning * mp.sin(theta),
    ]
    y = integrate(f, [0, 0, 0, theta, 0, *w], until, steps=25, digits=WORKING)
    end = _disk_state(y[:5], rates(y[3], y[5:]))
    start = _disk_state([mpf(0), mpf(0), mpf(0), theta, mpf(0)], [turning, leaning, spinning])
    why = "5 s: the disk runs ten metres and wobbles several times, always well off flat"
    return motion("rolling_disk", start, until, end, why, form="coordinates")


@case
def rolling_disk_steady() -> dict[str, Any]:
    """Lean and rates constant: (J + mr²) φ̇² sin θ + (2J + mr²) φ̇ ψ̇ + m g r tan θ = 0."""
    m, r, until = mpf(1), mpf(0.5), 10.0
    J, k, t = m * r**2 / 4, m * r**2, mpf(until)
    theta, turning = mpf(0.5), mpf(2)
    s = mp.sin(theta)
    spinning = -((J + k) * turning**2 * s + m * G * r * mp.tan(theta)) / ((2 * J + k) * turning)
    radius, phi = -r * spinning / turning, turning * t
    q = [radius * mp.sin(phi), radius * (1 - mp.cos(phi)), phi, theta, spinning * t]
    rates = [turning, mpf(0), spinning]
    start = _disk_state([mpf(0), mpf(0), mpf(0), theta, mpf(0)], rates)
    why = "10 s: three rounds of a circle"
    return motion("rolling_disk", start, until, _disk_state(q, rates), why, form="coordinates")


# ------------------------------------------------------------------------------------- the body


@case
def rotating_body() -> dict[str, Any]:
    """Torque-free: ω by Jacobi's elliptic functions, the attitude from the fixed momentum.

    J₁ < J₂ < J₃ and ω starts with ω₂ = 0: ω = (A cn τ, B sn τ, C dn τ), Euler (1758) in Jacobi's
    functions (Landau & Lifshitz, Mechanics, section 37). With 3-1-3 angles (ψ, θ, φ) about the
    momentum, J₃ω₃ = ℓ cos θ, (J₁ω₁, J₂ω₂) = ℓ sin θ (sin φ, cos φ), and ψ by quadrature,
        ψ̇ = ℓ (J₁ω₁² + J₂ω₂²)/(J₁²ω₁² + J₂²ω₂²).
    """
    J1, J2, J3, until = mpf(1), mpf(1.5), mpf(2), 30.0
    A, C = mpf(1.25), mpf(1)
    # Jᵢω̇ᵢ = (Jⱼ − Jₖ)ωⱼωₖ for ω = (A cn, B sn, C dn), τ = pt; needs ℓ² > 2TJ₂
    squared, double = (J1 * A) ** 2 + (J3 * C) ** 2, J1 * A**2 + J3 * C**2
    assert squared > double * J2
    p = mp.sqrt((J3 - J2) * (squared - double * J1) / (J1 * J2 * J3))
    modulus = (J2 - J1) * (double * J3 - squared) / ((J3 - J2) * (squared - double * J1))
    B = mp.sqrt((double * J3 - squared) / (J2 * (J3 - J2)))
    length = mp.sqrt(squared)

    def omega(t: Any) -> list[Any]:
        # J₂ω̇₂ = (J₃ − J₁)ω₃ω₁ > 0 at the start
        sn, cn, dn = (mp.ellipfun(name, p * t, m=modulus) for name in ("sn", "cn", "dn"))
        return [A * cn, B * sn, C * dn]

    def precession(t: Any) -> Any:
        w = omega(t)
        across = (J1 * w[0]) ** 2 + (J2 * w[1]) ** 2
        return length * (J1 * w[0] ** 2 + J2 * w[1] ** 2) / across

    def about_momentum(t: Any, psi: Any) -> list[Any]:
        """The quaternion from body axes to axes with the momentum along z."""
        w = omega(t)
        theta = mp.acos(J3 * w[2] / length)
        phi = mp.atan2(J1 * w[0], J2 * w[1])
        c, s = mp.cos(theta / 2), mp.sin(theta / 2)
        total, apart = (psi + phi) / 2, (psi - phi) / 2
        return [c * mp.cos(total), s * mp.cos(apart), s * mp.sin(apart), c * mp.sin(total)]

    t = mpf(until)
    psi = mp.quad(precession, mp.linspace(0, t, 31))
    u = [mpf(0.5)] * 4
    turned = _times(u, _conjugate(about_momentum(mpf(0), mpf(0))))
    u_end = _times(turned, about_momentum(t, psi))
    if mp.fsum(a * b for a, b in zip(u_end, _nearby_attitude(u, omega, t), strict=True)) < 0:
        u_end = [-x for x in u_end]  # of the two quaternions the one continuous motion leads to
    start = u, _rate(u, omega(mpf(0)))
    why = "30 s: two periods of the angular velocity, seven turns of the body"
    return motion("rotating_body", start, until, (u_end, _rate(u_end, omega(t))), why)


def _times(a: list[Any], b: list[Any]) -> list[Any]:
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def _conjugate(a: list[Any]) -> list[Any]:
    return [a[0], -a[1], -a[2], -a[3]]


def _rate(u: list[Any], omega: list[Any]) -> list[Any]:
    """u̇ = ½ u (0, ω), ω in body axes."""
    return [x / 2 for x in _times(u, [mpf(0), *omega])]


def _nearby_attitude(u: list[Any], omega: Any, t: Any) -> list[Any]:
    """The same attitude to a few digits by small turns, for its sign."""
    count = 1200
    h = t / count
    for k in range(count):
        half = [x * h / 2 for x in omega((k + mpf(0.5)) * h)]
        u = _times(u, [mpf(1), *half])
        norm = mp.sqrt(mp.fsum(x * x for x in u))
        u = [x / norm for x in u]
    return u


# ---------------------------------------------------------------------------- benchmark mechanisms


def _n_four_bar(count: int) -> dict[str, Any]:
    """One angle: θ̇² = 1 + 2κ(1 − cos θ), so that sin(θ/2) = sn(t/2 | −4κ) and θ̇ = dn(t/2 | −4κ).

    N + 1 cranks turn about their pins, N couplers move along with their ends without turning:
    κ = g ((N + 1)/2 + N)/((N + 1)/3 + N).
    """
    until = 10.0
    kappa = G * (mpf(count + 1) / 2 + count) / (mpf(count + 1) / 3 + count)
    t = mpf(until)
    sn, cn, dn = (mp.re(mp.ellipfun(name, t / 2, m=-4 * kappa)) for name in ("sn", "cn", "dn"))
    x, y, turning = 2 * sn * cn, 1 - 2 * sn**2, dn

    def points(x: Any, y: Any, turning: Any) -> tuple[list[Any], list[Any]]:
        """Of the ends B of all cranks, θ clockwise from the upward vertical."""
        q = [z for i in range(count + 1) for z in (i + x, y)]
        return q, [z for _ in range(count + 1) for z in (y * turning, -x * turning)]

    why = "10 s as the benchmark asks: through the flat positions many times"
    start, end = points(0, 1, 1), points(x, y, turning)
    return motion("n_four_bar", start, until, end, why, n=count)


@case
def one_four_bar() -> dict[str, Any]:
    return _n_four_bar(1)


@case
def two_four_bars() -> dict[str, Any]:
    return _n_four_bar(2)


@case
def forty_four_bars() -> dict[str, Any]:
    return _n_four_bar(40)


@case
def car_axis() -> dict[str, Any]:
    """Two freedoms: the left end at distance s from the fixed wheel, the axle's angle α.

    p_l = s n with n at right angles to the road base B(t), p_r = p_l + L e(α); the equations of
    the two masses along n at both ends and along e' at the right one.
    """
    eps, M, L, L0, r, w, g, until = (mpf(x) for x in (0.01, 10.0, 1.0, 0.5, 0.1, 10.0, 1.0, 3.0))
    mass = M * eps**2 / 2

    def base(t: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """B and its first two derivatives."""
        y, y1 = r * mp.sin(w * t), r * w * mp.cos(w * t)
        y2 = -(w**2) * y
        x = mp.sqrt(L**2 - y**2)
        x1 = -y * y1 / x
        x2 = -(y1**2 + y * y2 + x1**2) / x
        return [x, y], [x1, y1], [x2, y2]

    def turned(a: list[Any]) -> list[Any]:
        return [-a[1] / L, a[0] / L]

    def places(t: Any, s: Any, alpha: Any) -> tuple[list[Any], list[Any]]:
        n = turned(base(t)[0])
        left = [s * n[0], s * n[1]]
        return left, [left[0] + L * mp.cos(alpha), left[1] + L * mp.sin(alpha)]

    def spring(a: list[Any]) -> list[Any]:
        length = mp.sqrt(a[0] ** 2 + a[1] ** 2)
        pull = (L0 - length) / length
        return [pull * a[0], pull * a[1] - mass * g]

    def f(t: Any, y: Any) -> list[Any]:
        s, alpha, s_dot, alpha_dot = y
        B, B1, B2 = base(t)
        n, n1, n2 = turned(B), turned(B1), turned(B2)
        e, across = [mp.cos(alpha), mp.sin(alpha)], [-mp.sin(alpha), mp.cos(alpha)]
        left, right = places(t, s, alpha)
        Q_l, Q_r = spring(left), spring([right[0] - B[0], right[1] - B[1]])
        # p̈_l = s̈ n + d, p̈_r = s̈ n + L α̈ e' + d − L α̇² e
        d = [2 * s_dot * n1[k] + s * n2[k] for k in range(2)]
        d_r = [d[k] - L * alpha_dot**2 * e[k] for k in range(2)]
        nn, ne = n[0] ** 2 + n[1] ** 2, n[0] * across[0] + n[1] * across[1]
        f1 = sum(n[k] * (Q_l[k] + Q_r[k] - mass * (d[k] + d_r[k])) for k in range(2)) / mass
        f2 = sum(across[k] * (Q_r[k] - mass * d_r[k]) for k in range(2)) / mass
        # 2nn s̈ + L ne α̈ = f1,   ne s̈ + L α̈ = f2
        s_ddot = (f1 - ne * f2) / (2 * nn - ne**2)
        return [s_dot, alpha_dot, s_ddot, (f2 - ne * s_ddot) / L]

    # ẋ_l = s ṅ_x = −½ r w/L at the start, as prescribed; ẏ_l = ẏ_r = 0
    start = [mpf(0.5), mpf(0), mpf(0), mpf(0)]
    s, alpha, s_dot, alpha_dot = integrate(f, start, until, steps=150, digits=WORKING)
    B, B1, _ = base(until)
    n, n1 = turned(B), turned(B1)
    left, right = places(until, s, alpha)
    v_l = [s_dot * n[k] + s * n1[k] for k in range(2)]
    across = [-mp.sin(alpha), mp.cos(alpha)]
    v = v_l + [v_l[k] + L * alpha_dot * across[k] for k in range(2)]
    why = "3 s as the test set asks"
    given = [0, 0.5, 1, 0.5], [-0.5, 0, -0.5, 0]
    return motion("car_axis", given, float(until), (left + right, v), why)


@case
def andrews_squeezer() -> dict[str, Any]:
    until = 0.03
    q0, q, v = squeezer_end(mpf(until))
    why = "0.03 s as the test set asks"
    return motion("andrews_squeezer", (q0, [0] * 7), until, (q, v), why)


def entry(name: str) -> dict[str, Any]:
    """What is stored of one case."""
    with mp.workdps(WORKING):
        return {"name": name, **CASES[name]()}


def main() -> None:
    """Write the file, one case a line."""
    lines = [json.dumps(entry(name), ensure_ascii=False) for name in CASES]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()

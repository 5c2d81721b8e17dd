"""Code generation for sine and cosine: straight code, the same at every lane width.

A call of the C library for each lane would cost more than the rest of most right-hand sides, and
vector libraries round differently from scalar ones. So kernels carry their own: for |x| ≤ 10⁵

    x = k π/2 + r + e,   |r| ≤ π/4,   e the part of the remainder below the last bit of r,

sin r and cos r by polynomials, and k mod 4 says which of them goes where with which sign. Beyond,
and for not-a-number, a branch that is hardly ever taken calls the C library. The error is below
0.85 units in the last place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zwang.codegen.writer import InstructionWriter

__all__ = ["COSINE", "LIMIT", "PI_HALF", "SINE", "sine_and_cosine"]

LIMIT = 1.0e5
# π/2 = the sum of these. The first two have 33 bits, so that k times them is exact for k < 2²⁰.
PI_HALF = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2e037073p-69"),
)
_TWO_OVER_PI = 0.6366197723675814
# Adding 1.5·2⁵² rounds to an integer and leaves it in the low bits of the sum.
_ROUNDER = 1.5 * 2.0**52
#   sin r = r + r z (s₀ + s₁ z + …),   cos r = 1 − z/2 + z² (c₀ + c₁ z + …),   z = r² ≤ (π/4)²
# by interpolation at six points. They and z = 0 are the zeros of the Chebyshev polynomial T₇,
# stretched so that its first zero falls on 0: the factor z spares a point there.
SINE = (
    -0.16666666666666632,
    0.008333333333322418,
    -0.00019841269829812066,
    2.755731369363644e-06,
    -2.505075841826956e-08,
    1.5896815007836776e-10,
)
COSINE = (
    0.041666666666666644,
    -0.0013888888888882061,
    2.480158729442023e-05,
    -2.755731576479866e-07,
    2.0875912664852156e-09,
    -1.1369298846560313e-11,
)


def sine_and_cosine(w: InstructionWriter, x: str, wanted: frozenset[str]) -> dict[str, str]:
    """Write code for those of sin x and cos x that are `wanted`; gives the names of the results."""
    # Reduction (Cody and Waite). x − k p₁ and k p₂ are exact; r + e holds what is left.
    p1, p2, p3 = PI_HALF
    shifted = w.fma(x, w.constant(_TWO_OVER_PI), w.constant(_ROUNDER))
    k = w.binary("fsub", shifted, w.constant(_ROUNDER))
    minus_k = w.negative(k)
    first = w.fma(minus_k, w.constant(p1), x)
    second = w.binary("fmul", k, w.constant(p2))
    r = w.binary("fsub", first, second)
    e = w.binary("fsub", w.binary("fsub", first, r), second)
    e = w.fma(minus_k, w.constant(p3), e)

    # sin(r + e) = r + (r z S(z) + e cos r),   cos r ≈ 1 − z/2 there
    z = w.binary("fmul", r, r)
    z_squared = w.binary("fmul", z, z)
    half_z = w.binary("fmul", w.constant(0.5), z)
    head = w.binary("fsub", w.constant(1.0), half_z)
    r_z = w.binary("fmul", r, z)
    tail = w.fma(r_z, _polynomial(w, SINE, z, z_squared), w.binary("fmul", e, head))
    sine = w.intrinsic("copysign", w.binary("fadd", r, tail), r)  # sin(−0) is −0
    # cos(r + e) = (1 − z/2) + (its rounding error + z² C(z) − r e)
    lost = w.binary("fsub", w.binary("fsub", w.constant(1.0), head), half_z)
    minus_r_e = w.negative(w.binary("fmul", r, e))
    tail = w.fma(z_squared, _polynomial(w, COSINE, z, z_squared), minus_r_e)
    cosine = w.binary("fadd", head, w.binary("fadd", lost, tail))

    # Quadrant: sin x = s, c, −s, −c and cos x = c, −s, −c, s for k = 0, 1, 2, 3 (mod 4).
    quadrant = w.bits(shifted)
    odd = w.odd(quadrant)
    near: dict[str, str] = {}
    if "sin" in wanted:
        near["sin"] = w.flip_sign(w.select(odd, cosine, sine), quadrant)
    if "cos" in wanted:
        near["cos"] = w.flip_sign(w.select(odd, sine, cosine), w.integer("add", quadrant, 1))
    return w.beyond(LIMIT, x, near)


def _polynomial(
    w: InstructionWriter, coefficients: tuple[float, ...], z: str, z_squared: str
) -> str:
    """Estrin's scheme for six coefficients: more work at once than in Horner's."""
    c = [w.constant(value) for value in coefficients]
    low, middle, high = (w.fma(c[k + 1], z, c[k]) for k in (0, 2, 4))
    return w.fma(w.fma(high, z_squared, middle), z_squared, low)

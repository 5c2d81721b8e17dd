"""Coefficients of explicit Runge–Kutta pairs, apart from the code that uses them.

Order 8: Dormand & Prince 8(5,3) with interpolant of order 7, improved by `_corrected`. Order 5:
Dormand & Prince 5(4) with interpolant of order 4. Both as in Hairer, Nørsett & Wanner, Solving
Ordinary Differential Equations I, sections II.5, II.6, II.10. Tests check the order conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from zwang.integrators.many_digits import in_digits, many_digits, rounded, solved

__all__ = ["ORDER_5", "ORDER_8", "TABLEAUS", "Tableau"]


@dataclass(frozen=True)
class Tableau:
    """An embedded pair, first stage same as last, with a continuous extension.

    Attributes
    ----------
    order, error_order : of the solution, and of its error estimate plus one.
    stages : number of stages of a step; stage `stages` (counting from 0) is the derivative at the
        new point and serves as stage 0 of the next step.
    A, C : stage coefficients, with extra rows for the stages of the interpolant.
    B : weights of the solution, shape (stages,).
    E : weights of one or two error estimates, shape (2, stages + 1); the second row may be zero.
    P : interpolant y(t + θh) = y + h Σ_s K_s Σ_j P[s, j] θ^(j+1), shape (all stages, degree).
    S : of the last stages, which correct the interpolant, the slopes it has there by itself,
        Σ_s S[i, s] K_s. With them in place of K there is no correction.
    stability : largest h times the size of the Jacobian on the negative real axis, roughly.
    loosest : tolerance above which the estimate no longer tells errors, and steps are not longer:
        of order 5 at 0.1 a gyroscope gained sixteen times its energy in two seconds.
    """

    order: int
    error_order: int
    stages: int
    A: NDArray[np.float64]
    B: NDArray[np.float64]
    C: NDArray[np.float64]
    E: NDArray[np.float64]
    P: NDArray[np.float64]
    stability: float
    S: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    loosest: float = 0.01

    @property
    def gap(self) -> tuple[float, float]:
        """The widest interval of 0…1 without a stage."""
        nodes = np.unique(self.C[: self.stages + 1])
        widest = int(np.argmax(np.diff(nodes)))
        return float(nodes[widest]), float(nodes[widest + 1])


def _rows(columns: int, *rows: dict[int, float]) -> NDArray[np.float64]:
    """A matrix from the nonzeros of its rows."""
    result = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        for j, value in row.items():
            result[i, j] = value
    return result


#: Stages 0 to 11, the new point, three stages of the interpolant.
_A8 = _rows(
    16,
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479,
        3: 0.17038392571223998,
        4: 0.10726203044637328,
        5: -0.015319437748624402,
        6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757,
        3: -3.3608926294469414,
        4: -0.868219346841726,
        5: 27.59209969944671,
        6: 20.154067550477894,
        7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434,
        3: -2.4881146199716677,
        4: -0.590290826836843,
        5: 21.230051448181193,
        6: 15.279233632882423,
        7: -33.28821096898486,
        8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873,
        3: 5.186372428844064,
        4: 1.0914373489967295,
        5: -8.149787010746927,
        6: -18.52006565999696,
        7: 22.739487099350505,
        8: 2.4936055526796523,
        9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538,
        3: -10.53449546673725,
        4: -2.0008720582248625,
        5: -17.9589318631188,
        6: 27.94888452941996,
        7: -2.8589982771350235,
        8: -8.87285693353063,
        9: 12.360567175794303,
        10: 0.6433927460157636,
    },
    {
        0: 0.054293734116568765,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: 0.3111643669578199,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.04471061572777259,
    },
    {
        0: 0.056167502283047954,
        6: 0.25350021021662483,
        7: -0.2462390374708025,
        8: -0.12419142326381637,
        9: 0.15329179827876568,
        10: 0.00820105229563469,
        11: 0.007567897660545699,
        12: -0.008298,
    },
    {
        0: 0.03183464816350214,
        5: 0.028300909672366776,
        6: 0.053541988307438566,
        7: -0.05492374857139099,
        10: -0.00010834732869724932,
        11: 0.0003825710908356584,
        12: -0.00034046500868740456,
        13: 0.1413124436746325,
    },
    {
        0: -0.42889630158379194,
        5: -4.697621415361164,
        6: 7.683421196062599,
        7: 4.06898981839711,
        8: 0.3567271874552811,
        12: -0.0013990241651590145,
        13: 2.9475147891527724,
        14: -9.15095847217987,
    },
)

#: Times of the stages.
_C8 = np.array(
    [
        0.0,
        0.05260015195876773,
        0.0789002279381516,
        0.1183503419072274,
        0.2816496580927726,
        0.3333333333333333,
        0.25,
        0.3076923076923077,
        0.6512820512820513,
        0.6,
        0.8571428571428571,
        1.0,
        1.0,
        0.1,
        0.2,
        0.7777777777777778,
    ]
)

#: Error estimates of order 5 and 3.
_E8 = _rows(
    13,
    {
        0: 0.01312004499419488,
        5: -1.2251564463762044,
        6: -0.4957589496572502,
        7: 1.6643771824549864,
        8: -0.35032884874997366,
        9: 0.3341791187130175,
        10: 0.08192320648511571,
        11: -0.022355307863886294,
    },
    {
        0: -0.18980075407240762,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: -0.4226823213237919,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.02265179219836082,
    },
)

#: Weights of the last four terms of the interpolant.
_D8 = _rows(
    16,
    {
        0: -8.428938276109013,
        5: 0.5667149535193777,
        6: -3.0689499459498917,
        7: 2.38466765651207,
        8: 2.117034582445028,
        9: -0.871391583777973,
        10: 2.2404374302607883,
        11: 0.6315787787694688,
        12: -0.08899033645133331,
        13: 18.148505520854727,
        14: -9.194632392478356,
        15: -4.436036387594894,
    },
    {
        0: 10.427508642579134,
        5: 242.28349177525817,
        6: 165.20045171727028,
        7: -374.5467547226902,
        8: -22.113666853125306,
        9: 7.733432668472264,
        10: -30.674084731089398,
        11: -9.332130526430229,
        12: 15.697238121770845,
        13: -31.139403219565178,
        14: -9.35292435884448,
        15: 35.81684148639408,
    },
    {
        0: 19.985053242002433,
        5: -387.0373087493518,
        6: -189.17813819516758,
        7: 527.8081592054236,
        8: -11.57390253995963,
        9: 6.8812326946963,
        10: -1.0006050966910838,
        11: 0.7777137798053443,
        12: -2.778205752353508,
        13: -60.19669523126412,
        14: 84.32040550667716,
        15: 11.99229113618279,
    },
    {
        0: -25.69393346270375,
        5: -154.18974869023643,
        6: -231.5293791760455,
        7: 357.6391179106141,
        8: 93.40532418362432,
        9: -37.45832313645163,
        10: 104.0996495089623,
        11: 29.8402934266605,
        12: -43.53345659001114,
        13: 96.32455395918828,
        14: -39.17726167561544,
        15: -149.72683625798564,
    },
)

#: Stages 0 to 5 and the new point.
_A5 = _rows(
    7,
    {},
    {0: 0.2},
    {0: 0.075, 1: 0.225},
    {0: 0.9777777777777777, 1: -3.7333333333333334, 2: 3.5555555555555554},
    {0: 2.9525986892242035, 1: -11.595793324188385, 2: 9.822892851699436, 3: -0.2908093278463649},
    {
        0: 2.8462752525252526,
        1: -10.757575757575758,
        2: 8.906422717743473,
        3: 0.2784090909090909,
        4: -0.2735313036020583,
    },
    {
        0: 0.09114583333333333,
        2: 0.44923629829290207,
        3: 0.6510416666666666,
        4: -0.322376179245283,
        5: 0.13095238095238096,
    },
)

#: Times of the stages.
_C5 = np.array(
    [
        0.0,
        0.2,
        0.3,
        0.8,
        0.8888888888888888,
        1.0,
        1.0,
    ]
)

#: Error estimate of order 4.
_E5 = _rows(
    7,
    {
        0: -0.0012326388888888888,
        2: 0.0042527702905061394,
        3: -0.03697916666666667,
        4: 0.05086379716981132,
        5: -0.0419047619047619,
        6: 0.025,
    },
    {},
)

#: Interpolant.
_P5 = _rows(
    4,
    {0: 1.0, 1: -2.8535800653862835, 2: 3.0717434641059005, 3: -1.1270175653862835},
    {},
    {1: 4.023133379230305, 2: -6.249321565289, 3: 2.675424484351598},
    {1: -3.7324019615885042, 2: 10.068970589843675, 3: -5.685526961588504},
    {1: 2.5548038301849423, 2: -6.399112377351017, 3: 3.5219323679207912},
    {1: -1.3744241142186024, 2: 3.272657752246729, 3: -1.7672812570757455},
    {1: 1.3824689317781436, 2: -3.764937863556287, 3: 2.382468931778144},
)


def _interpolant_8() -> NDArray[np.float64]:
    """The interpolant's nested form, F₀x + F₁x(1−x) + F₂x²(1−x) + …, as powers of x = θ."""
    count = len(_C8)
    B, first, last = _A8[12], np.eye(count)[0], np.eye(count)[12]
    F = [B, first - B, 2.0 * B - first - last, *_D8]
    P = np.zeros((count, len(F) + 1))
    for i, f in enumerate(reversed(F)):
        P[:, 0] += f
        shifted = np.roll(P, 1, axis=1)  # times x; the highest power is still zero
        P = shifted if i % 2 == 0 else P - shifted
    return np.ascontiguousarray(P[:, 1:])


def _corrected(tableau: Tableau, nodes: tuple[float, ...]) -> Tableau:
    """The same pair, its interpolant u corrected by what u′ − f(u) is at some further stages.

    The error of u is the integral of that defect, which vanishes at both ends of the step. So the
    correction is Σᵢ (h f(u(θᵢ)) − u′(θᵢ)) cᵢ(θ), of polynomials cᵢ = θ²(1 − θ)²rᵢ(θ) with
    cᵢ′(θⱼ) = δᵢⱼ: errors between steps become a third to a seventh, of the size of those at steps.
    """
    with many_digits():
        return _corrected_in_digits(tableau, nodes)


def _corrected_in_digits(tableau: Tableau, nodes: tuple[float, ...]) -> Tableau:
    k, n = len(nodes), len(tableau.C)
    degree = max(tableau.P.shape[1], k + 3)
    powers = range(1, degree + 1)
    P = in_digits(np.zeros((n + k, degree)))
    P[:n, : tableau.P.shape[1]] = in_digits(tableau.P)
    theta = in_digits(nodes)[:, None]
    at = np.hstack([theta**m for m in powers])  # [node][power], and the slopes of these
    slopes_at = np.hstack([m * theta ** (m - 1) for m in powers])
    slopes = slopes_at @ P.T
    A = np.zeros((n + k, n + k))
    A[:n, :n], A[n:] = tableau.A[:, :n], rounded(at @ P.T)
    bumps = in_digits(np.zeros((k, degree)))  # θ²(1 − θ)²θᵐ
    for m in range(k):
        bumps[m, m + 1 : m + 4] = 1, -2, 1
    misses = in_digits(np.eye(k, n + k, n)) - slopes
    P = P + misses.T @ solved(bumps @ slopes_at.T, bumps)
    C = np.concatenate([tableau.C, nodes])
    return replace(tableau, A=A, C=C, P=rounded(P), S=rounded(slopes))


#: Where interpolants are corrected: of nodes 0.07 apart, about those that leave the least of the
#: error of order 8 for two orbits, two swings of a stiff pendulum and Lorenz's equations.
_CORRECTED_AT = (0.13, 0.34, 0.48, 0.69)

ORDER_8 = Tableau(8, 8, 12, _A8, _A8[12, :12].copy(), _C8, _E8, _interpolant_8(), 6.1)
ORDER_8 = _corrected(ORDER_8, _CORRECTED_AT)
ORDER_5 = Tableau(5, 5, 6, _A5, _A5[6, :6].copy(), _C5, _E5, _P5, 3.25)
ORDER_5 = _corrected(ORDER_5, _CORRECTED_AT)

#: Explicit integrators by name.
TABLEAUS: dict[str, Tableau] = {"order8": ORDER_8, "order5": ORDER_5}

"""Final states of two problems as printed in the Test Set for IVP Solvers (Mazzia & Magherini)."""

#: "andrews": (β, Θ, γ, Φ, δ, Ω, ε) "at t = 0.03".
ANDREWS_Q = [
    *(0.1581077119629904e2, -0.1575637105984298e2, 0.4082224013073101e-1, -0.5347301163226948),
    *(0.5244099658805304, 0.5347301163226948, 0.1048080741042263e1),
]
#: The time at which the mechanism is there, as its crank shows, which turns at 1140 rad/s: all
#: seven angles fit to 1e-11 with this one shift.
ANDREWS_TIME = 0.03 + 1e-12

#: "caraxis" at t = 3: (x_l, y_l, x_r, y_r) and its rate.
CAR_AXIS = [
    *(0.493455784275402809122e-1, 0.496989460230171153861),
    *(0.104174252488542151681e1, 0.373911027265361256927),
    *(-0.770583684040972357970e-1, 0.744686658723778553466e-2),
    *(0.175568157537232222276e-1, 0.770341043779251976443),
]

#: Digits after the point to which they agree with `motions.json`.
GOOD_TO = 1e-11

"""Large mechanisms: modes without dense matrices agree with dense ones and with a closed form."""

import numpy as np
import pytest
from scipy.special import jn_zeros

import zwang as zw
from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.search import point_at
from zwang.analysis.sparse_modes import sparse_linearization

GRAVITY = 9.81


def chain(links, length=1.0, *, plane=True, doubled=False):
    """A hanging chain of rods, with a spring and a damper at its end."""
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY), **({"plane": "xz"} if plane else {}))

    def at(x, z):
        return (x, z) if plane else (x, 0.0, z)

    last = m.ground
    for k in range(links):
        J = length**2 / 12
        rod = m.body(
            f"rod{k}",
            mass=1.0,
            inertia=J if plane else (J, J, J),
            position=at(0.0, -(k + 0.5) * length),
        )
        axis = {} if plane else {"axis": "y"}
        for name in ("pin", "again") if doubled else ("pin",):
            m.revolute(f"{name}{k}", last, rod, at=at(0.0, -k * length), **axis)
        last = rod
    end = -links * length
    m.spring_damper(
        "guy", m.ground, last, at=(at(2.0, end), at(0.0, end)), stiffness=3.0, damping=0.2
    )
    return m


@pytest.mark.parametrize("plane", [True, False])
@pytest.mark.parametrize("doubled", [True, False])
def test_element_by_element_is_the_same_as_the_whole_expression(plane, doubled):
    m = chain(4, plane=plane, doubled=doubled)
    q = m.assemble().q
    equations = EquationsOf(m.system, 0.0, None)
    sparse = sparse_linearization(equations, q)
    rest = np.zeros(equations.nv)
    whole = equations.slopes(q, rest, rest, point_at(equations, q).lam)
    D = point_at(equations, q).spaces.basis
    size = np.abs(whole.E_pi).max()
    # Reactions of joints given twice may be shared otherwise: what matters is along the freedoms.
    assert np.abs(D.T @ (sparse.stiffness @ D) - D.T @ whole.E_pi @ D).max() < 1e-10 * size
    assert np.abs(sparse.damping.toarray() - whole.E_v).max() < 1e-12
    assert np.abs(sparse.rows.toarray() - whole.A).max() < 1e-12
    dense = m.linearize(q).modes()
    found = sparse.modes(2)
    for one, other in zip(found, dense, strict=False):
        assert abs(one.eigenvalue - other.eigenvalue) < 1e-8 * abs(other.eigenvalue)


def test_modes_of_a_long_chain_approach_those_of_a_cable():
    """ω_k = ½ j₀ₖ √(g/L) of a hanging cable, to the square of the share of a link."""
    links = 400
    m = hanging(links)
    lin = m.linearize(m.assemble().q)
    expected = 0.5 * jn_zeros(0, 4) * np.sqrt(GRAVITY / links)
    found = np.array([mode.frequency for mode in lin.modes(4)])
    assert np.abs(found / expected - 1.0).max() < 10.0 / links**2 + 1e-3
    shape = np.abs(lin.modes(1)[0].displacement)
    assert shape.max() == pytest.approx(1.0)


def hanging(links):
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    last = m.ground
    for k in range(links):
        rod = m.body(f"rod{k}", mass=1.0, inertia=1.0 / 12, position=(0.0, -(k + 0.5)))
        m.revolute(f"pin{k}", last, rod, at=(0.0, -float(k)))
        last = rod
    return m


def test_what_large_mechanisms_do_not_have_is_refused():
    m = hanging(110)
    q = m.assemble().q
    with pytest.raises(
        zw.ZwangError, match=r"inputs of a linearization.*300 velocities.*there are 330"
    ):
        m.linearize(q, inputs=["pin0.angle"])
    with pytest.raises(zw.ZwangError, match="count"):
        m.linearize(q).modes(0)
    swung = m.assemble(hold={"pin0.angle": 0.3}).q
    with pytest.raises(zw.ZwangError, match="must be one in which all forces balance"):
        m.linearize(swung)

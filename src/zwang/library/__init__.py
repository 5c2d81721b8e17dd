"""Ready-made systems: the worked examples of the literature, and some classics beside them.

Each name is a function that builds a `zwang.System`; a system that was published in several forms
takes ``form=``. `states` gives random states that satisfy the constraints, `start` the start of a
problem that was published with one. Nothing loads before it is asked for.

    particles    spherical_pendulum  kepler_laws  kepler_ellipse  nonholonomic_particle
    speeds       constant_speed_particle  appell_hamel           nonlinear in the velocities
    skates       knife_edge  chaplygin_sleigh  snakeboard
    friction     rough_wire_bead                                  a reaction-dependent law
    governor     flyball_governor                                 stiff springs and dampers
    chains       two_mass_chain  three_mass_chain                 singular mass matrices
    disk         rolling_disk  sliding_disk                       in all of Blajer's forms
    body         rotating_body                                    in quaternions, all forms
    satellites   satellite_formation                              control by constraints
    mechanisms   andrews_squeezer  car_axis  n_four_bar           published benchmarks

Examples
--------
>>> import numpy as np, zwang as zw
>>> from zwang import library
>>> pendulum = library.spherical_pendulum(L=1.0)
>>> pendulum.solve(q=[0.0, 1.0, 0.0]).constraint_force + 0.0
array([ 0.  , -9.81,  0.  ])
>>> state = library.states("spherical_pendulum", np.random.default_rng(0), 100, L=1.0)
>>> bool(np.abs(pendulum.residuals(state).position).max() < 1e-15)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zwang.errors import UnknownNameError

if TYPE_CHECKING:
    import numpy as np

    from zwang.library.body import rotating_body
    from zwang.library.chains import three_mass_chain, two_mass_chain
    from zwang.library.disk import rolling_disk, sliding_disk
    from zwang.library.friction import rough_wire_bead
    from zwang.library.governor import flyball_governor
    from zwang.library.mechanisms import andrews_squeezer, car_axis, n_four_bar
    from zwang.library.particles import (
        kepler_ellipse,
        kepler_laws,
        nonholonomic_particle,
        spherical_pendulum,
    )
    from zwang.library.satellites import satellite_formation
    from zwang.library.skates import chaplygin_sleigh, knife_edge, snakeboard
    from zwang.library.speeds import appell_hamel, constant_speed_particle
    from zwang.system import State

__all__ = [
    "andrews_squeezer",
    "appell_hamel",
    "car_axis",
    "chaplygin_sleigh",
    "constant_speed_particle",
    "flyball_governor",
    "kepler_ellipse",
    "kepler_laws",
    "knife_edge",
    "n_four_bar",
    "names",
    "nonholonomic_particle",
    "rolling_disk",
    "rotating_body",
    "rough_wire_bead",
    "satellite_formation",
    "sliding_disk",
    "snakeboard",
    "spherical_pendulum",
    "start",
    "states",
    "three_mass_chain",
    "two_mass_chain",
]

#: Name of a system → the module that builds it.
_MODULES = {
    "spherical_pendulum": "particles",
    "kepler_laws": "particles",
    "kepler_ellipse": "particles",
    "nonholonomic_particle": "particles",
    "constant_speed_particle": "speeds",
    "appell_hamel": "speeds",
    "knife_edge": "skates",
    "chaplygin_sleigh": "skates",
    "snakeboard": "skates",
    "rough_wire_bead": "friction",
    "flyball_governor": "governor",
    "two_mass_chain": "chains",
    "three_mass_chain": "chains",
    "rolling_disk": "disk",
    "sliding_disk": "disk",
    "rotating_body": "body",
    "satellite_formation": "satellites",
    "andrews_squeezer": "mechanisms",
    "car_axis": "mechanisms",
    "n_four_bar": "mechanisms",
}

#: Systems that were published with a start.
_STARTED = ("andrews_squeezer", "car_axis", "n_four_bar", "flyball_governor")


def names() -> tuple[str, ...]:
    """Names of all systems in the library."""
    return tuple(_MODULES)


def states(name: str, rng: np.random.Generator, count: int, **options: Any) -> State:
    """Random states of a library system that satisfy its constraints, of moderate size.

    Parameters
    ----------
    name : which system.
    rng : where the random numbers come from.
    count : how many states; q, v, t have shapes (count, nq), (count, nv), (count,).
    options : the options the system was built with, where its states depend on them: ``form=``,
        lengths and the like.
    """
    if name not in _MODULES:
        raise UnknownNameError("library system", name, _MODULES)
    module = import_module(f"zwang.library.{_MODULES[name]}")
    return getattr(module, f"{name}_states")(rng, count, **options)


def start(name: str, **options: Any) -> State:
    """The published start of a benchmark problem, with the options the system was built with.

    Examples
    --------
    >>> start("car_axis").v
    array([-0.5,  0. , -0.5,  0. ])
    """
    if name not in _STARTED:
        raise UnknownNameError("library system with a start", name, _STARTED)
    module = import_module(f"zwang.library.{_MODULES[name]}")
    return getattr(module, f"{name}_start")(**options)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"zwang.library.{_MODULES[name]}"), name)
    message = f"module 'zwang.library' has no attribute {name!r}; it has {', '.join(_MODULES)}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)

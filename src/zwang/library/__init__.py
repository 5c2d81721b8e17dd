"""Ready-made systems and mechanisms: worked examples, published benchmarks, classics.

Each name is a function that builds a `zwang.System` from functions, or a `zwang.Mechanism` from
bodies and joints; a system that was published in several forms takes ``form=``. `states` gives
random states that satisfy the constraints, `start` the start of a problem that was published with
one; mechanisms are placed at theirs. Nothing loads before it is asked for.

Systems:

    particles           spherical_pendulum  kepler_laws  kepler_ellipse  nonholonomic_particle
    nonlinear_velocity  constant_speed_particle  appell_hamel           nonlinear in the velocities
    skates              knife_edge  chaplygin_sleigh  snakeboard
    friction            rough_wire_bead                                  a reaction-dependent law
    governor            flyball_governor                                 stiff springs and dampers
    chains              two_mass_chain  three_mass_chain                 singular mass matrices
    disk                rolling_disk  sliding_disk                       in all of Blajer's forms
    body                rotating_body                                    in quaternions, all forms
    satellites          satellite_formation                              control by constraints
    benchmarks          andrews_squeezer  car_axis  n_four_bar           published benchmarks

Mechanisms, in the package `mechanisms`:

    linkages       four_bar  four_bars  parallelogram  slider_crank  theo_jansen_leg
    andrews        andrews                                          seven bodies in the plane
    spatial_loops  bricard  door  stewart_platform  double_wishbone  universal_joint_shaft
    spinning       spinning_top  rolling_coin  gyroscope  ball_governor  satellite
    nets           chain  net                                       of any size
    bicycle        whipple_bicycle

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

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zwang.errors import UnknownNameError

if TYPE_CHECKING:
    import numpy as np

    from zwang.library.benchmarks import andrews_squeezer, car_axis, n_four_bar
    from zwang.library.body import rotating_body
    from zwang.library.chains import three_mass_chain, two_mass_chain
    from zwang.library.disk import rolling_disk, sliding_disk
    from zwang.library.friction import rough_wire_bead
    from zwang.library.governor import flyball_governor
    from zwang.library.mechanisms.andrews import andrews
    from zwang.library.mechanisms.bicycle import whipple_bicycle
    from zwang.library.mechanisms.linkages import (
        four_bar,
        four_bars,
        parallelogram,
        slider_crank,
        theo_jansen_leg,
    )
    from zwang.library.mechanisms.nets import chain, net
    from zwang.library.mechanisms.spatial_loops import (
        bricard,
        door,
        double_wishbone,
        stewart_platform,
        universal_joint_shaft,
    )
    from zwang.library.mechanisms.spinning import (
        ball_governor,
        gyroscope,
        rolling_coin,
        satellite,
        spinning_top,
    )
    from zwang.library.nonlinear_velocity import appell_hamel, constant_speed_particle
    from zwang.library.particles import (
        kepler_ellipse,
        kepler_laws,
        nonholonomic_particle,
        spherical_pendulum,
    )
    from zwang.library.satellites import satellite_formation
    from zwang.library.skates import chaplygin_sleigh, knife_edge, snakeboard
    from zwang.state import State

__all__ = [
    "andrews",
    "andrews_squeezer",
    "appell_hamel",
    "ball_governor",
    "bricard",
    "car_axis",
    "chain",
    "chaplygin_sleigh",
    "constant_speed_particle",
    "door",
    "double_wishbone",
    "flyball_governor",
    "four_bar",
    "four_bars",
    "gyroscope",
    "kepler_ellipse",
    "kepler_laws",
    "knife_edge",
    "mechanism_names",
    "n_four_bar",
    "names",
    "net",
    "nonholonomic_particle",
    "parallelogram",
    "rolling_coin",
    "rolling_disk",
    "rotating_body",
    "rough_wire_bead",
    "satellite",
    "satellite_formation",
    "slider_crank",
    "sliding_disk",
    "snakeboard",
    "spherical_pendulum",
    "spinning_top",
    "start",
    "states",
    "stewart_platform",
    "theo_jansen_leg",
    "three_mass_chain",
    "two_mass_chain",
    "universal_joint_shaft",
    "whipple_bicycle",
]

#: Name of a system → the module that builds it.
_MODULES = {
    "spherical_pendulum": "particles",
    "kepler_laws": "particles",
    "kepler_ellipse": "particles",
    "nonholonomic_particle": "particles",
    "constant_speed_particle": "nonlinear_velocity",
    "appell_hamel": "nonlinear_velocity",
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
    "andrews_squeezer": "benchmarks",
    "car_axis": "benchmarks",
    "n_four_bar": "benchmarks",
}

#: Name of a mechanism → the module that builds it.
_MECHANISMS = {
    "four_bar": "linkages",
    "four_bars": "linkages",
    "parallelogram": "linkages",
    "slider_crank": "linkages",
    "theo_jansen_leg": "linkages",
    "andrews": "andrews",
    "bricard": "spatial_loops",
    "door": "spatial_loops",
    "stewart_platform": "spatial_loops",
    "double_wishbone": "spatial_loops",
    "universal_joint_shaft": "spatial_loops",
    "spinning_top": "spinning",
    "rolling_coin": "spinning",
    "gyroscope": "spinning",
    "ball_governor": "spinning",
    "satellite": "spinning",
    "chain": "nets",
    "net": "nets",
    "whipple_bicycle": "bicycle",
}

#: Systems that were published with a start.
_STARTED = ("andrews_squeezer", "car_axis", "n_four_bar", "flyball_governor")


def names() -> tuple[str, ...]:
    """Names of all systems of functions in the library."""
    return tuple(_MODULES)


def mechanism_names() -> tuple[str, ...]:
    """Names of all mechanisms in the library."""
    return tuple(_MECHANISMS)


def states(name: str, rng: np.random.Generator, count: int, **options: Any) -> State:
    """Random states of a library system that satisfy its constraints, of moderate size.

    Parameters
    ----------
    name : which system or mechanism.
    rng : where the random numbers come from.
    count : how many states; q, v, t have shapes (count, nq), (count, nv), (count,).
    options : the options the system was built with, where its states depend on them: ``form=``,
        lengths and the like.
    """
    if name in _MECHANISMS:
        from zwang.library.mechanisms.states import mechanism_states

        return mechanism_states(_builder(name)(**options), rng, count)
    if name not in _MODULES:
        raise UnknownNameError("library system", name, [*_MODULES, *_MECHANISMS])
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


def _builder(name: str) -> Any:
    """The function of a name."""
    where = f"mechanisms.{_MECHANISMS[name]}" if name in _MECHANISMS else _MODULES[name]
    builder = getattr(import_module(f"zwang.library.{where}"), name)
    return builder if name in _MECHANISMS else _remembered(name, builder)


@cache
def _remembered(name: str, builder: Callable[..., Any]) -> Callable[..., Any]:
    """A builder of systems whose results know how they were made, for pickle and copy."""

    @wraps(builder)
    def build(*arguments: Any, **options: Any) -> Any:
        system = builder(*arguments, **options)
        if hasattr(system, "made_by"):
            system.made_by = _made, (name, arguments, options)
        return system

    return build


def _made(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A system of the library, in another process or as a copy."""
    return _builder(name)(*arguments, **options)


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in _MECHANISMS:
        return _builder(name)
    known = ", ".join([*_MODULES, *_MECHANISMS])
    message = f"module 'zwang.library' has no attribute {name!r}; it has {known}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)

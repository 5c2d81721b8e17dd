"""The registry of integrators: which time loop carries out which method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zwang.errors import InputError
from zwang.integrators.collocation.loop import GaussLoop
from zwang.integrators.contract import Loop
from zwang.integrators.explicit.loop import ExplicitLoop
from zwang.integrators.fixed_step.loop import GeneralizedAlphaLoop, RattleLoop
from zwang.integrators.radau.loop import RadauLoop
from zwang.integrators.settings import Settings
from zwang.programs.contract import Program

__all__ = ["LOOPS", "chosen", "loop_settings", "start_loop"]

#: Name of an integrator → its loop.
LOOPS: dict[str, type[Loop]] = {
    "order8": ExplicitLoop,
    "order5": ExplicitLoop,
    "gauss": GaussLoop,
    "radau5": RadauLoop,
    "generalized_alpha": GeneralizedAlphaLoop,
    "rattle": RattleLoop,
}


def start_loop(
    program: Program,
    settings: Settings,
    *state: Any,
    method: str = "",
    may_leave: bool = False,
    **choices: Any,
) -> Loop:
    """The loop that the settings ask for; the other arguments are those of `Loop`.

    Parameters
    ----------
    method : of those that "auto" chooses among, the one that is under way.
    may_leave : whether to return where "auto" would choose another one from there on.
    """
    settings = loop_settings(program, settings, method)
    # An implicit method needs a Jacobian, and fixed steps are not chosen by their error.
    may_leave = may_leave and program.has_nodes and settings.step == 0.0
    kind = LOOPS[settings.integrator]
    return kind(program, settings, *state, may_leave=may_leave, **choices)


def loop_settings(program: Program, settings: Settings, method: str = "") -> Settings:
    """The settings with the method that the loop of a program carries out."""
    if method and settings.integrator == "auto":
        settings = replace(settings, integrator=method)
    at_nodes = program.has_nodes and program.lanes == 1  # else lanes are trajectories
    if settings.integrator in ("auto", "gauss"):
        return chosen(settings, at_nodes=at_nodes, finest=program.finest_at_nodes)
    return settings


def chosen(settings: Settings, *, at_nodes: bool, finest: float = 0.0) -> Settings:
    """The settings with a method for a program that can be evaluated at nodes, or cannot.

    Below the tolerance `finest` nodes are left alone unless they are asked for.
    """
    if settings.integrator == "gauss" and not at_nodes:
        raise InputError(
            "integrator='gauss'",
            must="be used with compiled equations",
            but="these are evaluated in Python, state by state",
            advice="integrator='auto' chooses one that applies.",
        )
    sweeps = at_nodes and settings.tolerance >= finest and settings.step == 0.0
    return settings.at_nodes if sweeps else settings.by_states

"""Which loop carries out which integrator."""

from __future__ import annotations

from typing import Any

from zwang.errors import InputError
from zwang.integrators.collocation.loop import GaussLoop
from zwang.integrators.contract import Loop
from zwang.integrators.explicit.loop import ExplicitLoop
from zwang.integrators.fixed_step.loop import GeneralizedAlphaLoop, RattleLoop
from zwang.integrators.radau.loop import RadauLoop
from zwang.integrators.settings import Settings
from zwang.programs.contract import Program

__all__ = ["LOOPS", "chosen", "start_loop"]

#: Name of an integrator → its loop.
LOOPS: dict[str, type[Loop]] = {
    "order8": ExplicitLoop,
    "order5": ExplicitLoop,
    "gauss": GaussLoop,
    "radau5": RadauLoop,
    "generalized_alpha": GeneralizedAlphaLoop,
    "rattle": RattleLoop,
}


def start_loop(program: Program, settings: Settings, *state: Any, **choices: Any) -> Loop:
    """The loop that the settings ask for; the arguments are those of `Loop`."""
    settings = chosen(settings, at_nodes=program.has_nodes, finest=program.finest_at_nodes)
    return LOOPS[settings.integrator](program, settings, *state, **choices)


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
    return settings.at_nodes if at_nodes and settings.tolerance >= finest else settings.by_states

"""Which loop carries out which integrator."""

from __future__ import annotations

from typing import Any

from zwang.engine.program import Program
from zwang.integrators.discrete_loop import GeneralizedAlphaLoop, RattleLoop
from zwang.integrators.explicit_loop import ExplicitLoop
from zwang.integrators.loop import Loop
from zwang.integrators.radau_loop import RadauLoop
from zwang.integrators.settings import Settings

__all__ = ["LOOPS", "start_loop"]

#: Name of an integrator → its loop.
LOOPS: dict[str, type[Loop]] = {
    "order8": ExplicitLoop,
    "order5": ExplicitLoop,
    "radau5": RadauLoop,
    "generalized_alpha": GeneralizedAlphaLoop,
    "rattle": RattleLoop,
}


def start_loop(program: Program, settings: Settings, *state: Any, **choices: Any) -> Loop:
    """The loop that the settings ask for; the arguments are those of `Loop`."""
    return LOOPS[settings.integrator](program, settings, *state, **choices)

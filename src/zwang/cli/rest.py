"""``zwang equilibrium`` and ``zwang linearize``: rest, steady motion, and small motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from zwang.analysis.at_rest import values_at_rest
from zwang.analysis.statics import Equilibrium, StaticReaction
from zwang.cli.output import Printer
from zwang.display import without_rounding
from zwang.model_files.model import Model

__all__ = ["equilibrium", "linearize"]


def equilibrium(out: Printer, model: Model) -> None:
    """Find rest, or the steady motion that the file asks for, and print it."""
    found = model.equilibrium()
    system = found.system
    facts: dict[str, Any] = {
        "model": model.name,
        "stability": found.stability,
        "q": dict(zip(system.coordinates, found.q.tolist(), strict=True)),
        "v": dict(zip(system.velocities, found.v.tolist(), strict=True)),
        "t": found.t,
        "residual": found.residual,
    }
    reactions: dict[str, StaticReaction] = {}
    told: list[tuple[str, Any, str]] = []
    if isinstance(found, Equilibrium):
        reactions = {name: found.reaction(name) for name in system.groups}
        told = list(values_at_rest(found))
        facts |= {
            "method": found.method,
            "steps": found.steps,
            "families": list(found.families),
            "holding": dict(found.holding),
            "values": {name: {"value": value, "unit": unit} for name, value, unit in told},
            "sticking": [asdict(one) for one in found.sticking],
            "notes": list(found.notes),
            "reactions": {
                name: {
                    "determinate": one.determinate,
                    "generalized": one.generalized,
                    **({} if one.force is None else {"force": one.force, "moment": one.moment}),
                }
                for name, one in reactions.items()
            },
        }
    else:
        facts["rates"] = dict(found.rates)
    out.result(facts)
    out.say(found.without_place() if isinstance(found, Equilibrium) and told else str(found))
    if told:
        out.say("")
        lengths = [np.abs(value).max() for _, value, unit in told if unit == "m"]
        sizes = {"rad": 1.0, "m": max(lengths, default=0.0)} | _loads(reactions, lengths)
        rows = {name: _measured(value, unit, sizes.get(unit, 0.0)) for name, value, unit in told}
        out.table("At rest", rows)
    if reactions:
        rows = {name: _force(one) for name, one in reactions.items()}
        out.table("Reactions on the second body", rows)


def _loads(reactions: Mapping[str, StaticReaction], lengths: Sequence[float]) -> dict[str, float]:
    """Sizes of forces [N] and moments [N m] there: those of springs may be what rounding leaves."""
    forces = [float(np.abs(x).max()) for one in reactions.values() if (x := one.force) is not None]
    moments = [
        float(np.abs(x).max()) for one in reactions.values() if (x := one.moment) is not None
    ]
    force, length = max(forces, default=0.0), max(lengths, default=0.0)
    return {"N": force, "N m": max([*moments, force * length])}


def _measured(value: Any, unit: str, size: float) -> str:
    """A number or a vector with its unit, an angle in degrees too; what rounding leaves is zero.

    Parameters
    ----------
    size : of numbers like it; that of a vector counts, too.
    """
    numbers = np.atleast_1d(value)
    size = max(size, float(np.abs(numbers).max(initial=0.0)))
    cleared = [without_rounding(x, size) for x in numbers]
    parts = [f"{x:.6g}" for x in cleared]
    text = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    degrees = f" ({np.rad2deg(cleared[0]):.4g} deg)" if unit == "rad" and len(parts) == 1 else ""
    return f"{text} {unit}{degrees}".strip()


def _force(one: Any) -> str:
    """A reaction in a line of a table."""
    open_ = "" if one.determinate else ", open: the least-norm share"
    if one.force is None:
        return f"generalized force up to {abs(one.generalized).max(initial=0.0):.6g}{open_}"
    size = max(abs(one.generalized).max(initial=0.0), 1e-300)
    force, moment = (
        ", ".join(f"{without_rounding(x, size):.6g}" for x in v) for v in (one.force, one.moment)
    )
    return f"force ({force}) N, moment ({moment}) N m{open_}"


def linearize(out: Printer, model: Model, bode: Path | None) -> None:
    """Linearize about rest or steady motion, and print modes."""
    lin = model.linearize()
    wanted = model.analysis_tables.get("linearize", {}).get("modes")
    modes = lin.modes(None if wanted is None else int(wanted))
    out.result(
        {
            "model": model.name,
            "states": list(lin.states),
            "inputs": list(lin.inputs),
            "outputs": list(lin.outputs),
            "A": lin.A,
            "B": lin.B,
            "C": lin.C,
            "D": lin.D,
            "eigenvalues": [[s.real, s.imag] for s in lin.eigenvalues.tolist()],
            "modes": [
                {
                    "frequency": mode.frequency,
                    "hertz": mode.hertz,
                    "damping": mode.damping,
                    "shape": {name: [x.real, x.imag] for name, x in mode.shape.items()},
                }
                for mode in modes
            ],
            "zero_eigenvalues": lin.zero,
            "infinite_eigenvalues": lin.infinite,
            "notes": list(lin.notes),
        }
    )
    out.table(
        f"{model.name}: {len(lin.states)} states",
        {f"mode {k + 1}": str(mode) for k, mode in enumerate(modes)},
    )
    if not lin.states:
        out.say("Nothing can move by itself: drivers prescribe all motion, or there is none.")
    for note in lin.notes:
        out.say(note)
    if bode is not None:
        lin.plot_bode(path=bode)
        out.say(f"The Bode plot is in {bode}.")

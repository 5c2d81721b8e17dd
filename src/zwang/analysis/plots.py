"""Figures of analyses: frequency responses, root loci, quantities over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.display import shown_once
from zwang.errors import MissingExtraError, UnknownNameError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.analysis.linearization import Linearization
    from zwang.analysis.root_locus import RootLocus

__all__ = ["bode", "locus", "over_time"]


def bode(
    lin: Linearization,
    frequencies: Any,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    path: Any,
) -> Any:
    """Gain and phase over frequency."""
    columns = _places("input", inputs, lin.inputs)
    rows = _places("output", outputs, lin.outputs)
    size = np.abs(lin.eigenvalues)
    size = size[size > 1e-9 * size.max(initial=0.0)]
    if frequencies is None:
        low, high = (size.min() / 10.0, size.max() * 10.0) if size.size else (0.01, 100.0)
        frequencies = np.geomspace(low, high, 400)
    w = np.asarray(frequencies, dtype=float)
    response = lin.frequency_response(w)
    figure, axes = _pyplot().subplots(2, 1, sharex=True, figsize=(7.0, 5.0))
    for i in rows:
        for j in columns:
            G = response[:, i, j]
            label = f"{lin.outputs[i]} / {lin.inputs[j]}"
            with np.errstate(divide="ignore"):
                axes[0].semilogx(w / (2.0 * np.pi), 20.0 * np.log10(np.abs(G)), label=label)
            axes[1].semilogx(w / (2.0 * np.pi), np.degrees(np.unwrap(np.angle(G))))
    axes[0].set_ylabel("gain [dB]")
    axes[1].set_ylabel("phase [°]")
    axes[1].set_xlabel("frequency [Hz]")
    # Above the picture: curves of a wide range of frequencies fill it, with peaks anywhere.
    axes[0].legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, fontsize="small", frameon=False
    )
    for axis in axes:
        axis.grid(visible=True, which="both", alpha=0.3)
    return _done(figure, path)


def locus(found: RootLocus, path: Any) -> Any:
    """Eigenvalues in the complex plane, the first value by a cross."""
    figure, axis = _pyplot().subplots(figsize=(6.0, 5.0))
    for branch in found.eigenvalues.T:
        (line,) = axis.plot(branch.real, branch.imag, ".-", markersize=3)
        axis.plot(branch[:1].real, branch[:1].imag, "x", color=line.get_color())
    axis.axvline(0.0, color="0.5", linewidth=0.8)
    axis.set_xlabel("real part [1/s]")
    axis.set_ylabel("imaginary part [1/s]")
    axis.set_title(f"{found.parameter}: {found.values[0]:g} (×) to {found.values[-1]:g}")
    axis.grid(visible=True, alpha=0.3)
    return _done(figure, path)


def over_time(t: FloatArray, panels: Mapping[str, Mapping[str, FloatArray]], path: Any) -> Any:
    """Curves over time, in one panel below another.

    Parameters
    ----------
    panels : label of the axis → name → values; empty ones are left out.
    """
    shown = {label: curves for label, curves in panels.items() if curves}
    size = 1.0 + 2.4 * len(shown)
    figure, axes = _pyplot().subplots(
        len(shown), 1, sharex=True, squeeze=False, figsize=(7.0, size)
    )
    for axis, (label, curves) in zip(axes[:, 0], shown.items(), strict=True):
        for name, values in curves.items():
            axis.plot(t, values, label=name)
        axis.set_ylabel(label)
        axis.legend(fontsize="small")
        axis.grid(visible=True, alpha=0.3)
    axes[-1, 0].set_xlabel("t [s]")
    return _done(figure, path)


def _places(what: str, wanted: Sequence[str] | None, known: Sequence[str]) -> list[int]:
    if wanted is None:
        return list(range(len(known)))
    for name in wanted:
        if name not in known:
            raise UnknownNameError(what, str(name), known)
    return [list(known).index(name) for name in wanted]


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("plots", "matplotlib", "plot") from None
    return plt


def _done(figure: Any, path: Any) -> Any:
    figure.tight_layout()
    if path is not None:
        figure.savefig(path_of(path, "path"))
    return shown_once(_pyplot(), figure)

"""Integrators: what the time loops of one program have in common, worked out once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.integrators import memory as sh
from zwang.integrators.settings import Drift, OnSingular, Settings
from zwang.programs.contract import Program
from zwang.terms import FloatArray

__all__ = ["LoopSetup"]

#: Scales count as no smaller, so that corrections can be divided by them.
LEAST_SCALE = 1e-300


@dataclass(frozen=True)
class LoopSetup:
    """What loops of one program have in common whose choices are the same: nothing in it changes.

    Attributes
    ----------
    scales, absolute : as given, and the absolute part of the tolerance, (n,).
    entry_sizes : of each lane the size below which an entry's error is absolute, and 1 where it is
        relative above that, 0 where it is absolute whatever the entry, (2, n, W).
    addresses : of the kernels.
    largest : the kernel whose work array will do for all of them.
    memory, counts : of a loop before it begins, but for the time.
    event_count : event functions.
    sizes : coordinates, position rows, rows of residuals, event functions.
    options : whether to project, to save every step, to look for events, to return where rank is
        lost: the run is to stop there, or rows left out may have to act in place of others.
    """

    scales: FloatArray
    absolute: FloatArray
    entry_sizes: FloatArray
    addresses: np.ndarray
    largest: Kernel
    memory: np.ndarray
    counts: np.ndarray
    event_count: int
    sizes: tuple[int, int, int, int]
    options: tuple[bool, bool, bool, bool]

    @classmethod
    def of(
        cls,
        program: Program,
        settings: Settings,
        scales: FloatArray,
        events: Kernel | None,
        kernels: tuple[str, ...],
        *,
        every_step: bool,
        carried: bool,
    ) -> LoopSetup:
        """That of a program with some choices; the arguments are those of `Loop`."""
        if program.carrier is not None and not carried:
            scales = program.carrier.scales(scales)
        sizes = np.stack([np.abs(scales), np.where(scales < 0.0, 0.0, 1.0)])
        count, W = 0 if events is None else events.outputs[0].size, program.lanes
        memory, counts = np.zeros((sh.REALS, W)), np.zeros((sh.COUNTS, W), dtype=np.int64)
        memory[sh.ERROR] = sh.LEAST_ERROR
        memory[sh.PIVOT] = memory[sh.AHEAD] = np.inf  # not known
        counts[sh.ACTIVE] = counts[sh.FALLING] = 1
        return cls(
            np.array(scales, dtype=float),
            settings.tolerance * np.maximum(np.abs(scales), LEAST_SCALE),
            np.repeat(sizes[:, :, None], W, axis=2),
            program.addresses(events, kernels),
            program.largest(events, kernels),
            memory,
            counts,
            count,
            (int(program.nq), int(program.rows[0]), int(program.rows[1]), count),
            (
                settings.drift is Drift.PROJECTION and program.rows[1] > 0,
                every_step,
                count > 0,
                settings.on_singular is OnSingular.STOP or len(program.left_out) > 0,
            ),
        )

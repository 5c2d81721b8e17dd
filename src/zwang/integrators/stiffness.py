"""Integrators: stiffness, whether another method would take a motion further with less work.

With ``integrator="auto"`` a loop returns LEAVES where that is so, at the end of an accepted step,
and another goes on from there, see `NEXT_METHOD`:

    gauss ──▶ order8 ◀──▶ radau5
      └────────────────────▲

*   Collocation leaves where steps are as long as its sweeps converge, and far more accurate than
    asked for: explicit steps are longer than that.
*   Explicit methods sample the motion. Its fourth divided differences tell how long the steps of
    Radau IIA would be, whose error estimate is h⁴y⁗/218. Where these make up for what they cost,
    and go on to do so, the motion is smooth and steps are short for stability alone: it is stiff.
    Collocation does the same while its sweeps keep steps short, so that a motion that is stiff from
    the start needs no explicit steps to be seen so.
*   Radau IIA returns to explicit steps where these would be stable at a length that costs less: h
    times the spectral radius of the Jacobian, which it has, tells that.

What is compared are numbers of steps and operations, never times, so that a run is the same on
every machine that is loaded or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.integrators.memory import ACCEPTS, HELD, LOOKED, SAMPLED, SMOOTH, T
from zwang.integrators.projection import size_of
from zwang.integrators.records import FloatArray, LoopChoices, LoopMemory, MotionSamples
from zwang.programs.cost import COST as SIZES

if TYPE_CHECKING:
    from zwang.programs.contract import Program

__all__ = [
    "COST",
    "NEXT_METHOD",
    "PATIENCE",
    "SAMPLES",
    "explicit_pays",
    "held_by_sweeps",
    "implicit_pays",
    "implicit_pays_after_sweeps",
    "leaving_numbers",
    "note_sweeps",
]

#: Which method takes over from which; from collocation also "radau5" where that pays.
NEXT_METHOD = {"gauss": "order8", "order8": "radau5", "order5": "radau5", "radau5": "order8"}

# What a loop knows of leaving: how many looks in a row it takes, and what a step of Radau IIA costs
# in explicit steps.
PATIENCE, COST = 0, 1

SAMPLES = 5  # states that fourth differences take
EVERY = 16  # accepted steps from one to the next
LOOKS = 3  # in a row that must find the same, twice as many after each return
GAIN = 2.0  # part of the work that another method must save
LEAST_LEFT = 1000.0  # explicit steps that must be left: fewer cost less than compiling a Jacobian
ESTIMATE = 218.0  # h⁴y⁗ in units of the error estimate of Radau IIA
# Its estimate is limited to this power of the tolerance times a factor, see `radau.step`.
ERROR_POWER, ERROR_FACTOR = 0.9, 0.5

SLOW_SWEEPS = 64  # steps that sweeps have kept short, less others
OTHER_STEPS = 3  # what one of those counts
LEAST_LEFT_OF_SWEEPS = 200.0
EVERY_OF_SWEEPS = 8  # accepted steps from one sample to the next
LEAST_SLOW = 32  # of slow sweeps, for samples to tell what to do about them
OF_SWEEPS = 5.0  # explicit steps are so much longer where both are short for the same stiffness

# A step of Radau IIA in operations: evaluations in it, Jacobians, what a column of those is of an
# evaluation, in one expression and alone, factors (of n³), those and solutions (of n²) and the
# rest. Then an explicit step: what a stage takes besides its evaluation (of n), and the rest.
OF_NEWTON, OF_JACOBIAN, OF_COLUMN, OF_COLUMN_ALONE = 7.5, 0.6, 0.25, 3.0
OF_FACTORS, OF_SOLUTIONS, OF_STEP = 0.2, 40.0, 5000.0
OF_STAGE, OF_EXPLICIT = 8.0, 1000.0

STABLE = 3.0  # h times the spectral radius that explicit steps surely bear
AS_ACCURATE = (
    2.0  # explicit steps are so much longer than those of Radau IIA, for accuracy, or more
)
POWERS, FIRST_POWERS = 12, 4  # products with the Jacobian, and those that are not looked at


def leaving_numbers(program: Program, stages: int, returns: int) -> FloatArray:
    """PATIENCE and COST of a loop, after so many returns.

    Parameters
    ----------
    stages : evaluations in a step of the explicit method that is compared.
    """
    n, operations = program.nq + program.nv, program.kernel("derivative").operations
    return np.array([LOOKS * 2.0 ** min(returns, 20), cost_of_implicit_step(n, operations, stages)])


def cost_of_implicit_step(n: int, operations: int | None, stages: int) -> float:
    """What a step of Radau IIA costs in explicit steps, both counted in operations.

    Measured, steps of radau5 in steps of order8, and what this gives: a rod on a ball joint, n = 7
    entries of the state, 58 operations an evaluation: 3.3 and 3.2; three rods (21, 715) 3.1 to 3.4
    and 2.8; a vehicle on bushings (47, 4360) 2.1 to 3.5 and 3.1; ten rods (70, 3480), whose
    Jacobian is made column by column, 24 and 15. Where operations are not known (None), evaluations
    are taken to be cheap: twenty rods (140) 40 to 52 and 51.
    """
    if operations is None:
        return 2.0 + n * n / 400.0
    column = OF_COLUMN if n <= SIZES.jacobian_freedoms else OF_COLUMN_ALONE
    slopes = OF_JACOBIAN * operations * (1.0 + n * column)
    algebra = OF_FACTORS * n**3 + OF_SOLUTIONS * n**2 + OF_STEP
    implicit = OF_NEWTON * operations + slopes + algebra
    return implicit / (stages * (operations + OF_STAGE * n) + OF_EXPLICIT)


@loop
def implicit_step(samples: MotionSamples, choices: LoopChoices, lane):
    """How long the steps of Radau IIA would be along the sampled motion, for its accuracy."""
    times, states, weights = samples.times, samples.states, np.empty(SAMPLES)
    n = states.shape[1]
    for k in range(SAMPLES):
        product = 1.0
        for j in range(SAMPLES):
            if j != k:
                product *= times[k, lane] - times[j, lane]
        weights[k] = 1.0 / product
    total = 0.0
    for i in range(n):
        difference, larger = 0.0, 0.0
        for k in range(SAMPLES):
            difference += weights[k] * states[k, i, lane]
            larger = max(larger, abs(states[k, i, lane]))
        total += (difference / size_of(choices.entry_sizes, i, larger, lane)) ** 2
    fourth = 24.0 * np.sqrt(total / n)
    allowed = ESTIMATE * ERROR_FACTOR * choices.tolerance**ERROR_POWER
    longest = choices.largest
    if fourth > 0.0:
        longest = min(longest, (allowed / fourth) ** 0.25)
    return longest


@inlined
def take_sample(count, samples: MotionSamples, point, end, lane):
    """Sample the end of a step; the time since the first sample there is, 0 if there are few."""
    place, span = count[SAMPLED, lane] % SAMPLES, 0.0
    samples.times[place, lane] = end
    for i in range(point.shape[0]):
        samples.states[place, i, lane] = point[i, lane]
    count[SAMPLED, lane] += 1
    if count[SAMPLED, lane] >= SAMPLES:
        for k in range(SAMPLES):
            span = max(span, end - samples.times[k, lane])
    return span


@inlined
def look_at_samples(
    memory: LoopMemory, choices: LoopChoices, samples: MotionSamples, mean, end, held, lane
):
    """Whether samples have long told that Radau IIA saves work beside steps of a mean length.

    That of explicit steps; `held` tells whether these are short for stability.
    """
    count, numbers = memory.counts, samples.numbers
    pays = held and implicit_step(samples, choices, lane) > GAIN * numbers[COST] * mean
    count[SMOOTH, lane] = count[SMOOTH, lane] + 1 if pays else 0
    return count[SMOOTH, lane] >= numbers[PATIENCE] and choices.until - end > LEAST_LEFT * mean


@inlined
def implicit_pays(
    memory: LoopMemory, choices: LoopChoices, samples: MotionSamples, point, end, lane
):
    """Sample the end of an accepted explicit step; whether Radau IIA is to take over there."""
    leaves = False
    if memory.counts[ACCEPTS, lane] % EVERY == 0:
        span = take_sample(memory.counts, samples, point, end, lane)
        if span > 0.0:
            mean = span / ((SAMPLES - 1) * EVERY)
            leaves = look_at_samples(memory, choices, samples, mean, end, True, lane)  # noqa: FBT003 - loops take positions
    return leaves


@inlined
def implicit_pays_after_sweeps(memory: LoopMemory, choices: LoopChoices, samples: MotionSamples):
    """Sample the present state of collocation; whether Radau IIA is to take over from there on."""
    leaves, count, end = False, memory.counts, memory.real[T, 0]
    if count[ACCEPTS, 0] % EVERY_OF_SWEEPS == 0:
        span = take_sample(count, samples, memory.y, end, 0)
        if span > 0.0:
            explicit = OF_SWEEPS * span / ((SAMPLES - 1) * EVERY_OF_SWEEPS)
            held = count[HELD, 0] >= LEAST_SLOW
            leaves = look_at_samples(memory, choices, samples, explicit, end, held, 0)
    return leaves


@inlined
def note_sweeps(count, held):
    """Count a step that the convergence of sweeps has kept short, or another one."""
    count[HELD, 0] = count[HELD, 0] + 1 if held else max(0, count[HELD, 0] - OTHER_STEPS)


@inlined
def held_by_sweeps(memory: LoopMemory, choices: LoopChoices, h):
    """Whether explicit steps are to take over from collocation after an accepted step.

    Not while samples tell that Radau IIA is to.
    """
    left = choices.until - memory.real[T, 0] > LEAST_LEFT_OF_SWEEPS * h
    return memory.counts[HELD, 0] >= SLOW_SWEEPS and memory.counts[SMOOTH, 0] == 0 and left


@loop
def spectral_radius(J, a, b):
    """Roughly that of a matrix whose columns are given one after the other; a, b to work with."""
    n, logarithm = a.shape[0], 0.0
    for i in range(n):
        a[i, 0] = 1.0 + 0.3 * (i % 7)
    for k in range(POWERS):
        squares = 0.0
        for i in range(n):
            b[i, 0] = 0.0
        for j in range(n):
            for i in range(n):
                b[i, 0] += J[j * n + i, 0] * a[j, 0]
        for i in range(n):
            squares += b[i, 0] ** 2
        size = np.sqrt(squares)
        if not size > 0.0:
            return 0.0
        for i in range(n):
            a[i, 0] = b[i, 0] / size
        if k >= FIRST_POWERS:
            logarithm += np.log(size)
    return np.exp(logarithm / (POWERS - FIRST_POWERS))


@inlined
def explicit_pays(memory: LoopMemory, choices: LoopChoices, numbers, J, end, room):
    """Whether explicit steps are to take over from Radau IIA at the end of an accepted step."""
    real, count, leaves = memory.real, memory.counts, False
    if choices.may_leave and end < choices.until and count[ACCEPTS, 0] % EVERY == 0:
        mean = (end - real[LOOKED, 0]) / EVERY
        real[LOOKED, 0] = end
        radius = spectral_radius(J, room[0], room[1])
        stable = AS_ACCURATE * mean
        if radius > 0.0:
            stable = min(stable, STABLE / radius)
        pays = stable * numbers[COST] > GAIN * mean
        count[HELD, 0] = count[HELD, 0] + 1 if pays else 0
        leaves = count[HELD, 0] >= numbers[PATIENCE]
    return leaves

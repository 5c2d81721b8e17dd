"""The runs of one task of a study: rows of values → motions → what the plan keeps of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from zwang.errors import InputError, UnknownNameError, ZwangError
from zwang.results.channel_catalog import unit_of_state
from zwang.results.channels import PARTS, Channel, channels_of
from zwang.results.determined import determined
from zwang.results.event_rows import changed, with_stop
from zwang.results.output_values import channels_used
from zwang.results.run import Counts, Run
from zwang.results.segments import Segment
from zwang.results.status import stuck_at_start
from zwang.results.unbounded import unbounded_at
from zwang.simulation.ensemble import simulate_many
from zwang.simulation.ensemble_arrays import EnsembleArrays
from zwang.simulation.ensemble_runs import Runs
from zwang.simulation.options import choices_of
from zwang.studies.expressions import calls_in, dotted, evaluated, function_name, names_in
from zwang.studies.finer import (
    SAMPLES_PER_STEP,
    finer_value,
    pieces_of,
    unresolved,
    unresolved_pieces,
)
from zwang.studies.initial_states import initial_states
from zwang.studies.output_units import output_factor, own_unit
from zwang.studies.outputs import OutputRequest
from zwang.studies.plan import RESOLUTION, StudyPlan, located
from zwang.studies.reductions import (
    REDUCTIONS,
    OutputReduction,
    Pieces,
    at_least,
    last_valid,
)
from zwang.studies.subject import Subject, unit_in_plan
from zwang.terms import FloatArray

__all__ = [
    "BY_EVENT",
    "FAILED",
    "FINISHED",
    "MISSING",
    "REFUSED",
    "STATUS",
    "RunOutputs",
    "TaskResult",
]

#: How a run of a study ended, as it is stored.
FINISHED, FAILED, REFUSED, MISSING = 0, 1, 2, 255
#: Reductions that have no value where their channel is unbounded.
OF_ALL_VALUES = ("peak", "max", "min", "range", "mean", "rms", "integral")
#: In the status of a run that an event stopped, which is finished.
BY_EVENT = "by event"
STATUS = {FINISHED: "finished", FAILED: "failed", REFUSED: "refused", MISSING: "missing"}


@dataclass
class TaskResult:
    """What a task computed.

    Attributes
    ----------
    values : output → values (N,) or (N, nt).
    status, reason : how each run ended; a sentence where it did not reach its end, or an event
        stopped it.
    work : steps, rejected steps and evaluations (N, 3).
    """

    values: dict[str, FloatArray]
    status: np.ndarray
    reason: list[str]
    work: np.ndarray


@dataclass(frozen=True)
class Variable:
    """A variable of the dataset.

    Attributes
    ----------
    dimensions : besides that of runs: name → size.
    determinate : whether the motion determines it; else it is one admissible value among many.
    """

    name: str
    unit: str
    description: str
    dimensions: Mapping[str, int] = field(default_factory=dict)
    determinate: bool = True


def blank_run(system: Any) -> Run:
    """A run without states, for the names and units of its channels."""
    settings, times, scales = choices_of(system, until=1.0, start=0.0)
    del times
    nothing = np.zeros(0)
    q, v = np.zeros((0, len(system.coordinates))), np.zeros((0, len(system.velocities)))
    segment = Segment(0, 0, system, system.parameter_values())

    def between(run: Run, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        raise AssertionError(run, t)  # there is nothing between no states

    return Run(
        system,
        nothing,
        q,
        v,
        status="",
        finished=True,
        settings=settings,
        segments=(segment,),
        counts=Counts(),
        between=between,
        scales=scales,
    )


def _channels_in(request: OutputRequest) -> list[str]:
    """Channels that an output is made of."""
    name = dotted(request.tree)
    if name is not None:
        return [name]
    found = [
        dotted(call.args[0])
        for call in calls_in(request.tree)
        if call.args and REDUCTIONS[function_name(call)].of != "event"
    ]
    return [name for name in found if name is not None]


class RunOutputs:
    """What is kept of runs: variables, the times that they need, and their values.

    Parameters
    ----------
    subject, plan : of the study.
    """

    def __init__(self, subject: Subject, plan: StudyPlan) -> None:
        self.subject, self.plan, self.system = subject, plan, subject.system
        until = subject.until(plan)
        assert until is not None
        self.begin, self.until = subject.start_time, float(until)
        self.times = self._common_times()
        self.known = channels_of(blank_run(self.system))
        self.requests = self._expanded()
        for place, request in enumerate(plan.outputs):
            self._require(request, place)
        self.series = any(
            REDUCTIONS[name].of in ("series", "energy", "start") for name in self._reductions()
        )
        self.save = self._save_times()
        #: Which of these are the samples that numbers are made of.
        self.sampled = np.isin(self.save, self._even_times())

    #: Name and unit of the dimension along a motion.
    time_name, time_unit = "time", "s"

    @property
    def bytes_per_run(self) -> int:
        """Memory that the saved states of one run take, about."""
        size = len(self.system.coordinates) + len(self.system.velocities)
        return 8 * len(self.save) * (size + len(self.requests))

    # --- what there is ----------------------------------------------------------------------------

    def _common_times(self) -> FloatArray | None:
        plan = self.plan
        if plan.times is None:
            return None
        if isinstance(plan.times, int):
            return np.linspace(self.begin, self.until, plan.times)
        times = np.array(plan.times)
        if times[0] < self.begin or times[-1] > self.until:
            raise plan.root["times"].error(
                but=f"they reach from {times[0]:g} to {times[-1]:g} s",
                expected=f"times from {self.begin:g} to {self.until:g} s",
            )
        return times

    def _expanded(self) -> list[OutputRequest]:
        """All outputs, vectors by component; the coordinates and velocities if none are given."""
        if not self.plan.outputs:
            names = (*self.system.coordinates, *self.system.velocities)
            over_time = self.times is not None
            return [
                OutputRequest(n, n, ast.Constant(n), n if over_time else None, None) for n in names
            ]
        result: list[OutputRequest] = []
        for request in self.plan.outputs:
            name = dotted(request.tree)
            if name in self.known and self.known[name].vector:
                for part in "xyz":
                    own = f"{name}.{part}"
                    channel = None if request.channel is None else own
                    named, tree = f"{request.name}.{part}", ast.Constant(own)
                    result.append(
                        replace(request, name=named, text=own, tree=tree, channel=channel)
                    )
            else:
                result.append(request)
        return result

    def _reductions(self) -> Iterator[str]:
        for request in self.requests:
            for call in calls_in(request.tree):
                yield function_name(call)

    def channel(self, name: str) -> tuple[Channel, str]:
        """A channel and the part of it that a name gives."""
        if name in self.known:
            return self.known[name], ""
        owner, _, part = name.rpartition(".")
        if part in PARTS and owner in self.known and self.known[owner].vector:
            return self.known[owner], part
        raise UnknownNameError("channel", name, self.known)

    def _require(self, request: OutputRequest, place: int) -> None:
        """Refuse names that there are not, with their place in the plan."""
        try:
            self._check(request)
        except InputError as error:
            item = self.plan.root["outputs"][place]
            raise item.blamed(error) from None

    def _check(self, request: OutputRequest) -> None:
        for call in calls_in(request.tree):
            reduction = REDUCTIONS[function_name(call)]
            if not call.args:
                continue
            name = dotted(call.args[0])
            assert name is not None
            if reduction.of == "event":
                events = self.subject.events
                if name not in events:
                    raise UnknownNameError("event", name, events)
                continue
            channel, part = self.channel(name)
            if channel.vector and not part:
                raise InputError(
                    f"channel {name!r}",
                    must="be one of its components",
                    but="is a vector",
                    advice=f"Write {name}.x or {name}.magnitude.",
                )
        if request.channel is not None or dotted(request.tree) is not None:
            name = dotted(request.tree)
            assert name is not None
            self.channel(name)
        else:
            numbers = [n for n, x in self.system.parameters.items() if np.ndim(x) == 0]
            for name in names_in(request.tree):
                if name not in numbers and name not in self.plan.names:
                    known = [*self.plan.names, *numbers, "end(…)", "peak(…)"]
                    raise UnknownNameError("name", name, known)
        output_factor(request, self._unit_of)

    def variables(self) -> list[Variable]:
        """All variables of the dataset."""
        result = []
        for request in self.requests:
            unit, about = self._unit(request), request.text
            if request.channel is None and dotted(request.tree) is not None:
                about = f"{request.text} at the end"
            size = {"time": len(self.times)} if request.over_time and self.times is not None else {}
            known = request.name not in self.indeterminate
            result.append(Variable(request.name, request.unit or unit, about, size, known))
        return result

    @cached_property
    def indeterminate(self) -> frozenset[str]:
        """Outputs that use forces which the motion leaves open, at the start of the first run."""
        used = {request.name: self._open_channels(request) for request in self.requests}
        if self.system.equations.rows_independent or not any(used.values()):
            return frozenset()
        rows = self.plan.rows(0, 1)
        refusals: dict[int, str] = {}
        try:
            subject = self.subject.of_row(rows)
            parameters, refusals = subject.parameters(self.plan, rows, 1)
            q, v = initial_states(subject, self.plan, rows, parameters, refusals)
        except ZwangError:  # the run says why
            return frozenset()
        if refusals:
            return frozenset()
        values = subject.system.parameter_values({n: x[0] for n, x in parameters.items()})
        segment = Segment(0, 1, subject.system, values)
        t = np.array([self.begin])
        start = changed(blank_run(subject.system), t=t, q=q[:1], v=v[:1], segments=(segment,))
        is_open = self._friction_is_open(start)
        return frozenset(
            output
            for output, names in used.items()
            if names and (is_open or not all(determined(start, name) for name in names))
        )

    def _friction_is_open(self, start: Run) -> bool:
        """Whether friction uses a reaction that is left open, and with it the force of a driver.

        At rest, as at a start, friction is zero whatever the reaction.
        """
        parts = self.system.mechanism
        laws = () if parts is None else [x for x in parts.frictions if x.of_reaction]
        if parts is None or not laws:
            return False
        known = start.channels.statuses()
        names = (parts.owner(parts.constraints[law.constraint].name) for law in laws)
        return not all(known.get(name, True) for name in names)

    def _open_channels(self, request: OutputRequest) -> list[str]:
        """Channels of an output that a motion may leave open."""
        found = [(name, self.channel(name)[0]) for name in _channels_in(request)]
        return [name for name, channel in found if channel.joint or channel.output]

    def _unit_of(self, name: str) -> str:
        """The unit of a channel, a parameter or what varies; empty where it is not known."""
        if name in self.system.parameters or name in self.plan.names:
            return unit_in_plan(self.subject, self.plan, name)
        return self.channel(name)[0].unit

    def _unit(self, request: OutputRequest) -> str:
        """The unit of an output for which none is asked, where it follows from its names."""
        return own_unit(request, lambda name: self.channel(name)[0].unit, self._unit_of)

    @cached_property
    def factors(self) -> dict[str, float]:
        """By what values are multiplied for their unit, for each output."""
        return {r.name: output_factor(r, self._unit_of) for r in self.requests}

    # --- times ------------------------------------------------------------------------------------

    def _save_times(self) -> FloatArray:
        grids = [np.array([self.until])]
        if self.times is not None:
            grids.append(self.times)
        if self.series or self._turning():
            grids.append(self._even_times())
        return np.unique(np.concatenate(grids))

    def _even_times(self) -> FloatArray:
        """Times of the samples that peaks and means are made of: those of the plan, if finer.

        Even ones alone: between a sample that is near and one that is far a parabola tells little.
        """
        count = self.plan.resolution or RESOLUTION
        if self.plan.resolution is None and isinstance(self.plan.times, int):
            count = max(count, self.plan.times)
        return np.linspace(self.begin, self.until, count)

    def _turning(self) -> bool:
        """Whether an output uses the angle of a joint, whose turns are counted along the motion."""
        names = {name for request in self.requests for name in _channels_in(request)}
        run = blank_run(self.system)
        for name in tuple(names & set(self.system.outputs)):
            try:
                names |= channels_used(run, self.system.outputs[name])
            except ZwangError:  # it has no values: the sentence is told where they are computed
                continue
        angles = [n for n in self.system.channels if unit_of_state(n) == "rad"]
        return not names.isdisjoint(angles)

    # --- values -----------------------------------------------------------------------------------

    def simulate(self, rows: Mapping[str, np.ndarray]) -> TaskResult:
        """Run all rows, each with its values, and keep what is asked for."""
        count = len(next(iter(rows.values())))
        parameters, refusals = self.subject.parameters(self.plan, rows, count)
        q, v = initial_states(self.subject, self.plan, rows, parameters, refusals)
        result = TaskResult(
            {x.name: np.full((count, *x.dimensions.values()), np.nan) for x in self.variables()},
            np.full(count, REFUSED, dtype=np.uint8),
            [""] * count,
            np.zeros((count, 3), dtype=np.int64),
        )
        for i, reason in refusals.items():
            result.reason[i] = reason
        accepted = np.ones(count, dtype=bool)
        accepted[list(refusals)] = False
        good = np.flatnonzero(accepted)
        for settings, here in self._by_settings(rows, good):
            self._ensemble(rows, parameters, (q, v), settings, here, result)
        return result

    def _by_settings(
        self, rows: Mapping[str, np.ndarray], good: np.ndarray
    ) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
        """Settings, and the rows that have them."""
        varied = [name for name in rows if self.subject.kind(name) == "setting"]
        groups: dict[tuple[Any, ...], list[int]] = {}
        if not varied:
            if len(good):
                yield self.subject.settings(self.plan), good
            return
        for i in good.tolist():
            groups.setdefault(tuple(rows[name][i].item() for name in varied), []).append(i)
        names = [name.partition(".")[2] for name in varied]
        for key, members in groups.items():
            chosen = dict(zip(names, key, strict=True))
            yield {**self.subject.settings(self.plan), **chosen}, np.array(members)

    def _ensemble(
        self,
        rows: Mapping[str, np.ndarray],
        parameters: Mapping[str, FloatArray],
        states: tuple[FloatArray, FloatArray],
        settings: dict[str, Any],
        here: np.ndarray,
        result: TaskResult,
    ) -> None:
        """Run the rows with the same settings, and put what is kept in its place."""
        # All rows are taken as they are: copies would cost what a short run costs.
        own = slice(None) if len(here) == len(result.status) else here

        def simulated(of: slice | np.ndarray, save: FloatArray | None) -> Runs:
            return simulate_many(
                self.system,
                states[0][of],
                states[1][of],
                until=self.until,
                start=self.begin,
                save=save,
                parameters={name: x[of] for name, x in parameters.items()},
                events=self.subject.events or None,
                threads=1,
                progress=False,
                **settings,
            )

        try:
            runs = simulated(own, self.save)
        except ZwangError as error:
            for i in here.tolist():
                result.reason[i] = str(error)
            return
        arrays = runs.arrays(len(self.save))
        finished = arrays.finished
        result.status[own] = np.where(finished, FINISHED, FAILED)
        result.work[own] = arrays.work[:, :3]
        for k in np.flatnonzero(~finished).tolist():
            (result.reason[here[k]],) = runs[k : k + 1].status
            if not result.work[here[k]].any():
                result.status[here[k]] = REFUSED
        for k in np.flatnonzero(finished).tolist() if self.subject.events else ():
            (status,) = runs[k : k + 1].status
            if BY_EVENT in status:
                result.reason[here[k]] = status
        of_runs = {name: x for name, x in parameters.items() if x.ndim == 1}
        values = _EnsembleValues(
            self,
            runs,
            arrays,
            {name: x[own] for name, x in {**of_runs, **rows}.items()},
            lambda of: simulated(here[of], None),
        )
        for request in self.requests:
            result.values[request.name][own] = values.of(request) * self.factors[request.name]
        for k, reason in values.refusals.items():
            if result.status[here[k]] == FINISHED:
                result.status[here[k]], result.reason[here[k]] = FAILED, reason


class _EnsembleValues:
    """Outputs of an ensemble; channels are computed once.

    Parameters
    ----------
    known : what varies and the parameters that are not defaults, one value for each run.
    every_step : numbers of runs → the same runs, saved at every step of their integrator.

    Attributes
    ----------
    refusals : run → why a channel of it has no values, though its motion is there.
    """

    def __init__(
        self,
        outputs: RunOutputs,
        runs: Runs,
        arrays: EnsembleArrays,
        known: Mapping[str, np.ndarray],
        every_step: Callable[[np.ndarray], Runs],
    ) -> None:
        self.outputs, self.runs, self.known = outputs, runs, known
        self.states, self.steps, self.every_step = arrays.states, arrays.work[:, 0], every_step
        self.save, self.sampled = outputs.save, outputs.sampled
        #: Runs that did not get away from a dead center, with no more than their start saved.
        self.stuck = ~arrays.finished & (np.isfinite(arrays.states[:, :, 0]).sum(1) < 2)
        for i in np.flatnonzero(self.stuck).tolist():
            self.stuck[i] = stuck_at_start(runs[i].status)
        #: Runs that an event stopped between two saved times, with the state in which it did.
        self.stopped = {
            i: with_stop(runs[i])
            for i in np.flatnonzero(arrays.finished & np.isnan(arrays.states[:, -1, 0])).tolist()
        }
        self._channels: dict[str, FloatArray] = {}
        self._pieces: dict[str, dict[int, Pieces]] = {}
        self._stepped: dict[int, Run] = {}
        self._poles: dict[str, dict[int, float]] = {}
        self.refusals: dict[int, str] = {}

    def of(self, request: OutputRequest) -> FloatArray:
        """Values (N,) or (N, nt)."""
        times = self.outputs.times
        if request.channel is not None and times is not None:
            return self.channel(request.channel)[:, np.searchsorted(self.save, times)]
        name = dotted(request.tree)
        if name is not None:
            return self._ends(name)
        parameters = {n: x for n, x in self.outputs.system.parameters.items() if np.ndim(x) == 0}
        found = evaluated(request.tree, {**parameters, **self.known}, self._call)
        return np.broadcast_to(np.asarray(found, dtype=float), (len(self.runs),))

    def _call(self, node: ast.Call) -> FloatArray:
        """A reduction."""
        kind = function_name(node)
        reduction = REDUCTIONS[kind]
        if reduction.of == "event":
            return self._event(kind, dotted(node.args[0]) or "")
        name = "energy" if reduction.of == "energy" else dotted(node.args[0]) or ""
        further = [float(evaluated(part, {})) for part in node.args[1:]]
        if reduction.of == "end":
            return self._ends(name)
        x = self.channel(name)
        if reduction.of == "start":
            return reduction.function(x, self.save)
        found = reduction.function(x[:, self.sampled], self.save[self.sampled], *further)
        found = np.array(found, dtype=float)
        if self.outputs.plan.resolution is None:
            for i, run, y in self._to_the_stop(name):
                even = self._samples_of(run)
                found[i] = reduction.function(y[None, even], run.t[even], *further)[0]
        for i, pieces in self._in_pieces(name).items():
            found[i] = reduction.of_pieces(pieces, further)
        if self.outputs.plan.resolution is None and reduction.of == "series":
            found = self._finer(found, name, reduction, further)
        found = at_least(kind, found, x)
        for i, _, y in self._to_the_stop(name):
            found[i] = at_least(kind, found[i : i + 1], y[None])[0]
        if kind not in OF_ALL_VALUES:
            return found
        return self._bounded(np.where(self.stuck, np.nan, found), name)

    def _in_pieces(self, name: str) -> dict[int, Pieces]:
        """Runs with instants at which a channel may jump → its values and times between them."""
        if name not in self._pieces:
            kept = self._pieces[name] = {}
            for i in self._parted:
                run = self.runs[i]
                if self.outputs.plan.resolution is None:
                    run = self.stopped.get(i, run)
                try:
                    times = self.save[self.sampled]
                    kept[i] = pieces_of(run, name, times, smooth=self._is_state(name))
                except ZwangError as error:
                    self.refusals.setdefault(i, f"output {name} cannot be computed: {error}")
        return self._pieces[name]

    @cached_property
    def _parted(self) -> list[int]:
        """Runs with more than one segment."""
        return [i for i in self.runs.parted if len(self.runs[i].t)]

    def _bounded(self, found: FloatArray, name: str) -> FloatArray:
        """The same without numbers of runs in which a channel is unbounded."""
        for i, t in self._unbounded(name).items():
            found[i] = np.nan
            self.refusals.setdefault(
                i,
                f"output {name} is unbounded at t = {t:.4g} s: the mechanism passes a singular "
                "position there",
            )
        return found

    def _unbounded(self, name: str) -> dict[int, float]:
        """Run → when a channel of it is unbounded."""
        if self.outputs.system.mechanism is None or self._is_state(name):
            return {}
        if name not in self._poles:
            told = {i: unbounded_at(run, name) for i, run in enumerate(self.runs) if len(run.t)}
            self._poles[name] = {i: t for i, t in told.items() if t is not None}
        return self._poles[name]

    def _ends(self, name: str) -> FloatArray:
        """A channel in the state in which each run ended."""
        ends = np.array(last_valid(self.channel(name)))
        for i, _, x in self._to_the_stop(name):
            ends[i] = x[-1]
        return ends

    def _to_the_stop(self, name: str) -> Iterator[tuple[int, Run, FloatArray]]:
        """Runs that an event stopped, with a channel up to the state in which it did."""
        for i, run in self.stopped.items():
            try:
                yield i, run, run[name]
            except ZwangError as error:
                self.refusals.setdefault(i, f"output {name} cannot be computed: {error}")

    def _samples_of(self, run: Run) -> np.ndarray:
        """Which states of a run that an event stopped are samples: the even ones, and the last."""
        even = np.isin(run.t, self.save[self.sampled])
        even[-1] = True
        return even

    def _finer(
        self, found: FloatArray, name: str, reduction: OutputReduction, further: list[float]
    ) -> FloatArray:
        """The same, of motions that are too quick for the samples from their own steps."""
        t = self.save[self.sampled]
        coarse = unresolved(reduction, self.channel(name)[:, self.sampled], t, further)
        for i, run, x in self._to_the_stop(name):
            even = self._samples_of(run)
            coarse[i] = unresolved(reduction, x[None, even], run.t[even], further)[0]
        for i, pieces in self._in_pieces(name).items():
            coarse[i] = unresolved_pieces(reduction, pieces, further)
        if not self._is_state(name):  # forces have peaks that leave no trace between samples
            coarse |= self.steps * SAMPLES_PER_STEP > len(t)
        here = np.flatnonzero(coarse & np.isfinite(self.states[:, 0, 0]) & ~self.stuck)
        result, even = np.array(found), float(np.diff(t).max())
        for i, run in self._with_steps(here):
            try:
                smooth = self._is_state(name)
                result[i] = finer_value(run, name, reduction, even, further, smooth=smooth)
            except ZwangError:  # what the samples give stands
                continue
        return result

    def _with_steps(self, here: np.ndarray) -> Iterator[tuple[int, Run]]:
        """Runs saved at every step, which are simulated once more."""
        missing = np.array([i for i in here.tolist() if i not in self._stepped], dtype=int)
        if len(missing):
            self._stepped |= dict(zip(missing.tolist(), self.every_step(missing), strict=True))
        return ((i, self._stepped[i]) for i in here.tolist() if len(self._stepped[i]))

    def _is_state(self, name: str) -> bool:
        system = self.outputs.system
        return name in system.coordinates or name in system.velocities

    def _event(self, kind: str, name: str) -> FloatArray:
        times = [[e.t for e in run.events if e.name == name] for run in self.runs]
        if kind == "event_count":
            return np.array([float(len(t)) for t in times])
        return np.array([t[0] if t else np.nan for t in times])

    def channel(self, name: str) -> FloatArray:
        """Values (N, nt) at the saved times, NaN after the end of a run."""
        if name not in self._channels:
            self._channels[name] = self._computed(name)
        return self._channels[name]

    def _computed(self, name: str) -> FloatArray:
        if self._is_state(name):
            names = (*self.outputs.system.coordinates, *self.outputs.system.velocities)
            return self.states[:, :, names.index(name)]
        result = np.full((len(self.runs), len(self.save)), np.nan)
        for i, run in enumerate(self.runs):
            if not len(run.t):
                continue
            try:
                result[i, : len(run.t)] = run[name][: len(self.save)]
            except ZwangError as error:
                self.refusals.setdefault(i, f"output {name} cannot be computed: {error}")
        return result


def check_settings(subject: Subject, plan: StudyPlan) -> None:
    """Refuse settings that no run can have."""
    until = subject.until(plan)
    if until is None:
        return
    try:
        choices_of(
            subject.system,
            until=until,
            start=subject.start_time,
            **subject.settings(plan),
        )
    except InputError as error:
        raise located(plan, error, "settings") from None

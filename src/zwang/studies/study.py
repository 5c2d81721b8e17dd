"""A study: a plan, a model and the dataset that comes of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.arguments.values import path_of
from zwang.errors import (
    InputError,
    MissingExtraError,
    StoreError,
    UnknownNameError,
    ZwangError,
    shown,
)
from zwang.results.determined import ONE_OF_MANY
from zwang.results.lock import WriteLock
from zwang.simulation.ensemble import simulate_many
from zwang.simulation.progress import EnsembleProgress, Report, reporting
from zwang.studies.compute import FINISHED, MISSING, STATUS, check_settings
from zwang.studies.dataset import (
    FORMAT,
    RECORD,
    UNFINISHED,
    ArrayLayout,
    StoredArray,
    StudyStore,
    create_store,
    open_store,
    to_json,
)
from zwang.studies.engines import TaskCall, run_tasks
from zwang.studies.initial_states import initial_states
from zwang.studies.plan import StudyPlan, plan_of
from zwang.studies.subject import Subject, subject_of, unit_in_plan
from zwang.studies.task import (
    NEEDS_MODEL,
    StudyTasks,
    decisive_versions,
    outputs_of,
    own_versions,
    stored_plan,
    subject_in,
)
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.studies.sensitivity import MorrisEffects, SobolIndices
    from zwang.tracing.event import Watched

__all__ = ["Study", "StudyProgress", "open_study", "study"]

#: Advice where another model was given than that of a study.
OF_MODEL = (
    "Give the model that the study was made of, with its events if it has some: "
    "zw.open_study(path, model, events={…})."
)

#: Runs in one task, unless the plan says: a sixteenth of all, from 64 to 16,384, and no more than
#: fit into so many bytes.
PARTS, LEAST, MOST, MEMORY = 16, 64, 16_384, 2**27


@dataclass(frozen=True)
class StudyProgress(EnsembleProgress):
    """How far a study has got.

    Attributes
    ----------
    done, count : runs that are computed, and all of them.
    seconds : since `run` was called.
    failed : runs that did not reach their end.
    begun_with : runs that were there before.
    """

    failed: int = 0
    begun_with: int = 0

    @property
    def rate(self) -> float:
        """Runs a second."""
        return (self.done - self.begun_with) / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def seconds_left(self) -> float:
        """An estimate that supposes all runs to be the same work."""
        return (self.count - self.done) / self.rate if self.rate else float("inf")

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        left = f", about {clock(self.seconds_left)} left" if self.rate else ""
        return f"{self.done} of {self.count} runs{failed}, {self.rate:.3g} runs/s{left}"


def clock(seconds: float) -> str:
    """A time in words."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


@known_keywords(
    refused={
        "controllers": "Controllers are called in single simulations: call simulate(controllers=…) "
        "for each row, or make the law part of the model, as by m.actuator."
    }
)
def study(
    model: Any,
    plan: Any,
    output: str | PathLike[str] | None = None,
    scheduler: Any = None,
    events: Mapping[str, Watched] | None = None,
) -> Study:
    """A study of a model: many runs by one plan, kept in one dataset.

    Parameters
    ----------
    model : a `System`, a `Mechanism`, a `Model` or the path of a model file; None for the model
        that the plan names.
    plan : a dictionary or the path of ``PLAN.toml``, see the guide on studies.
    output : folder of the dataset, ``out.zarr``; a new one, or one of the same plan.
    scheduler : None for the threads of this machine, ``"processes"``, the address of a Dask
        scheduler, or a Dask client.
    events : of a `System` or a `Mechanism`, what is watched in all runs, as of
        `zwang.System.simulate`; a model file has its own.

    Raises
    ------
    ModelError
        The plan has an entry that cannot be meant; the message has file, line and key.

    Examples
    --------
    >>> import zwang as zw
    >>> from zwang.model_files.examples import example_path
    >>> plan = {"grid": {"rod.mass": [1.0, 2.0]}, "until": 0.1, "outputs": ["pin.angle"]}
    >>> study = zw.study(example_path("pendulum"), plan)
    >>> study.plan.count
    2
    """
    chosen = plan_of(plan)
    if model is None:
        if chosen.model is None:
            raise InputError(
                "model", expected="given", but="neither the call nor the plan names one"
            )
        model = chosen.model
    subject = subject_of(model, events)
    chosen = chosen.with_parameters({**subject.fixed_parameters(chosen), **chosen.formulas})
    subject.check(chosen)
    check_settings(subject, chosen)
    path = None if output is None else path_of(output, "output", "the path of a folder")
    return Study(subject, chosen, path, scheduler)


@known_keywords()
def open_study(
    path: str | PathLike[str],
    model: Any = None,
    *,
    scheduler: Any = None,
    events: Mapping[str, Watched] | None = None,
) -> Study:
    """A study that was begun or computed before.

    Parameters
    ----------
    path : folder of the dataset.
    model : the model; a study of a model file, or of a mechanism that can be written as one, has
        it in its folder.
    scheduler, events : as for `study`.
    """
    store = open_store(path_of(path, "study", "the path of a folder"))
    plan = stored_plan(store)
    if model is not None:
        found = Study(subject_of(model, events), plan, store.path, scheduler)
        found.require_same(store, OF_MODEL)
        return found
    subject = subject_in(store)
    found = Study(subject, plan, store.path, scheduler)
    if store.header["digest"] != found.digest and not store.header["model"]:
        # Of a model in Python, which is there as a file.
        written = subject.system if subject.mechanism is None else subject.mechanism
        found = Study(subject_of(written), plan, store.path, scheduler)
    found.require_same(store, OF_MODEL if store.header["model"] else NEEDS_MODEL)
    return found


@known_keywords_of_methods
class Study:
    """Many runs of one model by one plan.

    Attributes
    ----------
    plan, subject : what varies and is kept, and of which model.
    path : folder of the dataset.
    scheduler : what runs the tasks.
    """

    def __init__(
        self, subject: Subject, plan: StudyPlan, path: Path | None, scheduler: Any
    ) -> None:
        self.subject, self.plan, self.path, self.scheduler = subject, plan, path, scheduler
        self.outputs = outputs_of(subject, plan)
        self.layouts = self._layouts()

    def __len__(self) -> int:
        return self.plan.count

    def __repr__(self) -> str:
        return f"<Study of {self.plan.count} runs over {', '.join(self.plan.names)}>"

    def __str__(self) -> str:
        facts = [*self._facts().items(), *(("note", note) for note in self.notes)]
        return "\n".join(f"{name:<10} {text}" for name, text in facts)

    def _repr_html_(self) -> str:
        from zwang.display import html_table

        notes = [("note", note) for note in self.notes]
        return html_table(["study", ""], [*self._facts().items(), *notes])

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the plan, as of a mass that varies while its inertia stays."""
        return tuple(self.subject.notes(self.plan))

    def _facts(self) -> dict[str, str]:
        facts = {
            "runs": str(self.plan.count),
            "varies": ", ".join(self.plan.names),
            "keeps": ", ".join(x.name for x in self.outputs.variables()),
        }
        if self.path is not None and (self.path / "zarr.json").exists():
            counts = self.counts()
            facts["state"] = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
            facts["dataset"] = str(self.path)
        return facts

    # --- computing --------------------------------------------------------------------------------

    @property
    def shard(self) -> int:
        """Runs in one task."""
        if self.plan.shard is not None:
            return min(self.plan.shard, self.plan.count)
        whole = min(max(-(-self.plan.count // PARTS), LEAST), MOST)
        size = max(self.outputs.bytes_per_run, 1)
        fits = max(MEMORY // size, 8)
        return min(-(-min(whole, fits) // 8) * 8, self.plan.count)

    def run(self, *, workers: int | None = None, progress: bool | Report | None = None) -> Study:
        """Compute all runs that are not in the dataset yet; gives the study itself.

        Parameters
        ----------
        workers : threads or processes; one for each processor by default. A cluster has its own.
        progress : None shows a bar in terminals and notebooks, True shows one at once, False
            nothing; a function is called with a `StudyProgress`.

        Raises
        ------
        StoreError
            The dataset is of another plan, model or version, or cannot be written. What was
            computed is kept: calling this again goes on.
        """
        begun_before = self.path is not None and self.path.exists()
        store = self.store()
        with closing(_Lock(store)):
            missing = store.missing()
            if missing:
                tasks = StudyTasks(store, self.subject, self.plan)
                self._compute(store, tasks, missing, workers, progress)
            if missing and begun_before:
                store.clear_unfinished()
        return self

    def _compute(
        self,
        store: StudyStore,
        tasks: StudyTasks,
        missing: list[int],
        workers: int | None,
        progress: Any,
    ) -> None:
        def call() -> TaskCall:
            payload = None if self.subject.model is not None else self.subject.payload()
            return TaskCall(str(store.path.resolve()), store.header["digest"], payload)

        began, failed = monotonic(), 0
        there = store.runs - sum(b - a for a, b in map(store.span, missing))
        done, stopped = there, False
        with reporting(progress=progress) as report:
            for result in run_tasks(tasks, missing, call, self.scheduler, workers):
                if result.refusal:
                    raise StoreError(f"study '{store.path}'", but=f"stopped: {result.refusal}")
                stopped = stopped or result.stopped
                done, failed = done + result.runs, failed + result.failed
                if report is not None:
                    seconds = monotonic() - began
                    report(StudyProgress(done, store.runs, seconds, failed, there))
        if stopped:
            raise KeyboardInterrupt

    def store(self) -> StudyStore:
        """The dataset: the one that is there, if it is of this study, or a new one."""
        if self.path is None:
            raise InputError(
                "output",
                expected="given",
                but="the study has no folder to write to",
                advice="zw.study(model, plan, output='out.zarr')",
            )
        path = self.path
        if (path / "zarr.json").exists():
            store = open_store(path)
            self.require_same(store)
            return store
        if path.exists() and (not path.is_dir() or _holds_other_files(path)):
            raise StoreError(
                f"output '{path}'",
                must="be a new folder, or the dataset of this study",
                but="is something else",
            )
        self._require_room(path)
        times = self.outputs.times
        text = self.subject.text
        files = {"plan.json": json.dumps(self.plan.values, indent=1).encode()}
        files["versions.json"] = to_json(dict(own_versions()))
        if text is not None:
            files["model.toml"] = text.encode()
        return create_store(
            path,
            self.layouts,
            {} if times is None else {self.outputs.time_name: times},
            self._header(),
            shard=self.shard,
            files=files,
        )

    def _require_room(self, path: Path) -> None:
        import shutil

        size = self.size
        place = path.absolute()
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free
        if size > free:
            raise StoreError(
                f"output '{path}'",
                but=f"would take {size / 1e9:.3g} GB, and {free / 1e9:.3g} GB are free",
                advice="Keep fewer outputs or times, or choose another place.",
            )

    @property
    def size(self) -> int:
        """Bytes that the dataset takes."""
        return self.plan.count * sum(x.row_size for x in self.layouts if x.by_run)

    @property
    def digest(self) -> str:
        """Equal for studies with the same plan, model and layout."""
        text = f"{FORMAT} {self.plan.digest} {self.subject.digest} {self.shard}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _header(self) -> dict[str, Any]:
        model = self.subject.model
        return {
            "zwang_study": FORMAT,
            "digest": self.digest,
            "plan_digest": self.plan.digest,
            "plan": json.dumps(self.plan.values),
            "runs": self.plan.count,
            "shard": self.shard,
            "varies": list(self.plan.names),
            "compute": self.plan.compute,
            "versions": decisive_versions(),
            "model": "" if model is None else model.name,
            **({"events": list(self.subject.own_events)} if self.subject.own_events else {}),
        }

    def require_same(self, store: StudyStore, advice: str = "Choose another output.") -> None:
        """Refuse a dataset of another plan, model or version."""
        if store.header["digest"] != self.digest:
            what = "plan" if store.header["plan_digest"] != self.plan.digest else "model"
            of = f"of another {what}" if advice != NEEDS_MODEL else "of a Python model"
            made, given = store.header.get("events", []), list(self.subject.own_events)
            if what == "model" and advice == OF_MODEL and made != given:
                of = f"of the model with {_events(made)}, and {_events(given)} were given"
            raise StoreError(f"study '{store.path}'", but=f"is {of}", advice=advice)
        other = store.header["versions"]
        if other != decisive_versions() and store.missing():
            told = ", ".join(f"{name} {version}" for name, version in other.items())
            raise StoreError(
                f"study '{store.path}'",
                but=f"was begun with other versions ({told}), and is not complete",
                advice="Go on with those, or begin anew in another folder.",
            )

    # --- the dataset ------------------------------------------------------------------------------

    def _layouts(self) -> list[ArrayLayout]:
        """All arrays of the dataset."""
        count, first = self.plan.count, self.plan.rows(0, 1)
        runs = {"run": count}
        coordinates = [*self.plan.names, "status", "reason"]
        layouts = [ArrayLayout("run", "<i8", runs, {"long_name": "number of the run"})]
        for name in self.plan.names:
            text = first[name].dtype.kind in "US"
            unit = "" if text else unit_in_plan(self.subject, self.plan, name)
            layouts.append(ArrayLayout(name, "str" if text else "<f8", runs, _named(name, unit)))
        times = self.outputs.times
        if times is not None:
            unit = self.outputs.time_unit
            name = self.outputs.time_name
            layouts.append(ArrayLayout(name, "<f8", {name: len(times)}, _named(name, unit)))
        taken = {layout.name for layout in layouts}
        for x in self.outputs.variables():
            if x.name in taken:
                raise InputError(
                    f"output {x.name!r}",
                    must="have another name",
                    but="varies in the plan",
                    advice=f'Give it one: "result = {x.name}".',
                )
            attributes = {**_named(x.description, x.unit), "coordinates": " ".join(coordinates)}
            if not x.determinate:
                attributes |= {"determinate": 0, "comment": ONE_OF_MANY}
            layouts.append(ArrayLayout(x.name, "<f8", {**runs, **x.dimensions}, attributes))
        meanings = {"flag_values": list(STATUS), "flag_meanings": " ".join(STATUS.values())}
        layouts.append(
            ArrayLayout("status", "|u1", runs, {"long_name": "how it ended", **meanings})
        )
        layouts.append(
            ArrayLayout("reason", "str", runs, {"long_name": "why it did not finish, or stopped"})
        )
        counted = ("steps", "rejected", "evaluations")
        return layouts + [
            ArrayLayout(name, "<i8", runs, {"long_name": f"number of {name}"}) for name in counted
        ]

    @property
    def dataset(self) -> Any:
        """The dataset as an ``xarray.Dataset``, read when values are asked for (extra `data`)."""
        try:
            import xarray as xr
        except ImportError:
            raise MissingExtraError("study.dataset", "xarray", "data") from None
        store = self._opened()
        found = xr.open_zarr(store.path, consolidated=True, chunks=None, mask_and_scale=False)
        return found.set_coords([*self.plan.names, "status", "reason"])

    @property
    def on_grid(self) -> Any:
        """The dataset of a plan that is one grid, with what varies as dimensions."""
        from zwang.studies.samples import GridSamples

        block = self.plan.samples[0]
        if len(self.plan.samples) > 1 or not isinstance(block, GridSamples):
            raise InputError("plan", must="be one grid", but="has other samples")
        found = self.dataset.drop_vars(list(self.plan.names))
        shape = [len(axis) for axis in block.axes]
        import xarray as xr

        variables = {}
        for name, array in found.variables.items():
            if "run" in array.dims:
                values = array.values.reshape(*shape, *array.shape[1:])
                variables[name] = ((*block.names, *array.dims[1:]), values, array.attrs)
        axes = dict(zip(block.names, block.axes, strict=True))
        times = {n: x for n, x in found.coords.items() if "run" not in x.dims}
        grid = xr.Dataset(variables, coords={**axes, **times}, attrs=found.attrs)
        return grid.set_coords(["status", "reason", "run"])

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of the packages that the dataset was computed with."""
        return self._opened().header["versions"]

    @property
    def arrays(self) -> Mapping[str, StoredArray]:
        """What the dataset has, by name, with ``values``, ``dims`` and ``attrs``: no extra."""
        return self._opened().arrays

    def _opened(self) -> StudyStore:
        if self.path is None:
            raise InputError("study", must="have a folder", but="has none")
        return open_store(self.path)

    def counts(self) -> dict[str, int]:
        """How many runs finished, failed, were refused or are missing."""
        status = self.arrays["status"].values
        return {name: int(np.count_nonzero(status == k)) for k, name in STATUS.items()}

    @property
    def complete(self) -> bool:
        """Whether all runs are computed."""
        return not self._opened().missing()

    @property
    def failed(self) -> dict[int, str]:
        """Number of a run that did not reach its end → why, a sentence."""
        data = self.arrays
        bad = ~np.isin(data["status"].values, [FINISHED, MISSING])
        reasons = data["reason"].values[bad]
        return dict(zip(np.flatnonzero(bad).tolist(), map(str, reasons), strict=True))

    def values_of(self, index: int) -> dict[str, Any]:
        """What varies, in one run."""
        rows = self.plan.rows(self._place(index), self._place(index) + 1)
        return {name: column[0].item() for name, column in rows.items()}

    def _place(self, index: int) -> int:
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise InputError("number of a run", found=shown(index), expected="a whole number")
        count = self.plan.count
        if not -count <= index < count:
            raise InputError("number of a run", found=str(index), expected=f"from 0 to {count - 1}")
        return int(index) % count

    # --- seeing -----------------------------------------------------------------------------------

    def plot(
        self,
        *names: str,
        kind: str | None = None,
        against: Sequence[str] | None = None,
        titles: Mapping[str, str] | None = None,
        style: Literal["screen", "paper"] = "screen",
    ) -> Any:
        """Outputs as a Matplotlib figure (extra `plot`).

        Parameters
        ----------
        names : of outputs; the first one by default.
        kind : ``"map"`` over two quantities, ``"scatter"`` over each of them, ``"line"`` over
            one, for each value of a second one, ``"envelope"`` over time, ``"histogram"`` or
            ``"parallel"`` coordinates; what suits the output by default.
        against : quantities that vary; all of them by default.
        titles : output or quantity → text of its axis in place of the name, as of `Run.plot`.
        style : ``"paper"`` for a journal: 86 mm wide, of several panels side by side 178 mm.
        """
        from zwang.studies.plots import plot_study

        return plot_study(self, names, kind, against, titles or {}, style)

    def report(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write one HTML file with linked charts of all runs, pictures and failures.

        Parameters
        ----------
        path : of the file.
        overwrite : whether one that is there may be replaced.
        """
        from zwang.studies.report import write_report

        return write_report(self, path, overwrite=overwrite)

    def to_pandas(self, names: Sequence[str] | str | None = None, *, units: bool = False) -> Any:
        """The results as a ``pandas.DataFrame`` (extra `data`): a line for each run.

        It has what varies, the outputs, how the run ended and why it did not finish. Where an
        output is kept over time there is a line for each run and time.

        Parameters
        ----------
        names : of outputs; all of them by default.
        units : whether names of columns have units behind them.
        """
        from zwang.studies.table import study_to_pandas

        return study_to_pandas(self, names, units=units)

    def to_csv(
        self,
        path: str | PathLike[str],
        names: Sequence[str] | str | None = None,
        *,
        units: bool = False,
    ) -> Path:
        """Write the results as a table of text; arguments as of `to_pandas`; gives the path."""
        from zwang.studies.table import study_to_csv

        return study_to_csv(self, path, names, units=units)

    def statistics(self, names: Sequence[str] | str | None = None) -> dict[str, dict[str, Any]]:
        """Least, mean and greatest values of outputs over the runs that finished.

        Output → ``unit``, ``runs`` that have a value, ``least``, ``mean``, ``greatest``, standard
        ``deviation``, ``run_of_least``, ``run_of_greatest``; of one over time, of its last value.

        Parameters
        ----------
        names : of outputs; all of them by default.
        """
        from zwang.studies.table import statistics_of

        return statistics_of(self, names)

    # --- sensitivity ------------------------------------------------------------------------------

    def sobol_indices(self, output: str) -> SobolIndices:
        """Shares of the variance of an output, for a plan of `sobol_plan`."""
        from zwang.studies.sensitivity import sobol_indices

        return sobol_indices(self._single(output), self.plan.names)

    def morris_effects(self, output: str) -> MorrisEffects:
        """Elementary effects on an output, for a plan of `morris_plan`."""
        from zwang.studies.sensitivity import morris_effects

        columns = self.plan.rows(0, self.plan.count)
        return morris_effects(self._single(output), columns, self.plan.names)

    def _single(self, output: str) -> FloatArray:
        """Values (N,) of an output."""
        known = [x.name for x in self.outputs.variables() if not x.dimensions]
        if output not in known:
            raise UnknownNameError("output of single values", output, known)
        return self.arrays[output].values

    def run_of(self, index: int, *, save: Any = None) -> Run:
        """One run of the study again, bit for bit: a `Run` with states, forces and all the rest.

        Parameters
        ----------
        index : number of the run.
        save : times to save at, as for `zwang.System.simulate`; every step by default.

        Raises
        ------
        ZwangError : the run was refused; the message is that of the study.
        """
        if self.plan.compute != "run":
            raise InputError("study", must="be of runs", but=f"computes {self.plan.compute}")
        i = self._place(index)
        rows = self.plan.rows(i, i + 1)
        subject = self.subject.of_row(rows)
        parameters, refusals = subject.parameters(self.plan, rows, 1)
        q, v = initial_states(subject, self.plan, rows, parameters, refusals)
        if refusals:
            raise ZwangError(f"run {i}", but=f"was refused: {refusals[0]}")
        settings = {**subject.settings(self.plan)}
        for name, column in rows.items():
            if name.startswith("settings."):
                settings[name.partition(".")[2]] = column[0].item()
        (run,) = simulate_many(
            subject.system,
            q,
            v,
            until=self.outputs.until,
            start=self.outputs.begin,
            save=save,
            parameters=parameters,
            events=subject.events or None,
            threads=1,
            progress=False,
            **settings,
        )
        return run


class _Lock:
    """The right to write the dataset, which ends with this process at the latest."""

    def __init__(self, store: StudyStore) -> None:
        self._lock = WriteLock(
            store.path, store.record, advice="run() again then computes what is missing."
        )

    def close(self) -> None:
        """Let others write."""
        self._lock.release()


def _holds_other_files(path: Path) -> bool:
    """Whether a folder has something else in it than what a study began to write."""
    return any(
        entry.name != RECORD and entry.suffix != UNFINISHED and not (entry / "c").is_dir()
        for entry in path.iterdir()
    )


def _events(names: Sequence[str]) -> str:
    return f"events {', '.join(map(repr, names))}" if names else "no events"


def _named(name: str, unit: str) -> dict[str, str]:
    return {"long_name": name, "units": unit} if unit else {"long_name": name}

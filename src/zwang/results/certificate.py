"""Certificate of a run: accelerations and forces by several formulations and Gauss's principle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.display import Displayed
from zwang.errors import InputError, ZwangError, shown
from zwang.solvers.certify import certify_terms
from zwang.tracing.open_laws import OPEN

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = [
    "RunCertificate",
    "Worst",
    "certificate_and_note",
    "certified",
    "certify_run",
    "interval_of",
]

#: States that are certified when no interval is given, evenly spread.
SAMPLE = 200
#: States that are solved at once.
BATCH = 256
#: States of each segment that the motion is followed from, and for how long [s]: errors of the
#: differences are of its square, and of the tolerance divided by it.
FOLLOWED, AFTER = 6, 1e-3
#: Beyond this the motion is another one.
ASTRAY = 0.1
ANOTHER_MOTION = "the motion does not follow these accelerations: the residual is {:.1g}, relative"


@dataclass(frozen=True)
class Worst:
    """The largest value of a quantity, and when.

    Attributes
    ----------
    value : relative.
    t : time [s].
    """

    value: float = 0.0
    t: float = float("nan")

    def __str__(self) -> str:
        when = "" if np.isnan(self.t) else f" at t = {self.t:.4g} s"
        return f"{self.value:.1e}{when}"


@dataclass(frozen=True, repr=False)
class RunCertificate(Displayed):
    """The worst of `zwang.certify` over saved states of a run; everything is relative.

    Attributes
    ----------
    states : how many states were certified.
    acceleration_spread, force_spread : between any two formulations, as published.
    gauss_residual : of the returned acceleration, against Gauss's principle.
    acceleration_error, force_error : estimated errors of the returned numbers.
    formulations : those that applied at every state.
    motion : how far the motion itself is from these accelerations, the median over some states; by
        differences of states integrated from saved ones, as the run was, so that 1e-5 is none.
    notes : what formulations cannot tell, as they agree on it: a motion that is not determined.
    """

    states: int
    acceleration_spread: Worst
    force_spread: Worst
    gauss_residual: Worst
    acceleration_error: Worst
    force_error: Worst
    formulations: tuple[str, ...]
    motion: float = 0.0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"certified at {self.states} saved states by {', '.join(self.formulations)}"]
        for name, label in _LABELS.items():
            lines.append(f"  {label:<38} {getattr(self, name)}")
        if self.motion > ASTRAY:
            lines.append(f"  {ANOTHER_MOTION.format(self.motion)}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for storage."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> RunCertificate:
        """From plain values."""
        values = {k: Worst(**v) if isinstance(v, Mapping) else v for k, v in plain.items()}
        listed = {name: tuple(plain.get(name, ())) for name in ("formulations", "notes")}
        return cls(**{**values, **listed})


def interval_of(certify: Any) -> float | None:
    """Seconds between certified states for the argument `certify`: 0 for a sample, None for none.

    Raises
    ------
    InputError : it is neither a boolean nor a positive number.
    """
    if isinstance(certify, bool):
        return 0.0 if certify else None
    if isinstance(certify, int | float) and 0.0 < certify < float("inf"):
        return float(certify)
    raise InputError(
        "certify", found=shown(certify), expected="True, False or seconds between states"
    )


def certify_run(run: Run, interval: float = 0.0) -> RunCertificate:
    """Certify saved states of a run, `interval` seconds apart, or a sample of them if it is 0."""
    if not len(run):
        raise InputError("run", must="have at least one saved state to certify", but="has none")
    chosen = _chosen(run, interval)
    names = list(_QUANTITIES)
    worst = dict.fromkeys(names, Worst())
    formulations: set[str] | None = None
    for segment in run.segments:
        rows = chosen[(chosen >= segment.first) & (chosen < segment.last)]
        for k in range(0, len(rows), BATCH):
            part = rows[k : k + BATCH]
            q, v, t = run.q[part], run.v[part], run.t[part]
            terms = segment.system.terms(q, v, t, parameters=segment.parameters)
            found = certify_terms(terms)
            for name in names:
                values = np.asarray(_QUANTITIES[name](found))
                at = int(np.argmax(values))
                if values[at] > worst[name].value:
                    worst[name] = Worst(float(values[at]), float(t[at]))
            here = set(found.answers)
            formulations = here if formulations is None else formulations & here
    return RunCertificate(
        len(chosen),
        **worst,
        formulations=tuple(sorted(formulations or ())),
        motion=_miss_of_motion(run),
        notes=tuple(note for note in run.notes if OPEN in note),
    )


def _miss_of_motion(run: Run) -> float:
    """How far the motion is from the accelerations of the full terms, relative, in the median.

    Formulations may agree on accelerations that the program of the run never had. States shortly
    after saved ones, as `Run.between` integrates them, reveal those that it has.
    """
    if run.settings.step > 0.0 or len(run) < 2:
        return 0.0
    found = []
    for segment in run.segments:
        rows = range(segment.first, segment.last - 1)
        for i in rows[:: max(len(rows) // FOLLOWED, 1)]:
            t, v, system = float(run.t[i]), run.v[i], segment.system
            h = min(AFTER, 0.25 * float(run.t[i + 1] - t))
            if h < 1e-3 * AFTER:
                continue
            (first, second), moved = run.between(run, np.array([t + h, t + 2.0 * h]))[1], v
            rate = (4.0 * first - second - 3.0 * moved) / (2.0 * h)
            right = system.solve(run.q[i], v, t, parameters=segment.parameters).acceleration
            size = np.linalg.norm(right) + np.linalg.norm(rate)
            if size > 1e-6:
                found.append(float(np.linalg.norm(rate - right) / size))
    return float(np.median(found)) if found else 0.0


_LABELS = {
    "acceleration_spread": "largest difference in acceleration",
    "force_spread": "largest difference in force",
    "gauss_residual": "largest Gauss residual",
    "acceleration_error": "largest estimated error, acceleration",
    "force_error": "largest estimated error, force",
}
_QUANTITIES = {
    "acceleration_spread": lambda c: c.spread.acceleration,
    "force_spread": lambda c: c.spread.constraint_force,
    "gauss_residual": lambda c: c.gauss_residual,
    "acceleration_error": lambda c: c.error_estimate.acceleration,
    "force_error": lambda c: c.error_estimate.constraint_force,
}


def _chosen(run: Run, interval: float) -> np.ndarray:
    """Rows of the states to certify."""
    last = len(run.t) - 1
    if interval == 0.0:
        return np.unique(np.linspace(0, last, min(last + 1, SAMPLE)).round().astype(int))
    times = np.arange(run.t[0], run.t[-1], interval)
    return np.unique([*np.searchsorted(run.t, times).clip(max=last), last])


def certificate_and_note(run: Run, interval: float) -> tuple[RunCertificate | None, str]:
    """The certificate of a run and a sentence on it, or on why there is none."""
    try:
        found = certify_run(run, interval)
    except ZwangError as error:
        return None, f"not certified: {error}"
    motion, force = found.acceleration_spread.value, found.force_spread.value
    if found.motion > ASTRAY:
        return found, f"not certified: {ANOTHER_MOTION.format(found.motion)}"
    return found, (
        f"certified at {found.states} saved states: {len(found.formulations)} formulations agree "
        f"to {motion:.0e} in v̇ and {force:.0e} in forces"
    )


def certified(run: Run, interval: float | None) -> Run:
    """The run with its certificate and the note."""
    if interval is None or not len(run):
        return run
    certificate, note = certificate_and_note(run, interval)
    return replace(run, certificate=certificate, notes=(*run.notes, note))

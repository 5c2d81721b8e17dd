"""Load, resume and verify stored runs, with the model file that is stored beside them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from zwang.arguments.keywords import known_keywords
from zwang.arguments.values import path_of
from zwang.errors import InputError, ModelError
from zwang.model_files.model import IN_A_RUN, Model, read_model
from zwang.results.store import companion, read_store
from zwang.simulation import stored_runs

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.results.verify import Verification
    from zwang.simulation.controllers import Controller
    from zwang.simulation.progress import Report
    from zwang.tracing.event import Watched

__all__ = ["load", "resume", "verify"]

#: For those who look for a way to simulate longer than was asked for at first.
LONGER = "A run goes on to the end it was given: to go further, simulate(run[-1], until=…)."


@known_keywords()
def load(
    path: str | PathLike[str],
    system: Any = None,
    *,
    events: Mapping[str, Watched] | None = None,
    controllers: Mapping[str, Controller] | None = None,
    sound_part: bool = False,
) -> Run:
    """Read a stored run; its arrays are read when they are first asked for.

    Parameters
    ----------
    path : folder written by ``run.save`` or ``simulate(…, store=…)``, finished or not.
    system : the system, mechanism or model that made it, for forces, energies and states between
        the saved ones. A run of a model file has it in its folder, and it need not be given; a run
        of a Python model that is loaded without it has its states, names, settings and events.
    events : those it was made with, if `Run.error_estimate` is wanted; of a stored model its own.
    controllers : those it was made with, if `Run.error_estimate` is wanted.
    sound_part : of a damaged store, give what comes before the damage.

    Raises
    ------
    DamageError
        The store is not what was written; the message says where.
    InputError
        The system is not the one that made the run.
    """
    note = ""
    if system is None:
        try:
            system = _stored_model(path)
        except ModelError as error:
            note = (
                f"the model that is stored with the run cannot be read, so it was left out: {error}"
            )
    if isinstance(system, Model) and events is None:
        events = system.events
    run = stored_runs.load(
        path, system, events=events, controllers=controllers, sound_part=sound_part
    )
    if note:
        object.__setattr__(run, "notes", (*run.notes, note))
    return run


@known_keywords(refused={"until": LONGER})
def resume(
    path: str | PathLike[str],
    system: Any = None,
    *,
    events: Mapping[str, Watched] | None = None,
    controllers: Mapping[str, Controller] | None = None,
    store_every: float = 1.0,
    progress: bool | Report | None = None,
    certify: bool | float = False,
) -> Run:
    """Go on with a stored run that was interrupted, from its last committed chunk.

    On the same machine and with the same versions it ends bit for bit as if it had never been
    interrupted. A run that has ended already is loaded.

    Parameters
    ----------
    path : of ``simulate(…, store=path)``.
    system : the system, mechanism or model that made it; a run of a model file has it in its
        folder.
    events : those it was made with; of a model its own.
    controllers : those it was made with.
    store_every : seconds between commits.
    progress, certify : as in `zwang.System.simulate`.

    Raises
    ------
    StoreError
        The store cannot be written, or was made with other versions.
    DamageError
        The store is not what was written.
    InputError
        System or events are not those that made the run.
    """
    model = _given_or_stored(path, system, "resume")
    if isinstance(model, Model) and events is None:
        events = model.events
    from zwang.simulation.resume import resume as go_on

    return go_on(
        path,
        stored_runs.system_of(model),
        events=events,
        controllers=controllers,
        store_every=store_every,
        progress=progress,
        certify=certify,
    )


@known_keywords()
def verify(
    path: str | PathLike[str],
    system: Any = None,
    *,
    controllers: Mapping[str, Controller] | None = None,
    intervals: int | None = 20_000,
    sample: int = 20,
) -> Verification:
    """Check that a stored run is what was written, and a motion of its system.

    Hashes detect damage. A run with intact hashes is checked to be a motion: residuals at every
    saved state, the motion from each saved state to the next within ten tolerances, in the
    coordinates of the system, the energy and Gauss's principle at a sample, and whether the program
    that made it agrees with the full terms; forces that are kept must satisfy the full equations
    with the states they belong to. An edit above ten tolerances is found even if its hashes were
    written anew.

    Parameters
    ----------
    path : of a stored run.
    system : the system, mechanism or model that made it; a run of a model file has it in its
        folder.
    controllers : those it was made with: their laws are called again on the stored states and must
        give the stored values. Without them the motion is checked with the stored values.
    intervals : how many intervals between saved states to integrate anew in each segment between
        events, evenly spread; all of them if None. At as many states forces are checked.
    sample : how many states and intervals to take for Gauss's principle and the energy.

    Returns
    -------
    Verification
        True in a condition if the run is verified; printed, it says what was found.
    """
    model = _given_or_stored(path, system, "verify")
    return stored_runs.verify(
        path, model, controllers=controllers, intervals=intervals, sample=sample
    )


def _stored_model(path: str | PathLike[str]) -> Model | None:
    """The model in the folder of a run, if it was made from a file."""
    folder = path_of(path, "stored run")
    try:
        if not companion(folder, IN_A_RUN).is_file():
            return None
    except OSError:  # reading the store says what is wrong with its folder
        return None
    return read_model(folder)


def _given_or_stored(path: str | PathLike[str], system: Any, call: str) -> Any:
    model = _stored_model(path) if system is None else system
    if model is None:
        read_store(path)  # says where there is no run
        raise InputError(
            f"run '{path}'",
            but="has no model file stored with it, so the system that made it is needed",
            advice=f"Give it: zw.{call}(path, system).",
        )
    return model

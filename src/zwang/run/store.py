"""Runs on disk: Zarr arrays that grow chunk by chunk, and a record that makes them trustworthy.

A stored run is a folder that xarray opens, with arrays `time`, `q` (time, coordinate) and `v`
(time, velocity). The folder `time/record` holds what Zarr has no place for; it lies within an array
because Zarr complains of files it does not know within groups:

    header.json        model, parameters, settings, versions; written once
    times.npy          the times to save at, if they were given
    model.toml         the model file the run was made from, if there was one, and its meshes
    commit-000000.json rows and hashes of a chunk, what happened in it, and how the run stands
    state-000000.npz   the whole memory of the time loop after that chunk

A chunk counts when its commit has got its name: arrays first, then the state, then the commit is
written under another name, brought to the disk and renamed. A process may be killed anywhere; rows
after the last commit are as if never written. Each commit holds the hash of the one before.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import DamageError, InputError, StoreError, shown
from zwang.terms import FloatArray

__all__ = ["FORMAT", "Store", "Stored", "companion", "read_store"]

#: Version of the layout.
FORMAT = 1

#: Rows of an array that share a file.
ROWS_PER_FILE = 16_384

ARRAYS = ("time", "q", "v")
_RECORD = Path("time", "record")


def digest(content: bytes | FloatArray) -> str:
    """SHA-256 of bytes, or of the numbers of an array in memory order."""
    if not isinstance(content, bytes):
        content = np.ascontiguousarray(content, dtype="<f8").tobytes()
    return hashlib.sha256(content).hexdigest()


def _path(path: Any) -> Path:
    """Where a store is, ``~`` being the folder of the user."""
    try:
        return Path(path).expanduser()
    except TypeError:
        raise InputError("store", found=shown(path), expected="the path of a folder") from None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"store {str(path)!r}",
            found=f"it cannot be written: {error.strerror or error}",
            expected="a folder with room and permission to write",
            advice="Chunks committed before are intact; zw.resume goes on from the last one.",
        ) from error


def _write(path: Path, content: bytes) -> None:
    """Write a file that is either there in full or not at all, also after a loss of power."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    """Bring a file or a folder to the disk; not every system does folders."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def _to_bytes(value: Any) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    message = f"{type(value).__name__} has no place in a record"
    raise TypeError(message)


def _packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


class Store:
    """A stored run that is being written.

    Use `create` for a new one and `Stored.reopen` to go on with one.
    """

    def __init__(self, path: Path, group: Any, rows: int, commits: int, previous: str) -> None:
        self.path, self.rows = path, rows
        self._group, self._commits, self._previous = group, commits, previous

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        header: Mapping[str, Any],
        times: FloatArray | None,
        companions: Mapping[str, bytes] | None = None,
    ) -> Store:
        """A new store; the header describes the run and names coordinates and velocities.

        Files that go along with the run are there from the beginning: a run that is killed has
        them too.
        """
        import zarr

        path = _path(path)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(
                f"store {str(path)!r}",
                found="something there already",
                expected="a path that is free",
                advice="Take another path, remove what is there, or go on with zw.resume.",
            )
        header = {"format": FORMAT, **header}
        if times is not None:
            header["times"] = digest(times)
        names = {"q": header["model"]["coordinates"], "v": header["model"]["velocities"]}
        with _writing(path):
            group = zarr.create_group(path, attributes=_attributes(header))
            group.create_array(
                "time",
                shape=(0,),
                chunks=(ROWS_PER_FILE,),
                dtype="float64",
                dimension_names=["time"],
                attributes={"description": "time [s]"},
            )
            for name, kind in (("q", "coordinate"), ("v", "velocity")):
                count = len(names[name])
                group.create_array(
                    name,
                    shape=(0, count),
                    chunks=(ROWS_PER_FILE, max(count, 1)),
                    dtype="float64",
                    dimension_names=["time", kind],
                )
                labels = group.create_array(
                    kind,
                    shape=(count,),
                    chunks=(max(count, 1),),
                    dtype=str,
                    dimension_names=[kind],
                )
                labels[:] = np.array(names[name], dtype=object)
            record = path / _RECORD
            record.mkdir()
            if times is not None:
                file = io.BytesIO()
                np.save(file, times, allow_pickle=False)
                _write(record / "times.npy", file.getvalue())
            for name, companion in (companions or {}).items():
                _write(record / name, companion)
            content = _to_bytes(header)
            _write(record / "header.json", content)
        return cls(path, group, 0, 0, digest(content))

    def commit(
        self,
        t: Sequence[FloatArray],
        y: Sequence[FloatArray],
        news: Mapping[str, Any],
        state: Mapping[str, np.ndarray] | None,
    ) -> None:
        """Add rows, remember how the run stands, and make both count.

        Parameters
        ----------
        t, y : rows since the last commit, in pieces.
        news : what else goes into the commit.
        state : memory of the loop; None when there is nothing to go on with.
        """
        rows = {"time": np.concatenate([np.zeros(0), *t])}
        nq, nv = (self._group[name].shape[1] for name in ("q", "v"))
        both = np.concatenate([np.zeros((0, nq + nv)), *y])
        rows["q"], rows["v"] = both[:, :nq], both[:, nq:]
        first, last = self.rows, self.rows + len(rows["time"])
        commit = {
            "number": self._commits,
            "first": first,
            "last": last,
            "sha256": {name: digest(values) for name, values in rows.items()},
            "previous": self._previous,
            **news,
        }
        record = self.path / _RECORD
        with _writing(self.path):
            for name, values in rows.items():
                self._append(name, values)
            if state is not None:
                content = _packed(state)
                commit["state"] = {"file": _state_file(self._commits), "sha256": digest(content)}
                _write(record / _state_file(self._commits), content)
            content = _to_bytes(commit)
            _write(record / _commit_file(self._commits), content)
            if self._commits > 1:
                (record / _state_file(self._commits - 2)).unlink(missing_ok=True)
        self._previous = digest(content)
        self._commits += 1
        self.rows = last

    def _append(self, name: str, values: FloatArray) -> None:
        array = self._group[name]
        last = self.rows + len(values)
        if array.shape[0] != last:
            array.resize((last, *array.shape[1:]))
        if not len(values):
            return
        array[self.rows : last] = values
        tail = () if values.ndim == 1 else ("0",)
        for k in range(self.rows // ROWS_PER_FILE, (last - 1) // ROWS_PER_FILE + 1):
            _sync(self.path.joinpath(name, "c", str(k), *tail))

    def close(self, attributes: Mapping[str, Any]) -> None:
        """Show how the run ended, and gather the metadata so that opening is quick."""
        import zarr

        with _writing(self.path), warnings.catch_warnings():
            self._group.attrs.update(attributes)
            # Zarr remarks that consolidated metadata is an addition to its format; xarray asks
            # for it.
            warnings.filterwarnings("ignore", message="Consolidated metadata", category=UserWarning)
            zarr.consolidate_metadata(self.path)


def _attributes(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header as attributes, for readers who open the file with other tools."""
    return {"title": "a run of Zwang", **json.loads(_to_bytes(dict(header)))}


def _commit_file(number: int) -> str:
    return f"commit-{number:06d}.json"


def _state_file(number: int) -> str:
    return f"state-{number:06d}.npz"


@dataclass(frozen=True)
class Stored:
    """A stored run, as far as it is committed and sound.

    Attributes
    ----------
    path, header : where it is, and what it is.
    commits : one record for each chunk.
    damage : what is wrong with it, if anything; sentences.
    """

    path: Path
    header: Mapping[str, Any]
    commits: tuple[Mapping[str, Any], ...]
    damage: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Saved states."""
        return int(self.commits[-1]["last"]) if self.commits else 0

    def companions(self) -> dict[str, bytes]:
        """The files that go along with the run, such as its model; name → content."""
        own = ("header.json", "times.npy", "commit-", "state-")
        files = sorted(f for f in (self.path / _RECORD).iterdir() if f.is_file())
        return {file.name: file.read_bytes() for file in files if not file.name.startswith(own)}

    def read(self, name: str, first: int = 0, last: int | None = None) -> FloatArray:
        """Rows of one of the arrays."""
        try:
            array: Any = _open(self.path)[name]
            return np.asarray(array[first : self.rows if last is None else last], dtype=float)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise DamageError(
                f"store {str(self.path)!r}, array {name!r}",
                found=f"it cannot be read: {error}",
                expected="the numbers that were written",
            ) from error

    def differing(self) -> list[str]:
        """What other tools read of the description that is not so in the record: names of it."""
        group, model = _open(self.path), self.header["model"]
        labels = {"coordinate": model["coordinates"], "velocity": model["velocities"]}
        attributes = dict(group.attrs)
        return [
            *(k for k, v in _attributes(self.header).items() if attributes.get(k) != v),
            *(k for k, names in labels.items() if [str(x) for x in group[k][:]] != names),
        ]

    def times(self) -> FloatArray | None:
        """The times to save at, if they were given."""
        if "times" not in self.header:
            return None
        times = np.load(self.path / _RECORD / "times.npy", allow_pickle=False)
        if digest(times) != self.header["times"]:
            raise DamageError(
                f"store {str(self.path)!r}", found="other save times than were written"
            )
        return times

    def state(self) -> dict[str, np.ndarray]:
        """The memory of the loop after the last chunk."""
        entry = self.commits[-1].get("state")
        if entry is None:
            raise StoreError(
                f"store {str(self.path)!r}",
                found="a run without the memory of its time loop",
                expected="a run stored while it was made",
                advice="Give simulate(…, store=path) to make a run that can be resumed.",
            )
        try:
            content = (self.path / _RECORD / entry["file"]).read_bytes()
        except OSError as error:
            content, why = b"", f": {error.strerror}"
        else:
            why = ""
        if digest(content) != entry["sha256"]:
            raise DamageError(
                f"store {str(self.path)!r}, state after chunk {self.commits[-1]['number']}",
                found=f"other content than was written{why}",
                expected="the memory of the time loop",
                sound_rows=self.rows,
            )
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return dict(arrays)

    def reopen(self) -> Store:
        """Go on writing after the last commit; rows after it are dropped."""
        with _writing(self.path):
            group: Any = _open(self.path, mode="r+")
            for name in ARRAYS:
                array = group[name]
                if array.shape[0] != self.rows:
                    array.resize((self.rows, *array.shape[1:]))
            last = self.path / _RECORD / _commit_file(len(self.commits) - 1)
            return Store(self.path, group, self.rows, len(self.commits), digest(last.read_bytes()))

    def require_sound(self) -> None:
        """Refuse a damaged store, telling what of it is sound."""
        if self.damage:
            raise DamageError(
                f"store {str(self.path)!r}",
                found=self.damage[0],
                expected="what was written",
                advice=f"The first {self.rows} saved states are sound: "
                "zw.load(path, sound_part=True) gives them.",
                sound_rows=self.rows,
            )


def _open(path: Path, mode: Any = "r") -> Any:
    import zarr

    return zarr.open_group(path, mode=mode, use_consolidated=False)


def companion(path: str | os.PathLike[str], name: str) -> Path:
    """Where a file of this name lies that goes along with a stored run, such as its model."""
    return Path(path) / _RECORD / name


def read_store(path: str | os.PathLike[str]) -> Stored:
    """Open a stored run and check its hashes; what follows the first damage is left out."""
    path = _path(path)
    record = path / _RECORD
    try:
        content = (record / "header.json").read_bytes()
    except OSError as error:
        raise StoreError(
            f"store {str(path)!r}",
            found=f"no record of a run ({error.strerror})",
            expected="a folder written by run.save or simulate(…, store=…)",
        ) from error
    try:
        header = json.loads(content)
        version, _ = header["format"], header["model"]["coordinates"]
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(
            f"store {str(path)!r}, header",
            found=f"what cannot be read ({error})",
            expected="a description of the run",
        ) from error
    if version != FORMAT:
        raise StoreError(
            f"store {str(path)!r}",
            found=f"format {version}",
            expected=f"format {FORMAT}",
            advice="It was written by another version of Zwang.",
        )
    stored = Stored(path, header, (), ())
    commits: list[Mapping[str, Any]] = []
    damage: list[str] = []
    previous, written = digest(content), len(list(record.glob("commit-*.json")))
    while len(commits) < written and not damage:
        file = record / _commit_file(len(commits))
        commit: dict[str, Any] = {}
        try:
            content = file.read_bytes()
            commit = json.loads(content)
            wrong = _fault(stored, commit, previous)
        except (OSError, ValueError, KeyError, TypeError) as error:
            wrong = f"its commit cannot be read ({type(error).__name__})"
        if wrong:
            damage.append(f"chunk {len(commits)}: {wrong}")
        else:
            commits.append(commit)
            previous = digest(content)
    if not commits and not damage:
        damage.append("no chunk was committed")
    return Stored(path, header, tuple(commits), tuple(damage))


def _fault(stored: Stored, commit: Mapping[str, Any], previous: str) -> str:
    """What is wrong with a chunk, or nothing."""
    if commit["previous"] != previous:
        return "what comes before it is not what it was written after"
    for name in ARRAYS:
        try:
            values = stored.read(name, commit["first"], commit["last"])
        except DamageError as error:
            return f"{name} {error.found}"
        if digest(values) != commit["sha256"][name]:
            return f"{name} in rows {commit['first']} to {commit['last']} is not what was written"
    return ""

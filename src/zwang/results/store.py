"""Runs on disk: Zarr arrays that grow chunk by chunk, and a record that makes them trustworthy.

A stored run is a folder that xarray opens, with arrays `time`, `q` (time, coordinate) and `v`
(time, velocity), and those of `zwang.results.force_record` if forces are kept. The folder
`time/record` holds what Zarr has no place for; it lies within an array because Zarr complains of
files it does not know within groups:

    lock               held by the process that writes, see `zwang.results.lock`
    header.json        model, parameters, settings, versions, hashes of the files beside it and of
                       how the arrays are laid out; written once
    times.npy          the times to save at, if they were given
    model.toml         the model file the run was made from, if there was one, and its meshes
    commit-000000.json rows and hashes of a chunk, what happened in it, and how the run stands
    state-000000.npz   the whole memory of the time loop after that chunk
    count              how many commits there are, written after each: without it the last one could
                       be deleted unseen

A chunk counts when its commit has got its name: arrays first, then the state, then the commit is
written under another name, brought to the disk and renamed. A process may be killed anywhere; rows
after the last commit are as if never written. Each commit holds the hash of the one before, and its
own. When a run has ended, the attributes that other tools read record how, and how many commits
there are.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import DamageError, InputError, StoreError
from zwang.results.abandoned import HEADER, clear, is_abandoned
from zwang.results.lock import LOCK, WriteLock
from zwang.results.stored_arrays import array_names, create_group, label_names
from zwang.terms import FloatArray

__all__ = ["FORMAT", "Store", "Stored", "companion", "lock_store", "read_store"]

#: Version of the layout.
FORMAT = 1

_RECORD = Path("time", "record")
COUNT = "count"


def digest(content: bytes | FloatArray) -> str:
    """SHA-256 of bytes, or of the numbers of an array in memory order."""
    if not isinstance(content, bytes):
        content = np.ascontiguousarray(content, dtype="<f8").tobytes()
    return hashlib.sha256(content).hexdigest()


def _taken(path: Path) -> InputError:
    return InputError(
        f"store {str(path)!r}",
        must="not exist yet",
        but="does",
        advice="Choose another path, remove what is there, or continue with zw.resume.",
    )


def _path(path: Any) -> Path:
    """Where a store is."""
    return path_of(path, "store", "the path of a folder")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Report a failed write as a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"store {str(path)!r}",
            but=f"cannot be written: {error.strerror or error}",
            advice="It needs a folder with room and permission to write. Chunks committed before "
            "are intact; zw.resume continues from the last one.",
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


def _write_count(record: Path, commits: int) -> None:
    """Remember how many commits there are; losing it loses nothing, so it may come later."""
    part = record / f"{COUNT}.part"
    part.write_text(str(commits))
    part.replace(record / COUNT)


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


def sealed(commit: Mapping[str, Any]) -> bytes:
    """A commit as it is written, with a hash of its own in it."""
    bare = {k: v for k, v in commit.items() if k != "digest"}
    return _to_bytes({**bare, "digest": digest(_to_bytes(bare))})


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

    Use `create` for a new one and `Stored.reopen` to go on with one, each with the lock held.
    """

    def __init__(self, path: Path, group: Any, rows: int, commits: int, previous: str) -> None:
        self.path, self.rows = path, rows
        self._group, self._commits, self._previous = group, commits, previous
        self._lock: WriteLock | None = None

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
        them too. A store whose process was killed before that is begun anew.
        """
        path = _path(path)
        record, lock = path / _RECORD, _claimed(path)
        header = {"format": FORMAT, **header}
        header["companions"] = {k: digest(content) for k, content in (companions or {}).items()}
        if times is not None:
            header["times"] = digest(times)
        with _writing(path), _released_on_failure(lock):
            group = create_group(path, header, _attributes(header))
            labels = tuple(label_names(header))
            every = (*array_names(header), *labels)
            header["layout"] = {name: _layout(path, name) for name in every}
            header["labels"] = {name: digest(_labels_file(path, name)) for name in labels}
            if times is not None:
                file = io.BytesIO()
                np.save(file, times, allow_pickle=False)
                _write(record / "times.npy", file.getvalue())
            for name, companion in (companions or {}).items():
                _write(record / name, companion)
            content = _to_bytes(header)
            _write(record / HEADER, content)
        store = cls(path, group, 0, 0, digest(content))
        store._lock = lock
        return store

    def commit(
        self,
        t: Sequence[FloatArray],
        y: Sequence[FloatArray],
        news: Mapping[str, Any],
        state: Mapping[str, np.ndarray] | None,
        forces: Mapping[str, FloatArray] | None = None,
    ) -> None:
        """Add rows, remember how the run stands, and make both count.

        Parameters
        ----------
        t, y : rows since the last commit, in pieces.
        news : what else goes into the commit.
        state : memory of the loop; None when there is nothing to go on with.
        forces : arrays of a `zwang.results.force_record`, for the same rows.
        """
        rows = {"time": np.concatenate([np.zeros(0), *t])}
        nq, nv = (self._group[name].shape[1] for name in ("q", "v"))
        both = np.concatenate([np.zeros((0, nq + nv)), *y])
        rows["q"], rows["v"] = both[:, :nq], both[:, nq:]
        rows |= forces or {}
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
            content = sealed(commit)
            _write(record / _commit_file(self._commits), content)
            _write_count(record, self._commits + 1)
            if self._commits > 1:
                with suppress(OSError):  # nobody needs it, and it takes a little room
                    (record / _state_file(self._commits - 2)).unlink()
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
        tail, rows = ("0",) * (values.ndim - 1), array.chunks[0]
        for k in range(self.rows // rows, (last - 1) // rows + 1):
            _sync(self.path.joinpath(name, "c", str(k), *tail))

    def close(self, attributes: Mapping[str, Any]) -> None:
        """Show how the run ended, and gather the metadata so that opening is quick."""
        import zarr

        with _writing(self.path), warnings.catch_warnings():
            group = _described(self.path)
            group["attributes"] |= json.loads(_to_bytes({**attributes, "commits": self._commits}))
            # All at once: Zarr would write one attribute after the other.
            _write(self.path / "zarr.json", json.dumps(group, indent=2).encode())
            # Zarr remarks that consolidated metadata is an addition to its format; xarray asks
            # for it.
            warnings.filterwarnings("ignore", message="Consolidated metadata", category=UserWarning)
            # And of files that are none of its own, which are none of ours either.
            warnings.filterwarnings("ignore", message="Object at", category=UserWarning)
            zarr.consolidate_metadata(self.path)

    def release(self) -> None:
        """Let others write it, if it was created here."""
        if self._lock is not None:
            self._lock.release()


@contextmanager
def _released_on_failure(lock: WriteLock) -> Iterator[None]:
    try:
        yield
    except BaseException:
        lock.release()
        raise


def _claimed(path: Path) -> WriteLock:
    """A folder for a new store, empty but for its lock, which is held."""
    record = path / _RECORD
    with _writing(path):
        new = not path.exists() or (path.is_dir() and not any(path.iterdir()))
        try:
            if new:
                record.mkdir(parents=True)  # whoever makes it has the path for itself
            elif not path.is_dir() or not is_abandoned(path, record):
                raise _taken(path)
        except FileExistsError:
            raise _taken(path) from None
    lock = WriteLock(path, record, "Or choose another path.")
    with _writing(path), _released_on_failure(lock):
        # What is new may have been taken over by another process before it was locked here.
        if not clear(path, record, lock) and (not new or (record / HEADER).exists()):
            raise _taken(path)
    return lock


def lock_store(path: str | os.PathLike[str]) -> WriteLock:
    """The right to write a store that is there; a StoreError if somebody has it."""
    path = _path(path)
    return WriteLock(path, path / _RECORD)


def _attributes(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header as attributes, for readers who open the file with other tools."""
    beside = {"companions", "labels", "layout", "forces"}
    told = {k: v for k, v in header.items() if k not in beside}
    return {"title": "a run of Zwang", **json.loads(_to_bytes(told))}


def _closing(commits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The attributes that describe how a run ended, according to its commits."""
    last = commits[-1]
    return {
        **{name: last[name] for name in ("status", "finished", "counts", "notes")},
        "event_log": [{k: e[k] for k in ("name", "t")} for c in commits for e in c["events"]],
        "rank_changes": [r for c in commits for r in c["ranks"]],
        "commits": len(commits),
    }


#: What of an array's description defines how its numbers are to be read.
_LAYOUT = ("zarr_format", "node_type", "data_type", "fill_value", "codecs", "dimension_names")
_LAYOUT += ("chunk_grid", "chunk_key_encoding")


def _layout(path: Path, name: str) -> str:
    """Hash of how the numbers of an array are laid out."""
    described = _described(path / name)
    return digest(_to_bytes({k: described.get(k) for k in _LAYOUT}))


def _labels_file(path: Path, name: str) -> bytes:
    """The file that names of coordinates or velocities are in, all in one; empty if none are."""
    file = path / name / "c" / "0"
    return file.read_bytes() if file.exists() else b""


def _described(folder: Path) -> dict[str, Any]:
    """Zarr's description of an array or a group; ValueError or OSError if there is none."""
    found = json.loads((folder / "zarr.json").read_bytes())
    if not isinstance(found, dict):
        raise ValueError("no description")  # noqa: TRY004 - as of what is no JSON
    return found


def _commit_file(number: int) -> str:
    return f"commit-{number:06d}.json"


def _state_file(number: int) -> str:
    return f"state-{number:06d}.npz"


@dataclass(frozen=True)
class Stored:
    """A stored run, as far as it is committed and intact.

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
        own = ("header.json", "times.npy", "commit-", "state-", LOCK, COUNT)
        try:
            files = sorted(f for f in (self.path / _RECORD).iterdir() if f.is_file())
            found = {f.name: f.read_bytes() for f in files if not f.name.startswith(own)}
        except OSError as error:
            raise DamageError(
                f"store {str(self.path)!r}",
                sound_rows=self.rows,
                but=f"has files beside the run that cannot be read: {error.strerror}",
            ) from error
        known = self.header.get("companions")  # not in earlier versions
        return found if known is None else {k: v for k, v in found.items() if k in known}

    def read(self, name: str, first: int = 0, last: int | None = None) -> FloatArray:
        """Rows of one of the arrays."""
        rows = slice(first, self.rows if last is None else last)
        with self._reading(f"array {name!r}"):
            array: Any = _open(self.path)[name]
            return np.asarray(array[rows], dtype=float)

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Report whatever Zarr and its codecs raise for damaged files as a sentence."""
        try:
            yield
        except Exception as error:
            raise DamageError(
                f"store {str(self.path)!r}, {what}",
                but=f"cannot be read: {str(error) or type(error).__name__}",
            ) from error

    def lesser_damage(self) -> list[str]:
        """What is wrong beside the rows: files that go along, what other tools read. Sentences."""
        found = [*self._wrong_files(), *self._wrong_description()]
        if self.commits and self.commits[-1].get("open"):
            found += [wrong] if (wrong := self._wrong_state(self.commits[-1])) else []
        return found

    def _wrong_files(self) -> Iterator[str]:
        if "times" in self.header:
            try:
                self.times()
            except DamageError as error:
                yield f"times to save at: {error.found}"
        for name, wanted in self.header.get("companions", {}).items():
            try:
                content = (self.path / _RECORD / name).read_bytes()
            except OSError as error:
                yield f"{name} cannot be read ({error.strerror})"
            else:
                if digest(content) != wanted:
                    yield f"{name} is not what was written"

    def _wrong_description(self, *, in_progress: bool = False) -> Iterator[str]:
        """What other tools read of the run and is not so in the record.

        The record of its end does not matter if that is to be written again.
        """
        try:
            group = _described(self.path)
            labels = label_names(self.header)
            every = (*array_names(self.header), *labels)
            arrays = {name: _described(self.path / name) for name in every}
            for name, hashed in self.header.get("layout", {}).items():
                if _layout(self.path, name) != hashed:
                    yield f"the description of array {name!r} is not what was written"
            hashes = self.header.get("labels", {})
            for name, names in labels.items():
                if name in hashes:  # Zarr may not come to an end with damaged ones
                    if digest(_labels_file(self.path, name)) != hashes[name]:
                        yield f"{name} names, as other tools read them, are not what was written"
                    continue
                with self._reading(f"array {name!r}"):
                    array: Any = _open(self.path)[name]
                    found = [str(x) for x in array[:]]
                if found != names:
                    yield f"{name} names, as other tools read them, are not what was written"
            if not in_progress:
                yield from self._wrong_attributes(group, arrays)
        except DamageError as error:
            yield f"{error.what.partition(', ')[2]}: {error.found}"
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            yield f"its description cannot be read ({type(error).__name__})"

    def _wrong_attributes(
        self, group: Mapping[str, Any], arrays: Mapping[str, Any]
    ) -> Iterator[str]:
        attributes = group["attributes"]
        closing = _closing(self.commits) if self.commits else {}
        ended = bool(closing.keys() & attributes.keys())
        if "layout" not in self.header:  # earlier versions did not count commits
            closing.pop("commits", None)
        wanted = {**_attributes(self.header), **(json.loads(_to_bytes(closing)) if ended else {})}
        for name, value in wanted.items():
            if name not in attributes or attributes[name] != value:
                yield f"{name} in the store, as other tools read it, is not what was written"
        for name in array_names(self.header):
            rows = arrays[name]["shape"][0]
            if rows < self.rows or (ended and rows != self.rows):
                yield f"array {name!r} has {rows} rows for other tools, {self.rows} were written"
        gathered = {"kind": "inline", "must_understand": False, "metadata": arrays}
        if group.get("consolidated_metadata") not in (None, gathered):
            yield "the gathered description of the arrays is not what was written"
        rest = {k: v for k, v in group.items() if k not in {"attributes", "consolidated_metadata"}}
        if rest != {"zarr_format": 3, "node_type": "group"}:
            yield "its description is not what was written"

    def _wrong_state(self, commit: Mapping[str, Any]) -> str:
        """What is wrong with the memory of the loop after a chunk, or nothing."""
        entry = commit.get("state")
        if entry is None:
            return f"chunk {commit['number']} has no memory of its time loop"
        try:
            content = (self.path / _RECORD / entry["file"]).read_bytes()
        except OSError as error:
            return f"the state after chunk {commit['number']} cannot be read ({error.strerror})"
        if digest(content) != entry["sha256"]:
            return f"the state after chunk {commit['number']} is not what was written"
        return ""

    def to_go_on(self) -> Stored:
        """The store up to the last chunk from which the run can go on; the rest is made again.

        Damage there is at the end is made good in this way; what cannot be is refused.
        """
        if not self.commits:
            self.require_sound()
        if not self.damage and not self.commits[-1]["open"]:
            return self
        for wrong in (*self._wrong_files(), *self._wrong_description(in_progress=True)):
            raise DamageError(f"store {str(self.path)!r}", found=wrong, sound_rows=self.rows)
        wrong = ""
        for count in range(len(self.commits), max(len(self.commits) - 2, 0), -1):
            last = self.commits[count - 1]
            found = self._wrong_state(last) if last["open"] else "the run had ended"
            if not found:
                return replace(self, commits=self.commits[:count], damage=())
            wrong = wrong or found
        self.require_sound()
        raise DamageError(
            f"store {str(self.path)!r}",
            sound_rows=self.rows,
            found=wrong,
            advice="The run cannot be resumed; zw.load(path, system).at(t) gives a state from "
            "which to start a new run.",
        )

    def times(self) -> FloatArray | None:
        """The times to save at, if they were given."""
        if "times" not in self.header:
            return None
        try:
            content = (self.path / _RECORD / "times.npy").read_bytes()
            file = io.BytesIO(content)
            times = np.load(file, allow_pickle=False)
            sound = digest(times) == self.header["times"] and file.tell() == len(content)
        except Exception:  # noqa: BLE001 - whatever NumPy makes of damaged files
            sound, times = False, None
        if not sound:
            raise DamageError(
                f"store {str(self.path)!r}",
                sound_rows=self.rows,
                but="has save times that differ from those that were written",
            )
        return times

    def state(self) -> dict[str, np.ndarray]:
        """The memory of the loop after the last chunk."""
        entry = self.commits[-1].get("state")
        if entry is None:
            raise StoreError(
                f"store {str(self.path)!r}",
                must="contain the state of its time loop to be resumed",
                but="does not",
                advice="Give simulate(…, store=path) to make a run that can be resumed.",
            )
        wrong = self._wrong_state(self.commits[-1])
        if wrong:
            raise DamageError(f"store {str(self.path)!r}", sound_rows=self.rows, found=wrong)
        with np.load(self.path / _RECORD / entry["file"], allow_pickle=False) as arrays:
            return dict(arrays)

    @property
    def closed(self) -> bool:
        """Whether the attributes for other tools describe how the run ended."""
        try:
            return _closing(self.commits).keys() <= _described(self.path)["attributes"].keys()
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def reopen(self) -> Store:
        """Go on writing after the last commit; rows and commits after it are dropped."""
        with _writing(self.path):
            record, count = self.path / _RECORD, len(self.commits)
            for file in record.glob("commit-*.json"):
                if file.name >= _commit_file(count):
                    file.unlink()
            _write_count(record, count)
            self._reopen_description()
            group: Any = _open(self.path, mode="r+")
            for name in array_names(self.header):
                array = group[name]
                if array.shape[0] != self.rows:
                    array.resize((self.rows, *array.shape[1:]))
            last = record / _commit_file(count - 1)
            return Store(self.path, group, self.rows, count, digest(last.read_bytes()))

    def _reopen_description(self) -> None:
        """Remove the record of the end."""
        found = _described(self.path).get("attributes")
        own = {} if not isinstance(found, dict) else dict(found)
        for name in _closing(self.commits):
            own.pop(name, None)
        group = {"attributes": {**own, **_attributes(self.header)}}
        text = json.dumps({**group, "zarr_format": 3, "node_type": "group"}, indent=2)
        _write(self.path / "zarr.json", text.encode())

    def require_sound(self) -> None:
        """Refuse a damaged store, naming what of it is intact."""
        if self.damage:
            raise DamageError(
                f"store {str(self.path)!r}",
                sound_rows=self.rows,
                found=self.damage[0],
                advice=f"The first {self.rows} saved states are intact: zw.load(path, "
                "sound_part=True) loads them.",
            )


def _open(path: Path, mode: Any = "r") -> Any:
    import zarr

    return zarr.open_group(path, mode=mode, use_consolidated=False)


def companion(path: str | os.PathLike[str], name: str) -> Path:
    """Where a file of this name lies that goes along with a stored run, such as its model."""
    return Path(path) / _RECORD / name


#: Of a store that has its lock and no header.
_BEGUN = (
    "It was begun, and nothing was saved: the process was killed before that, or is about to. "
    "Nothing can be continued; simulate(…, store=…) with this path begins it anew."
)


def _is_begun(path: Path) -> bool:
    try:
        return is_abandoned(path, path / _RECORD)
    except OSError:
        return False


def read_store(path: str | os.PathLike[str]) -> Stored:
    """Open a stored run and check its hashes; what follows the first damage is omitted."""
    path = _path(path)
    record = path / _RECORD
    try:
        content = (record / HEADER).read_bytes()
    except OSError as error:
        raise StoreError(
            f"store {str(path)!r}",
            must="be a folder written by run.save or simulate(…, store=…)",
            but=f"has no record of a run ({error.strerror})",
            advice=_BEGUN if _is_begun(path) else None,
        ) from error
    try:
        header = json.loads(content)
        version, model = header["format"], header["model"]
        for names in (model["coordinates"], model["velocities"]):
            _ = [*names]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamageError(
            f"store {str(path)!r}, header", but=f"cannot be read ({error})"
        ) from error
    if version != FORMAT:
        raise StoreError(
            f"store {str(path)!r}",
            must=f"have format {FORMAT}",
            but=f"has format {version}",
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
    missing = not damage and _missing(path, commits)
    return Stored(path, header, tuple(commits), (missing,) if missing else tuple(damage))


def _missing(path: Path, commits: Sequence[Mapping[str, Any]]) -> str:
    """Whether the attributes for other tools describe an end that the commits do not reach."""
    try:
        told = _described(path)["attributes"]
        count, finished = int(told.get("commits", 0)), bool(told.get("finished", False))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"its description cannot be read ({type(error).__name__})"
    try:
        count = max(count, int((path / _RECORD / COUNT).read_bytes()[:12]))
    except FileNotFoundError:
        pass  # as in earlier versions, or killed after the first commit
    except (OSError, ValueError) as error:
        return f"the number of its commits cannot be read ({type(error).__name__})"
    if count > len(commits):
        return f"{len(commits)} chunks, and {count} were committed"
    return "the end of the run is missing" if finished and not commits[-1]["finished"] else ""


def _fault(stored: Stored, commit: Mapping[str, Any], previous: str) -> str:
    """What is wrong with a chunk, or nothing."""
    if commit["previous"] != previous:
        return "what comes before it is not what it was written after"
    if "layout" in stored.header and _to_bytes(commit) != sealed(commit):
        return "its commit is not what was written"
    for name in array_names(stored.header):
        try:
            values = stored.read(name, commit["first"], commit["last"])
        except DamageError as error:
            return f"{name} {error.found}"
        if digest(values) != commit["sha256"][name]:
            return f"{name} in rows {commit['first']} to {commit['last']} is not what was written"
    return ""

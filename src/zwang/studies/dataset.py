"""The dataset of a study: a Zarr group that xarray opens, written one task at a time.

    zarr.json                       the group, with plan, model and versions among its attributes
    NAME/zarr.json, NAME/c/K[/0]    a variable; chunk K holds the runs of task K, and is not there
                                    for texts that are all empty
    record/                         plan.json, model.toml, versions.json, lock
    record/done/K.json              task K is complete: sizes and checksums of its chunks
    record/log/                     wall times, which are no part of the results

Every file is written under another name and renamed. A task is complete when its file in `done` is
there, which comes last; what is there of a task that is not complete is written again, the same.
What a killed process leaves under other names is removed when all tasks are complete.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import DamageError, StoreError

__all__ = [
    "UNFINISHED",
    "ArrayLayout",
    "StoredArray",
    "StudyStore",
    "create_store",
    "open_store",
    "writing",
]

RECORD = "record"
FORMAT = 1
#: How the name of a file ends until it is written in full.
UNFINISHED = ".part"


@dataclass(frozen=True)
class ArrayLayout:
    """An array of the dataset.

    Attributes
    ----------
    kind : NumPy's type, ``"str"`` for text.
    dimensions : names and sizes; the first is that of runs, if it is one of them.
    """

    name: str
    kind: str
    dimensions: Mapping[str, int]
    attributes: Mapping[str, Any]

    @property
    def by_run(self) -> bool:
        """Whether it has a value for each run."""
        return "run" in self.dimensions

    @property
    def fill(self) -> Any:
        """What stands where nothing has been written."""
        if self.kind == "str":
            return ""
        if self.name == "status":
            return 255
        return float("nan") if self.kind.endswith(("f8", "f4")) else 0

    @property
    def row_size(self) -> int:
        """Bytes of one run; of text about as many as a sentence has."""
        if self.kind == "str":
            return 8
        return np.dtype(self.kind).itemsize * math.prod(list(self.dimensions.values())[1:])


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report a failed write as a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"study '{path}'",
            but=f"cannot be written: {error.strerror or error}",
            advice="It needs a folder with room and permission to write. Tasks that were completed "
            "are intact: run() again computes what is missing.",
        ) from error


def write_file(path: Path, content: bytes) -> None:
    """A file that is either there in full or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}{UNFINISHED}")
    try:
        part.write_bytes(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def to_json(value: Any) -> bytes:
    """Plain values, the same bytes for the same values."""
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode()


def create_store(
    path: Path,
    layouts: Sequence[ArrayLayout],
    fixed: Mapping[str, np.ndarray],
    header: Mapping[str, Any],
    *,
    shard: int,
    files: Mapping[str, bytes],
) -> StudyStore:
    """A new, empty dataset.

    Parameters
    ----------
    fixed : values of the arrays that have none for each run, such as times.
    header : attributes of the group.
    shard : runs in one task.
    files : name → content of what is kept in the record.
    """
    with writing(path):
        record = path / RECORD
        for folder in (path, record, record / "done", record / "log"):
            folder.mkdir(parents=True, exist_ok=True)
        metadata: dict[str, Any] = {}
        for layout in layouts:
            metadata[layout.name] = _array_metadata(layout, shard)
            chunks = path / layout.name / "c"
            chunks.mkdir(parents=True, exist_ok=True)
            write_file(path / layout.name / "zarr.json", to_json(metadata[layout.name]))
        for name, values in fixed.items():
            write_file(path / name / "c" / "0", np.ascontiguousarray(values, "<f8").tobytes())
        for name, content in files.items():
            write_file(record / name, content)
        group = {
            "zarr_format": 3,
            "node_type": "group",
            "attributes": dict(header),
            "consolidated_metadata": {
                "kind": "inline",
                "must_understand": False,
                "metadata": metadata,
            },
        }
        write_file(path / "zarr.json", to_json(group))  # last: now it is a dataset
    return open_store(path)


def _array_metadata(layout: ArrayLayout, shard: int) -> dict[str, Any]:
    shape = list(layout.dimensions.values())
    chunk = [min(shard, n) if name == "run" else n for name, n in layout.dimensions.items()]
    text, fill = layout.kind == "str", layout.fill
    codec: dict[str, Any] = {"name": "vlen-utf8", "configuration": {}}
    if not text:
        little = (
            {} if np.dtype(layout.kind).itemsize == 1 else {"configuration": {"endian": "little"}}
        )
        codec = {"name": "bytes", **little}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "string" if text else np.dtype(layout.kind).name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN" if isinstance(fill, float) else fill,
        "codecs": [codec],
        "attributes": dict(layout.attributes),
        "dimension_names": list(layout.dimensions),
        "storage_transformers": [],
    }


def open_store(path: Path) -> StudyStore:
    """A dataset that is there.

    Raises
    ------
    StoreError : there is none, or it is none of a study.
    """
    try:
        group = json.loads((path / "zarr.json").read_bytes())
        arrays = group["consolidated_metadata"]["metadata"]
        header = group["attributes"]
        if header["zwang_study"] > FORMAT:
            raise StoreError(f"study '{path}'", but="was written by a later version of Zwang")
        layouts = tuple(
            ArrayLayout(
                name,
                "str" if a["data_type"] == "string" else np.dtype(a["data_type"]).str,
                dict(zip(a["dimension_names"], a["shape"], strict=True)),
                a["attributes"],
            )
            for name, a in arrays.items()
        )
        return StudyStore(path, layouts, header, int(header["runs"]), int(header["shard"]))
    except FileNotFoundError:
        raise StoreError(f"study '{path}'", but="is not there") from None
    except OSError as error:
        raise StoreError(
            f"study '{path}'", but=f"cannot be read: {error.strerror or error}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageError(
            f"study '{path}'", expected="the dataset of a study", but=f"cannot be read ({error!r})"
        ) from None


@dataclass(frozen=True)
class StoredArray:
    """An array of a dataset, without xarray.

    Attributes
    ----------
    dims : names of its dimensions, that of runs first.
    attrs : its unit and description.
    """

    path: Path
    dims: tuple[str, ...]
    attrs: Mapping[str, Any]

    @cached_property
    def values(self) -> np.ndarray:
        """All its numbers; words as objects."""
        import zarr

        found = np.asarray(zarr.open_array(str(self.path), mode="r")[...])
        return found if found.dtype.kind in "fiub" else found.astype(object)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.dims)


@dataclass(frozen=True)
class StudyStore:
    """A dataset on disk.

    Attributes
    ----------
    layouts : its arrays.
    header : attributes of the group: digests of plan and model, versions, counts.
    runs, shard : how many there are, and in one task.
    """

    path: Path
    layouts: tuple[ArrayLayout, ...]
    header: Mapping[str, Any]
    runs: int
    shard: int

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return -(-self.runs // self.shard)

    def span(self, task: int) -> tuple[int, int]:
        """First run of a task, and the first of the next."""
        return task * self.shard, min((task + 1) * self.shard, self.runs)

    @property
    def record(self) -> Path:
        """Where plan, model and completed tasks are."""
        return self.path / RECORD

    def read(self, name: str) -> bytes | None:
        """A file of the record, if there is one."""
        try:
            return (self.record / name).read_bytes()
        except FileNotFoundError:
            return None

    # --- tasks ------------------------------------------------------------------------------------

    def _chunk(self, layout: ArrayLayout, task: int) -> Path:
        tail = ["0"] * (len(layout.dimensions) - 1)
        return self.path.joinpath(layout.name, "c", str(task), *tail)

    def write(self, task: int, values: Mapping[str, Any]) -> None:
        """Write the runs of a task; when this returns, it is complete."""
        rows, marks = min(self.shard, self.runs), {}
        with writing(self.path):
            for layout in self.layouts:
                if not layout.by_run:
                    continue
                content = encoded(layout, values[layout.name], rows)
                marks[layout.name] = [len(content), zlib.crc32(content)]
                place = self._chunk(layout, task)
                if not content:
                    place.unlink(missing_ok=True)
                    continue
                if place.parent.name != "c":
                    place.parent.mkdir(exist_ok=True)
                write_file(place, content)
            write_file(self.record / "done" / f"{task}.json", to_json(marks))

    def missing(self) -> list[int]:
        """Tasks that are not complete: without their file in `done`, or with chunks that lack."""
        try:
            with os.scandir(self.record / "done") as found:
                done = {entry.name for entry in found}
        except FileNotFoundError:
            done = set()
        return [k for k in range(self.tasks) if f"{k}.json" not in done or not self._intact(k)]

    def clear_unfinished(self) -> None:
        """Remove files that were being written when their process was killed."""
        for part in self.path.rglob(f"*{UNFINISHED}"):
            part.unlink(missing_ok=True)

    def _intact(self, task: int) -> bool:
        try:
            marks = json.loads((self.record / "done" / f"{task}.json").read_bytes())
            return all(
                not marks[layout.name][0]
                or self._chunk(layout, task).stat().st_size == marks[layout.name][0]
                for layout in self.layouts
                if layout.by_run
            )
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return False

    def damaged(self) -> list[int]:
        """Complete tasks whose chunks are not what was written."""
        result = []
        for task in set(range(self.tasks)) - set(self.missing()):
            marks = json.loads((self.record / "done" / f"{task}.json").read_bytes())
            for layout in self.layouts:
                if layout.by_run and marks[layout.name][0]:
                    content = self._chunk(layout, task).read_bytes()
                    if zlib.crc32(content) != marks[layout.name][1]:
                        result.append(task)
                        break
        return sorted(result)

    @cached_property
    def arrays(self) -> Mapping[str, StoredArray]:
        """All arrays by name, each read when its values are first asked for."""
        return {
            x.name: StoredArray(self.path / x.name, tuple(x.dimensions), x.attributes)
            for x in self.layouts
        }

    @property
    def size(self) -> int:
        """Bytes that all runs take."""
        return self.runs * sum(layout.row_size for layout in self.layouts if layout.by_run)


def encoded(layout: ArrayLayout, values: Any, rows: int) -> bytes:
    """The values of a chunk as Zarr stores them, filled up to so many rows.

    Nothing for texts that are all empty: what has no chunk is empty.
    """
    missing = rows - len(values)
    if layout.kind == "str":
        return _texts([*values, *[layout.fill] * missing]) if any(values) else b""
    array = np.ascontiguousarray(values, dtype=np.dtype(layout.kind).newbyteorder("<"))
    if missing:
        rest = np.full((missing, *array.shape[1:]), layout.fill, dtype=array.dtype)
        array = np.concatenate([array, rest])
    return array.tobytes()


def _texts(values: Sequence[str]) -> bytes:
    """Texts one after the other, each with its length before it; their number first."""
    head = struct.pack("<I", len(values))
    parts = [str(text).encode() for text in values]
    return head + b"".join(struct.pack("<I", len(part)) + part for part in parts)

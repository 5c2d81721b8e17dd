"""Stores damaged at random: only errors of ours, and never called intact when they are not.

What is intact is told apart from what checks it: whatever anybody can read of the store, by Zarr or
by Zwang, is compared with what was there before.
"""

import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import zarr
from pendulums import EVENTS, START, pendulum

import zwang as zw
from zwang.results.store import Store
from zwang.results.verify import Verdict

SYSTEM = pendulum()
LOCKING = Path(__file__).with_name("locked_stores.py")
MODEL = """
[parameters]
m = 1.0
g = 9.81
L = 1.0
[system]
coordinates = ["x", "y"]
kinetic_energy = "m * (x_dot^2 + y_dot^2) / 2"
potential = "m * g * y"
[constraint.rod]
position = "x^2 + y^2 - L^2"
[start]
hold = { x = -0.8 }
near = { y = -0.6 }
[simulation]
until = 1.0
save = 0.05
"""


def small_chunks(patch):
    for name, value in (("FIRST_STEPS", 8), ("FIRST_ENTRIES", 0), ("GROWTH", 1.0)):
        patch.setattr(f"zwang.integrators.chunk_size.{name}", value)
    patch.setattr("zwang.integrators.chunk_size.SMALLEST_ROWS", 8)
    patch.setattr("zwang.integrators.chunk_size.LARGEST_BUFFER", 32)


def stop_after(commits):
    """A `Store.commit` that dies after so many commits."""
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == commits:
            self._append("time", arguments[0][0])
            raise KeyboardInterrupt
        commit(self, *arguments)

    return dying


class Case:
    """A store as it was written: what can be read of it, and how its run ends."""

    def __init__(self, path, system, events):
        self.path, self.system, self.events = path, system, events
        self.shown = shown(path)
        self.open = not zw.load(path).finished
        copy = path.with_name(f"{path.name}-resumed")
        shutil.copytree(path, copy)
        self.end = ended(zw.resume(copy, system, events=events))
        assert zw.verify(path, system)


def ended(run):
    return tuple(getattr(run, name).tobytes() for name in ("t", "q", "v")) + (run.status,)


def labels_of(path):
    """Files of names, as they are: Zarr may not come to an end with damaged ones."""
    return [(path / name / "c" / "0").read_bytes() for name in ("coordinate", "velocity")]


def shown(path):
    """All that can be read of a store: by other tools, and by ours."""
    arrays = []
    for consolidated in (None, False):
        group = zarr.open_group(path, mode="r", use_consolidated=consolidated)
        names = ("time", "q", "v", "coordinate", "velocity")
        arrays.append({k: group[k][:].tolist() for k in names} | {"attributes": dict(group.attrs)})
        arrays.append({k: group[k].metadata.to_dict().get("dimension_names") for k in names})
    run = zw.load(path)
    ours = ended(run), run.counts, run.notes, run.settings, [e.t for e in run.events]
    record = [f for f in (path / "time" / "record").iterdir() if f.is_file()]
    known = {"header.json", "times.npy", "model.toml", "meshes.json"}
    kept = {f.name: f.read_bytes() for f in record if f.name in known}
    rows = len(run)
    for seen in arrays[::2]:  # rows that were never committed count for nobody
        if not run.finished:
            seen.update({k: seen[k][:rows] for k in ("time", "q", "v")})
    kept["header.json"] = json.loads(kept["header.json"])
    return arrays, ours, kept


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("stores"), []
    with pytest.MonkeyPatch.context() as patch:
        small_chunks(patch)
        SYSTEM.simulate(*START, until=2.0, store=folder / "finished", store_every=0.0)
        found.append(Case(folder / "finished", SYSTEM, None))
        choices = {"until": 2.0, "save": 0.05, "events": EVENTS, "store_every": 0.0}
        SYSTEM.simulate(*START, **choices, store=folder / "events")
        found.append(Case(folder / "events", SYSTEM, EVENTS))
        (folder / "rod.toml").write_text(MODEL)
        model = zw.read_model(folder / "rod.toml")
        model.simulate(store=folder / "model", store_every=0.0)
        found.append(Case(folder / "model", model.system, None))
        SYSTEM.simulate(*START, until=2.0).save(folder / "saved")
        found.append(Case(folder / "saved", SYSTEM, None))
        for count in (2, 3):
            path = folder / f"interrupted-{count}"
            with patch.context() as inner:
                inner.setattr(Store, "commit", stop_after(count))
                with pytest.raises(KeyboardInterrupt):
                    SYSTEM.simulate(*START, until=2.0, save=0.05, store=path, store_every=0.0)
            found.append(Case(path, SYSTEM, None))
        path = folder / "stopped"
        stops = iter([False, True])

        def press(_):
            if next(stops, False):
                signal.raise_signal(signal.SIGINT)

        SYSTEM.simulate(*START, until=2.0, store=path, store_every=0.0, progress=press)
        found.append(Case(path, SYSTEM, None))
        yield found


def files_of(path):
    return sorted(f for f in path.rglob("*") if f.is_file() and f.name != "lock")


def truncated(chance, file):
    content = file.read_bytes()
    file.write_bytes(content[: chance.randrange(len(content))])


def flipped(chance, file):
    content = bytearray(file.read_bytes())
    for _ in range(chance.choice([1, 1, 1, 5])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def deleted(chance, file):
    file.unlink()


def emptied(chance, file):
    file.write_bytes(b"")


def zeroed(chance, file):
    content = bytearray(file.read_bytes())
    first = chance.randrange(len(content))
    last = min(len(content), first + chance.choice([1, 16, 512]))
    content[first:last] = bytes(last - first)
    file.write_bytes(content)


def longer(chance, file):
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.choice([1, 100])))


def a_folder(chance, file):
    file.unlink()
    file.mkdir()


def swapped(chance, file):
    root = next(p for p in file.parents if (p / "zarr.json").exists() and (p / "time").is_dir())
    other = chance.choice(files_of(root))
    one, two = file.read_bytes(), other.read_bytes()
    file.write_bytes(two)
    other.write_bytes(one)


def duplicated(chance, file):
    root = next(p for p in file.parents if (p / "zarr.json").exists() and (p / "time").is_dir())
    if chance.random() < 0.5:
        chance.choice(files_of(root)).write_bytes(file.read_bytes())
        return
    stem, dash, number = file.stem.rpartition("-")
    name = f"{stem}-{int(number) + 1:06d}{file.suffix}" if dash else f"{file.name} (copy)"
    file.with_name(name).write_bytes(file.read_bytes())


def locked_away(chance, file):
    chance.choice([file, file.parent]).chmod(0)


def json_edited(chance, file):
    """One value somewhere in it is another, or not there."""
    if file.suffix != ".json":
        return flipped(chance, file)
    data = json.loads(file.read_bytes())
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = chance.choice(list(keys))
        if not (isinstance(place[key], dict | list) and place[key]) or chance.random() < 0.1:
            break
        place = place[key]
    if chance.random() < 0.25:
        del place[key]
    else:
        values = [None, 0, -1, 10**12, 1e300, "", "x", [], {}, True, [[1]], float("nan")]
        other = [x for x in values if repr(x) != repr(place[key])]
        place[key] = chance.choice(other)
    file.write_text(json.dumps(data))
    return None


DAMAGES = (
    *(truncated, flipped, flipped, flipped, deleted, emptied, zeroed, longer, a_folder),
    *(swapped, duplicated, locked_away, json_edited, json_edited, json_edited),
)


def ours(what, *arguments, **options):
    """What a function gives, or the error of ours that it raises; others come through."""
    try:
        return what(*arguments, **options)
    except zw.ZwangError as error:
        return error


def check(seed, cases, folder):
    """Damage a store and ask everything of it; whether the damage was to be seen at all."""
    chance = random.Random(seed)
    case, damage = chance.choice(cases), chance.choice(DAMAGES)
    path = folder / f"{case.path.name}-{seed}"
    shutil.copytree(case.path, path)
    file = chance.choice([f for f in files_of(path) if f.stat().st_size])
    where = f"seed {seed}: {damage.__name__} {file.relative_to(path)} of {case.path.name}"
    damage(chance, file)
    return check_answers(case, path, where)


def check_answers(case, path, where):
    """Ask everything of a damaged copy, and remove it; whether the damage was to be seen at all."""
    try:
        labels = [labels_of(place) for place in (path, case.path)]
        intact = labels[0] == labels[1] and shown(path) == case.shown
    except Exception:  # noqa: BLE001 - whatever it is, it is not intact
        intact = False
    ours(zw.load, path)
    loaded = ours(zw.load, path, case.system)
    part = ours(zw.load, path, case.system, sound_part=True)
    for run in (loaded, part):
        if not isinstance(run, Exception):
            t = run.t
            assert len(t) == len(run.q) == len(run.v) == len(run), where
    ours(zw.read_model, path)
    outcome = ours(zw.verify, path, case.system)
    honest = not isinstance(outcome, Exception) and outcome.verdict is Verdict.HONEST
    assert intact or not honest, where
    if not isinstance(outcome, Exception):
        assert outcome.verdict is not Verdict.TAMPERED, (where, outcome)
    resumed = ours(zw.resume, path, case.system, events=case.events)
    if not isinstance(resumed, Exception):
        assert ended(resumed) == case.end, where  # made good, or not of importance
    else:
        assert not honest, (where, resumed)
    for place in (path, *path.rglob("*")):
        place.chmod(0o700)
    shutil.rmtree(path)
    return intact


def test_forty_damages_are_told_in_sentences(cases, tmp_path):
    unseen = [check(seed, cases, tmp_path) for seed in range(40)]
    assert sum(unseen) < 12, "most of it damages nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="rights are given up as Linux has it")
def test_what_may_not_be_read_is_told_in_sentences(tmp_path):
    """In a process of its own, since root may read everything."""
    child = subprocess.run(
        [sys.executable, LOCKING, tmp_path], capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    assert int(child.stdout.split()[0]) > 20


@pytest.mark.campaign
def test_a_thousand_damages_are_told_in_sentences(cases, tmp_path):
    unseen = [check(seed, cases, tmp_path) for seed in range(1000, 2000)]
    print(f"1000 damages, {sum(unseen)} of them of nothing that can be read")
    assert sum(unseen) < 300

"""Who runs the tasks makes no difference to a byte; who dies loses nothing."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from tests.studies.study_models import digest, pendulum, pendulum_plan

import zwang as zw
from zwang.studies import engines, task

#: Where workers find the modules of these tests.
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
}


@pytest.fixture(scope="module")
def system():
    return pendulum()


@pytest.fixture(scope="module")
def whole(system, tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "whole.zarr"
    zw.study(system, pendulum_plan(), output=path).run(workers=1, progress=False)
    return digest(path)


def test_threads_and_a_cluster_in_this_process_write_the_same_bytes(system, whole, tmp_path):
    from distributed import Client, LocalCluster

    zw.study(system, pendulum_plan(), output=tmp_path / "a.zarr").run(workers=3, progress=False)
    assert digest(tmp_path / "a.zarr") == whole
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        study = zw.study(system, pendulum_plan(), output=tmp_path / "b.zarr", scheduler=client)
        study.run(progress=False)
    assert digest(tmp_path / "b.zarr") == whole


def test_what_a_killed_process_was_writing_is_removed(system, whole, tmp_path):
    path = tmp_path / "a.zarr"
    path.mkdir()
    (path / "zarr.json.12-ab.part").write_bytes(b"{")  # killed when it made the dataset
    zw.study(system, pendulum_plan(), output=path).run(progress=False)
    assert digest(path) == whole
    task = next((path / "record" / "done").iterdir())
    for place in (path / "status" / "c", task.parent):
        (place / f"{task.stem}.12-ab.part").write_bytes(b"half")
    task.unlink()
    zw.open_study(path, system).run(progress=False)
    assert digest(path) == whole


def test_a_cluster_whose_workers_come_later_is_waited_for_and_told(system, tmp_path, caplog):
    from distributed import Client, LocalCluster

    path = tmp_path / "a.zarr"
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        caplog.at_level("WARNING", logger="zwang.studies"),
    ):
        later = threading.Timer(1.0, cluster.scale, (1,))
        later.start()
        zw.study(system, pendulum_plan(), output=path, scheduler=client).run(progress=False)
        later.join()
    assert "waits for workers" in caplog.text
    assert zw.open_study(path, system).complete


def test_processes_write_the_same_bytes_also_when_one_is_killed(system, whole, tmp_path):
    path = tmp_path / "a.zarr"
    killer = threading.Thread(target=kill_a_child, args=(path,))
    killer.start()
    zw.study(system, pendulum_plan(), output=path, scheduler="processes").run(
        workers=2, progress=False
    )
    killer.join()
    assert digest(path) == whole


def kill_a_child(path: Path) -> None:
    """Kill a process of the pool, once the dataset is there."""
    import multiprocessing

    for _ in range(3000):
        children = multiprocessing.active_children()
        if path.exists() and children:
            time.sleep(0.3)
            children[0].kill()
            return
        time.sleep(0.01)


def test_a_worker_of_another_version_is_refused_by_a_sentence(system, whole, tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"
    study = zw.study(system, pendulum_plan(), output=path)
    store = study.store()
    call = engines.TaskCall(str(path), store.header["digest"], study.subject.payload())
    wanted = {**task.decisive_versions(), "zwang": "0.0.1"}
    report = task.run_task(*call.arguments(0)[:-1], wanted)
    assert "in place of 0.0.1" in report.refusal
    assert store.missing() == [0, 1, 2]
    monkeypatch.setattr(engines, "decisive_versions", lambda: wanted)
    tasks = task.StudyTasks(store, study.subject, study.plan)
    reports = engines._in_threads(tasks, [0], 1)
    assert next(reports).refusal == ""  # threads of this process have its version
    # A study that was begun with other versions is not mixed.
    monkeypatch.setattr("zwang.studies.study.decisive_versions", lambda: wanted)
    with pytest.raises(zw.StoreError, match="begun with other versions"):
        zw.open_study(path, system)


def test_an_address_without_a_scheduler_is_refused(system, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.5)
    study = zw.study(
        system, pendulum_plan(), output=tmp_path / "a.zarr", scheduler="tcp://127.0.0.1:1"
    )
    with pytest.raises(zw.InputError, match="does not answer"):
        study.run(progress=False)


# --- started from the shell, and killed -----------------------------------------------------------


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Shell:
    """A scheduler and workers of Dask as separate processes."""

    def __init__(self, workers: int, *options: str) -> None:
        self.options = options
        self.address = f"tcp://127.0.0.1:{free_port()}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"
        )
        self._await(int(port))
        self.workers = [self.add_worker() for _ in range(workers)]

    def _await(self, port: int) -> None:
        """Wait until the scheduler listens; on a busy machine that takes a while."""
        for _ in range(1200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                return
            assert self.scheduler.poll() is None
            time.sleep(0.1)
        raise AssertionError(f"no scheduler at port {port}")

    def _start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def add_worker(self) -> subprocess.Popen:
        return self._start(
            "worker",
            self.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            *self.options,
        )

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextlib.contextmanager
def shell(workers: int, *options: str):
    found = Shell(workers, *options)
    try:
        yield found
    finally:
        found.close()


@pytest.mark.campaign
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_from_the_shell_write_the_same_bytes(system, whole, tmp_path, workers):
    with shell(workers) as cluster:
        path = tmp_path / "a.zarr"
        study = zw.study(system, pendulum_plan(), output=path, scheduler=cluster.address)
        study.run(progress=False)
        assert digest(path) == whole


LONG = pendulum_plan(4000, until=30.0, shard=200)


@pytest.mark.campaign
def test_twenty_workers_killed_at_random_moments(system, tmp_path):
    reference = tmp_path / "reference.zarr"
    zw.study(system, LONG, output=reference).run(progress=False)
    rng = random.Random(3)
    with shell(2) as cluster:
        for attempt in range(20):
            path = tmp_path / f"{attempt}.zarr"
            study = zw.study(system, LONG, output=path, scheduler=cluster.address)
            stop, delay = threading.Event(), rng.uniform(0.1, 3.0)

            def kill(stop=stop, delay=delay, victim=attempt % 2, path=path):
                while not path.exists() and not stop.is_set():
                    time.sleep(0.01)
                time.sleep(delay)
                cluster.workers[victim].send_signal(signal.SIGKILL)
                cluster.workers[victim].wait()
                cluster.workers[victim] = cluster.add_worker()

            killer = threading.Thread(target=kill)
            killer.start()
            study.run(progress=False)
            stop.set()
            killer.join()
            assert digest(path) == digest(reference), attempt


@pytest.mark.campaign
def test_a_lost_scheduler_is_a_sentence_and_the_rest_is_computed_later(system, tmp_path):
    reference = tmp_path / "reference.zarr"
    zw.study(system, LONG, output=reference).run(progress=False)
    path = tmp_path / "a.zarr"
    with shell(1) as cluster:
        study = zw.study(system, LONG, output=path, scheduler=cluster.address)

        def kill(record):
            if record.done >= 800:
                cluster.scheduler.send_signal(signal.SIGKILL)

        with pytest.raises(zw.StoreError, match="lost its cluster"):
            study.run(progress=kill)
    assert 0 < len(study._opened().missing()) < 20
    zw.study(system, LONG, output=path).run(progress=False)
    assert digest(path) == digest(reference)


@pytest.mark.campaign
@pytest.mark.parametrize("scheduler", ["threads", "processes", "cluster"])
def test_a_lost_client_leaves_what_was_computed(system, tmp_path, scheduler):
    reference = tmp_path / "reference.zarr"
    zw.study(system, LONG, output=reference).run(progress=False)
    path = tmp_path / "a.zarr"
    with contextlib.ExitStack() as stack:
        if scheduler == "cluster":
            scheduler = stack.enter_context(shell(2)).address
        code = (
            "from tests.studies.study_models import *\n"
            "from tests.studies.test_engines import LONG\n"
            f"if __name__ == '__main__':\n"
            f"    s = zw.study(pendulum(), LONG, output={str(path)!r}, scheduler={scheduler!r})\n"
            "    s.run(progress=False)\n"
        )
        (tmp_path / "client.py").write_text(code)
        client = subprocess.Popen([sys.executable, str(tmp_path / "client.py")], env=ENVIRONMENT)
        done = path / "record" / "done"
        while not done.exists() or len(list(done.iterdir())) < 3:
            assert client.poll() is None
            time.sleep(0.005)
        started = psutil.Process(client.pid).children(recursive=True)
        client.send_signal(signal.SIGKILL)
        client.wait()
        assert not psutil.wait_procs(started, timeout=60.0)[1]  # nobody is left behind
        study = zw.open_study(path, system)
        assert not study.complete
        study.run(progress=False)
        assert digest(path) == digest(reference)


#: What a worker of another version does before it begins.
OTHER_VERSION = """
import zwang.results.model_digest as known
known.__version__ = "0.0.9"
"""


@pytest.mark.campaign
def test_a_worker_from_the_shell_with_another_version_is_refused(system, tmp_path):
    (tmp_path / "other_version.py").write_text(OTHER_VERSION)
    with shell(1, "--preload", str(tmp_path / "other_version.py")) as cluster:
        path = tmp_path / "a.zarr"
        study = zw.study(system, pendulum_plan(), output=path, scheduler=cluster.address)
        with pytest.raises(zw.StoreError, match=r"zwang 0\.0\.9 in place of .*Install the same"):
            study.run(progress=False)
        assert study._opened().missing() == [0, 1, 2]


@pytest.mark.campaign
def test_a_file_system_that_is_full(system, tmp_path):
    """A small one in memory, which takes the rights of a superuser to make."""
    reference, place = tmp_path / "reference.zarr", tmp_path / "small"
    zw.study(system, LONG, output=reference).run(progress=False)
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        for scheduler in (None, "processes"):
            path = place / f"{scheduler}.zarr"
            study = zw.study(system, LONG, output=path, scheduler=scheduler)
            filler = place / "filler"
            free = shutil.disk_usage(place).free
            study.store()
            filler.write_bytes(bytes(free // 2))
            with pytest.raises(zw.StoreError, match="No space left"):
                study.run(workers=2, progress=False)
            assert 0 < len(study._opened().missing()) < 20
            filler.unlink()
            subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)
            study.run(workers=2, progress=False)
            assert digest(path) == digest(reference)
            shutil.rmtree(path)
            subprocess.run(["mount", "-o", "remount,size=512k", str(place)], check=True)
    finally:
        subprocess.run(["umount", str(place)], check=True)

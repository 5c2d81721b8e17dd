"""The recipes for clusters, as far as one machine allows: job scripts run, manifests checked."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from benchmarks.cluster_model import Cluster, TaskCost, simulated
from tests.studies.study_models import digest
from tests.studies.test_engines import ENVIRONMENT, free_port

import zwang as zw

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "clusters.md"
PLAN = """
model = "pendulum.toml"
until = 0.2
outputs = ["pin.angle"]
shard = 8

[grid]
"rod.mass" = { from = 1, to = 2, count = 32 }
"""


def manifests() -> dict[str, dict]:
    """Kind and name → what the page has for Kubernetes."""
    text = PAGE.read_text(encoding="utf-8").partition("```yaml\napiVersion")[2].partition("```")[0]
    found = {
        f"{m['kind']} {m['metadata']['name']}": m for m in yaml.safe_load_all("apiVersion" + text)
    }
    assert len(found) == 4
    return found


def containers() -> dict[str, dict]:
    return {
        c["name"]: c
        for m in manifests().values()
        if m["kind"] != "Service"
        for c in m["spec"]["template"]["spec"]["containers"]
    }


def test_manifests_fit_together():
    found = manifests()
    service = found["Service zwang-scheduler"]
    (port,) = service["spec"]["ports"]
    address = f"tcp://{service['metadata']['name']}:{port['port']}"
    for name in ("scheduler", "worker"):
        spec = found[f"Deployment zwang-{name}"]["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    labels = found["Deployment zwang-scheduler"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == labels
    parts = containers()
    assert parts["scheduler"]["ports"][0]["containerPort"] == port["targetPort"]
    assert str(port["targetPort"]) in parts["scheduler"]["args"]
    assert address in parts["worker"]["args"]
    assert address in parts["study"]["args"]
    assert len({c["image"] for c in parts.values()}) == 1
    assert parts["worker"]["volumeMounts"] == parts["study"]["volumeMounts"]


def test_manifests_have_the_fields_of_kubernetes():
    client = pytest.importorskip("kubernetes.client")

    def check(value: object, kind: str, place: str) -> None:
        """Each key is a field of its class, and required fields are there."""
        if kind.startswith("list["):
            assert isinstance(value, list), place
            for k, entry in enumerate(value):
                check(entry, kind[5:-1], f"{place}[{k}]")
        elif kind.startswith("dict("):
            assert isinstance(value, dict), place
        elif hasattr(client, kind):
            fields = getattr(client, kind)
            names = {v: k for k, v in fields.attribute_map.items()}
            assert isinstance(value, dict), place
            for key, inner in value.items():
                assert key in names, f"{place}.{key}"
                check(inner, fields.openapi_types[names[key]], f"{place}.{key}")
            fields(**{names[key]: inner for key, inner in value.items()})  # refuses what lacks
        else:
            wanted = {"str": str, "int": int, "bool": bool}.get(kind, object)
            assert isinstance(value, wanted), f"{place} is {value!r}"

    for name, manifest in manifests().items():
        check(manifest, f"V1{manifest['kind']}", name)


def local(arguments: list[str], folder: Path, port: int) -> list[str]:
    """A command line of a container for this machine."""
    changed = [
        a.replace("zwang-scheduler", "127.0.0.1").replace("8786", str(port)) for a in arguments
    ]
    changed = [a.replace("/data", str(folder)) for a in changed]
    return [sys.executable, "-m", *changed]


def prepared(folder: Path, runs: int = 32) -> str:
    """Plan and model in a folder; the digest of what comes of them."""
    from zwang.model_files.examples import example_path

    shutil.copy(example_path("pendulum"), folder / "pendulum.toml")
    (folder / "PLAN.toml").write_text(PLAN.replace("count = 32", f"count = {runs}"))
    zw.study(None, folder / "PLAN.toml", output=folder / "whole.zarr").run(progress=False)
    return digest(folder / "whole.zarr")


@pytest.mark.campaign
def test_the_command_lines_of_the_manifests_run_on_this_machine(tmp_path):
    whole, port, parts = prepared(tmp_path), free_port(), containers()
    quiet = {"env": ENVIRONMENT, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [
        subprocess.Popen(local(parts[name]["args"], tmp_path, port), **quiet)
        for name in ("scheduler", "worker")
    ]
    command = local(parts["study"]["args"], tmp_path, port)
    try:
        for _ in range(20):  # as Kubernetes does, where the scheduler is not there yet
            if subprocess.run(command, check=False, **quiet).returncode == 0:
                break
            time.sleep(1.0)
        assert digest(tmp_path / "out.zarr") == whole
    finally:
        for process in started:
            process.terminate()
            process.wait()


@pytest.mark.campaign
def test_jobs_of_slurm_itself_are_run_and_cancelled(tmp_path, monkeypatch):
    """Where this machine has one; a job that is cancelled loses the tasks under way alone."""
    jobqueue = pytest.importorskip("dask_jobqueue")
    if (
        not shutil.which("sinfo")
        or b"idle" not in subprocess.run(["sinfo", "-h"], capture_output=True, check=False).stdout
    ):
        pytest.skip("there is no idle node of Slurm")
    from distributed import Client

    whole = prepared(tmp_path, 2000)
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.chdir(tmp_path)
    path, cancelled = tmp_path / "a.zarr", []
    with (
        jobqueue.SLURMCluster(
            cores=1,
            processes=1,
            memory="2GB",
            walltime="00:10:00",
            interface="lo",
            scheduler_options={"dashboard_address": ":0"},
        ) as cluster,
        Client(cluster) as client,
    ):
        cluster.scale(jobs=2)
        client.wait_for_workers(2)

        def cancel(record):
            if record.done >= 200 and not cancelled:
                jobs = subprocess.run(["squeue", "-h", "-o", "%i"], capture_output=True, check=True)
                cancelled.append(jobs.stdout.decode().split()[0])
                subprocess.run(["scancel", cancelled[0]], check=True)

        study = zw.study(None, tmp_path / "PLAN.toml", output=path, scheduler=client)
        study.run(progress=cancel)
    assert cancelled
    assert digest(path) == whole


SBATCH = """#!/bin/sh
echo "$1" > "$(dirname "$0")/asked"
cp "$1" "$(dirname "$0")/script"
setsid bash "$(dirname "$0")/script" > /dev/null 2>&1 &
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
kill -- -$1
"""


@pytest.mark.campaign
def test_jobs_of_slurm_are_run_by_the_recipe(tmp_path, monkeypatch):
    """With an `sbatch` that runs the script of a job at once."""
    jobqueue = pytest.importorskip("dask_jobqueue")
    from distributed import Client

    whole = prepared(tmp_path)
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    options = {"dashboard_address": ":0"}
    with (
        jobqueue.SLURMCluster(
            cores=2,
            processes=2,
            memory="4GB",
            walltime="00:10:00",
            interface="lo",
            scheduler_options=options,
        ) as cluster,
        Client(cluster) as client,
    ):
        assert "--nthreads 1" in cluster.job_script()
        assert "--nworkers 2" in cluster.job_script()
        cluster.scale(jobs=1)
        path = tmp_path / "a.zarr"
        study = zw.study(None, tmp_path / "PLAN.toml", output=path, scheduler=client)
        study.run(progress=False)
    assert digest(path) == whole
    assert "#SBATCH" in (tmp_path / "script").read_text()


def test_a_simulated_scheduler_limits_what_cores_can_do():
    """One that serves 100 tasks a second cannot keep 1000 cores busy with tasks of a second."""
    starved = simulated(Cluster(1000), 20_000, TaskCost(1.0, scheduler=0.01))
    assert starved.busy == pytest.approx(0.1, abs=0.01)
    assert starved.seconds == pytest.approx(200.0, rel=0.02)
    assert starved.limit == "scheduler"
    assert simulated(Cluster(1000), 20_000, TaskCost(20.0, scheduler=0.01)).busy > 0.9
    # Without a scheduler to wait for, and with tasks to spare, all of them work.
    assert simulated(Cluster(100), 20_000, TaskCost(1.0)).busy > 0.99


def test_a_simulated_file_system_limits_what_cores_can_write():
    cluster = Cluster(1000, creates=100.0)
    written = simulated(cluster, 5000, TaskCost(1.0, files=4.0))
    assert written.seconds == pytest.approx(200.0, rel=0.02)
    assert written.limit == "file system"
    moved = simulated(Cluster(100, bandwidth=1e6), 1000, TaskCost(0.1, size=1e5))
    assert moved.seconds == pytest.approx(100.0, rel=0.02)


def test_simulated_cores_that_begin_late_take_tasks_from_others():
    """As many tasks as cores, of which the first ones have been given two."""
    found = simulated(Cluster(100, begins=10.0, scatter=0.0), 100, TaskCost(100.0))
    assert found.seconds < 111.0


def test_simulated_cores_are_lost_and_nothing_with_them():
    """Every task is done in the end, and what lost cores computed was in vain."""
    safe = simulated(Cluster(50), 2000, TaskCost(10.0))
    risky = simulated(Cluster(50, lost_every=0.1), 2000, TaskCost(10.0))
    lost = 50 * risky.seconds / 360.0  # all of them, once in six minutes each
    assert risky.lost_cores == pytest.approx(lost, rel=0.4)
    assert risky.lost_tasks >= risky.lost_cores
    assert 0.0 < risky.wasted < 0.1
    assert risky.seconds > safe.seconds
    useful = risky.busy * risky.seconds * 50
    assert useful == pytest.approx(2000 * 10.0, rel=0.01)
    assert not risky.broken
    hopeless = simulated(Cluster(10, lost_every=1e-3, retries=1), 50, TaskCost(10.0))
    assert hopeless.broken > 0

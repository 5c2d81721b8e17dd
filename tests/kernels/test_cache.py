"""The cache on disk: keys, damage, missing folders, several processes."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import casadi
import numpy as np
import pytest

import zwang.cache
from zwang import kernels
from zwang.kernels import cache as disk


def function(constant: float = 1.5) -> casadi.Function:
    x = casadi.SX.sym("x", 2)
    return casadi.Function("f", [x], [casadi.sin(x[0]) * constant + x[1]])


def compiled_again(expected: float | None = None) -> tuple[int, int]:
    """Compile once more as a new process would; how many compilations and cache hits it took."""
    gc.collect()
    before = kernels.compilations(), kernels.cache_hits()
    kernel = kernels.compile(function())
    assert kernel.compiled
    assert kernel([0.5, 1.0])[0] == pytest.approx(1.0 + 1.5 * np.sin(0.5), rel=1e-15)
    return kernels.compilations() - before[0], kernels.cache_hits() - before[1]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_second_compilation_is_a_read(cache_folder):
    assert compiled_again() == (1, 0)
    assert len(files(cache_folder)) == 1
    assert compiled_again() == (0, 1)


def test_damage_anywhere_in_a_file_is_noticed_and_repaired(cache_folder):
    compiled_again()
    (path,) = files(cache_folder)
    sound = path.read_bytes()
    damaged = [b"", sound[:10], sound[: len(sound) // 2], sound[:-1], sound + b"\0"]
    for position in (0, 20, 50, 60, len(sound) // 2, len(sound) - 1):
        flipped = bytearray(sound)
        flipped[position] ^= 1 << (position % 8)
        damaged.append(bytes(flipped))
    for content in damaged:
        path.write_bytes(content)
        assert compiled_again() == (1, 0)
        assert path.read_bytes() == sound
        assert compiled_again() == (0, 1)


def test_a_folder_in_the_place_of_a_file_is_no_error(cache_folder):
    compiled_again()
    (path,) = files(cache_folder)
    path.unlink()
    path.mkdir()
    assert compiled_again() == (1, 0)


def test_a_folder_that_cannot_be_made_means_no_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert compiled_again() == (1, 0)
    assert compiled_again() == (1, 0)
    zwang.cache.clear()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_without_write_permission_means_no_cache(cache_folder):
    cache_folder.mkdir()
    cache_folder.chmod(0o500)
    assert compiled_again() == (1, 0)
    assert compiled_again() == (1, 0)


def test_a_full_or_read_only_disk_means_no_cache_and_leaves_nothing(cache_folder, monkeypatch):
    def refuse(self, target):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "replace", refuse)
    assert compiled_again() == (1, 0)
    assert files(cache_folder) == []


def test_no_home_means_no_cache(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("ZWANG_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert zwang.cache.folder() is None
    assert compiled_again() == (1, 0)
    zwang.cache.clear()


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/zwang"),
        ("linux", {"XDG_CACHE_HOME": "/elsewhere"}, "/elsewhere/zwang"),
        ("darwin", {}, "home/Library/Caches/zwang"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/zwang/Cache"),
        ("linux", {"ZWANG_CACHE_DIR": "/chosen"}, "/chosen"),
    ],
)
def test_the_folder_is_the_platforms_unless_chosen(monkeypatch, platform, variables, expected):
    for name in ("ZWANG_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    monkeypatch.setattr(disk.sys, "platform", platform)
    assert zwang.cache.folder() == Path(expected)


def test_clearing_deletes_compiled_code_and_nothing_else(cache_folder):
    compiled_again()
    mine = cache_folder / "thesis.txt"
    mine.write_text("do not delete")
    zwang.cache.clear()
    assert files(cache_folder) == [mine]
    assert compiled_again() == (1, 0)


def test_the_key_depends_on_processor_versions_sources_and_lanes(cache_folder, monkeypatch):
    from dataclasses import replace

    from zwang.kernels import llvm

    host = llvm.host()
    assert host.cpu in host.identity
    assert host.features in host.identity
    assert "llvmlite" in host.identity
    compiled_again()
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "host", lambda: replace(host, identity=host.identity + " other"))
        assert compiled_again() == (1, 0)
    with monkeypatch.context() as patch:
        patch.setattr(disk, "source_digest", lambda root: "edited")
        assert compiled_again() == (1, 0)
    kernels.compile(function(), lanes=4)
    assert len(files(cache_folder)) == 4
    assert compiled_again() == (0, 1)


def test_the_source_digest_sees_an_edit_in_any_file(tmp_path):
    digests = set()
    for round_, text in enumerate(("x = 1", "x = 2")):
        root = tmp_path / str(round_)
        (root / "deep").mkdir(parents=True)
        (root / "a.py").write_text("import deep.b")
        (root / "deep" / "b.py").write_text(text)
        digests.add(disk.source_digest(root))
    assert len(digests) == 2


def test_four_processes_at_once_write_one_sound_cache(cache_folder):
    script = """
        import casadi
        from zwang import kernels
        x = casadi.SX.sym("x", 2)
        for k in range(12):
            f = casadi.Function("f", [x], [casadi.sin(x[0]) * (k + 0.5) + casadi.exp(x[1])])
            kernel = kernels.compile(f)
            assert kernel.compiled
            assert abs(kernel([0.3, 0.4])[0][0] - float(f([0.3, 0.4]))) < 1e-14
        print(kernels.compilations() + kernels.cache_hits())
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert output.strip() == "12"
    written = files(cache_folder)
    assert len(written) == 12  # no temporary file is left
    assert all(disk.load(disk.KERNELS, path.name) is not None for path in written)

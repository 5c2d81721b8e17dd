"""The cache on disk: keys, damage, missing folders, several processes."""

from __future__ import annotations

import gc
import logging
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import casadi
import numpy as np
import pytest

import zwang
from zwang import codegen
from zwang.codegen import cache as disk
from zwang.errors import InputError

KEY = "zwang-cache.key"


def function(constant: float = 1.5) -> casadi.Function:
    x = casadi.SX.sym("x", 2)
    return casadi.Function("f", [x], [casadi.sin(x[0]) * constant + x[1]])


def compiled_again(expected: float | None = None) -> tuple[int, int]:
    """Compile once more as a new process would; how many compilations and cache hits it took."""
    gc.collect()
    before = codegen.compilations(), codegen.cache_hits()
    kernel = codegen.compile(function())
    assert kernel.compiled
    assert kernel([0.5, 1.0])[0] == pytest.approx(1.0 + 1.5 * np.sin(0.5), rel=1e-15)
    return codegen.compilations() - before[0], codegen.cache_hits() - before[1]


def files(folder: Path) -> list[Path]:
    """Of kernels; loops of the compiler itself are there too, where a process needed them first."""
    return sorted(path for path in (folder / disk.KERNELS).rglob("*") if path.is_file())


def anything(payload: bytes) -> bool:
    return True


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
    assert list(cache_folder.rglob("*")) == [mine]
    assert compiled_again() == (1, 0)


def test_the_key_depends_on_processor_versions_sources_and_lanes(cache_folder, monkeypatch):
    from dataclasses import replace

    from zwang.codegen import llvm

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
    codegen.compile(function(), lanes=4)
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
        from zwang import codegen
        x = casadi.SX.sym("x", 2)
        for k in range(12):
            f = casadi.Function("f", [x], [casadi.sin(x[0]) * (k + 0.5) + casadi.exp(x[1])])
            kernel = codegen.compile(f)
            assert kernel.compiled
            assert abs(kernel([0.3, 0.4])[0][0] - float(f([0.3, 0.4]))) < 1e-14
        print(codegen.compilations() + codegen.cache_hits())
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
    assert all(disk.load(disk.KERNELS, path.name, anything) is not None for path in written)


posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners and modes as in POSIX")


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_folders_and_files_are_for_the_user_alone_whatever_the_umask(tmp_path, monkeypatch, mask):
    base = tmp_path / "deep" / "cache"
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(base))
    before = os.umask(mask)
    try:
        compiled_again()
    finally:
        os.umask(before)
    for path in (base.parent, base, *base.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert compiled_again() == (0, 1)


def told(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]


@posix
@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("level", range(5))
def test_what_others_may_write_to_is_not_run(cache_folder, monkeypatch, caplog, level, mode):
    monkeypatch.setattr(disk, "_told", set())
    compiled_again()
    (path,) = files(cache_folder)
    places = (cache_folder, path.parent.parent, path.parent, path, cache_folder / KEY)
    place = places[level]
    place.chmod(stat.S_IMODE(place.stat().st_mode) | mode)
    with caplog.at_level(logging.WARNING, logger="zwang"):
        assert compiled_again() == (1, 0)
    (message,) = told(caplog)
    assert str(place) in message
    assert "others may write to it" in message


@posix
@pytest.mark.parametrize("level", range(5))
def test_what_belongs_to_somebody_else_is_not_run(cache_folder, monkeypatch, caplog, level):
    monkeypatch.setattr(disk, "_told", set())
    compiled_again()
    (path,) = files(cache_folder)
    place = (cache_folder, path.parent.parent, path.parent, path, cache_folder / KEY)[level]
    real, foreign = disk._own, place.stat().st_ino

    def own(facts):
        if facts.st_ino == foreign:
            facts = os.stat_result((*facts[:4], os.geteuid() + 1, *facts[5:]))
        return real(facts)

    monkeypatch.setattr(disk, "_own", own)
    with caplog.at_level(logging.WARNING, logger="zwang"):
        assert compiled_again() == (1, 0)
    (message,) = told(caplog)
    assert "belongs to another user" in message


def test_a_file_with_a_digest_without_the_key_is_not_run(cache_folder):
    """Whoever can put a file there but not read the key cannot have it run."""
    import hashlib

    compiled_again()
    (path,) = files(cache_folder)
    payload = path.read_bytes()[-500:]
    name = f"kernels {path.name}\n".encode()
    for digest in (
        hashlib.sha256(payload).digest(),
        hashlib.blake2b(name + payload, digest_size=32).digest(),
        hashlib.blake2b(name + payload, key=bytes(32), digest_size=32).digest(),
    ):
        path.write_bytes(b"zwang cache 2\n" + digest + payload)
        assert disk.load(disk.KERNELS, path.name, anything) is None


def test_a_sound_file_under_another_name_is_not_run(cache_folder):
    compiled_again()
    (path,) = files(cache_folder)
    other = path.with_name(path.name[:-1] + ("0" if path.name[-1] != "0" else "1"))
    path.rename(other)
    assert disk.load(disk.KERNELS, other.name, anything) is None


@pytest.mark.parametrize(
    "wrong", [b"", b"no code", bytes(300), b"\x7fELF\x02\x01" + bytes(10), "shifted", "short"]
)
def test_what_is_no_object_code_never_reaches_llvm(cache_folder, wrong):
    """LLVM ends the process where a file is not framed as it expects, the key right or not."""
    compiled_again()
    (path,) = files(cache_folder)
    payload = disk.load(disk.KERNELS, path.name, anything)
    content = {"shifted": payload[8:], "short": payload[:-200]}.get(wrong, wrong)
    assert disk.save(disk.KERNELS, path.name, content)
    assert compiled_again() == (1, 0)
    assert compiled_again() == (0, 1)


def test_bytes_that_are_no_object_code_are_refused_before_llvm_sees_them():
    from zwang.codegen import llvm

    for wrong in (b"", b"MZ" * 100, b"\x7fELF\x02\x01" + bytes(100)):
        with pytest.raises(RuntimeError, match="no object code"):
            llvm.load(wrong)


@pytest.mark.parametrize("wrong", [b"", b"short", bytes(100)])
def test_a_damaged_key_is_replaced(cache_folder, wrong):
    compiled_again()
    (cache_folder / KEY).write_bytes(wrong)
    assert compiled_again() == (1, 0)
    assert compiled_again() == (0, 1)


def test_what_was_not_used_for_longest_goes_when_the_cache_is_full(cache_folder, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_SIZE", "0.1")  # 100,000 bytes
    keys = [f"{k:02d}{'0' * 62}" for k in range(12)]
    for k, key in enumerate(keys[:9]):
        assert disk.save(disk.KERNELS, key, bytes(10_000))
        path = cache_folder / "kernels" / key[:2] / key
        os.utime(path, (1e9 + k, 1e9 + k))  # long ago, one after the other
    assert disk.load(disk.KERNELS, keys[0], anything) is not None  # and so is not the oldest
    for key in keys[9:]:
        assert disk.save(disk.KERNELS, key, bytes(10_000))
    left = {path.name for path in files(cache_folder)}
    assert keys[0] in left
    assert keys[1] not in left
    assert {*keys[9:]} <= left
    assert sum(path.stat().st_size for path in files(cache_folder)) <= 100_000


def test_files_of_processes_that_died_are_deleted(cache_folder, monkeypatch):
    compiled_again()
    (path,) = files(cache_folder)
    dead, alive = path.with_name("dead.part"), path.with_name("alive.part")
    for part in (dead, alive):
        part.write_bytes(b"half")
    os.utime(dead, (1e9, 1e9))
    monkeypatch.setattr(disk, "_saved_since_look", [float("inf")])
    disk.save(disk.KERNELS, "f" * 64, b"x")
    assert not dead.exists()
    assert alive.exists()


def test_no_room_means_no_cache(cache_folder, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_SIZE", "0")
    assert compiled_again() == (1, 0)
    assert compiled_again() == (1, 0)
    assert not cache_folder.exists()


@pytest.mark.parametrize("wrong", ["-1", "plenty", "nan"])
def test_a_size_that_is_none_is_refused(cache_folder, monkeypatch, wrong):
    monkeypatch.setenv("ZWANG_CACHE_SIZE", wrong)
    with pytest.raises(InputError, match=f"ZWANG_CACHE_SIZE must be .*, not '{wrong}'"):
        codegen.compile(function())

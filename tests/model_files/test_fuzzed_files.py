"""Model files with random damage: read, or refused by a `ZwangError`; never a crash, never code."""

import random
import sys
from pathlib import Path
from time import thread_time

import pytest
from test_mistakes_in_files import MECHANISM, SYSTEM

import zwang as zw
from zwang.model_files.examples import example_names, example_path
from zwang.model_files.read import model_of
from zwang.model_files.starter import starter
from zwang.model_files.units import quantity

#: CPU seconds that reading one file may take. Sound ones take some milliseconds.
LONGEST = 1.0

WEDGE = Path(__file__).with_name("wedge.obj").as_posix()
MESH = f'mesh = {{ file = "{WEDGE}", scale = "1 mm", position = [0, 0, 0] }}\n[body.block]'

SEEDS = [
    MECHANISM.replace("[body.block]", MESH),
    SYSTEM,
    starter("a"),
    starter("b", "system"),
    *(example_path(name).read_text(encoding="utf-8") for name in example_names()),
]

#: What is put in place of something else: extreme numbers, code, names of other things.
FOREIGN = [
    "nan",
    "inf",
    "-inf",
    "0",
    "-1",
    "1e308",
    "1e-320",
    "9" * 400,
    "0x10",
    "true",
    "[]",
    "{}",
    '""',
    "\"__import__('os').system('touch owned')\"",
    '"exec(1)"',
    '"().__class__.__bases__[0]"',
    '"9^9^9^9^9"',
    '"1/0"',
    '"x.__dict__"',
    '"rod.__class__"',
    '"' + "(" * 300 + '"',
    '"' + "-" * 3000 + '1"',
    '"' + "sin(" * 60 + "t" + ")" * 60 + '"',
    '"' + "1+" * 5000 + '1"',
    '"' + "t^" * 500 + 't"',
    '"{t}"',
    '"%s%n"',
    '"\\u0000"',
    '"é"',
    '"t t"',
    "[[[[[[0]]]]]]",
    "1979-05-27",
    '"12 mm"',
    '"3 kg*m^2/s^9"',
    '"1 ' + "m*" * 30 + 'm"',
    '"ground"',
    '"pin.angle"',
    '["ground"]',
    "[" * 2000,
    '"where(t, 1)"',
    '"[1, [2, 3]]"',
    '"t[0]"',
    '"q[99999999999]"',
    '"dot(q, 1)"',
    "'''",
    '"""',
    "\x00",
    "\r",
    "﻿",
    "{ a = 1, a = 2 }",
    '"point(rod, 1)"',
    '"diag()"',
    '"/dev/zero"',
    '{ file = "/proc/self/mem.stl" }',
    f'"{WEDGE}"',
]


def mutated(rng, text):
    """A file with one to four random changes."""
    for _ in range(rng.randint(1, 4)):
        lines = text.split("\n")
        kind, at = rng.randrange(9), rng.randrange(len(lines))
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif kind == 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind in (3, 4) and "=" in lines[at]:
            lines[at] = f"{lines[at].partition('=')[0]}= {rng.choice(FOREIGN)}"
        elif kind == 5 and "=" in lines[at]:
            key = rng.choice(SEEDS).split("\n")[rng.randrange(8)].partition("=")[0]
            lines[at] = f"{key}={lines[at].partition('=')[2]}"
        text = "\n".join(lines)
        if kind in (6, 7, 8) and text:
            at = rng.randrange(len(text))
            put = rng.choice(
                ["", "", '"', "[", "]", "{", "}", "=", ".", ",", "#", "-", "*", "(", "\n"]
            )
            put = rng.choice([put, chr(rng.randrange(32, 127)), rng.choice(FOREIGN)])
            text = text[:at] + put + text[at + rng.randrange(3) :]
    return text


class _Watch:
    """Notes when Python code is run, a process is started, or a file is opened for writing."""

    FORBIDDEN = (
        "exec",
        "compile",
        "os.system",
        "subprocess.Popen",
        "socket.connect",
        "os.remove",
        "os.mkdir",
        "os.rename",
        "ctypes.dlopen",
    )

    def __init__(self):
        self.on, self.seen = False, []

    def __call__(self, event, arguments):
        if not self.on:
            return
        writes = (
            event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        )
        if event in self.FORBIDDEN or writes:
            self.seen.append((event, str(arguments)[:200]))


WATCH = _Watch()
sys.addaudithook(WATCH)


def read(text, *, freeze):
    """Whether a file is sound."""
    try:
        model = model_of(text, "fuzzed.toml")
        if freeze:
            _ = model.system
    except zw.ZwangError:
        return False
    return True


def fuzz(count, seed, *, freeze_every, limit=None):
    for text in SEEDS:  # everything that loads late is loaded, all units of the files are known
        assert read(text, freeze=True)
    assert quantity("1 furlong", "m") > 0.0  # units of these files are known without pint
    rng, sound, frozen = random.Random(seed), 0, 0
    for k in range(count):
        text = mutated(rng, rng.choice(SEEDS))
        WATCH.on, began = True, thread_time()
        try:
            sound += read(text, freeze=k % freeze_every == 0)
        except Exception as error:
            message = f"{type(error).__name__}: {error} for the file\n{text}"
            raise AssertionError(message) from error
        finally:
            WATCH.on = False
        assert limit is None or thread_time() - began < limit, text
        assert not WATCH.seen, (WATCH.seen, text)
        frozen += k % freeze_every == 0
    return sound


def test_damaged_files_are_read_or_refused():
    # Some damage does no harm: a comment, the order of lines.
    assert 0 < fuzz(300, 1, freeze_every=20) < 300


@pytest.mark.campaign
def test_twenty_thousand_damaged_files_are_read_or_refused():
    assert 0 < fuzz(20_000, 2, freeze_every=25, limit=LONGEST) < 20_000

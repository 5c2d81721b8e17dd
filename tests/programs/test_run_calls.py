"""Call lists: the player for all patterns, the one for their own, and Python give the same bits."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from compiling import needs_compiler
from zwang.codegen import background
from zwang.codegen.expression import Port
from zwang.programs.blocks.call_list import OUT, CallList, P, Q, V, place
from zwang.programs.blocks.run_calls import MOST_ARGUMENTS, CallListKernel

LONG = 300.0  # seconds, on any machine
PORTS = (Port("q", 4), Port("v", 4), Port("t", 1), Port("p", 4)), (Port("a", 4), Port("b", 4))


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ZWANG_BACKGROUND", "on")
    monkeypatch.setattr(background, "_work", background._BackgroundWork([]))
    yield
    background._work.leave()


def kernel(arguments: int = 3) -> CallListKernel:
    """b = sin(a) with a = q + v p …, entry by entry, through the work array."""
    x = [casadi.SX.sym(f"x{k}") for k in range(arguments)]
    first = casadi.Function("first", x, [x[0] + x[1] * sum(x[2:])])
    second = casadi.Function("second", x[:1], [casadi.sin(x[0])])
    tape = CallList(1)
    for k in range(4):
        between = tape.work.new(1)
        more = [place(P, (k + i) % 4) for i in range(arguments - 2)]
        tape.call(first, place(Q, k), place(V, k), *more, between)
        tape.call(second, between, place(OUT + 1, k))
        tape.call(second, place(Q, k), place(OUT, 3 - k))
    return CallListKernel("list", *PORTS, 1, tape.stream())


@pytest.mark.parametrize("arguments", [3, MOST_ARGUMENTS + 3])
def test_all_players_give_the_same_bits(empty_cache, monkeypatch, arguments):
    rng = np.random.default_rng(0)
    q, v, p = rng.normal(size=(3, 4))
    given = q, v, np.zeros(1), p

    def bits(played: CallListKernel) -> list[bytes]:
        return [x.tobytes() for x in played(*given)]

    own = kernel(arguments)
    interpreted = bits(own)
    expected = np.sin(q + v * sum(np.roll(p, -i) for i in range(arguments - 2)))
    np.testing.assert_allclose(np.frombuffer(interpreted[1]), expected, rtol=1e-12)
    np.testing.assert_array_equal(np.frombuffer(interpreted[0]), np.sin(q)[::-1])
    assert background.finish(LONG)
    assert bits(own) == interpreted
    monkeypatch.setenv("ZWANG_BACKGROUND", "off")
    assert bits(kernel(arguments)) == interpreted
    monkeypatch.setenv("ZWANG_LLVM", "off")
    assert not kernel(arguments).compiled
    np.testing.assert_allclose(np.frombuffer(bits(kernel(arguments))[1]), expected, rtol=1e-12)


@needs_compiler
def test_a_list_whose_calls_are_short_is_played_without_compiling(empty_cache):
    short, long = kernel(), kernel(MOST_ARGUMENTS + 3)
    waiting = [code() for code, _ in background._work.waiting]
    assert short._tape in waiting
    assert long._tape not in waiting

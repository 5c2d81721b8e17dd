"""`verify`, `certify` and error estimates notice a program that is wrong, without the guard."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import zwang as zw
from compiling import without_llvm
from zwang import library
from zwang.coordinates import folded
from zwang.programs.factor import ProgramExpressions
from zwang.programs.whole import fuse
from zwang.results.verify import Verdict
from zwang.simulation import guard


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run in the plane of a four-bar that hangs still: no force acts in its program.

    So a Sarrus linkage stood still in joint coordinates. In absolute coordinates all is right, and
    the guard of simulations is asleep.
    """

    def without_force(e: ProgramExpressions, **choices: Any) -> Any:
        wrong = choices.get("carrier") is not None
        return fuse(replace(e, force=0.0 * e.force) if wrong else e, **choices)

    monkeypatch.setattr(folded, "fuse", without_force)
    linkage = library.four_bar(planar=False)
    with monkeypatch.context() as asleep:
        asleep.setattr(guard.Guard, "wanted", lambda *_: 0)
        run = linkage.simulate(until=0.3, save=0.05, coordinates="planar")
    assert run.finished
    assert np.abs(run.q - run.q[0]).max() < 1e-9
    assert np.abs(run.energy - run.energy[0]).max() < 1e-9
    return linkage, run


def test_an_error_estimate_goes_another_way(frozen: Any) -> None:
    _, run = frozen
    assert run.error_estimate().worst > 1e-2


def test_a_certificate_of_a_run_looks_at_its_motion(frozen: Any) -> None:
    _, run = frozen
    certificate = run.certify()
    assert certificate.motion > 0.5
    assert "does not follow these accelerations" in str(certificate)


def test_verify_goes_another_way(frozen: Any, tmp_path: Any) -> None:
    linkage, run = frozen
    run.save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", linkage)
    assert outcome.verdict is Verdict.NO_MOTION
    assert re.search(
        r"its program is not right: .*, and so at \d+ more of the states looked at", str(outcome)
    )
    assert "the motion does not lead to the state saved at 0.05 s" in str(outcome)


def test_a_right_run_is_certified_to_follow_its_accelerations() -> None:
    run = library.four_bar(planar=False).simulate(until=0.3, save=0.05, certify=True)
    assert run.certificate.motion < 1e-4
    assert "formulations agree" in without_llvm(run.notes)[-1]

"""A store of which one file or folder after the other may not be read: a program of the tests.

Root may read whatever its mode says, and so do its threads, which is why this process gives that
right up and starts itself anew.
"""

import ctypes
import os
import shutil
import sys
from pathlib import Path

import pytest

#: Of Linux: give up a right for good, and the rights to read whatever the mode (linux/prctl.h,
#: linux/capability.h).
GIVE_UP, RIGHTS = 24, (1, 2)


def without_rights() -> None:
    """Go on in a process that modes of files hold for."""
    if os.geteuid() or "started anew" in sys.argv:
        return
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for right in RIGHTS:
        if prctl(GIVE_UP, right, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "this right cannot be given up")
    os.execv(sys.executable, [sys.executable, *sys.argv, "started anew"])


def main(folder: Path) -> None:
    """Lock, ask everything, and say of how many places."""
    from test_damaged_stores import MODEL, Case, check_answers, files_of, small_chunks

    import zwang as zw

    with pytest.MonkeyPatch.context() as patch:
        small_chunks(patch)
        (folder / "rod.toml").write_text(MODEL)
        model = zw.read_model(folder / "rod.toml")
        model.simulate(store=folder / "whole", store_every=0.0)
    case = Case(folder / "whole", model.system, None)
    files = files_of(case.path)
    folders = {folder for file in files for folder in file.parents if case.path in folder.parents}
    places = [place.relative_to(case.path) for place in (case.path, *sorted(folders), *files)]
    for k, place in enumerate(places):
        path = folder / f"locked-{k}"
        shutil.copytree(case.path, path)
        (path / place).chmod(0)
        try:
            (path / place).open("rb").close()
        except PermissionError:
            check_answers(case, path, f"{place} locked")
        else:
            message = f"{place} can be read still"
            raise RuntimeError(message)
    print(f"{len(places)} places")


if __name__ == "__main__":
    without_rights()
    main(Path(sys.argv[1]))

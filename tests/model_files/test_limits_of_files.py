"""Small files that ask for much, and paths that are none: refused in a sentence."""

import resource
import subprocess
import sys
import textwrap

import pytest

import zwang as zw
from zwang.model_files.expressions import MOST_NUMBERS
from zwang.model_files.read import model_of

SYSTEM = """
[define]
{definitions}
[system]
coordinates = ["x", "y"]
mass = [1, 1]
force = [{force}, 0]
"""


def read(definitions: dict[str, str], force: str):
    lines = "\n".join(f'{name} = "{text}"' for name, text in definitions.items())
    return model_of(SYSTEM.format(definitions=lines, force=f'"{force}"'), "a.toml").system


def lists(count: int, width: int, last: str = "x"):
    """Lists of lists, each of so many of the one before."""
    found = {"d0": f"[{', '.join([last] * width)}]"}
    for k in range(1, count):
        found[f"d{k}"] = f"[{', '.join([f'd{k - 1}'] * width)}]"
    return found


@pytest.mark.parametrize("width", [2, 10, 40])
def test_lists_of_lists_that_grow_without_end_are_refused(width):
    count = 40 if width == 2 else 8
    text = lists(count, width)
    assert sum(map(len, text.values())) < 20_000
    with pytest.raises(zw.ModelError, match=rf"more than {MOST_NUMBERS} numbers|unlike|dimension"):
        read(text, f"d{count - 1}" + "[0]" * 3)


def test_a_small_file_needs_little_memory_to_be_refused():
    """In a process that may have 2 GB; it asked for all there was."""
    source = f"""
        import resource
        resource.setrlimit(resource.RLIMIT_AS, ({4 * 10**9}, {4 * 10**9}))
        import sys
        sys.path.insert(0, {str(__file__.rpartition("/")[0])!r})
        import zwang as zw
        from test_limits_of_files import lists, read
        try:
            read(lists(8, 10), "d7[0][0]")
        except zw.ModelError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(source)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "numbers to compute" in found.stdout, found.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2e6  # kilobytes


@pytest.mark.parametrize(
    "force",
    [
        "sum(dot(diag(v), diag(v))[0])",
        "sum(diag(diag(v)[0])[0])",
        "dot(dot(diag(v), diag(v)), v)[0]",
    ],
)
def test_products_of_large_matrices_are_refused(force):
    text = {"v": f"[{', '.join(['x'] * 400)}]"}
    with pytest.raises(zw.ModelError, match="numbers to compute"):
        read(text, force)


def test_a_mass_matrix_of_some_hundred_rows_is_read():
    names = [f"x{k}" for k in range(60)]
    text = f"[system]\ncoordinates = {names!r}\nmass = [{', '.join(['1'] * 60)}]\n"
    text += "force = [" + ", ".join(f'"-x{k}"' for k in range(60)) + "]\n"
    assert len(model_of(text, "a.toml").system.coordinates) == 60


@pytest.mark.parametrize(
    "force", ["x" + "[0]" * 12_000, "x" + "[0]" * 5, "[[[[[x]]]]]" + "[0]" * 5]
)
def test_entries_of_entries_without_end_are_refused(force):
    with pytest.raises(zw.ModelError, match="more than 4 deep"):
        read({"d": "1"}, force)


def test_an_empty_list_of_shapes_is_refused():
    text = "[mechanism]\n[body.rod]\nmass = 1\nshape = []\n"
    with pytest.raises(zw.ModelError, match="empty list; expected one shape or several"):
        model_of(text, "a.toml")


WRONG_PATHS = [None, 3.5, "a\0b", b"a\0b", ["a"]]


@pytest.mark.parametrize("path", WRONG_PATHS)
@pytest.mark.parametrize("what", ["read", "load", "resume", "verify", "write", "store", "save"])
def test_what_is_no_path_is_refused(what, path):
    system = zw.System(coordinates=["x"], mass=[[1.0]])
    run = system.simulate([0.0], until=0.1)
    calls = {
        "read": lambda: zw.read_model(path),
        "load": lambda: zw.load(path),
        "resume": lambda: zw.resume(path, system),
        "verify": lambda: zw.verify(path, system),
        "write": lambda: zw.write_model(zw.read_model(zw_example()), path),
        "store": lambda: system.simulate([0.0], until=0.1, store=path),
        "save": lambda: run.save(path),
    }
    if what == "store" and path is None:
        return  # no store
    with pytest.raises(zw.InputError, match="expected the path of a"):
        calls[what]()


def test_a_name_that_no_system_takes_is_told_in_a_sentence():
    """As of a place that may not be looked at, asking whether it is a folder fails already."""
    with pytest.raises(zw.ModelError, match="expected a model file that can be read"):
        zw.read_model("x" * 300)
    with pytest.raises(zw.StoreError):
        zw.load("x" * 300)


def zw_example():
    from zwang.model_files.examples import example_path

    return example_path("pendulum")


def test_a_mesh_with_an_empty_byte_in_its_name_is_refused():
    text = '[mechanism]\n[body.rod]\nmass = 1\nmesh = "a\\u0000b.stl"\n'
    with pytest.raises(zw.ModelError, match="expected the path of a file"):
        model_of(text, "a.toml")

"""A misspelt keyword of any public call is refused in a sentence with the right names."""

import inspect

import numpy as np
import pytest

import zwang as zw
from zwang.arguments.keywords import known_keywords
from zwang.errors import UnknownNameError

#: Below the checks of arguments, or results that nobody makes by hand.
WITHOUT = ("EquationTerms", "State", "Tolerances", "join")


def public_calls():
    """Label and function of all that users call: functions, constructors and methods."""
    for name in zw.__all__:
        found = getattr(zw, name)
        if name in WITHOUT or (inspect.isclass(found) and issubclass(found, BaseException)):
            continue
        if inspect.isfunction(found):
            yield name, found
        if not inspect.isclass(found):
            continue
        if name in ("Mechanism", "System"):
            yield name, found
        for method in dir(found):
            raw = inspect.getattr_static(found, method)
            function = getattr(raw, "__func__", raw)
            if not method.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{method}", function
    for name in zw.inertia.__all__:
        if inspect.isfunction(getattr(zw.inertia, name)):
            yield f"inertia.{name}", getattr(zw.inertia, name)


def takes_any(function):
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


CALLS = {label: f for label, f in public_calls() if not takes_any(f) and label != "Model.telling"}


def needed(function):
    """Nothing for each argument without a default."""
    by_place, by_name = [], {}
    for p in inspect.signature(function).parameters.values():
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL:
            if p.kind is p.KEYWORD_ONLY:
                by_name[p.name] = None
            else:
                by_place.append(None)
    return by_place, by_name


@pytest.mark.parametrize("label", CALLS)
def test_a_misspelt_keyword_is_refused_with_the_names(label):
    by_place, by_name = needed(CALLS[label])
    with pytest.raises(UnknownNameError, match="'misspelt_keyword'"):
        CALLS[label](*by_place, **by_name, misspelt_keyword=1)


def test_there_are_many_calls():
    assert len(CALLS) > 150


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: zw.System.from_lagrangian(["x"], T=lambda v: v[0] ** 2, force=lambda: [0.0]),
            "Did you mean 'forces'?",
        ),
        (lambda: zw.System(["x"], mass=lambda: [[1.0]], forces=lambda: [0.0]), "mean 'force'?"),
        (lambda: zw.Mechanism(gravty=(0, 0, -9.81)), "argument of Mechanism must .* 'gravity'?"),
        (lambda: zw.Mechanism().assemble(q=[0.0]), "hold="),
        (lambda: zw.System(["x"], mass=lambda: [[1.0]]).assemble(q=[0.0]), "start="),
        (lambda: zw.inertia.rod(1.0, lengths=2.0), "Did you mean 'length'?"),
    ],
)
def test_near_misses_lead_to_the_right_name(call, said):
    with pytest.raises(zw.InputError, match=said):
        call()


def test_errors_of_a_function_itself_are_not_hidden():
    @known_keywords()
    def add(x, y):
        return x + y

    with pytest.raises(TypeError, match="unsupported operand"):
        add(1, "1")


def test_a_method_that_takes_any_keyword_blames_none():
    class Door(zw.Mechanism):
        def __init__(self, width):
            super().__init__()
            self.parameter("width", width)

    with pytest.raises(TypeError, match="gravity"):
        Door(1.0).with_parameters(width=2.0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda m: m.friction("f", "ramp", coefficient=0.2),
            "friction must be given at most 1 value",
        ),
        (lambda m: m.friction("f", "ramp", coefficient=0.2), "Give others by name: coefficient,"),
        (lambda m: m.actuator("push", "ramp.displacement"), "actuator must be given effort"),
        (
            lambda m: m.solve(1, 2, 3, 4),
            "solve must be given at most 3 values without a name: q, v",
        ),
    ],
)
def test_values_without_a_name_are_counted_in_a_sentence(call, said):
    with pytest.raises(zw.InputError, match=said):
        call(zw.Mechanism())


def test_what_is_missing_is_told_with_the_order_of_values():
    terms = zw.EquationTerms.of(np.eye(2), [0.0, 1.0], [[1.0, 0.0]], [0.0])
    with pytest.raises(
        zw.InputError, match=r"solve must be given Q\. Its values in order: M, Q, A"
    ):
        zw.solve(terms)


def test_of_very_many_names_those_of_the_same_owner_are_listed():
    m = zw.library.bricard()
    run = m.simulate(until=0.01)
    with pytest.raises(UnknownNameError, match=r"one of hinge3\.angle, .*hinge3\.moment, not"):
        run["hinge3.which_is_no_channel"]

"""Broken versions of a function: None, zero, sign flipped, one term dropped.

A mutant is the function's own source with one change, compiled and put in the place of its code,
so that all who hold the function, under whatever name, call the broken one. Fields of dataclasses
are broken where they are read. There is no way back: mutants live in a process of their own.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np

import theory_map

KINDS = ("none", "zero", "sign", "term")

#: Changes after which a result is as right as before, with the reason; they are not asked for.
EQUIVALENT: dict[tuple[str, str], str] = {
    ("zwang.linalg.rank.nullspace", "sign"): "a basis with its sign turned is a basis",
    ("zwang.linalg.rank.RowGeometry.null_space", "sign"): "as above",
    (
        "zwang.formulations.udwadia_mogharabin.UdwadiaMogharabin.mass_constraint_stack",
        "sign",
    ): "only its rank is meant",
    (
        "zwang.rotation.quaternion_motion.acceleration_expanded",
        "term along / (alpha * alpha)",
    ): "this part of (109) vanishes for unit quaternions, which is how (112) follows",
}
HOOK = "__broken__"


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of one name of the map: kind, and for a term its number and its text."""

    name: str
    kind: str
    number: int = 0
    text: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.text}".strip()


@dataclasses.dataclass
class Log:
    """Whether the mutant was met, and whether it changed anything."""

    called: bool = False
    changed: bool = False
    unfit: bool = False


class Unfit(Exception):  # noqa: N818 - no error, but an answer
    """A result that has neither zero nor sign, such as a text."""


# --- what is broken -------------------------------------------------------------------------------


def function_of(dotted: str) -> types.FunctionType | None:
    """The function behind a name, or None for a field of a dataclass."""
    found = theory_map.resolve(dotted)
    owner, _, last = dotted.rpartition(".")
    try:
        holder = theory_map.resolve(owner)
    except LookupError:
        holder = None
    if isinstance(holder, type):
        if last in {f.name for f in dataclasses.fields(holder)} if _is_dataclass(holder) else ():
            return None
        found = inspect.getattr_static(holder, last)
    for attribute in ("fget", "method", "func", "__func__", "__wrapped__"):
        while not isinstance(found, types.FunctionType) and hasattr(found, attribute):
            found = getattr(found, attribute)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    if not isinstance(found, types.FunctionType):
        message = f"{dotted} is neither a function nor a method nor a field, but {found!r}"
        raise TypeError(message)
    return found


def _is_dataclass(holder: type) -> bool:
    return dataclasses.is_dataclass(holder)


def mutants_of(dotted: str) -> list[Mutant]:
    """All mutants of one name."""
    return [m for m in _all_mutants_of(dotted) if (dotted, str(m)) not in EQUIVALENT]


def _all_mutants_of(dotted: str) -> list[Mutant]:
    function = function_of(dotted)
    plain = [Mutant(dotted, kind) for kind in ("none", "zero", "sign")]
    if function is None:
        return plain
    tree = _tree(function)
    if not any(isinstance(n, ast.Return) and n.value is not None for n in _own(tree)):
        return plain[:1]
    terms = [Mutant(dotted, "term", number, text) for number, (text, _) in enumerate(_drops(tree))]
    return [*plain, *terms]


def _tree(function: types.FunctionType) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list = []
    return tree


def _own(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """All nodes but those of functions defined inside."""
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            stack += ast.iter_child_nodes(node)


# --- terms ----------------------------------------------------------------------------------------

#: A term is sought in what is returned; not in indices, messages, conditions or lengths.
_NO_TERMS = (ast.Subscript, ast.JoinedStr, ast.Compare, ast.Lambda, ast.Raise, ast.IfExp)


def _drops(tree: ast.FunctionDef) -> list[tuple[str, Callable[[], None]]]:
    """For each term of what is returned: its text, and the change that leaves it out."""
    drops: list[tuple[str, Callable[[], None]]] = []
    for expression in _returned(tree):
        _visit(expression, drops)
    return drops


def _returned(tree: ast.FunctionDef) -> list[ast.AST]:
    """The statements that give the result: returns, and assignments to plain names in them."""
    nodes = list(_own(tree))
    results: list[ast.AST] = [n for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    wanted, seen = {n.id for r in results for n in ast.walk(r) if isinstance(n, ast.Name)}, set()
    assigned = [n for n in nodes if isinstance(n, ast.Assign | ast.AugAssign)]
    while wanted - seen:
        name = (wanted - seen).pop()
        seen.add(name)
        for node in assigned:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            if name in names and node not in results:
                results.append(node)
                wanted |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    return sorted(results, key=lambda n: n.lineno)  # type: ignore[attr-defined]


def _visit(node: ast.AST, drops: list[tuple[str, Callable[[], None]]]) -> None:
    if isinstance(node, _NO_TERMS):
        return
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.Assign | ast.AugAssign) and field != "value":
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.BinOp) and isinstance(child.op, ast.Add | ast.Sub):
                _terms(node, field, place, child, drops)
            elif isinstance(node, ast.List) and _is_entry(child):
                drops.append((f"entry {ast.unparse(child)}", _put(node, field, place, _zero())))
            if isinstance(child, ast.AST):
                _visit(child, drops)


def _terms(
    parent: ast.AST,
    field: str,
    place: int | None,
    total: ast.BinOp,
    drops: list[tuple[str, Callable[[], None]]],
) -> None:
    if isinstance(total.left, ast.Constant | ast.JoinedStr | ast.List | ast.Tuple) or isinstance(
        total.right, ast.Constant | ast.JoinedStr | ast.List | ast.Tuple
    ):
        numbers = [
            x.value
            for x in (total.left, total.right)
            if isinstance(x, ast.Constant) and isinstance(x.value, int | float)
        ]
        if not numbers:
            return  # texts and lists joined
    drops.append((f"{ast.unparse(total.right)}", _put(parent, field, place, total.left)))
    if not (isinstance(total.left, ast.BinOp) and isinstance(total.left.op, ast.Add | ast.Sub)):
        rest = (
            total.right if isinstance(total.op, ast.Add) else ast.UnaryOp(ast.USub(), total.right)
        )
        drops.append((f"{ast.unparse(total.left)}", _put(parent, field, place, rest)))


def _put(parent: ast.AST, field: str, place: int | None, new: ast.AST) -> Callable[[], None]:
    def put() -> None:
        if place is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[place] = new

    return put


def _is_entry(node: Any) -> bool:
    """An entry of a vector or matrix written out."""
    if not isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call):
        return False
    constant = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    return not constant and not ast.unparse(node).startswith("np.zeros")


def _zero() -> ast.Constant:
    return ast.Constant(0.0)


# --- breaking -------------------------------------------------------------------------------------


def apply(mutant: Mutant, log: Log) -> None:
    """Break it, for the rest of this process."""
    function = function_of(mutant.name)
    if function is None:
        _break_field(mutant, log)
        return
    tree = _tree(function)

    def hook(value: Any) -> Any:
        log.called = True
        if mutant.kind == "term":
            log.changed = True
            return value
        return _broken(mutant.kind, value, log)

    function.__globals__[HOOK] = hook
    if mutant.kind == "none":
        call = ast.parse(f"{HOOK}(None)").body[0]
        tree.body = [call, ast.Return(ast.Constant(None)), *tree.body]
    elif mutant.kind == "term":
        _drops(tree)[mutant.number][1]()
        tree.body = [ast.parse(f"{HOOK}(None)").body[0], *tree.body]
    else:
        for node in _own(tree):
            if isinstance(node, ast.Return) and node.value is not None:
                node.value = ast.Call(ast.Name(HOOK, ast.Load()), [node.value], [])
    function.__code__ = _compiled(tree, function)


def _compiled(tree: ast.FunctionDef, function: types.FunctionType) -> types.CodeType:
    """The code of a changed function, with the same free variables."""
    free = function.__code__.co_freevars
    for argument in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]:
        argument.annotation = None
    tree.args.defaults = [ast.Constant(None) for _ in tree.args.defaults]
    tree.args.kw_defaults = [d and ast.Constant(None) for d in tree.args.kw_defaults]
    tree.returns = None
    frame = ast.parse("def frame():\n" + "".join(f"    {x} = None\n" for x in free) + "    pass")
    outer = frame.body[0]
    assert isinstance(outer, ast.FunctionDef)
    tree.name = "broken_function"  # so that the body still means others by its old name
    outer.body.append(tree)
    ast.increment_lineno(tree, function.__code__.co_firstlineno)
    ast.fix_missing_locations(frame)
    code = compile(frame, function.__code__.co_filename, "exec", dont_inherit=True)
    for _ in range(2):
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    return code


def _break_field(mutant: Mutant, log: Log) -> None:
    owner, _, name = mutant.name.rpartition(".")
    holder = theory_map.resolve(owner)
    slot = vars(holder).get(name) if "__slots__" in vars(holder) else None

    def read(instance: Any) -> Any:
        value = slot.__get__(instance) if slot else instance.__dict__[name]
        log.called = True
        return None if mutant.kind == "none" else _broken(mutant.kind, value, log)

    def write(instance: Any, value: Any) -> None:
        if slot:
            slot.__set__(instance, value)
        else:
            instance.__dict__[name] = value

    setattr(holder, name, property(read, write))


def _broken(kind: str, value: Any, log: Log) -> Any:
    if kind == "none":
        log.changed = True
        return value
    try:
        changed = zeroed(value) if kind == "zero" else negated(value)
    except Unfit:
        log.unfit = True
        return value
    log.changed = True
    return changed


def zeroed(value: Any) -> Any:
    """The same with zero in place of every number, and False for True."""
    return _mapped(value, lambda x: 0 * x, lambda _: False)


def negated(value: Any) -> Any:
    """The same with every number's sign flipped, and every truth value turned."""
    return _mapped(value, lambda x: -x, lambda x: not x)


def _mapped(value: Any, number: Callable[[Any], Any], truth: Callable[[Any], bool]) -> Any:
    again = functools.partial(_mapped, number=number, truth=truth)
    if isinstance(value, bool | np.bool_):
        return type(value)(truth(value))
    if isinstance(value, np.ndarray):
        if value.dtype == bool:
            return np.zeros_like(value) if truth(True) == truth(False) else ~value
        if value.dtype == object or np.issubdtype(value.dtype, np.number):
            return number(value)
        raise Unfit
    if isinstance(value, int | float | complex | np.number | ca.SX | ca.DM | ca.MX):
        return number(value)
    if isinstance(value, tuple | list):
        return _each(value, again)
    if isinstance(value, dict):
        return dict(zip(value, _each(list(value.values()), again), strict=True))
    if isinstance(value, types.FunctionType):

        @functools.wraps(value)
        def changed(*args: Any, **kwargs: Any) -> Any:
            return again(value(*args, **kwargs))

        return changed
    if hasattr(value, "model") and dataclasses.is_dataclass(value.model):
        return _changed_system(value, number)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _changed_fields(value, again)
    if type(value).__name__ in {"Symbol", "SymbolArray"}:
        return number(value)
    raise Unfit


def _each(values: Any, again: Callable[[Any], Any]) -> Any:
    """All entries that can be changed; unfit if none can."""
    result, fit = [], False
    for x in values:
        try:
            result.append(again(x))
            fit = True
        except Unfit:
            result.append(x)
    if not fit:
        raise Unfit
    if hasattr(values, "_fields"):
        return type(values)(*result)
    return type(values)(result)


def _changed_fields(value: Any, again: Callable[[Any], Any]) -> Any:
    names = [f.name for f in dataclasses.fields(value)]
    numbers = _each([getattr(value, name) for name in names], again)
    changed = copy.copy(value)
    for derived in [name for name in getattr(changed, "__dict__", {}) if name not in names]:
        del changed.__dict__[derived]  # what was computed from the fields
    for name, number in zip(names, numbers, strict=True):
        object.__setattr__(changed, name, number)
    return changed


#: What systems and their equations compute once, from what is changed.
DERIVED = {"_less", "_start_conditions", "cache", "evaluator", "opaque", "_largest_miss", "_misses"}


def _changed_system(system: Any, number: Callable[[Any], Any]) -> Any:
    """A system with its applied force and the right sides of its constraints changed."""
    model = system.model
    if not hasattr(model, "Q") or not hasattr(model, "blocks"):
        raise Unfit
    blocks = {k: dataclasses.replace(r, b=number(r.b)) for k, r in model.blocks.items()}
    changed, equations = copy.copy(system), copy.copy(system.equations)
    for one in (changed, equations):
        for derived in [k for k in vars(one) if k in DERIVED]:
            del one.__dict__[derived]
    changed.equations = equations
    equations.model = dataclasses.replace(model, Q=number(model.Q), blocks=blocks)
    if hasattr(changed, "way_back") and hasattr(changed.way_back, "reduction"):
        changed.way_back = copy.copy(changed.way_back)
        changed.way_back.system = changed
    return changed

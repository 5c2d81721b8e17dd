"""Machine code in process: LLVM assembly → object code → an address to call.

Code is for the processor at hand, with all it can do, unless ``ZWANG_LLVM_TARGET`` names a level
of the x86-64 family: ``x86-64``, ``x86-64-v2``, ``x86-64-v3`` or ``x86-64-v4``.

Optimisation passes run for time loops alone. The instruction list of a kernel has no repeated or
dead values and no loops, so they find nothing to do (measured: same speed), while instruction
selection, scheduling and register allocation, which matter, belong to the code generator.
"""

from __future__ import annotations

import platform
import struct
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from zwang.codegen.emit import ENTRY_POINT
from zwang.codegen.environment import FAILURES, TARGET, target, uses_llvm
from zwang.codegen.libm import addresses, stack_probes
from zwang.codegen.writer import LIBRARY_PREFIX
from zwang.errors import InputError

__all__ = [
    "Effort",
    "Host",
    "LoadedCode",
    "host",
    "identity",
    "is_object_code",
    "load",
    "load_names",
    "object_code",
    "targets",
]

# LLVM's code generator levels go from 0 to 3; 2 and 3 give the same code here.
_CODE_GENERATOR_LEVEL = 2
# Of loops: inlining and registers matter, vectors are written down where they pay.
_OPTIMISATION_LEVEL = 2

# Always with a fused multiply-add; on x86 it is a feature.
_FUSED_ARCHITECTURES = ("aarch64", "arm64", "powerpc64", "ppc64", "s390x", "riscv64")
_lock = threading.Lock()


@dataclass(frozen=True)
class Host:
    """What object code depends on besides the expression.

    Attributes
    ----------
    identity : target, processor, its features and the versions of llvmlite and LLVM, as text.
    fma : the processor multiplies and adds in one instruction.
    """

    triple: str
    cpu: str
    features: str
    identity: str
    fma: bool


#: What processors of each level can do beyond those of the level before, as LLVM calls it.
_LEVELS: dict[str, tuple[str, ...]] = {
    "x86-64": ("sse2",),
    "x86-64-v2": ("cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}


def host() -> Host:
    """The machine that code is compiled for; prepares LLVM.

    Raises
    ------
    InputError
        This processor cannot run what ``ZWANG_LLVM_TARGET`` asks for.
    """
    chosen = target()
    if chosen != "native" and chosen not in targets():
        known = chosen in _LEVELS
        raise InputError(
            f"environment variable {TARGET}",
            found=f"{chosen!r}, which this processor ({_native().cpu}) cannot run"
            if known
            else repr(chosen),
            expected=f"one of {', '.join(targets())}",
        )
    return _host(chosen)


@cache
def targets() -> tuple[str, ...]:
    """The names of targets that the processor at hand can run."""
    native, found = _native(), ["native"]
    if native.triple.startswith("x86_64"):
        able = set(native.features.split(","))
        for level, needed in _LEVELS.items():
            if not all(f"+{name}" in able for name in needed):
                break
            found.append(level)
    return tuple(found)


def identity() -> str:
    """All that the bits of results owe to processor and compiler, as text."""
    compiled = [part for part in ("kernels", "loops") if uses_llvm(part)]
    try:
        load(object_code(f"define void @{ENTRY_POINT}() {{ ret void }}")) if compiled else None
    except FAILURES:
        compiled = []
    if not compiled:
        return f"{platform.system()} {platform.machine()} without LLVM"
    return host().identity + ("" if len(compiled) > 1 else f" for {compiled[0]} alone")


@cache
def _native() -> Host:
    """The machine this process runs on; prepares LLVM for it."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in addresses().items():
        llvm.add_symbol(LIBRARY_PREFIX + name, address)
    for name, address in stack_probes().items():
        llvm.add_symbol(name, address)
    triple, cpu = llvm.get_process_triple(), llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features()
    flat = features.flatten()
    version = ".".join(map(str, llvm.llvm_version_info))
    return Host(
        triple=triple,
        cpu=cpu,
        features=flat,
        identity=f"{triple} {cpu} {flat} llvmlite {llvmlite.__version__} LLVM {version}",
        fma=bool(features.get("fma", False)) or triple.startswith(_FUSED_ARCHITECTURES),
    )


@cache
def _host(name: str) -> Host:
    """The machine, or a processor of some level in its place."""
    native = _native()
    if name == "native":
        return native
    levels = list(_LEVELS)
    return Host(
        triple=native.triple,
        cpu=name,
        features="",
        identity=native.identity.replace(f"{native.cpu} {native.features}", name, 1),
        fma=levels.index(name) >= levels.index("x86-64-v3"),
    )


class Effort(Enum):
    """How much work LLVM puts into code: passes for loops, and the level of its code generator.

    No effort changes a bit of what code computes: nothing allows LLVM to round in other places.
    """

    KERNEL = "kernel"  # no passes find anything to do
    LOOP = "loop"  # passes and code generator in full
    LEAST = "least"  # as fast as possible, for loops of a first run


def object_code(assembly: str, effort: Effort = Effort.KERNEL) -> bytes:
    """Compile LLVM assembly for this machine.

    Raises
    ------
    RuntimeError
        LLVM does not accept the assembly.
    """
    import llvmlite.binding as llvm

    with _lock:
        machine = _target_machine(host(), 0 if effort is Effort.LEAST else _CODE_GENERATOR_LEVEL)
        module = llvm.parse_assembly(assembly)
        module.triple = host().triple
        module.data_layout = str(machine.target_data)
        module.verify()
        if effort is not Effort.KERNEL:
            level = _OPTIMISATION_LEVEL if effort is Effort.LOOP else 0
            options = llvm.create_pipeline_tuning_options(speed_level=level)
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)


@dataclass(frozen=True)
class LoadedCode:
    """Code in memory. The address is good for as long as this object lives."""

    address: int
    owner: object


def is_object_code(code: bytes) -> bool:
    """Whether bytes have the frame of object code; LLVM ends the process where they have not."""
    if code[:6] == b"\x7fELF\x02\x01":  # 64 bits, lowest byte first
        if len(code) < _ELF_HEADER.size:
            return False
        fields = _ELF_HEADER.unpack_from(code)
        first, size, count = fields[6], fields[11], fields[12]
        return 0 < first <= first + size * count <= len(code)
    kinds = (b"\xcf\xfa\xed\xfe", b"\x64\x86", b"\x64\xaa")  # of macOS, of Windows
    return len(code) > _ELF_HEADER.size and code.startswith(kinds)


#: Up to the section headers: where they begin, how long each is, how many there are.
_ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")


def load(code: bytes) -> LoadedCode:
    """Link object code into the process.

    Raises
    ------
    RuntimeError
        It is no object code.
    """
    (address,), owner = load_names(code, [ENTRY_POINT])
    return LoadedCode(address, owner)


def load_names(code: bytes, names: Iterable[str]) -> tuple[list[int], object]:
    """Link object code into the process: addresses of functions and variables, and their owner.

    Raises
    ------
    RuntimeError
        It is no object code, or something is not in it.
    """
    import llvmlite.binding as llvm

    if not is_object_code(code):
        raise RuntimeError("these bytes are no object code")
    host()  # names of the C library's functions must be known before linking
    with _lock:
        engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), llvm.Target.from_default_triple().create_target_machine()
        )
        file = llvm.ObjectFileRef.from_data(code)
        engine.add_object_file(file)
        engine.finalize_object()
        found = {name: engine.get_function_address(name) for name in names}
    for name, address in found.items():
        if not address:
            raise RuntimeError(f"the object code has no function {name}")
    return list(found.values()), (engine, file)


@cache
def _target_machine(machine: Host, level: int) -> Any:  # llvmlite ships no types
    import llvmlite.binding as llvm

    return llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu,
        features=machine.features,
        opt=level,
        reloc="pic",
        codemodel="jitdefault",
    )

"""Machine code in process: LLVM assembly → object code → an address to call.

Optimisation passes run for time loops alone. The instruction list of a kernel has no repeated or
dead values and no loops, so they find nothing to do (measured: same speed), while instruction
selection, scheduling and register allocation, which matter, belong to the code generator.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

from zwang.kernels.emit import ENTRY_POINT
from zwang.kernels.libm import addresses
from zwang.kernels.writer import LIBRARY_PREFIX

__all__ = ["Host", "LoadedCode", "host", "load", "object_code"]

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


@cache
def host() -> Host:
    """The machine this process runs on; prepares LLVM for it."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in addresses().items():
        llvm.add_symbol(LIBRARY_PREFIX + name, address)
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


def object_code(assembly: str, *, optimised: bool = False) -> bytes:
    """Compile LLVM assembly for this machine, `optimised` by passes first.

    Raises
    ------
    RuntimeError
        LLVM does not accept the assembly.
    """
    import llvmlite.binding as llvm

    with _lock:
        machine = _target_machine()
        module = llvm.parse_assembly(assembly)
        module.triple = host().triple
        module.data_layout = str(machine.target_data)
        module.verify()
        if optimised:
            options = llvm.create_pipeline_tuning_options(speed_level=_OPTIMISATION_LEVEL)
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)


@dataclass(frozen=True)
class LoadedCode:
    """Code in memory. The address is good for as long as this object lives."""

    address: int
    owner: object


def load(code: bytes) -> LoadedCode:
    """Link object code into the process."""
    import llvmlite.binding as llvm

    host()  # names of the C library's functions must be known before linking
    with _lock:
        engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), llvm.Target.from_default_triple().create_target_machine()
        )
        file = llvm.ObjectFileRef.from_data(code)
        engine.add_object_file(file)
        engine.finalize_object()
        address = engine.get_function_address(ENTRY_POINT)
    if not address:
        raise RuntimeError(f"the object code has no function {ENTRY_POINT}")
    return LoadedCode(address, (engine, file))


@cache
def _target_machine() -> Any:  # llvmlite ships no types
    import llvmlite.binding as llvm

    return llvm.Target.from_triple(host().triple).create_target_machine(
        cpu=host().cpu,
        features=host().features,
        opt=_CODE_GENERATOR_LEVEL,
        reloc="pic",
        codemodel="jitdefault",
    )

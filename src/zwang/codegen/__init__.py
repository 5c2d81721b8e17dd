"""Compiled kernels: a CasADi expression becomes machine code that loops call by address.

``compile`` gives a `Kernel`. Compiled loops are written with `zwang.codegen.jit.loop` and call
kernels with `zwang.codegen.call.call`. CasADi and llvmlite load when they are first used.
"""

from __future__ import annotations

from zwang.codegen.expression import Port
from zwang.codegen.kernel import LANES, Kernel, cache_hits, compilations, compile  # noqa: A004 - its verb
from zwang.codegen.operations import UnsupportedOperationError

__all__ = [
    "LANES",
    "Kernel",
    "Port",
    "UnsupportedOperationError",
    "cache_hits",
    "compilations",
    "compile",
]

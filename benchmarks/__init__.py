"""Speed and accuracy, measured beside other engines.

    python -m benchmarks              # everything: some twenty minutes, see `__main__`
    python -m benchmarks.solve        # one subject alone: solve, kernels, simulate, startup

A benchmark that is run holds numerical libraries to one thread. They read these variables when they
load, and a package is imported before its modules, so no module can load NumPy too early. Kernels
are compiled before they are used: what is measured does not depend on what the cache holds; but
for `first_result`, which is about just that. To import the package, as tests do, changes nothing.
"""

import os
import sys

if any(word.partition(".")[0] == "benchmarks" for word in sys.orig_argv[1:]):
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("ZWANG_BACKGROUND", "off")

"""A small language for time loops, a part of Python, and its translation to LLVM.

A loop is a plain Python function of numbers, arrays and tuples of them, and works without being
compiled. What has a compiled form is little, and enough for loops:

*   ``for`` over a ``range`` or a tuple, ``while``, ``if``, ``break``, ``continue``, ``return``;
*   names that keep their type, arithmetic, comparisons, ``and``, ``or``, ``not``, ``x if a else b``
    of one type;
*   arrays without gaps: ``a[i, j]``, the part ``a[i]``, a slice of the first axis that is left,
    ``a.shape``, ``np.empty`` outside of loops; tuples, by indices that are known; ``len``;
*   ``min``, ``max``, ``abs``, ``float``, ``complex``, and of NumPy or `math` ``sqrt``, ``exp``,
    ``log``, ``sin``, ``cos``, ``tan``;
*   other loops, and the functions of `zwang.codegen.call`, `zwang.codegen.elementwise`,
    `zwang.codegen.simd` and `zwang.codegen.node_sums`.

Indices count from the beginning, nothing is checked when the loop runs, 1/0 is inf as in kernels.
Values that are known beforehand are worked out beforehand: of an ``if`` with a known condition one
branch is left.

Anything else is a `LoopError` with its line. A function that is to be written in LLVM by hand
carries what writes it as its attribute `compiled`, a function of
`zwang.codegen.loops.code.FunctionCode` and its arguments, see `zwang.codegen.elementwise`.

    kinds         numbers and arrays
    values        what is known of them while a loop is translated
    arithmetic    instructions on numbers
    code          instructions on arrays, and places of values that change
    functions     functions of Python, NumPy and the C library
    expressions   what stands in a line
    statements    what lines make of it
    translate     functions, from loops that call loops to one C function
    entry         its arguments, as Python hands them over
    vectors       formulas for several entries of an array at a time
    node_sums     sums over eight numbers, for eight results at a time
"""

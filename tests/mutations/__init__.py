"""Proof that proofs can fail: what the theory map names is broken, and the row's tests must see it.

    python -m tests.mutations                     all rows, about an hour on two processors
    python -m tests.mutations BL-18 XX-06         some rows
    python -m tests.mutations UK --jobs 1         the rows of one document

`mutants` breaks a function, `campaign` runs the marked tests of the rows that name it.
"""

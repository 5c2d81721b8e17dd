"""From a system to a motion, and to many.

    simulation      one motion; ensemble, many; stored_runs, those on disk
    integration     what is integrated now; choices_again, where it leads no further
    loop_segment    one loop of it; broken_rows, dead_centers, hopeless: why a run ends there
    outcome         the run that there is; store_writer, a new store for it
    options         what a user chose, checked; start, the same for many starts at once
    select_program  which coordinates, rows and program; ensemble_programs, the same for many
    reference       equations that are evaluated in Python
    guard           what a program does, against the full terms; guard_looks, what follows
    rank_report     what a run says of rows that depend on others
    events          events found; impacts, what happens at them; loop_ends, samples and switches
    interpolate     states between saved ones
    threads         the threads of an ensemble; progress, how far it is; interrupt, Ctrl-C

All of it sees a system from outside, as `zwang.equations.expression.Equations`; kernels and loops
are further down.
"""

"""What `zwang.simulate` and `zwang.ensemble` are made of: from a system to a motion.

    choices        what a user chose, checked; starts, the same for many starts at once
    programs       the compiled equations of a system; reference, those evaluated in Python
    redundancy     which constraint rows act; pivots, the same where there are many of them
    lost_rank      what a run says of rows that depend on others
    watch          events found; event_actions, what happens at them
    between        states between saved ones
    crew           the threads of an ensemble; interrupt, Ctrl-C

All of it sees a system from outside, as `zwang.equations.Equations`; kernels and loops are further
down.
"""

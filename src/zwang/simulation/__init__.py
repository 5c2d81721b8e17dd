"""What `zwang.simulate` and `zwang.ensemble` are made of: from a system to a motion.

choices     what a user chose, checked       starts       the same for many starts at once
programs    the compiled equations           reference    those evaluated in Python
redundancy  which constraint rows act        between      states between saved ones
watch       events, found                    event_actions  what happens at them
crew        threads of an ensemble           interrupt    Ctrl-C
"""

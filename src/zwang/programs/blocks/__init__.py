"""Large systems: one kernel for each kind of element, a fixed block order, and a list of calls."""

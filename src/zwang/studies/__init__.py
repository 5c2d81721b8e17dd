"""Studies: one plan, many motions, one dataset, on this machine or a cluster."""

"""Analyses on the same constraints: rest, steady motion, linearization, kinematics, efforts."""

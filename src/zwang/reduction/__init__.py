"""Reduction to independent coordinates or velocities, and recovery of all variables."""

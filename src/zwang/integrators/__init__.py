"""Integrators: compiled time loops that see a `Program` and nothing else."""

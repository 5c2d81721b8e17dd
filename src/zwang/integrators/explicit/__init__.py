"""Explicit Runge–Kutta methods."""

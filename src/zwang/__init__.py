"""Zwang: the motion of constrained mechanical systems."""
__version__ = "0.1.0"

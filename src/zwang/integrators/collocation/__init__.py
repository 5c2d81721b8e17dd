"""Collocation at Gauss's points."""

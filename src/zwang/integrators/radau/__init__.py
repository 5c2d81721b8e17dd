"""Radau IIA of order 5."""

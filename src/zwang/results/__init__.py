"""Runs: what a simulation leaves behind."""

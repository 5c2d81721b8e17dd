"""Rigid bodies, joints and forces as data and traced functions."""

"""Mechanisms whose bodies move parallel to a plane, in the coordinates of that plane."""

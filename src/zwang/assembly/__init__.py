"""A consistent start: coordinates and velocities that satisfy all constraints."""

"""The parts of assembling a consistent start."""

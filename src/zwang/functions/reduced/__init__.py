"""The parts of reducing a system to independent variables."""

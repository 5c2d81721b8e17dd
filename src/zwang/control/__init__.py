"""Forces that make a system follow a program."""

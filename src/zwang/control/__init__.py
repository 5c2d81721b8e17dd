"""Control forces that make a system follow a prescribed motion."""

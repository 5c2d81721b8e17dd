"""Diagnosis of a system: what depends on what, what contradicts, what is left undetermined."""

"""The same works by several engines in one run."""

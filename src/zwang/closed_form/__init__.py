"""Closed forms: from traced expressions to SymPy, and rational algebra on them."""

"""Zwang: the motion of constrained mechanical systems."""

from zwang._version import __version__
from zwang.certify import Certificate, certify
from zwang.solution import Solution
from zwang.solve import FORMULATIONS, solve
from zwang.terms import EquationTerms, join

__all__ = ["FORMULATIONS", "Certificate", "EquationTerms", "Solution", "__version__", "certify", "join", "solve"]

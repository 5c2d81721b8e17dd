"""Formulations: from equation terms to acceleration, constraint force and multipliers.

Importing the package loads none of them; `FORMULATIONS` is filled by `zwang.solve`.
"""

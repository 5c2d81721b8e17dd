"""Contrast of colours, as WCAG 2.2 defines it."""

import numpy as np


def luminance(color):
    """Of red, green and blue up to 255."""
    c = np.asarray(color, dtype=float) / 255.0
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    """From 1 of equal colours to 21 of black on white."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)

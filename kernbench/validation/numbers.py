"""Numbers and names as users give them: checked, or refused with a sentence that says what would be right."""

from numbers import Integral, Real

import numpy as np

from kernbench._names import unknown_name


def check_positive(name, value, unit=""):
    """Refuse what is no positive number."""
    if not (is_number(value) and value > 0):
        raise ValueError(f"{name} must be a positive number{unit}, got {value!r}")


def check_name(what, value, known):
    """Refuse what is not among the names `known`."""
    if not (isinstance(value, str) and value in known):
        raise ValueError(unknown_name(what, value, known))


def is_number(value):
    """Whether it is a finite real number; True is none."""
    return isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)


def is_integer(value):
    """Whether it is an integer; True is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)

"""Checks of numbers and names that users pass.

``sklearn.utils.check_scalar`` is not used: it raises TypeError for wrong types, and accepts NaN and booleans.
"""

import math
from numbers import Integral, Real

import numpy as np

from kernbench._names import unknown_name


def check_number(name, value, *, above=None, at_least=None, below=None, at_most=None, whole=False, unit=""):
    """Return `value`; raise ValueError unless it is a finite real number within the bounds.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
    above, at_least, below, at_most : float, optional
    whole : bool, default=False
        Accept integers only.
    unit : str, default=""
        For the message: follows the kind of number, such as ``" of seconds, or None"``.

    >>> from kernbench.validation.numbers import check_number
    >>> check_number("C", 2.5, above=0)
    2.5
    >>> check_number("n_blocks", 0, at_least=1, whole=True)
    Traceback (most recent call last):
    ValueError: n_blocks must be a positive integer, got 0
    """
    if (
        (is_integer(value) if whole else is_number(value))
        and (above is None or value > above)
        and (at_least is None or value >= at_least)
        and (below is None or value < below)
        and (at_most is None or value <= at_most)
    ):
        return value
    kind = "integer" if whole else "number"
    bounds = {"above": above, "of at least": at_least, "below": below, "at most": at_most}
    if above == 0 or (whole and at_least == 1):
        kind = f"positive {kind}"
        del bounds["above" if above == 0 else "of at least"]
    if not whole and isinstance(value, Real) and not math.isfinite(_as_float(value)):
        kind = kind.replace("number", "finite number")
    given = " and ".join(f"{words} {bound}" for words, bound in bounds.items() if bound is not None)
    article = "an" if kind == "integer" else "a"
    raise ValueError(f"{name} must be {article} {kind}{unit}{' ' * bool(given)}{given}, got {value!r}")


def check_positive(name, value, unit=""):
    """Raise ValueError unless `value` is a positive number."""
    check_number(name, value, above=0, unit=unit)


def check_name(what, value, known):
    """Return `value`; raise ValueError, which suggests the nearest name, unless it is one of the names `known`."""
    if not (isinstance(value, str) and value in known):
        raise ValueError(unknown_name(what, value, known))
    return value


def check_flag(name, value):
    """Raise ValueError unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def is_number(value):
    """Whether `value` is a finite real number; booleans are rejected."""
    if type(value) is float:  # the usual case: `isinstance` with the abstract class takes longer than the rest
        return math.isfinite(value)
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(_as_float(value))


def is_integer(value):
    """Whether `value` is an integer; booleans, which are integers in Python, are rejected."""
    if type(value) is int:
        return True
    return isinstance(value, Integral) and not isinstance(value, bool)


def _as_float(value):
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floating-point numbers
        return math.inf

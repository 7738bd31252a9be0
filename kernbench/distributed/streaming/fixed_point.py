"""Sums of floating point numbers that do not depend on how the terms are grouped: integers in units of 2^-exponent."""

import numpy as np

BITS = 56  # of a term; up to 64 of them are added in 62
SLACK = 16  # bits that the largest term may have fewer, from one step to the next


def exponent_for(largest):
    """Return the finest exponent for terms of at most `largest`."""
    return BITS - int(np.frexp(largest)[1])


def is_fit(exponent, largest):
    """Whether terms of at most `largest` neither overflow nor lose more than `SLACK` bits."""
    return largest == 0 or 0 <= exponent_for(largest) - exponent <= SLACK


def rounded_sum(terms, exponent):
    """Return the sum of arrays as integers; meaningful only if `is_fit`."""
    with np.errstate(invalid="ignore"):
        return sum(np.rint(np.ldexp(term, exponent)).astype(np.int64) for term in terms)


def largest_of(terms):
    """Return the largest absolute value in some arrays; infinity for NaN."""
    largest = max(float(np.abs(term).max(initial=0.0)) for term in terms)
    return largest if np.isfinite(largest) else np.inf


def as_floats(total, exponent):
    """Return sums of integers as floating point numbers."""
    return np.ldexp(total.astype(np.float64), -exponent)

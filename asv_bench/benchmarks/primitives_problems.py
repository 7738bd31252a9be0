"""The kernels and rows that the benchmarks of blocks and features share with the experiment ``primitives``.

A commit that lacks a kernel skips its benchmarks.
"""

import numpy as np

from kernbench import kernels

from .beside import catalogue, errors, inputs

CATALOGUE = {entry.name: entry for entry in catalogue.CATALOGUE}
WITH_FEATURES = tuple(name for name, entry in CATALOGUE.items() if entry.forms)


def kernel(name, d):
    """The kernel for rows of `d` columns; skips the benchmark on a commit without it."""
    class_name = CATALOGUE[name].arguments(d)[0]
    if not hasattr(kernels, class_name):
        raise NotImplementedError(class_name)
    return CATALOGUE[name].kernel(d)


def form(name):
    """The first form of the kernel's random features."""
    return CATALOGUE[name].forms[0]


def rows(name, n, d, seed, dtype="float64"):
    """Rows of the kernel's kind."""
    return inputs.rows(CATALOGUE[name].rows, n, d, seed, dtype)


def clusters(n, d, seed):
    """Rows of uneven clusters, and labels: +1 for the ten rarest."""
    data = inputs.load("clusters", n, d, seed)
    return data.X_train, data.y_train


def log10_error(K, features):
    """log10 of the root mean square over `features` of ‖K − Φ Φᵀ‖ / ‖K‖; never less than -16."""
    error = errors.root_mean_square([errors.relative_error(K, F) for F in features])
    return log10(error)


def log10(error):
    """log10 of an error; never less than -16."""
    return float(max(-16.0, np.log10(max(error, 1e-16))))

"""Quasi-random points: scrambled Sobol sequences, by the number of the point.

The scrambling and the sequence are SciPy's; another version of SciPy may give different points for the same seed.
"""

import os
import threading
from collections import OrderedDict

import numpy as np
from scipy.stats import qmc

KEPT = 8  # sequences kept with their position, so that consecutive requests do not start from the first point
MAX_POINTS = 2**30  # of SciPy's sequences, which have 30 bits
CLIP = 1e-12  # the inverse distribution functions are infinite at 0 and 1

_sequences = OrderedDict()
_lock = threading.Lock()


def _replace_lock():
    """Replace the lock: in a forked process another thread's may never be released."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_lock)


def sobol_points(seed, n_dimensions, first, n):
    """Return points first, first + 1, ..., first + n - 1 of a scrambled Sobol sequence.

    Parameters
    ----------
    seed : tuple of int
    n_dimensions : int
        At most 21,201.
    first, n : int

    Returns
    -------
    ndarray of shape (n, n_dimensions)
        Inside the open unit cube.
    """
    if n_dimensions > qmc.Sobol.MAXDIM:
        raise ValueError(
            f"draws='qmc' needs {n_dimensions} numbers for each draw; Sobol sequences have at most "
            f"{qmc.Sobol.MAXDIM}. Take draws='iid' or 'orthogonal'"
        )
    if first + n > MAX_POINTS:
        raise ValueError(
            f"draws='qmc': point {first + n} is beyond the 2^30 of a Sobol sequence; take smaller block numbers, "
            "or draws='iid'"
        )
    with _lock:
        sequence = _sequences.pop((seed, n_dimensions), None)
        if sequence is None:
            sequence = _new_sequence(seed, n_dimensions)
        if sequence.num_generated > first:
            sequence.reset()
        parts = []
        if sequence.num_generated == 0:
            head = sequence.random(1)  # SciPy warns unless the length of the first draw is a power of two
            if first == 0:
                parts.append(head[:n])
        if first > sequence.num_generated:
            sequence.fast_forward(first - sequence.num_generated)
        rest = n - sum(map(len, parts))
        if rest:
            parts.append(sequence.random(rest))
        _sequences[seed, n_dimensions] = sequence
        while len(_sequences) > KEPT:
            _sequences.popitem(last=False)
    points = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return np.clip(points, CLIP, 1 - CLIP, out=points)


def _new_sequence(seed, n_dimensions):
    rng = np.random.default_rng(seed)
    try:
        return qmc.Sobol(n_dimensions, scramble=True, rng=rng)
    except TypeError:  # SciPy before 1.15
        return qmc.Sobol(n_dimensions, scramble=True, seed=rng)

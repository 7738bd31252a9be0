"""Routines timed in turn: A B C A B C …, so that other work on the machine affects all of them alike."""

from time import perf_counter

import numpy as np

LEAST_ROUNDS, MOST_ROUNDS = 3, 200
MOST_CALLS = 10  # of one routine in a round


class Timings:
    """Seconds of some routines, call by call.

    Attributes
    ----------
    seconds : dict of str to list of float
        A list for each routine, an entry for each call.
    """

    def __init__(self, names):
        self.seconds = {name: [] for name in names}

    def of(self, name):
        """Seconds of a routine: the lower quartile of its calls.

        Other work on the machine can only add time, and adds more to a longer routine.
        """
        return float(np.quantile(self.seconds[name], 0.25))

    def ratio(self, top, bottom):
        """The time of `top` divided by that of `bottom`."""
        return self.of(top) / self.of(bottom)


def alternate(routines, seconds):
    """Time some routines in turn, after one untimed call of each.

    In a round a quick routine is called several times for one call of a slow one, so that its time is known as
    precisely as the other's.

    Parameters
    ----------
    routines : dict of str to callable
        Each is called without arguments; its result is ignored.
    seconds : float
        Time after which no further round is begun; there are at least `LEAST_ROUNDS`.

    Returns
    -------
    Timings
    """
    first = {name: _seconds(routine) for name, routine in routines.items()}
    slowest = max(first.values())
    calls = {name: int(min(max(slowest / once, 1.0), MOST_CALLS)) for name, once in first.items()}
    found = Timings(routines)
    end = perf_counter() + seconds
    for n_rounds in range(MOST_ROUNDS):
        if n_rounds >= LEAST_ROUNDS and perf_counter() >= end:
            break
        for name, routine in routines.items():
            found.seconds[name] += [_seconds(routine) for _ in range(calls[name])]
    return found


def _seconds(routine):
    start = perf_counter()
    routine()
    return perf_counter() - start

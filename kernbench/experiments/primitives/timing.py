"""Routines timed in turn: A B C A B C …, so that a slow moment of the machine falls on all alike."""

from time import perf_counter

import numpy as np

LEAST_ROUNDS, MOST_ROUNDS = 3, 200


class Timings:
    """Seconds of some routines, round by round.

    Attributes
    ----------
    seconds : dict of str to list of float
        A list of one length for each routine.
    """

    def __init__(self, names):
        self.seconds = {name: [] for name in names}

    def of(self, name):
        """Seconds of a routine: the lower quartile of its rounds.

        Other work on the machine only ever adds time, and adds more to a longer routine.
        """
        return float(np.quantile(self.seconds[name], 0.25))

    def ratio(self, top, bottom):
        """The time of `top` divided by that of `bottom`."""
        return self.of(top) / self.of(bottom)


def alternate(routines, seconds):
    """Time some routines in turn, after one call of each off the clock.

    Parameters
    ----------
    routines : dict of str to callable
        Each is called without arguments; its result is thrown away.
    seconds : float
        After which no further round is begun; there are `LEAST_ROUNDS` in any case.

    Returns
    -------
    Timings
    """
    for routine in routines.values():
        routine()
    found = Timings(routines)
    end = perf_counter() + seconds
    for n_rounds in range(MOST_ROUNDS):
        if n_rounds >= LEAST_ROUNDS and perf_counter() >= end:
            break
        for name, routine in routines.items():
            start = perf_counter()
            routine()
            found.seconds[name].append(perf_counter() - start)
    return found

"""Routines timed in turn: A B C A B C …, so that a slow moment of the machine falls on all alike."""

from statistics import median
from time import perf_counter

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

    def median(self, name):
        """Median seconds of a routine."""
        return median(self.seconds[name])

    def ratio(self, top, bottom):
        """Median over rounds of the time of `top` divided by that of `bottom`."""
        return median(a / b for a, b in zip(self.seconds[top], self.seconds[bottom]))


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

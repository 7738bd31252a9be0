"""Clocks: the time of a call, and of a fit that is traced."""

from time import perf_counter

LEAST_SECONDS, MOST_CALLS = 0.2, 10  # of a short phase: it is repeated until either is reached


def timed(function):
    """Call `function`; return its result and the seconds it took."""
    start = perf_counter()
    returned = function()
    return returned, perf_counter() - start


def shortest(first, again):
    """The least seconds of several calls of a phase that is too short to be timed by one.

    Other programs can only add time, and to one call of 40 ms they may well add 20.

    Parameters
    ----------
    first : dict of str to float
        Seconds of the first call, by clock; those of its first clock decide how often it is repeated.
    again : callable
        ``again()`` repeats the phase and returns its seconds as `first` has them.

    Returns
    -------
    dict of str to float
        The minimum of each clock; `first` itself if it took `LEAST_SECONDS`.
    """
    clock = next(iter(first))
    calls, spent = [first], first[clock]
    while spent < LEAST_SECONDS and len(calls) < MOST_CALLS:
        calls.append(again())
        spent += calls[-1][clock]
    return {name: min(call[name] for call in calls) for name in first}


class Tracer:
    """A callback of a solver that judges its models and records the times of its first and last call.

    Parameters
    ----------
    judge : callable
        ``judge(model) -> dict``: columns of the trace.
    pace : float, optional
        0 asks for as many points as a curve needs, also of a run that takes less time than its points.
    """

    def __init__(self, judge, pace=None):
        self.judge = judge
        if pace is not None:
            self.pace = pace
        self.first = self.last = None

    def __call__(self, model):
        if self.first is None:
            self.first = perf_counter()
        found = self.judge(model)
        self.last = perf_counter()
        return found


def own_clock(model):
    """The solver's own time at the end of its trace; None without one, or with one for each pair of classes."""
    trace = getattr(model, "trace_", None)
    return trace["seconds"][-1] if isinstance(trace, dict) and trace else None


def fit_seconds(start, end, tracer, own_clock):
    """Seconds a fit took without being traced.

    Before the first and after the last call of the tracer all time counts (validation, set-up, the final certificate);
    in between the solver's own clock counts, which stops while a point is traced.

    Parameters
    ----------
    start, end : float
        Around ``fit``.
    tracer : Tracer or None
    own_clock : float or None
    """
    if tracer is None or tracer.first is None or own_clock is None:
        return end - start
    return (tracer.first - start) + own_clock + (end - tracer.last)

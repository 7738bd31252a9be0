"""Clocks: the time of a call, and of a fit that is traced."""

from time import perf_counter


def timed(function):
    """Call `function`; return its result and the seconds it took."""
    start = perf_counter()
    returned = function()
    return returned, perf_counter() - start


class Tracer:
    """A callback of a solver that judges its models and records the times of its first and last call.

    Parameters
    ----------
    judge : callable
        ``judge(model) -> dict``: columns of the trace.
    """

    def __init__(self, judge):
        self.judge = judge
        self.first = self.last = None

    def __call__(self, model):
        if self.first is None:
            self.first = perf_counter()
        found = self.judge(model)
        self.last = perf_counter()
        return found


def own_clock(model):
    """The solver's own time at the end of its trace; None for a model without a trace."""
    trace = getattr(model, "trace_", None)
    return trace["seconds"][-1] if trace else None


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

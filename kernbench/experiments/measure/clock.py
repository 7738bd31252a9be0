"""Clocks: how long a call takes, and a fit that is traced on the way."""

from time import perf_counter


def timed(function):
    """Call `function`; return what it returns, and the seconds it took."""
    start = perf_counter()
    returned = function()
    return returned, perf_counter() - start


class Tracer:
    """A callback of a solver that follows a model, and knows when it was first and last called.

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
    """What the solver's clock showed at the end; None for a model without a trace."""
    trace = getattr(model, "trace_", None)
    return trace["seconds"][-1] if trace else None


def fit_seconds(start, end, tracer, own_clock):
    """Seconds a fit took without being traced.

    Until the tracer is first called and after it was last called, everything counts (validation, set-up, the
    final certificate); in between, the solver's own clock does, which stands still while a point is traced.

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

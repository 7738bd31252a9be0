"""Clock, trace and callbacks of a run, for the driver and for other loops."""

from collections.abc import Mapping
from time import perf_counter

import numpy as np

LEAST_PACE = 20.0  # seconds of advancing between two points of the trace, for each second that a point costs


class Trace:
    """Columns of equal length; a column that a callback adds late begins with None."""

    def __init__(self, *names):
        self.columns = {name: [] for name in names}

    def add(self, record):
        length = len(self.columns["n_iter"])
        for key in record:
            self.columns.setdefault(key, [None] * length)
        for key, column in self.columns.items():
            column.append(record.get(key))


class Clock:
    """A stopwatch for `with`: `seconds` in all, `last` those of the last block; an interrupted block counts."""

    def __init__(self):
        self.seconds = self.last = 0.0

    def __enter__(self):
        self._tick = perf_counter()

    def __exit__(self, *exception):
        self.last = perf_counter() - self._tick
        self.seconds += self.last


class Callbacks:
    """The callbacks of a run, called with one snapshot; their return values are merged.

    Ctrl-C in a callback ends the run as ``True`` does and is kept in `interrupted`. `pace` is 0 if one of
    them asks for that, and `by_iteration` is whether one asks for points that do not depend on the time.
    """

    def __init__(self, callback, snapshot):
        self._functions = callback if isinstance(callback, list | tuple) else [callback]
        self._snapshot = snapshot
        # Compared, not computed with: a callable may have an attribute of that name and another meaning.
        asked = any(getattr(function, "pace", None) == 0 for function in self._functions)
        self.pace = 0.0 if asked else LEAST_PACE
        self.by_iteration = any(getattr(function, "by_iteration", None) is True for function in self._functions)
        self.interrupted = False

    def __call__(self, solver):
        """Return whether to stop, and the columns to add to the trace."""
        stop, columns = False, {}
        try:
            state = solver if self._snapshot is None else self._snapshot(solver)
            for function in self._functions:
                try:
                    answer = function(state)
                except ArithmeticError as error:
                    error.is_of_callback = True  # not a sign that the numbers of the run leave their range
                    raise
                if isinstance(answer, Mapping):
                    columns.update(answer)
                elif isinstance(answer, bool | np.bool_):
                    stop = stop or bool(answer)
                elif answer is not None:
                    raise ValueError(
                        f"a callback returns None, a dict of trace columns, or True to stop; got {answer!r}"
                    )
        except KeyboardInterrupt:
            self.interrupted = stop = True
        return stop, columns

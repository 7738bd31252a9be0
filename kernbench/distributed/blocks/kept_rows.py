"""What blocks keep of one pass for the next ones."""

import threading
from bisect import bisect_left, bisect_right


class KeptRows:
    """Ranges of rows, each an ndarray or CSR matrix; any part of them is found again. Several threads may use it."""

    def __init__(self):
        self._starts, self._rows, self._lock = [], [], threading.Lock()

    def add(self, start, rows):
        """Keep rows, the first of which is row `start` of all."""
        with self._lock:
            place = bisect_left(self._starts, start)
            self._starts.insert(place, start)
            self._rows.insert(place, rows)

    def stretches(self, start, stop):
        """Return (begin, end, rows) of the successive ranges that make up rows start to stop - 1; None for rows that
        are not kept."""
        with self._lock:
            here = slice(max(0, bisect_right(self._starts, start) - 1), bisect_left(self._starts, stop))
            kept = list(zip(self._starts[here], self._rows[here]))
        found, place = [], start
        for begin, rows in kept:
            end = min(begin + rows.shape[0], stop)
            if end <= place:
                continue
            if begin > place:
                found.append((place, begin, None))
                place = begin
            is_whole = end - place == rows.shape[0]
            found.append((place, end, rows if is_whole else rows[place - begin : end - begin]))
            place = end
        if place < stop:
            found.append((place, stop, None))
        return found

"""What blocks keep of one pass for the next ones."""

import threading
from bisect import bisect_left, bisect_right
from typing import Any


class Room:
    """Memory for what is kept of rows and features, which the blocks of one fit share.

    Parameters
    ----------
    n_bytes : int

    Attributes
    ----------
    left : int
        Bytes that are not taken.
    """

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = self.left = n_bytes
        self._stores, self._lock = [], threading.Lock()

    def open(self, store: Any) -> Any:
        """Return `store`, an empty KeptRows or dict, which `clear` empties again."""
        self._stores.append(store)
        return store

    def take(self, n_bytes: int) -> bool:
        """Take some bytes and return True, or return False if fewer are left."""
        with self._lock:
            if n_bytes > self.left:
                return False
            self.left -= n_bytes
            return True

    def clear(self) -> None:
        """Release all that is kept."""
        for store in self._stores:
            store.clear()
        self.left = self.n_bytes

    def __reduce__(self) -> Any:
        return Room, (self.n_bytes,)


def room_of(keep_bytes: int | Room) -> Room:
    """Return the `Room` that a number of bytes stands for, or the one that is given."""
    return keep_bytes if isinstance(keep_bytes, Room) else Room(keep_bytes)


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

    def clear(self):
        """Release all rows."""
        with self._lock:
            self._starts.clear()
            self._rows.clear()

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

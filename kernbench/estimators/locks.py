"""One call at a time for methods that continue a model: several threads may feed it, but it has one state."""

from functools import wraps
from threading import Lock, RLock
from weakref import WeakKeyDictionary

_locks = WeakKeyDictionary()  # beside the models, since a lock cannot be copied or pickled
_lock_of_locks = Lock()


def one_at_a_time(method):
    """Make calls of a method of one model wait for each other; the same thread may call it again from a callback."""

    @wraps(method)
    def locked(self, *args, **kwargs):
        with _lock_of_locks:
            lock = _locks.setdefault(self, RLock())
        with lock:
            return method(self, *args, **kwargs)

    return locked

"""Methods that continue a model: one call at a time, since several threads may feed it, and whole or not at all."""

from functools import wraps
from threading import Lock, RLock
from weakref import WeakKeyDictionary

from kernbench._whole_fits import whole_or_not

_locks = WeakKeyDictionary()  # beside the models, since a lock cannot be copied or pickled
_lock_of_locks = Lock()


def one_at_a_time(method):
    """Make calls of a method of one model wait for each other; the same thread may call it again from a callback.

    A call that fails before its run has an outcome leaves the model as it was.
    """
    whole = whole_or_not(method)

    @wraps(method)
    def locked(self, *args, **kwargs):
        with _lock_of_locks:
            lock = _locks.setdefault(self, RLock())
        with lock:
            return whole(self, *args, **kwargs)

    return locked

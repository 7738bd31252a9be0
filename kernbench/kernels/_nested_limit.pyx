"""A process-wide limit that several threads may need at once: set by the first to enter, lifted by the last to leave.

It is compiled because Ctrl-C can arrive between any two Python instructions: an ``__enter__`` that is interrupted after
it has incremented the counter would leave the limit set forever. Within compiled code no signal handler runs.
"""

from threading import Lock


cdef class NestedLimit:
    """A context manager, which may be entered again and by several threads.

    Parameters
    ----------
    set_limit : callable
        Sets the limit and returns what to restore; None if there is nothing to limit. If interrupted, it must have no
        effect.
    restore : callable
        Lifts the limit again; called twice if the first call is interrupted.
    """

    cdef object set_limit, restore, lock, before
    cdef readonly Py_ssize_t n_inside

    def __init__(self, set_limit, restore):
        self.set_limit, self.restore = set_limit, restore
        self.forget_lock()

    def forget_lock(self):
        """Replace the lock: in a forked process another thread's may never be released."""
        self.lock = Lock()

    def __enter__(self):
        self.lock.acquire()
        try:
            if self.n_inside == 0:
                self.before = self.set_limit()
            self.n_inside += 1
        finally:
            self.lock.release()

    def __exit__(self, kind, error, traceback):
        cdef bint is_held = False
        interrupt = None
        while not is_held:
            try:
                is_held = self.lock.acquire()
            except KeyboardInterrupt as raised:    # while it waited
                interrupt = raised
        try:
            self.n_inside -= 1
            if self.n_inside == 0 and self.before is not None:
                before, self.before = self.before, None
                try:
                    self.restore(before)
                except KeyboardInterrupt as raised:
                    interrupt = raised
                    self.restore(before)
        finally:
            self.lock.release()
        if interrupt is not None:
            raise interrupt

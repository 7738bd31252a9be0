"""A process-wide limit that several threads may need at once: set by the first to enter, lifted by the last to leave.

It is compiled because Ctrl-C can arrive between any two Python instructions: an ``__enter__`` that is interrupted after
it has added its thread would leave the limit set forever. Within compiled code no signal handler runs.
"""

from threading import Lock, get_ident


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
    cdef list inside    # identifiers of threads, one for each time that a thread has entered

    def __init__(self, set_limit, restore):
        self.set_limit, self.restore = set_limit, restore
        self.lock, self.inside = Lock(), []

    def forget_other_threads(self):
        """Keep what the calling thread has entered: in a forked process the others never leave or release the lock."""
        self.lock, own = Lock(), get_ident()
        self.inside = [thread for thread in self.inside if thread == own]
        if not self.inside and self.before is not None:
            self.restore(self.before)
            self.before = None

    def __enter__(self):
        self.lock.acquire()
        try:
            if not self.inside:
                self.before = self.set_limit()
            self.inside.append(get_ident())
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
            self.inside.remove(get_ident())
            if not self.inside and self.before is not None:
                try:
                    self.restore(self.before)
                except KeyboardInterrupt as raised:
                    interrupt = raised
                    self.restore(self.before)
                self.before = None    # last, so that a child that is forked in between restores it
        finally:
            self.lock.release()
        if interrupt is not None:
            raise interrupt

"""Ctrl-C between steps: half of a step leaves a state of which the parts do not belong together."""

import signal
import threading
from contextlib import contextmanager


class Interrupt:
    """Whether Ctrl-C was pressed, in `asked`."""

    asked = False


@contextmanager
def deferred_interrupt():
    """Yield an :class:`Interrupt` that Ctrl-C sets; pressed again, it raises KeyboardInterrupt at once.

    Nothing changes outside of the main thread, which Ctrl-C does not reach, and where it has another meaning than that
    of Python.
    """
    interrupt = Interrupt()
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return

    def note(signum, frame):
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)

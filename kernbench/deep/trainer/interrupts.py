"""Ctrl-C between steps: a step of a network takes long, and half of one leaves weights and optimiser out of step."""

import signal
import threading
from contextlib import contextmanager


class Interrupt:
    """Whether Ctrl-C was pressed, in `asked`."""

    asked = False


@contextmanager
def deferred_interrupt():
    """Yield an :class:`Interrupt` that Ctrl-C sets; pressed again, it raises KeyboardInterrupt at once.

    Outside of the main thread, which Ctrl-C does not reach, nothing changes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(signum, frame):
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)

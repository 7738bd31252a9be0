"""Ctrl-C between steps: half of a step leaves a state of which the parts do not belong together."""

import signal
import threading
from contextlib import contextmanager

# Ctrl-C, and what ends a process by default: of a system or a time limit, and of a terminal that is closed.
NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupt:
    """Whether Ctrl-C was pressed, in `asked`."""

    asked = False


@contextmanager
def deferred_interrupt():
    """Yield an :class:`Interrupt` that Ctrl-C sets; pressed again, it raises KeyboardInterrupt at once.

    So do other signals that raise KeyboardInterrupt, see `ended_as_by_ctrl_c`. Nothing changes outside of the main
    thread, which signals do not reach, and where they have another meaning.
    """
    interrupt = Interrupt()
    numbers = _handled_by(signal.default_int_handler)

    def note(signum, frame):
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    with _handling(numbers, note):
        yield interrupt


@contextmanager
def undivided():
    """Raise the KeyboardInterrupt of Ctrl-C after a step whose parts belong together, not within it."""
    with deferred_interrupt() as interrupt:
        yield
    if interrupt.asked:
        raise KeyboardInterrupt


@contextmanager
def ended_as_by_ctrl_c():
    """Let what the system or a closed terminal ends save and tell what there is, as after Ctrl-C."""
    with _handling(_handled_by(signal.SIG_DFL), signal.default_int_handler):  # nohup ignores SIGHUP
        yield


def _handled_by(handler):
    """Return the signals of `NUMBERS` with this handler; none outside of the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    return [number for number in NUMBERS if is_main and signal.getsignal(number) == handler]


@contextmanager
def _handling(numbers, handler):
    """Give signals another handler for a while."""
    earlier = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, before in zip(numbers, earlier, strict=True):
            signal.signal(number, before)

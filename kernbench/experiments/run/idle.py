"""Wait until no other program uses the processor, so that timings are valid."""

from contextlib import suppress
from time import monotonic, sleep

BUSY_CORES = 0.25  # in use by others: a desktop without work uses less, any program that computes uses more
SAMPLE_SECONDS = 0.25
QUIET_SECONDS = 2.0  # without interruption, before work resumes after a pause


class IdleMachine:
    """Tell whether other programs use the processor; call it only while no cell runs.

    Parameters
    ----------
    tell : callable
        ``tell(message)``, called when a pause begins and when it ends.
    cores_in_use : callable, optional
        ``cores_in_use(seconds) -> float``: the cores in use over the next `seconds`.

    Attributes
    ----------
    paused_seconds : float
        All pauses so far.
    """

    def __init__(self, tell, cores_in_use=None):
        self._tell, self._cores_in_use = tell, cores_in_use or _cores_in_use
        self.paused_seconds = 0.0
        self._since = self._last = None

    def is_busy(self):
        """Return whether to wait: measure the use over `SAMPLE_SECONDS`, during a pause over `QUIET_SECONDS`."""
        used = self._cores_in_use(SAMPLE_SECONDS if self._since is None else QUIET_SECONDS)
        now = monotonic()
        if self._since is not None:
            self.paused_seconds += now - self._last
        self._last = now
        if used >= BUSY_CORES:
            if self._since is None:
                self._since = now
                self._tell(f"paused while other programs use {used:.1f} cores: timings need an idle machine")
            return True
        if self._since is not None:
            self._tell(f"continued after a pause of {now - self._since:.0f} s")
            self._since = None
        return False


def _cores_in_use(seconds):
    """Return the number of cores that other programs, without children of this one, use over the next `seconds`."""
    started, before, own = monotonic(), _busy_seconds(), _own_seconds()
    sleep(seconds)
    used = (_busy_seconds() - before) - (_own_seconds() - own)
    return max(0.0, used / (monotonic() - started))


def _busy_seconds():
    """Return the processor seconds of all programs."""
    import psutil

    times = psutil.cpu_times()
    return times.user + times.system + getattr(times, "nice", 0.0)


def _own_seconds():
    """Return those of this process and its children, such as the one that loads the libraries for the cells."""
    import psutil

    this, total = psutil.Process(), 0.0
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):  # it may have ended meanwhile
            total += sum(process.cpu_times()[:4])  # user and system, of its own and of children that have ended
    return total

"""The progress bar of a run: iterations, time and the objective."""

from contextlib import contextmanager
from time import perf_counter

REFRESH_SECONDS = 0.1


class _Silent:
    def update(self, done, objective):
        pass

    def tick(self, done, *, now=False):
        pass

    def describe(self, text):
        pass


class _Bar:
    def __init__(self, progress, task, title):
        self._progress, self._task, self._title, self._shown = progress, task, title, 0.0

    def update(self, done, objective):
        self._progress.update(self._task, completed=done, objective=f"{objective:.6g}")

    def tick(self, done, *, now=False):
        moment = perf_counter()
        if now or moment - self._shown > REFRESH_SECONDS:
            self._shown = moment
            self._progress.update(self._task, completed=done)

    def describe(self, text):
        """Write a text behind the title."""
        self._progress.update(self._task, description=f"{self._title}, {text}")


@contextmanager
def progress_bar(show, total, *, objective=True):
    """Yield an object with ``update(done, objective)``, ``describe(text)`` and ``tick(done)``.

    The last redraws at most every 0.1 s.

    Parameters
    ----------
    show : bool or str
        False draws nothing; a string is the bar's title.
    total : int or None
        Largest number of iterations; None shows a bar of unknown length.
    objective : bool, default=True
        Whether to show the objective.
    """
    if not show:
        yield _Silent()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    title = show if isinstance(show, str) else "fit"
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *([TextColumn("objective {task.fields[objective]}")] if objective else []),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as progress:
        yield _Bar(progress, progress.add_task(title, total=total, objective="…"), title)

"""Progress of a run: a line for every finished fit, and a bar that names those running."""

from time import monotonic

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from kernbench.cli.console import stderr
from kernbench.report import text

OVERDUE = 10.0  # seconds after which an estimate is said to have been wrong


class _Remaining(ProgressColumn):
    """Column with the estimated time left, counted down between two events."""

    def __init__(self):
        super().__init__()
        self.estimate, self.since = None, monotonic()

    def set(self, seconds):
        """Set the estimate, made now."""
        self.estimate, self.since = seconds, monotonic()

    def render(self, task):
        """Return the text of the column."""
        if self.estimate is None:
            return Text("remaining: not known yet", style="dim")
        left = self.estimate - (monotonic() - self.since)
        if left < -OVERDUE:
            return Text(f"{text.duration(-left)} more than estimated", style="dim")
        return Text(f"about {text.duration(left)} to go" if left >= 1 else "nearly done", style="dim")


class ProgressDisplay:
    """Draws a progress bar on standard error: a context manager, called with every event of a run.

    Parameters
    ----------
    registry : module
        ``kernbench.experiments.registry``, for the names of metrics.
    """

    def __init__(self, registry):
        self._registry = registry
        self._console = stderr()
        self._remaining = _Remaining()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            self._remaining,
            console=self._console,
            transient=True,
        )
        self._task = None
        self._running = {}

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._progress.live.is_started:  # stopping what never started would print an empty line
            self._progress.stop()

    def __call__(self, event):
        """Show one event."""
        if self._task is None:
            self._task = self._progress.add_task("planning", total=None)
            if self._console.is_terminal:
                self._progress.start()
        self._remaining.set(event.remaining)
        getattr(self, f"_{event.kind}", self._ignore)(event)
        self._progress.update(self._task, completed=event.done, total=event.total or None)

    def _ignore(self, event):
        pass

    def _note(self, event):
        self._say(f"[yellow]![/] {escape(event.message)}")

    def _loading(self, event):
        self._progress.update(self._task, description=f"loading {escape(event.message)}")

    def _gap(self, event):
        self._say(f"[yellow]–[/] {escape(event.message)}")

    def _planned(self, event):
        if event.done < event.total:
            self._progress.update(self._task, description="starting")

    def _started(self, event):
        self._running[event.cell.place] = event.cell
        self._describe()

    def _finished(self, event):
        self._running.pop(event.cell.place, None)
        self._describe()
        cell, record = event.cell, event.record
        name = escape(f"{cell.dataset} / {cell.method} / repeat {cell.repeat}")
        if record["status"] != "ok":
            self._say(f"[red]✗[/] {name}: {record['status']}: {escape(str(record.get('error')))}")
            return
        metric, value = self._registry.get(cell.experiment).headline(record)
        shown = "" if metric is None else f"{metric.label} {metric.factor * value:.4g} {metric.unit}".rstrip()
        seconds = record["seconds"].get("fit", record["seconds"].get("total"))
        self._say(f"[green]✓[/] {name}: {escape(shown or 'done')} in {text.seconds(seconds)}")

    def _describe(self):
        names = [f"{cell.dataset} / {cell.method}" for cell in self._running.values()]
        self._progress.update(self._task, description=escape(", ".join(names)) or "waiting")

    def _say(self, line):
        self._progress.console.print(line, soft_wrap=True)

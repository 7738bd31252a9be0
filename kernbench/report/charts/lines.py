"""The lines of a chart: points of the records, with medians and the range of the repeats."""

from collections import Counter
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from kernbench.experiments.measure.rates import rate
from kernbench.report.records.cells import outside_trace
from kernbench.report.records.rows import place, rows_of
from kernbench.report.records.steps import on_one_grid, positive_steps
from kernbench.report.statistics import finite, median_or_none


@dataclass(frozen=True)
class Line:
    """Points of one line by ascending x: medians, and the range of the repeats."""

    name: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def slope(self):
        """The :class:`~kernbench.experiments.measure.rates.Rate` fitted to the medians, or None."""
        return rate(self.x, self.y)

    def above_zero(self):
        """What a logarithmic axis can show: points with a positive median, with a range from the least such number."""
        if (self.low > 0).all():
            return self
        kept = self.y > 0
        x, y, low, high = (part[kept] for part in (self.x, self.y, self.low, self.high))
        seen = np.concatenate([y, low[low > 0]])
        return replace(self, x=x, y=y, low=np.maximum(low, seen.min(initial=np.inf)), high=high)

    @property
    def scatters(self):
        """Whether repeats differ."""
        return bool((self.low < self.high).any())


def with_steps(display, results):
    """The display, with `steps` if repeats have few points in common, as over time, so that these have no medians.

    Parameters
    ----------
    display : kernbench.experiments.declare.Curves
    results : Results
    """
    places = [display.panel, display.line], [display.x.path]
    traces = {}
    for record in results.chosen_records(display):
        own = {}
        for names, (x,) in rows_of([record], *places, display.where):
            own.setdefault(names, set()).add(x)
        for names, found in own.items():
            if len(found) > 1:
                traces.setdefault(names, []).append(found)
    return replace(display, steps=True) if any(map(_are_apart, traces.values())) else display


def _are_apart(traces):
    """Whether most x of several traces are in one of them alone, and none is negative, as none is of a clock."""
    counts = Counter(x for found in traces for x in found)
    return len(traces) > 1 and min(counts) >= 0 and 2 * list(counts.values()).count(1) > len(counts)


def lines_of(display, results):
    """The lines of a chart: a dict of panel to list of Line, both in order of appearance.

    Parameters
    ----------
    display : kernbench.experiments.declare.Curves
        As :func:`with_steps` returns it.
    results : Results
    """
    found = {}
    for record in results.chosen_records(display):
        runs, begins = {}, _begin(record, display.x)
        places = [display.panel, display.line], [display.x.path, display.y.path]
        for names, (x, y) in rows_of([record], *places, display.where):
            x, y = (begins + x) * display.x.factor, y * display.y.factor
            if x > 0 or not (display.x.log or display.steps):
                runs.setdefault(names, []).append((x, y))
        for (panel, name), points in runs.items():
            found.setdefault(panel, {}).setdefault(name, []).append(points)
    panels = {panel: [_made(display, *item) for item in lines.items()] for panel, lines in found.items()}
    if display.y.log:
        panels = {panel: [line.above_zero() for line in lines] for panel, lines in panels.items()}
    panels = {panel: [line for line in lines if line.x.size] for panel, lines in panels.items()}
    return {panel: lines for panel, lines in panels.items() if lines}


def _begin(record, axis):
    """Where the axis stands at the first point of a trace: a fit takes time before the clock of its trace begins."""
    return outside_trace(record, finite(place(record, "seconds.fit"))) if axis.path == "trace.seconds" else 0.0


def _made(display, name, runs):
    if name in display.final_only:
        (x, y), ends = zip(*(points[-1] for points in runs)), np.ones(1)
        return Line(name, median(x) * ends, median(y) * ends, min(y) * ends, max(y) * ends)
    return (_step_line if display.steps else _line)(name, runs)


def _line(name, runs):
    """Medians over all points that share their x."""
    values = {}
    for x, y in (point for points in runs for point in points):
        values.setdefault(x, []).append(y)
    x = sorted(values)
    parts = ([function(values[each]) for each in x] for function in (median, min, max))
    return Line(name, np.array(x), *(np.array(part) for part in parts))


def _step_line(name, runs):
    """Medians over the step curves of the repeats."""
    x, y = on_one_grid([positive_steps(*zip(*points)) for points in runs])
    return Line(name, x, np.median(y, axis=0), y.min(axis=0), y.max(axis=0))


def finals_of(display, results):
    """The end of the baseline in each panel: a dict of panel to (x or None, y), medians over repeats."""
    ends = {}
    if display.baseline is None:
        return ends
    for record in results.chosen_records(display):
        if record["method"] == display.baseline:
            for axis in (display.x, display.y):
                rows = list(rows_of([record], [display.panel], [axis.path], display.where))
                for (panel,), (value,) in rows[-1:]:
                    value = axis.factor * (_begin(record, axis) + value)
                    ends.setdefault(panel, {}).setdefault(axis.path, []).append(value)
    return {
        panel: tuple(median_or_none(values.get(axis.path, [])) for axis in (display.x, display.y))
        for panel, values in ends.items()
        if display.y.path in values
    }

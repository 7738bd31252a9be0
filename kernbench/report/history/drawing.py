"""Figures of benchmarks over commits."""

from functools import partial

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.styles import BLUE, INK
from kernbench.report.tables.table import csv_text

SHORT = 8  # digits of a hash
NARROW = 1.5  # largest value over the least, below which only these two have ticks
UNITS = {"seconds": (1e3, "ms"), "bytes": (2.0**-20, "MB")}
KINDS = {"time": "time of ", "mem": "memory of ", "peakmem": "peak memory of ", "track": ""}


def scaled(unit):
    """The factor and the name of the unit in which values are shown."""
    return UNITS.get(unit, (1.0, unit))


def words_of(name):
    """What a benchmark of asv measures: ``fits.Fit.time_fit`` the "time of fit"."""
    own = name.rpartition(".")[2]
    kind, _, what = own.partition("_")
    return f"{KINDS[kind]}{what.replace('_', ' ')}" if kind in KINDS else own


def draw_benchmark(name, machine, series, commits):
    """The figure of one benchmark on one machine.

    Parameters
    ----------
    name, machine : str
    series : list of Series
    commits : list of (int, str)
        All commits of the machine, in their order.

    Returns
    -------
    Picture
    """
    factor, unit = scaled(series[0].unit)
    title = text.capitalised(words_of(name) if unit == words_of(name) else f"{words_of(name)}, {unit}")
    file_name = text.file_name(f"history-{machine}-{name}")
    panels = [
        layout.Panel(
            text.file_name(f"{file_name}-{one.label or 'all'}"),
            one.label or title,
            _words(one, factor, unit),
            partial(_draw, one, factor, commits),
        )
        for one in series
    ]
    rows = [("benchmark", "parameters", "commit", unit)]
    rows += [(name, one.label, commit, factor * value) for one in series for _, commit, value in one.points]
    caption = f"{title}, on {machine}. Commits from {commits[0][1][:SHORT]} to {commits[-1][1][:SHORT]}, evenly spaced."
    drawn = layout.multiples(panels, title, layout.MEDIUM)
    return Picture(file_name, caption, *drawn, csv_text(rows), shape="panels large", lead=f"↑ {unit}  → commits")


def _words(one, factor, unit):
    ends = (one.points[0], one.points[-1])
    first, last = (f"{text.significant(factor * value)} {unit} at {commit[:SHORT]}" for _, commit, value in ends)
    return f"{one.label}: {first}, {last}."


def _draw(one, factor, commits, axes, fonts):
    places = {commit: number for number, commit in enumerate(commits)}
    x = [places[date, commit] for date, commit, _ in one.points]
    y = [factor * value for *_, value in one.points]
    low, high = min(y), max(y)
    log = low > 0
    axes.set_yscale("log" if log else "linear")
    axes.plot(x, y, color=BLUE, marker="o", markersize=3.5, linewidth=1.6)
    axes.axhline(y[-1], color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1.5)
    axes.set_xlim(-0.4, len(commits) - 0.6)
    ends = scales.limits([y], log)
    axes.set_ylim(*ends)
    layout.dress(axes, fonts, title=one.label)
    if high < NARROW * low:  # round ticks would lie outside, or have the same digits
        axes.set_yticks([low, high], [text.significant(value) for value in (low, high)], minor=False)
        axes.set_yticks([], minor=True)
    else:
        layout.set_ticks(axes.yaxis, scales.ticks(*ends, log))
    last = len(commits) - 1
    axes.set_xticks([0, last] if last else [0], [commits[k][1][:SHORT] for k in ([0, last] if last else [0])])

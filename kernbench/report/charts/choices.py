"""The figure above the table of all races: for each the size of the data and the time of the recommended method."""

from functools import partial
from textwrap import shorten

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.styles import GRID, INK, category_styles
from kernbench.report.statistics import finite
from kernbench.report.tables.table import csv_text
from kernbench.report.verdict.advice import places

SIZE = (2.3, 1.45)  # inches
LONGEST = 36  # characters of a name in the legend
NAME, TITLE = "choices", "The recommended method, by size of the data"


def choice_picture(choices):
    """Draw a panel for each task; None if no data set has a known size.

    Returns
    -------
    Picture or None
    """
    tasks = {}
    for choice in choices:
        for advice in choice.advices:
            rows = finite(advice.results.data(advice.dataset).get("n_train"))
            if rows:
                tasks.setdefault(choice.task, []).append((advice.label, rows, advice))
    if not tasks:
        return None
    styles = category_styles(list(dict.fromkeys(label for label, _, _ in races)) for races in tasks.values())
    every = [race for races in tasks.values() for race in races]
    ends = scales.limits([[rows for _, rows, _ in every]], True)
    times = [time for _, _, advice in every for time in (advice.seconds, _usual(advice)) if time is not None]
    y_ends = scales.limits([times], True)
    most = max(len({label for label, _, _ in races}) for races in tasks.values())
    size = (SIZE[0], SIZE[1] + layout.LEGEND_ROW * most)
    panels = [
        layout.Panel(
            f"{NAME}-{task}",
            text.capitalised(task),
            _words(task, races),
            partial(_draw, task, races, styles, ends, y_ends),
        )
        for task, races in tasks.items()
    ]
    caption = (
        "Every mark is a race on one data set: the fastest method that is no worse than the usual choice, at the "
        "number of training rows and its training time. The line rises to the time of the usual choice (hollow "
        "diamond), by the factor between the two in the same runs: the cost of choosing by habit."
    )
    rows = [("task", "method", "dataset", "experiment", "n_train", "seconds", "usual", "seconds_usual")]
    rows += [
        (task, label, a.dataset, a.results.experiment.name, n, a.seconds, a.peer, _usual(a))
        for task, races in tasks.items()
        for label, n, a in races
    ]
    drawn = layout.multiples(panels, TITLE, size)
    lead = "↑ training time (s)  → training rows"
    return Picture(NAME, caption, *drawn, csv_text(rows), shape="panels choices", lead=lead)


def _usual(advice):
    """The baseline's time: the method's own, times the factor in the runs of both; None without any.

    The median over all its runs, of which some may be from other machines, would contradict the factor of the table.
    """
    if advice.method == advice.display.baseline:
        return advice.seconds
    return None if advice.ratio is None else advice.seconds * advice.ratio


def _named(label):
    """A method in the legend, whose marks would be cut off beside a longer name; the figure's words have all of it."""
    return shorten(text.short(label), LONGEST, placeholder=" …")


def _words(task, races):
    place = places([advice for _, _, advice in races])
    parts = [
        f"{place(advice)}, {text.count(rows)} rows: {label} in {text.seconds(advice.seconds)}, {_against(advice)}"
        for label, rows, advice in races
    ]
    return f"{text.capitalised(task)}. {'; '.join(parts)}."


def _against(advice):
    """The usual choice and its time, in words."""
    if advice.method == advice.display.baseline:
        return "the usual choice"
    usual = _usual(advice)
    return f"{advice.peer} has no time" if usual is None else f"{advice.peer} in {text.seconds(usual)}"


def _draw(task, races, styles, ends, y_ends, axes, fonts):
    axes.set_xscale("log")
    axes.set_yscale("log")
    handles = {}
    for label, rows, advice in races:
        usual = _usual(advice)
        if usual not in (None, advice.seconds):
            axes.plot([rows, rows], [advice.seconds, usual], color=GRID, linewidth=2.2, zorder=1)
            hollow = {"marker": "D", "markersize": 4.5, "markerfacecolor": "none", "color": INK, "markeredgewidth": 0.8}
            axes.plot(rows, usual, linestyle="none", zorder=2, **hollow)
        style = {"marker": styles[label].marker, "color": styles[label].colour, "markersize": 6.5, "linestyle": "none"}
        handles.setdefault(label, axes.plot(rows, advice.seconds, zorder=3, **style)[0])
    axes.set_xlim(*ends)
    axes.set_ylim(*y_ends)
    layout.dress(axes, fonts, title=text.capitalised(task))
    layout.set_ticks(axes.xaxis, scales.ticks(*ends, True))
    layout.set_ticks(axes.yaxis, scales.ticks(*y_ends, True))
    names = list(map(_named, handles))
    layout.name_below(axes, list(handles.values()), names, fonts, columns=1)

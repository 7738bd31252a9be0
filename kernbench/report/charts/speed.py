"""The first figure of the page: how many times faster than the usual choice the recommended method is, where it won."""

from textwrap import fill

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.styles import BLUE, GRID, INK
from kernbench.report.tables.table import csv_text
from kernbench.report.verdict.advice import places
from kernbench.report.verdict.headlines import against, recommended

NAME, TITLE = "speed", "Times as fast as the usual choice, at equal accuracy: a dot for each race won"
WIDTH, LINE, GAP, MARGINS = 10.4, 0.17, 0.16, 1.1  # inches
COLUMNS = 66  # characters of a line of names, which leave half of the width to the dots


def speed_picture(verdicts):
    """Draw a row for each task of the first table, a dot in it for each race that its method won; None without any.

    Returns
    -------
    Picture or None
    """
    tasks = {verdict.task: (advices, races) for verdict, advices in recommended(verdicts) if (races := _races(advices))}
    if not tasks:
        return None
    names = [
        f"{text.capitalised(task)}\n{fill(_compared(advices), COLUMNS, break_on_hyphens=False)}"
        for task, (advices, _) in tasks.items()
    ]
    row = GAP + LINE * max(name.count("\n") + 1 for name in names)
    size = WIDTH, MARGINS + row * len(tasks)
    drawn = layout.one(NAME, TITLE, _words(tasks), lambda axes, fonts: _draw(axes, fonts, tasks, names), size)
    rows = [("task", "method", "usual", "dataset", "times_as_fast")]
    rows += [
        (task, advices[0].spelled, against(advices), dataset, ratio)
        for task, (advices, races) in tasks.items()
        for dataset, ratio in races
    ]
    caption = (
        "The method to use against the usual choice in the same run: a dot for each data set on which it is the "
        "fastest of the methods that are no less accurate than the usual choice. Races that another method won, or in "
        "which the usual choice has no time, have no dot."
    )
    return Picture(NAME, caption, *drawn, csv_text(rows), shape="wide")


def _races(advices):
    """Races by name with their ratios: 1 where the usual choice itself won; none where it has no time."""
    place = places(advices)
    ratios = [(advice, 1.0 if advice.method == advice.display.baseline else advice.ratio) for advice in advices]
    return [(place(advice), ratio) for advice, ratio in ratios if ratio is not None]


def _words(tasks):
    """The figure in words."""
    parts = []
    for task, (advices, races) in tasks.items():
        shown = ", ".join(f"{dataset} {text.significant(ratio, 2)}" for dataset, ratio in races)
        parts.append(f"{text.capitalised(task)}, {_compared(advices)}: {shown}.")
    return " ".join(parts)


def _draw(axes, fonts, tasks, names):
    axes.set_xscale("log")
    for place, (_, races) in enumerate(tasks.values()):
        ratios = [ratio for _, ratio in races]
        axes.plot([min(1.0, *ratios), max(1.0, *ratios)], [place, place], color=GRID, linewidth=2.5, zorder=1)
        axes.plot(ratios, [place] * len(ratios), marker="o", color=BLUE, markersize=7, linestyle="none", zorder=3)
    axes.axvline(1.0, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
    low, high = scales.limits([[1.0, *(ratio for _, races in tasks.values() for _, ratio in races)]], True)
    axes.set_xlim(low, high)
    axes.set_ylim(len(tasks) - 0.5, -0.7)
    layout.head(axes, TITLE, fonts)
    layout.dress(axes, fonts, x_label="times as fast (dashed: as fast as the usual choice)", grid="x")
    axes.xaxis.label.set(x=1.0, horizontalalignment="right")  # it is longer than the half of the width with the dots
    axes.set_yticks(range(len(tasks)), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    layout.set_ticks(axes.xaxis, scales.ticks(low, high, True))


def _compared(advices):
    """The estimator, without its arguments, and what it is compared with."""
    name, usual = advices[0].short, against(advices)
    return f"{name} {usual}" if usual.startswith("is ") else f"{name} against {usual}"

"""The first figure of the page: how many times faster than each usual choice the recommended method is."""

from dataclasses import dataclass
from textwrap import fill

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.styles import BLUE, GRID, INK
from kernbench.report.tables.table import csv_text
from kernbench.report.verdict.advice import Advice, by_peer, places
from kernbench.report.verdict.headlines import recommended

NAME, TITLE = "speed", "Times as fast as the usual choice, at equal accuracy: a dot for each race won"
WIDTH, LINE, GAP, MARGINS = 10.4, 0.17, 0.16, 1.1  # inches
COLUMNS = 66  # characters of a line of names, which leave half of the width to the dots
USUAL = "is the usual choice"


@dataclass(frozen=True)
class Row:
    """A row of the figure: the recommended method of a task against one usual choice.

    Attributes
    ----------
    task : str
    advice : Advice
        That of one of the races.
    usual : str
        The usual choice.
    races : list of (str, float, int)
        The name of each race, how many times as fast the method is there, and in how many runs of both.
    """

    task: str
    advice: Advice
    usual: str
    races: list

    @property
    def compared(self):
        """The estimator, without its arguments, and what it is compared with."""
        return f"{self.advice.short} {self.usual if self.usual == USUAL else f'against {self.usual}'}"


def speed_picture(verdicts):
    """Draw a row for each task of the first table and each usual choice, a dot in it for each race that its method won.

    Returns
    -------
    Picture or None
        None without any.
    """
    rows = [row for verdict, advices in recommended(verdicts) for row in _rows(verdict.task, advices)]
    if not rows:
        return None
    names = [f"{text.capitalised(row.task)}\n{fill(row.compared, COLUMNS, break_on_hyphens=False)}" for row in rows]
    height = GAP + LINE * max(name.count("\n") + 1 for name in names)
    size = WIDTH, MARGINS + height * len(rows)
    drawn = layout.one(NAME, TITLE, _words(rows), lambda axes, fonts: _draw(axes, fonts, rows, names), size)
    lines = [("task", "method", "usual", "dataset", "times_as_fast", "runs")]
    lines += [(row.task, row.advice.spelled, row.usual, *race) for row in rows for race in row.races]
    caption = (
        "The method to use against each usual choice in the same run: a dot for each data set on which it is the "
        "fastest of the methods that are no less accurate than the usual choice. Races that another method won, or in "
        "which the usual choice has no time, have no dot."
    )
    if any(n_runs == 1 for row in rows for *_, n_runs in row.races):
        caption += " Hollow: from a single run."
    return Picture(NAME, caption, *drawn, csv_text(lines), shape="wide")


def _rows(task, advices):
    """A row for each usual choice with a time: factors over different ones cannot be compared with each other."""
    place = places(advices)
    usual = [(place(advice), 1.0, advice.n_runs) for advice in advices if advice.method == advice.display.baseline]
    rows = [Row(task, advices[0], USUAL, usual)] if usual else []
    for peer, own in by_peer(advices).items():
        races = [(place(advice), advice.ratio, advice.n_runs) for advice in own if advice.ratio is not None]
        rows += [Row(task, own[0], text.names([peer]), races)] if races else []
    return rows


def _words(rows):
    """The figure in words."""
    parts = []
    for row in rows:
        shown = ", ".join(
            f"{dataset} {text.significant(ratio, 2)}{' in one run' if n_runs == 1 else ''}"
            for dataset, ratio, n_runs in row.races
        )
        parts.append(f"{text.capitalised(row.task)}, {row.compared}: {shown}.")
    return " ".join(parts)


def _draw(axes, fonts, rows, names):
    axes.set_xscale("log")
    for place, row in enumerate(rows):
        ratios = [ratio for _, ratio, _ in row.races]
        axes.plot([min(1.0, *ratios), max(1.0, *ratios)], [place, place], color=GRID, linewidth=2.5, zorder=1)
        for is_once, face in ((False, BLUE), (True, "none")):
            dots = [ratio for _, ratio, n_runs in row.races if (n_runs == 1) == is_once]
            style = {"marker": "o", "color": BLUE, "markerfacecolor": face, "markersize": 7, "linestyle": "none"}
            axes.plot(dots, [place] * len(dots), **style, zorder=3)
    axes.axvline(1.0, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
    low, high = scales.limits([[1.0, *(ratio for row in rows for _, ratio, _ in row.races)]], True)
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.5, -0.7)
    layout.head(axes, TITLE, fonts)
    layout.dress(axes, fonts, x_label="times as fast (dashed: as fast as the usual choice)", grid="x")
    axes.xaxis.label.set(x=1.0, horizontalalignment="right")  # it is longer than the half of the width with the dots
    axes.set_yticks(range(len(rows)), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    layout.set_ticks(axes.xaxis, scales.ticks(low, high, True))

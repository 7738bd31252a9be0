"""Heat maps: coloured cells, each with its number."""

import math
import re

from matplotlib.patches import Rectangle

from kernbench.report import text
from kernbench.report.charts.drawing import layout
from kernbench.report.charts.drawing.picture import picture_of
from kernbench.report.charts.drawing.styles import BLUE, INK
from kernbench.report.charts.grid import Grid

ROW = 0.3  # inches
FAINT, FULL = 0.06, 0.62  # opacity of the least and the largest value, on which letters are readable
GAP = 0.04  # between cells, as a share of one


def picture(display, results):
    """Draw a :class:`~kernbench.experiments.declare.HeatMap`; None if there is nothing to draw."""
    grid = Grid(display, results, display.row, display.column)
    if not grid.values:
        return None
    drawn = layout.one(
        results.file_name(display.name),
        display.title,
        grid.words(2),
        lambda axes, fonts: _draw(axes, fonts, display, grid),
        (layout.SIZE[0], ROW * len(grid.rows) + 0.95),
    )
    remarks = [f"{text.capitalised(text.heading(display.value))}.", *grid.remarks()]
    return picture_of(display, results, drawn, grid.csv_rows(), remarks)


def _draw(axes, fonts, display, grid):
    rows, columns = list(grid.rows), list(grid.columns)
    for (row, column), share in _shares(grid.values, display.value.log).items():
        x, y = columns.index(column), rows.index(row)
        corner, size = (x - 0.5 + GAP, y - 0.5 + GAP), 1 - 2 * GAP
        opacity = FAINT + (FULL - FAINT) * share
        axes.add_patch(Rectangle(corner, size, size, facecolor=BLUE, alpha=opacity, linewidth=0))
        number = text.significant(grid.values[row, column], 2)
        axes.text(x, y, number, ha="center", va="center", fontsize=fonts.note, color=INK)
    layout.head(axes, display.title, fonts)
    layout.dress(axes, fonts, grid="")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), grid.rows.values())
    axes.set_xticks(range(len(columns)), [_broken(name) for name in grid.columns.values()])
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _broken(name):
    """A name in lines that end at its commas, but for those of an interval."""
    return re.sub(r", (?![^\[]*\])", "\n", name)


def _shares(found, log):
    """The position of each value between the least and the largest, from 0 to 1."""
    scaled = {names: math.log(value) if log else value for names, value in found.items()}
    low, high = min(scaled.values()), max(scaled.values())
    return {names: (value - low) / (high - low) if high > low else 1.0 for names, value in scaled.items()}

"""Marks: a row for each category, a mark in it for each method."""

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import picture_of
from kernbench.report.charts.drawing.styles import GRID, INK, category_styles, styles_of
from kernbench.report.charts.grid import Grid

ROW = 0.27  # inches
LEGEND_ROW, ROOM_FOR = 0.17, 1  # inches of a row of the legend, and number of rows that fit
MOST_COLUMNS, MARK = 3, 42  # of the legend; points of a mark with the space around it


def picture(display, results):
    """Draw a :class:`~kernbench.experiments.declare.Marks`; None if there is nothing to draw."""
    grid = Grid(display, results, display.row, display.mark)
    if not grid.values:
        return None
    styles = styles_of(results) if display.mark == "method" else category_styles([list(grid.columns)])
    columns = legend_columns(grid.columns.values())
    legend = LEGEND_ROW * max(0, -(-len(grid.columns) // columns) - ROOM_FOR)
    drawn = layout.one(
        results.file_name(display.name),
        display.title,
        grid.words(3),
        lambda axes, fonts: _draw(axes, fonts, display, grid, styles, columns),
        (layout.SIZE[0], ROW * len(grid.rows) + 1.2 + legend),
    )
    remarks = [*grid.remarks(), *([f"Dashed: {display.reference_label}."] if display.reference_label else [])]
    return picture_of(display, results, drawn, grid.csv_rows(), remarks)


def legend_columns(names):
    """In how many columns the legend fits below the picture; it fills them one after the other."""
    widths = [MARK + layout.LETTER * layout.LARGE_FONTS.note * len(name) for name in names]
    return layout.legend_columns(widths, 72 * layout.SIZE[0], MOST_COLUMNS)


def _draw(axes, fonts, display, grid, styles, n_columns):
    if display.value.log:
        axes.set_xscale("log")
    for place, row in enumerate(grid.rows):
        values = [grid.values[row, mark] for mark in grid.columns if (row, mark) in grid.values]
        axes.plot([min(values), max(values)], [place, place], color=GRID, linewidth=2.5, zorder=1)
    for mark, name in grid.columns.items():
        points = [(grid.values[row, mark], place) for place, row in enumerate(grid.rows) if (row, mark) in grid.values]
        style = {"marker": styles[mark].marker, "color": styles[mark].colour, "markersize": 6.5}
        axes.plot(*zip(*points), **style, linestyle="none", label=name, zorder=3)
    axes.set_ylim(len(grid.rows) - 0.4, -0.6)
    layout.head(axes, display.title, fonts)
    layout.dress(axes, fonts, x_label=text.heading(display.value), grid="x")
    axes.set_yticks(range(len(grid.rows)), grid.rows.values())
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    reference = [] if display.reference is None else [display.reference]
    low, high = scales.limits([[*grid.values.values(), *reference]], display.value.log)
    layout.set_ticks(axes.xaxis, scales.ticks(low, high, display.value.log))
    axes.set_xlim(low, high)
    for level in reference:
        axes.axvline(level, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
    if len(grid.columns) > 1:
        style = {"frameon": False, "fontsize": fonts.note, "labelcolor": INK}
        axes.figure.legend(loc="outside lower left", ncols=n_columns, **style)

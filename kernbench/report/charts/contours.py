"""Contours: a function on a grid, as small multiples of one scale from 0 to 1."""

from functools import partial

import numpy as np

from kernbench.report import text
from kernbench.report.charts.drawing import layout
from kernbench.report.charts.drawing.picture import picture_of
from kernbench.report.charts.drawing.styles import BLUE, INK, VERMILION
from kernbench.report.records.rows import place
from kernbench.report.statistics import finite

SIZE = (1.95, 2.0)  # inches
LEVELS = np.round(np.arange(0.1, 1.0, 0.1), 1)
LABELLED = (0.1, 0.5, 0.9)
OPACITY = 0.15  # of one step over the one before


def picture(display, results):
    """Draw a :class:`~kernbench.experiments.declare.Contours`; None if there is nothing to draw."""
    grids = {}
    for record in results.chosen_records(display):
        grid = _grid(place(record, display.grid))
        if grid is not None:
            grids.setdefault(record["dataset"], grid)  # the same for all repeats
    if not grids:
        return None
    panels = []
    for dataset, grid in grids.items():
        title = results.category_label("dataset", dataset)
        name = results.file_name(display.name, dataset)
        panels.append(layout.Panel(name, title, _words(display, title, grid), partial(_draw, grid, title)))
    rows = [("dataset", "x", "y", display.label)]
    for dataset, (x, y, values, _) in grids.items():
        rows += [(dataset, a, b, values[j, i]) for j, b in enumerate(y) for i, a in enumerate(x)]
    drawn = layout.multiples(panels, display.title, SIZE)
    return picture_of(display, results, drawn, rows, shape="panels")


def _grid(found):
    """Lines, values and the marked point of a grid in a record; None if it is not one."""
    if not isinstance(found, dict):
        return None
    x, y, values, point = (found.get(key) for key in ("x", "y", "values", "point"))
    if not all(isinstance(part, list) for part in (x, y, values)):
        return None
    values = np.array([[np.nan if finite(v) is None else v for v in row] for row in values], dtype=float)
    return (x, y, values, point) if values.shape == (len(y), len(x)) else None


def _draw(grid, title, axes, fonts):
    x, y, values, point = grid
    values = np.ma.masked_invalid(values)
    highest = float(values.max())
    levels = [level for level in LEVELS if level < highest]
    if levels:
        colours = [(BLUE, 1 - (1 - OPACITY) ** step) for step in range(1, len(levels) + 1)]
        axes.contourf(x, y, values, levels=[*levels, max(highest, 1.0) + 1.0], colors=colours)
    shown = [level for level in LEVELS if float(values.min()) < level < highest]
    if shown:
        lines = axes.contour(x, y, values, levels=shown, colors=[INK], linewidths=0.45, alpha=0.55)
        named = [level for level in shown if level in LABELLED] or shown[len(shown) // 2 :][:1]
        axes.clabel(lines, named, fmt="%g", fontsize=fonts.tick - 1, colors=[INK], inline_spacing=2)
    if isinstance(point, list):
        axes.plot(*point, marker="o", markersize=4, color=VERMILION, zorder=5, clip_on=False)
    axes.set_aspect("equal")
    layout.dress(axes, fonts, title=title, grid="")
    for axis, line in ((axes.xaxis, x), (axes.yaxis, y)):
        layout.set_ticks(axis, [line[0], (line[0] + line[-1]) / 2, line[-1]])


def _words(display, title, grid):
    _, _, values, point = grid
    where = f" around ({text.listed(map(layout.tick, point))})" if isinstance(point, list) else ""
    return f"{title}: {display.label}{where}, from {np.nanmin(values):.2g} to {np.nanmax(values):.2g}."

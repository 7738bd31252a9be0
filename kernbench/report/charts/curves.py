"""Curves: lines over a number, alone or as small multiples."""

from dataclasses import dataclass
from functools import cached_property, partial
from statistics import median

import numpy as np

from kernbench.report import text
from kernbench.report.charts import layout, scales
from kernbench.report.labels import category_label
from kernbench.report.pictures import Picture
from kernbench.report.style import INK, ORDERED, Look, category_looks
from kernbench.report.tables import csv_text
from kernbench.report.tidy import chosen, rows_of

MOST_ROOM = 0.3  # share of a panel's width for names at the ends of lines; longer names go inside
BELOW = 0.6  # the line of the reference slope runs this far below the lowest point
MANY_TICKS = 6


@dataclass(frozen=True)
class Line:
    """Points of one line by ascending x: medians, and the range of the repeats."""

    name: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray


def lines_of(display, group):
    """The lines of a chart: a dict of panel to list of Line, both in order of appearance."""
    values = {}
    paths, numbers = [display.panel, display.line], [display.x.path, display.y.path]
    for (panel, line), (x, y) in rows_of(chosen(display, group), paths, numbers, display.where):
        x, y = x * display.x.factor, y * display.y.factor
        if (x > 0 or not display.x.log) and (y > 0 or not display.y.log):
            values.setdefault(panel, {}).setdefault(line, {}).setdefault(x, []).append(y)
    return {panel: [_line(name, points) for name, points in lines.items()] for panel, lines in values.items()}


def _line(name, points):
    x = sorted(points)
    parts = ([function(points[each]) for each in x] for function in (median, min, max))
    return Line(name, np.array(x), *(np.array(part) for part in parts))


def picture(display, experiment, group, looks):
    """Draw a :class:`~kernbench.experiments.declare.Curves`; None where there is nothing to draw.

    Parameters
    ----------
    display : kernbench.experiments.declare.Curves
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    looks : dict of str to Look
        Of methods.

    Returns
    -------
    Picture or None
    """
    panels = lines_of(display, group)
    if not panels:
        return None
    chart = _Chart(display, experiment, group, looks, panels)
    name = text.file_name(f"{group.experiment}-{group.scale}-{display.name}")
    caption = " ".join([text.sentence(display.title), *chart.remarks()])
    if display.panel is None:
        (lines,) = panels.values()
        title = display.title
        words = chart.words(lines)
        page, file = layout.one(name, title, words, partial(chart.draw, lines, title, True))
        shape, lead = "", ""
    else:
        multiples = [
            layout.Panel(
                text.file_name(f"{name}-{panel}"),
                chart.panel_name(panel),
                f"{chart.panel_name(panel)}: {chart.words(lines)}",
                partial(chart.draw, lines, chart.panel_name(panel), False),
            )
            for panel, lines in panels.items()
        ]
        size = layout.size_for(chart.most_inside(), chart.panel_size)
        page, file = layout.multiples(multiples, display.title, size)
        lead = f"↑ {layout.axis_words(display.y)}  → {layout.axis_words(display.x)}"
        words, shape = "", "panels large" if display.large else "panels"
    return Picture(name, caption, words, page, file, chart.csv(), display.heading, shape, lead)


class _Chart:
    """A chart with all its panels: what they have in common, and how one is drawn."""

    def __init__(self, display, experiment, group, looks, panels):
        self.display, self.experiment, self.group, self.panels = display, experiment, group, panels
        if display.ordered:
            self.looks = None  # by its place among the lines of its panel
        elif display.line == "method":
            self.looks = looks
        else:
            self.looks = category_looks([line.name for line in lines] for lines in panels.values())
        self.every = [line for lines in panels.values() for line in lines]
        self.panel_size = layout.MEDIUM if display.large else layout.SMALL
        self.y_limits = self._heights(self.every)
        self.x_limits = scales.limits([line.x for line in self.every], display.x.log)

    def _heights(self, lines):
        """The ends of the vertical axis over some lines."""
        heights = [end for line in lines for end in (line.low, line.high)]
        if self.display.slope is not None and self.display.slope_through is not None:
            heights.append(self._slope_line(lines)[1])
        heights = [np.minimum(height, self._top(lines)) for height in heights]
        return self.display.y_range or scales.limits(heights, self.display.y.log)

    def _top(self, lines):
        """The height above which lines leave the picture."""
        lowest = min(float(line.y.min()) for line in lines)
        return np.inf if self.display.y_span is None or lowest <= 0 else self.display.y_span * lowest

    def panel_name(self, panel):
        """The heading of a panel."""
        return category_label(self.experiment, self.group, self.display.panel, panel)

    def line_name(self, name):
        """What stands beside a line."""
        return category_label(self.experiment, self.group, self.display.line, name)

    @cached_property
    def is_named(self):
        """Whether lines need their names: there are several."""
        return len({line.name for line in self.every}) > 1

    def look(self, lines, place):
        """The look of a line of a panel."""
        if self.looks is not None:
            return self.looks[lines[place].name]
        return Look(ORDERED[place % len(ORDERED)], "o", "-")

    def draw(self, lines, title, alone, axes, fonts):
        """Draw one panel."""
        display = self.display
        x_limits = self.x_limits
        if not display.shared_x:
            # Where lines only leave the picture, there is nothing to see.
            x_limits = scales.limits([line.x[line.y <= self._top(lines)] for line in lines], display.x.log)
        for set_scale, axis in ((axes.set_xscale, display.x), (axes.set_yscale, display.y)):
            set_scale("log" if axis.log else "linear")
        width = layout.width_of(axes)
        inside = layout.room_for([self.line_name(line.name) for line in lines], fonts, width) > MOST_ROOM
        share = self._room(self.every if display.shared_x else lines, fonts, width)
        if inside and not display.shared_x:
            share = 0.0
        axes.set_xlim(x_limits[0], scales.beyond(x_limits, share, display.x.log))
        y_limits = self.y_limits if display.shared_y else self._heights(lines)
        axes.set_ylim(*y_limits)
        handles = [
            self._draw_line(axes, line, self.look(lines, place), alone) for place, line in enumerate(lines)
        ]
        if display.slope is not None:
            self._draw_slope(axes, lines, fonts, alone)
        layout.dress(
            axes,
            fonts,
            title=title,
            x_label=layout.axis_words(display.x) if alone else "",
            y_label=layout.axis_words(display.y) if alone else "",
        )
        self._tick(axes, lines, alone, y_limits)
        if not self.is_named:
            return
        names = [self.line_name(line.name) for line in lines]
        if inside:
            layout.name_inside(axes, handles, names, fonts)
        else:
            layout.name_ends(
                axes, [(name, line.x[-1], line.y[-1]) for name, line in zip(names, lines)], fonts
            )

    def most_inside(self):
        """The most names that a small panel holds which have no room at the ends of its lines."""
        names = ([self.line_name(line.name) for line in lines] for lines in self.panels.values())
        rooms = (n for n in names if layout.room_for(n, layout.SMALL_FONTS, self.panel_size[0]) > MOST_ROOM)
        return max(map(len, rooms), default=0) if self.is_named else 0

    def _room(self, lines, fonts, width):
        """The share of a panel's width that names take beside their lines, those too long for it left out."""
        names = [self.line_name(line.name) for line in lines] if self.is_named else []
        shares = [layout.room_for([name], fonts, width) for name in names]
        return max((share for share in shares if share <= MOST_ROOM), default=0.0)

    def _draw_line(self, axes, line, look, alone):
        if self.display.band and (line.low < line.high).any():
            axes.fill_between(line.x, line.low, line.high, color=look.colour, alpha=0.22, linewidth=0)
        style = {"color": look.colour, "linewidth": 2.0 if alone else 1.6, "linestyle": look.dash}
        if self.display.marks:
            style |= {"marker": look.marker, "markersize": 5.5 if alone else 3.5}
        return axes.plot(line.x, line.y, **style, solid_capstyle="round")[0]

    def _slope_line(self, lines):
        """The ends of the line of the reference slope: through its point, or just below all points."""
        slope, through = self.display.slope, self.display.slope_through
        if through is None:
            level = BELOW * min(float((line.y / line.x**slope).min()) for line in lines)
        else:
            level = through[1] / through[0] ** slope
        x = np.array([min(line.x[0] for line in lines), max(line.x[-1] for line in lines)])
        return x, level * x**slope

    def _draw_slope(self, axes, lines, fonts, alone):
        x, y = self._slope_line(lines)
        axes.plot(x, y, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
        if not (alone and self.display.slope_label):
            return
        # On the side that is free: left of the line, below one that falls and above one that rises.
        falls = self.display.slope < 0
        share = 0.3 if falls else 0.7
        axes.annotate(
            self.display.slope_label,
            (x[0] ** (1 - share) * x[1] ** share, y[0] ** (1 - share) * y[1] ** share),
            xytext=(-5, -2 if falls else 2),
            textcoords="offset points",
            ha="right",
            va="top" if falls else "bottom",
            fontsize=fonts.note,
            color=INK,
        )

    def _tick(self, axes, lines, alone, y_limits):
        x = sorted({float(value) for line in lines for value in line.x if value >= axes.get_xlim()[0]})
        if self.display.x.log:
            named = len(x) <= MANY_TICKS and all(value == float(f"{value:.2g}") for value in x)
            few = x if named else scales.ticks(x[0], x[-1], True)
            roomy = alone or self.display.large
            layout.set_ticks(axes.xaxis, few if roomy else few[:: 2 if len(few) > 3 else 1])
        else:
            whole = all(value.is_integer() for value in x)
            layout.set_ticks(axes.xaxis, scales.round_ticks(x[0], x[-1], 4 if alone else 3, whole))
        low, high = y_limits
        layout.set_ticks(axes.yaxis, scales.ticks(low, high, self.display.y.log))
        axes.set_ylim(low, high)

    def words(self, lines):
        """A panel in words: where each line begins and ends."""
        x, y = self.display.x, self.display.y
        parts = [f"{y.label} against {x.label}."]
        for line in lines:
            (x0, x1), (y0, y1) = line.x[[0, -1]], line.y[[0, -1]]
            unit = f" {y.unit}" if y.unit else ""
            parts.append(
                f"{self.line_name(line.name)}: from {text.significant(y0)}{unit} at {layout.tick(x0)} "
                f"to {text.significant(y1)}{unit} at {layout.tick(x1)}."
            )
        return " ".join(parts)

    def remarks(self):
        """What the caption says besides the title."""
        display = self.display
        if display.band and any((line.low < line.high).any() for line in self.every):
            yield "Line: median; shade: range over seeds and repeats."
        if display.slope is not None:
            yield f"Dashed: {display.slope_label or f'slope {display.slope:g}'}."
        if any((line.y > self._top(lines)).any() for lines in self.panels.values() for line in lines):
            yield f"Lines leave the picture above {display.y_span:g} × the lowest value."
        if display.note:
            yield display.note

    def csv(self):
        """What is drawn, as CSV text."""
        display = self.display
        head = [] if display.panel is None else [display.panel]
        rows = [
            (
                *head,
                display.line,
                layout.axis_words(display.x),
                layout.axis_words(display.y),
                "lowest",
                "highest",
            )
        ]
        for panel, lines in self.panels.items():
            for line in lines:
                for point in zip(line.x, line.y, line.low, line.high):
                    row = (line.name, *(repr(float(value)) for value in point))
                    rows.append(row if display.panel is None else (panel, *row))
        return csv_text(rows)

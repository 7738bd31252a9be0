"""Curves: lines over a number, alone or as small multiples."""

from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import picture_of
from kernbench.report.charts.drawing.styles import DASHES, INK, ORDERED, Style, category_styles, styles_of
from kernbench.report.charts.lines import finals_of, lines_of, with_steps
from kernbench.report.records.rows import rows_of

MOST_ROOM = 0.3  # share of a panel's width for names at the ends of lines; longer names are written inside
MOST_INSIDE = 0.8  # share of a panel's width for names inside; longer names are in a key over all panels
BELOW = 0.6  # the line of the reference slope runs this far below the lowest point
MANY_TICKS = 6
WINDOW_SHADE = 0.08  # opacity of `x_window`
DASHED, DOTTED = (0, (4, 3)), (0, (1, 2))
SHARES = {0.25: "¼", 0.5: "½", 0.75: "¾"}


def picture(display, results):
    """Draw a :class:`~kernbench.experiments.declare.Curves`; None if there is nothing to draw."""
    display = with_steps(display, results)
    panels = lines_of(display, results)
    if not panels:
        return None
    chart = _Chart(display, results, panels)
    if display.panel is None:
        ((panel, lines),) = panels.items()
        draw = partial(chart.draw, panel, lines, display.title, True)
        drawn = layout.one(results.file_name(display.name), display.title, chart.words(lines), draw, chart.alone_size)
        return picture_of(display, results, drawn, chart.csv_rows(), chart.remarks())
    multiples = []
    for panel, lines in panels.items():
        title = results.category_label(display.panel, panel)
        draw = partial(chart.draw, panel, lines, title, False)
        words = f"{title}: {chart.words(lines)}"
        multiples.append(layout.Panel(results.file_name(display.name, panel), title, words, draw))
    drawn = layout.multiples(multiples, display.title, chart.panel_size, chart.key)
    lead = f"↑ {text.heading(display.y)}  → {text.heading(display.x)}"
    shape = "panels large" if display.large else "panels"
    return picture_of(display, results, drawn, chart.csv_rows(), chart.remarks(), shape=shape, lead=lead)


class _Chart:
    """A chart: what its panels have in common, and the drawing of one."""

    def __init__(self, display, results, panels):
        self.display, self.results, self.panels = display, results, panels
        if display.ordered:
            self.styles = None  # by its place among the lines of its panel
        elif display.line == "method":
            self.styles = styles_of(results)
        else:
            self.styles = category_styles([line.name for line in lines] for lines in panels.values())
        self.every = [line for lines in panels.values() for line in lines]
        self.finals = finals_of(display, results)
        self.panel_size = layout.MEDIUM if display.large else layout.SMALL
        self.y_limits = self._heights(self.every)
        self.x_limits = scales.limits([line.x for line in self.every], display.x.log)

    def _heights(self, lines):
        """The ends of the vertical axis over some lines."""
        heights = [end for line in lines for end in (line.low, line.high)]
        if self.display.slope is not None and self.display.slope_through is not None:
            heights.append(self._slope_line(lines)[1])
        heights = [np.clip(height, self._bottom(lines), self._top(lines)) for height in heights]
        return self.display.y_range or scales.limits(heights, self.display.y.log)

    def _top(self, lines):
        """The height above which lines are cut off."""
        lowest = min(float(line.y.min()) for line in lines)
        return np.inf if self.display.y_span is None or lowest <= 0 else self.display.y_span * lowest

    def _bottom(self, lines):
        """The height below which lines are cut off."""
        highest = max(float(line.y.max()) for line in lines)
        return -np.inf if self.display.y_depth is None else highest - self.display.y_depth

    def line_name(self, name):
        """The name written beside a line."""
        return self.results.category_label(self.display.line, name)

    @cached_property
    def is_named(self):
        """Whether lines need names, since there are several."""
        return len({line.name for line in self.every}) > 1

    @property
    def has_marks(self):
        """Whether lines have marks, all of their points or their last ones."""
        return self.display.marks or self.display.steps

    def _style(self, lines, place):
        if self.styles is not None:
            return self.styles[lines[place].name]
        return Style(ORDERED[place % len(ORDERED)], "o", DASHES[place // len(ORDERED) % len(DASHES)])

    def draw(self, panel, lines, title, alone, axes, fonts):
        """Draw one panel."""
        display, x_limits = self.display, self.x_limits
        if not display.shared_x:
            # Begin where the first line is below the upper end of the panel.
            x_limits = scales.limits([line.x[line.y <= self._top(lines)] for line in lines], display.x.log)
        for set_scale, axis in ((axes.set_xscale, display.x), (axes.set_yscale, display.y)):
            set_scale("log" if axis.log else "linear")
        width, names = layout.width_of(axes), [self.line_name(line.name) for line in lines]
        keyed = bool(self.key) and not alone
        inside = keyed or layout.room_for(names, fonts, width) > MOST_ROOM
        share = 0.0 if keyed else self._room(self.every if display.shared_x else lines, fonts, width)
        if inside and not display.shared_x:
            share = 0.0
        axes.set_xlim(x_limits[0], scales.beyond(x_limits, share, display.x.log))
        y_limits = self.y_limits if display.shared_y else self._heights(lines)
        axes.set_ylim(*y_limits)
        if display.x_window is not None:
            axes.axvspan(*display.x_window, color=INK, alpha=WINDOW_SHADE, linewidth=0, zorder=0.5)
        handles = [self._draw_line(axes, line, self._style(lines, place), alone) for place, line in enumerate(lines)]
        if display.slope is not None:
            self._draw_slope(axes, lines, fonts, alone)
        if panel in self.finals:
            self._draw_baseline(axes, *self.finals[panel])
        x_label, y_label = (text.heading(axis) if alone else "" for axis in (display.x, display.y))
        layout.dress(axes, fonts, title=title, x_label=x_label, y_label=y_label)
        self._tick(axes, lines, alone, y_limits)
        if keyed or not self.is_named:
            return
        if inside:
            layout.name_inside(axes, handles, names, fonts)
        else:
            ends = [(name, line.x[-1], line.y[-1]) for name, line in zip(names, lines)]
            layout.name_ends(axes, ends, fonts)

    @cached_property
    def key(self):
        """What the lines stand for, if there are many names, or long ones, that fit neither beside lines nor inside."""
        if self.display.panel is None or not self.is_named or not any(map(self._is_crowded, self.panels.values())):
            return []
        first, *others = self.panels.values()
        if self.styles is None:
            levels = [line.name for line in first]
            if any([line.name for line in lines] != levels for lines in others):
                return []  # a style is of another level in each panel
            styles = {name: self._style(first, place) for place, name in enumerate(levels)}
        else:
            styles = {line.name: self.styles[line.name] for line in self.every}
        return [
            (self.line_name(name), style if self.has_marks else replace(style, marker="none"))
            for name, style in styles.items()
        ]

    @property
    def alone_size(self):
        """The size of the figure of one panel, with room for names that do not fit beside its lines."""
        names = [self.line_name(line.name) for line in self.every] if self.is_named else []
        fit = layout.room_for(names, layout.LARGE_FONTS, layout.SIZE[0]) <= MOST_ROOM
        return layout.SIZE if fit else layout.with_legend(names, layout.LARGE_FONTS)

    def _is_crowded(self, lines):
        """Whether the names of a small panel fit neither at the ends of its lines nor inside it."""
        room = layout.room_for([self.line_name(line.name) for line in lines], layout.SMALL_FONTS, self.panel_size[0])
        return room > MOST_INSIDE or (room > MOST_ROOM and len(lines) > layout.MOST_INSIDE)

    def _room(self, lines, fonts, width):
        """The share of a panel's width for names beside their lines, not counting names that are too long."""
        names = [self.line_name(line.name) for line in lines] if self.is_named else []
        shares = [layout.room_for([name], fonts, width) for name in names]
        return max((share for share in shares if share <= MOST_ROOM), default=0.0)

    def _draw_line(self, axes, line, style, alone):
        """Draw a line; return its handle for a legend."""
        display, step = self.display, {"step": "post"} if self.display.steps else {}
        if display.band and line.scatters:
            axes.fill_between(line.x, line.low, line.high, color=style.colour, alpha=0.22, linewidth=0, **step)
        drawn = {"color": style.colour, "linewidth": 2.0 if alone else 1.6, "linestyle": style.dash}
        mark = {"marker": style.marker, "markersize": 5.5 if alone else 3.5}
        if display.steps:
            drawn["drawstyle"] = "steps-post"
            mark |= {"markevery": [-1], "markersize": 6.0}
            if line.name in display.final_only:
                mark["markerfacecolor"] = "none"
        drawn |= mark if self.has_marks else {}
        return axes.plot(line.x, line.y, **drawn, solid_capstyle="round")[0]

    def _draw_baseline(self, axes, x, y):
        axes.axhline(y, color=INK, linewidth=1.0, linestyle=DASHED, zorder=1.5)
        if x is not None and self.display.budget is not None:
            axes.axvline(self.display.budget * x, color=INK, linewidth=1.0, linestyle=DOTTED, zorder=1.5)

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
        axes.plot(x, y, color=INK, linewidth=1.0, linestyle=DASHED, zorder=1.5)
        if not (alone and self.display.slope_label):
            return
        # On the free side: below a line below all points; left of one that rises through a point.
        falls, is_below = self.display.slope < 0, self.display.slope_through is None
        share, is_left = (0.3 if falls else 0.7), falls or not is_below
        seen = sorted((end / y[0]) ** (1 / self.display.slope) * x[0] for end in axes.get_ylim())
        first, last = max(x[0], seen[0]), min(x[1], seen[1])
        place = first ** (1 - share) * last**share
        axes.annotate(
            self.display.slope_label,
            (place, y[0] * (place / x[0]) ** self.display.slope),
            xytext=(-5 if is_left else 5, -2 if falls or is_below else 2),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="top" if falls or is_below else "bottom",
            fontsize=fonts.note,
            color=INK,
        )

    def _tick(self, axes, lines, alone, y_limits):
        x = sorted({float(value) for line in lines for value in line.x if value >= axes.get_xlim()[0]})
        ends = (x[0], x[-1]) if len(x) > 1 else axes.get_xlim()
        if self.display.x.log:
            named = len(x) <= MANY_TICKS and all(value == float(f"{value:.2g}") for value in x)
            few = x if named else scales.ticks(*ends, True)
            roomy = alone or self.display.large
            layout.set_ticks(axes.xaxis, few if roomy else few[:: 2 if len(few) > 3 else 1])
        else:
            whole = all(value.is_integer() for value in x)
            layout.set_ticks(axes.xaxis, scales.round_ticks(*ends, 4 if alone else 3, whole))
        layout.set_ticks(axes.yaxis, scales.ticks(*y_limits, self.display.y.log))
        axes.set_ylim(*y_limits)

    def words(self, lines):
        """A panel in words: the ends of each line."""
        x, y = self.display.x, self.display.y
        parts = [f"{y.label} against {x.label}."]
        for line in lines:
            ends = [f"{text.significant(line.y[i])} {y.unit}".rstrip() + f" at {_place(line.x[i])}" for i in (0, -1)]
            way = f"from {ends[0]} to {ends[1]}" if line.x.size > 1 else ends[1]
            parts.append(f"{self.line_name(line.name)}: {way}.")
        return " ".join(parts)

    def remarks(self):
        """Sentences of the caption after the title."""
        display, records = self.display, self.results.chosen_records(self.display)
        if any(line.scatters for line in self.every):
            mixed = self.results.has_several_setups(*self.results.chosen_datasets(display))
            over = f"over seeds{', repeats and set-ups' if mixed else ' and repeats'}"
            yield f"Line: median; shade: range {over}." if display.band else f"Line: median {over}."
        if display.steps:
            repeated = len({record["repeat"] for record in records}) > 1
            yield f"Marks: final models{', where the last repeat ends' if repeated else ''}."
            yield from self._hollow(repeated)
        if self.finals:
            peer = text.possessive(self.results.short_label(display.baseline))
            yield f"Dashed: {peer} final {display.y.label}."
            if display.budget is not None:
                share = SHARES.get(display.budget, f"{100 * display.budget:g} %")
                yield f"Dotted: {share} of {peer} {display.x.label}."
        if display.x_window is not None:
            low, high = display.x_window
            yield f"Shaded: {display.x.label} from {low:g} to {high:g} {display.x.unit}".rstrip() + "."
        if display.slope is not None:
            yield f"Dashed: {display.slope_label or f'slope {display.slope:g}'}."
            yield from self._fitted_slopes()
        elif display.rates:
            yield from self._rates()
        points = rows_of(records, (), [display.x.path, display.y.path], display.where) if display.y.log else ()
        if any(y <= 0 for _, (_, y) in points):
            yield "Values of 0 or less have no place on the logarithmic axis."
        if any((line.y > self._top(lines)).any() for lines in self.panels.values() for line in lines):
            yield f"Lines are cut off above {display.y_span:g} × the lowest value."
        if any((line.y < self._bottom(lines)).any() for lines in self.panels.values() for line in lines):
            yield f"Lines are cut off {display.y_depth:g} below the highest value."

    def _hollow(self, repeated):
        """What hollow marks are."""
        names = dict.fromkeys(line.name for line in self.every if line.name in self.display.final_only)
        stopped = [name for name in names if self.results.has_budget(name)]
        at = "medians of final models" if repeated else "final models"
        if names and len(stopped) == len(names):
            yield f"Hollow marks: {at}, stopped at their time budget."
        elif names:
            yield f"Hollow marks: {at}, of methods without a curve."
            if stopped:
                of = text.names(map(self.line_name, stopped))
                yield f"{of} stopped at {'its' if len(stopped) == 1 else 'their'} time budget."

    def _fitted_slopes(self):
        """The slopes of the lines, in one sentence; of a line with several panels the least and the largest."""
        found = {}
        for line in self.every:
            slope = None if self.display.steps else line.slope()
            if slope is not None:
                found.setdefault(self.line_name(line.name), []).append(slope)
        if found:
            parts = [f"{name + ' ' if self.is_named else ''}{_slopes(slopes)}" for name, slopes in found.items()]
            yield f"Fitted slopes, with 95 % intervals: {'; '.join(parts)}."

    def _rates(self):
        """The slopes of the lines of each panel."""
        for panel, lines in self.panels.items():
            found = [(self.line_name(line.name), line.slope()) for line in lines]
            parts = ", ".join(f"{name} {_slopes([slope])}" for name, slope in found if slope is not None)
            if parts:
                title = self.results.category_label(self.display.panel, panel) if self.display.panel else ""
                yield f"{title + ', f' if title else 'F'}itted slopes with 95 % intervals: {parts}."

    def csv_rows(self):
        """The data of the chart, with a heading."""
        display = self.display
        head = [] if display.panel is None else [display.panel]
        yield (*head, display.line, text.heading(display.x), text.heading(display.y), "lowest", "highest")
        for panel, lines in self.panels.items():
            for line in lines:
                for point in zip(line.x, line.y, line.low, line.high):
                    yield (*([panel] if head else []), line.name, *point)


def _place(x):
    """A place on the horizontal axis in words: a count is exact."""
    return layout.tick(x if float(x).is_integer() else float(f"{x:.3g}"))


def _slopes(slopes):
    """A slope with half of its interval; of several the least and the largest."""
    ends = dict.fromkeys(end(slopes, key=lambda found: found.slope) for end in (min, max))
    return " to ".join(f"{found.slope:.2f} ± {found.half:.2f}" for found in ends).replace("-", "−")

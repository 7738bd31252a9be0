"""The figures: one quantity against seconds or against kernel evaluations, a curve for every solver.

Drawn with matplotlib's Agg-free object interface, so that nothing global is touched and no display is needed.
"""

from dataclasses import dataclass, field

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.legend_handler import HandlerTuple
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from kernbench.report import text
from kernbench.report.curves import mean_curve, positive_steps
from kernbench.report.style import GRID, INK

SIZE = (5.2, 4.1)  # inches; at this size the letters stay readable on a phone
FONT = {"family": "sans-serif", "size": 10}
LOG_SPREAD = 8.0  # worst over best error above which the y axis is logarithmic too
# A curve's first wild steps may leave the picture above this many times the range that matters.
Y_HEADROOM = 4.0
SHORT_SPAN = 60.0  # x axes whose ends differ by less than this factor get labels at 2 and 5 too


def tick_plain(value, _=None):
    """0.01, 0.1, 1, 10 …, without an exponent."""
    return f"{value:g}"


def tick_count(value, _=None):
    """10⁶, 2·10⁶, 3.5·10⁶ …"""
    mantissa, exponent = f"{value:.1e}".split("e")
    power, mantissa = text.power_of_ten(int(exponent)), mantissa.removesuffix(".0")
    return power if mantissa == "1" else f"{mantissa}·{power}"


@dataclass
class Line:
    """One method: its look, the curve of every repeat, and where its final model stands.

    Attributes
    ----------
    label : str
    look : kernbench.report.style.Look
    curves : list of (x, y)
        One for each repeat; none for a method that keeps no trace.
    ended : (float, float) or None
        Its marker.
    hollow : bool
        A run that was stopped by its budget.
    """

    label: str
    look: object
    curves: list
    ended: tuple | None = None
    hollow: bool = False
    mean: tuple = field(init=False)

    def __post_init__(self):
        self.curves = [
            curve for curve in (positive_steps(*curve) for curve in self.curves) if curve[0].size > 1
        ]
        self.mean = mean_curve(self.curves)


@dataclass
class Drawing:
    """What to draw: lines, and the peer as a point with a level.

    Attributes
    ----------
    name : str
        File name without its ending; also makes the ids inside the SVG unique within a page.
    column : str
        Of the trace, along the x axis.
    title, x_label, y_label : str
    lines : list of Line
    level : float or None
        Height of the horizontal line: the peer's.
    level_label : str
    budget : float or None
        x of the vertical line.
    budget_label : str
    x_format : callable
        Turns a tick's value into its label: `tick_plain` or `tick_count`.
    """

    name: str
    column: str
    title: str
    x_label: str
    y_label: str
    lines: list
    level: float | None = None
    level_label: str = ""
    budget: float | None = None
    budget_label: str = ""
    x_format: object = tick_plain

    @property
    def empty(self):
        """Whether there is nothing to see: no curve and no marker."""
        return not any(line.curves or line.ended for line in self.lines)


def draw(drawing):
    """Draw and return the matplotlib figure.

    Parameters
    ----------
    drawing : Drawing

    Returns
    -------
    matplotlib.figure.Figure
    """
    canvas = Canvas(figsize=SIZE, layout="constrained")
    canvas.patch.set_alpha(0.0)
    axes = canvas.add_subplot()
    axes.patch.set_alpha(0.0)
    axes.set_xscale("log")
    handles = [_draw_line(axes, line) for line in drawing.lines]
    _draw_peer(axes, drawing)
    _limit(axes, drawing)
    _dress(axes, drawing)
    _legend(canvas, handles, [line.label for line in drawing.lines])
    for words in canvas.findobj(Text):
        # Names come from records: a $ in them is a dollar.
        words.set_parse_math(False)
        words.set_text(text.printable(words.get_text()))
    return canvas


def _draw_line(axes, line):
    """Draw a method; return what stands for it in the legend."""
    look = line.look
    for x, y in line.curves if len(line.curves) > 1 else ():
        axes.plot(x, y, color=look.colour, linewidth=0.7, alpha=0.35, drawstyle="steps-post")
    curve = mark = None
    if line.curves:
        style = {"color": look.colour, "linewidth": 2.0, "linestyle": look.dash, "drawstyle": "steps-post"}
        (curve,) = axes.plot(*line.mean, **style)
    if line.ended is not None:
        style = {
            "marker": look.marker,
            "markersize": 7.5,
            "color": look.colour,
            "linestyle": "none",
            "zorder": 4,
        }
        if line.hollow:
            style |= {"markerfacecolor": "none", "markeredgewidth": 1.8}
        (mark,) = axes.plot(*line.ended, **style)
    return tuple(part for part in (curve, mark) if part is not None)


def _legend(canvas, handles, labels):
    """Put the legend below the axes: inside, it would cover a curve of some data set."""
    shown = [(handle, label) for handle, label in zip(handles, labels) if handle]
    if not shown:
        return
    handles, labels = zip(*shown)
    canvas.legend(
        [handle if len(handle) > 1 else handle[0] for handle in handles],
        [text.printable(label) for label in labels],
        loc="outside lower left",
        ncols=2,
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        handlelength=2.2,
        columnspacing=1.2,
        handler_map={tuple: HandlerTuple(ndivide=1)},
    )


def _draw_peer(axes, drawing):
    if drawing.level is not None:
        axes.axhline(drawing.level, color=INK, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1.5)
    if drawing.budget is not None:
        axes.axvline(drawing.budget, color=INK, linewidth=1.0, linestyle=(0, (1, 2)), zorder=1.5)
        axes.annotate(
            drawing.budget_label,
            (drawing.budget, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-4, -4),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="top",
            fontsize=8.5,
            color=INK,
        )
    if drawing.level is not None and drawing.level_label:
        axes.annotate(
            drawing.level_label,
            (0.0, drawing.level),
            xycoords=("axes fraction", "data"),
            xytext=(4, -3),
            textcoords="offset points",
            ha="left",
            va="top",
            fontsize=8.5,
            color=INK,
        )


def _limit(axes, drawing):
    """Show the range in which the solvers differ; their first wild steps may leave the picture."""
    markers = [line.ended[1] for line in drawing.lines if line.ended]
    ends = [float(y[-1]) for line in drawing.lines for _, y in line.curves] + markers
    ends += [] if drawing.level is None else [drawing.level]
    values = np.concatenate([y for line in drawing.lines for _, y in line.curves] + [ends])
    best, worst = float(values.min()), float(values.max())
    if best > 0 and worst > LOG_SPREAD * best:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(FuncFormatter(tick_plain))
        low, high = best / 1.4, worst * 1.2
    else:
        spread = max(max(ends) - best, 0.05 * worst, 1e-9)
        high = min(worst, best + Y_HEADROOM * spread)
        margin = 0.15 * max(high - best, 1e-9)
        low, high = max(best - margin, 0.0) if best > 0 else -margin, high + margin
    axes.set_ylim(low, high)
    _limit_x(axes, drawing, high)


def _limit_x(axes, drawing, high):
    """Begin where the first curve comes into view."""
    seen = [x[np.argmax(y <= high)] for line in drawing.lines for x, y in line.curves if (y <= high).any()]
    seen += [line.ended[0] for line in drawing.lines if line.ended]
    ends = [x[-1] for line in drawing.lines for x, _ in line.curves]
    ends += [line.ended[0] for line in drawing.lines if line.ended]
    if drawing.budget is not None:
        seen, ends = seen + [drawing.budget], ends + [drawing.budget]
    low, high = min(seen) / 1.5, max(ends) * 1.5
    axes.set_xlim(low, high)
    if high < SHORT_SPAN * low:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))


def _dress(axes, drawing):
    axes.set_title(drawing.title, loc="left", fontdict=FONT, color=INK, fontweight="bold")
    axes.set_xlabel(drawing.x_label, fontdict=FONT, color=INK)
    axes.set_ylabel(drawing.y_label, fontdict=FONT, color=INK)
    axes.xaxis.set_major_formatter(FuncFormatter(drawing.x_format))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="both", colors=INK, labelsize=9)
    axes.tick_params(which="minor", length=2)
    for label in axes.get_xticklabels() + axes.get_yticklabels():
        label.set_family("sans-serif")
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)

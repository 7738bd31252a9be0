"""Canvases and panels: what all declared figures share.

Small multiples are drawn panel by panel: the page arranges them in as many columns as fit into the window, a sheet in
the file shows all of them.
"""

from dataclasses import dataclass
from textwrap import fill

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator
from scipy.optimize import isotonic_regression

from kernbench._names import printable
from kernbench.report import text
from kernbench.report.charts.drawing.frame import LETTER, frame, own_frame, ticks_of
from kernbench.report.charts.drawing.key import html_key, svg_key
from kernbench.report.charts.drawing.styles import GRID, INK
from kernbench.report.charts.drawing.svg import inline, render, sheet, standalone

SIZE = (5.2, 4.1)  # inches; at this size the letters are readable on a phone
SMALL, MEDIUM = (2.15, 1.95), (3.4, 2.7)
FILE_WIDTH = 10.2  # largest width of a row of small multiples in a file, in inches
MOST_INSIDE = 3  # lines whose legend fits inside a panel
LEGEND_COLUMNS, LEGEND_ROW = 2, 0.15  # of a legend below a panel, where its names have room; inches of a row
LEGEND_ROWS, HANDLE = 5, 2.7  # rows below a figure of `SIZE`; width of a sample and the space around it over a letter
BOLD, LEAST_TITLE = (0.62, 0.8)  # the same of a bold letter; the smallest letters of a title over its usual ones
INNER = 0.82  # width of a panel without the labels on its left
LEAST, MOST = 1e-3, 1e5  # numbers in between are written without an exponent


@dataclass(frozen=True)
class Fonts:
    """Sizes in points."""

    title: float
    label: float
    tick: float
    note: float


LARGE_FONTS, SMALL_FONTS = Fonts(10, 10, 9, 8.5), Fonts(8.5, 7.5, 7.5, 7.5)


@dataclass(frozen=True)
class Panel:
    """One panel of small multiples.

    Attributes
    ----------
    name : str
        Prefix of the ids in the page.
    title : str
    words : str
        The panel in words, for screen readers.
    draw : callable
        ``draw(axes, fonts)``.
    """

    name: str
    title: str
    words: str
    draw: object


def tick(value, _=None):
    """0.01, 0.1, 1, 10 …, with an exponent only if the number would be long."""
    if value == 0 or LEAST <= abs(value) < MOST:
        return f"{value:.9g}".replace("-", "−")  # enough digits to tell close ticks apart
    mantissa, exponent = f"{value:.2e}".split("e")  # steps of 2.5 need two decimals
    power, mantissa = text.power_of_ten(int(exponent)), mantissa.rstrip("0").removesuffix(".")
    return power if mantissa == "1" else f"{mantissa}·{power}".replace("-", "−")


def new_canvas(size, layout="constrained"):
    """An empty canvas without a background."""
    canvas = Canvas(figsize=size, layout=layout)
    canvas.patch.set_alpha(0.0)
    return canvas


def finish(canvas):
    """Make text safe: names come from records, so a $ is not mathematics, and SVG allows no control characters."""
    for words in _texts(canvas):
        words.set_parse_math(False)
        lines = words.get_text().split("\n") if getattr(words, "is_filled", False) else [words.get_text()]
        words.set_text("\n".join(map(printable, lines)))
        words.set_family("sans-serif")
    return canvas


def _texts(canvas):
    """The texts of a canvas, without making ticks that a frame of our own replaces."""
    for part in canvas.get_children():
        if getattr(part, "framed", False):
            for inner in part.get_children():
                if inner not in (part.xaxis, part.yaxis):
                    yield from inner.findobj(Text)
        else:
            yield from part.findobj(Text)


def head(axes, title, fonts):
    """Write a title from the left edge of the canvas, over the names of rows, in as many lines as it takes."""
    title = fill(title, int(72 * width_of(axes) / (BOLD * fonts.title)))
    style = {"fontsize": fonts.title, "fontweight": "bold", "color": INK}
    axes.figure.suptitle(title, **style, x=0.01, ha="left").is_filled = True  # its line breaks are ours


def fitted(title, size, width):
    """A title and the size of its letters so that it takes at most `width` points: smaller letters, then fewer."""
    if not title:
        return title, size
    least = LEAST_TITLE * size
    size = min(size, max(least, width / (BOLD * len(title))))
    most = int(width / (BOLD * size) + 1e-9)
    return (title if len(title) <= most else f"{title[: most - 1].rstrip(' ,')}…"), size


def dress(axes, fonts, *, title="", x_label="", y_label="", grid="both"):
    """Label axes and set their colours and grid."""
    axes.patch.set_alpha(0.0)
    size = fonts.title
    if getattr(axes, "framed", False):
        title, size = fitted(title, size, 72 * INNER * width_of(axes))
    # A given height: matplotlib would look for a free one, which takes as long as the drawing.
    axes.set_title(title, loc="left", fontsize=size, color=INK, fontweight="bold", y=1.0)
    if getattr(axes, "framed", False):
        axes.own_grid = grid
        return
    axes.set_xlabel(x_label, fontsize=fonts.label, color=INK)
    axes.set_ylabel(y_label, fontsize=fonts.label, color=INK)
    axes.tick_params(which="both", colors=INK, labelsize=fonts.tick)
    axes.tick_params(which="minor", length=0)
    if grid:
        axes.grid(axis=grid, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)
        axes.spines[side].set_linewidth(0.8)


def set_ticks(axis, values):
    """Put the ticks of a matplotlib axis at `values` and nowhere else."""
    if getattr(axis.axes, "framed", False):
        axis.own_ticks = list(values)
        return
    axis.set_ticks(values)
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(tick))


def name_ends(axes, ends, fonts):
    """Write the names of lines beside their ends, apart from each other.

    Parameters
    ----------
    axes : matplotlib Axes
        Axes with their final limits.
    ends : list of (str, float, float)
        Name and last point of each line, in data units.
    fonts : Fonts
    """
    width, height = axes.figure.get_size_inches() * 72.0
    box = axes.get_subplotspec().get_position(axes.figure)
    gap = 1.15 * fonts.note / (0.8 * box.height * height)  # a line of text, as a share of the panel's height
    to_axes = axes.transData + axes.transAxes.inverted()
    placed = sorted(((to_axes.transform((x, y)), name) for name, x, y in ends), key=lambda entry: entry[0][1])
    for ((x, _), name), level in zip(placed, apart([y for (_, y), _ in placed], gap)):
        axes.annotate(
            name,
            (x, level),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=fonts.note,
            color=INK,
            annotation_clip=False,
        )


def apart(levels, gap):
    """Ascending levels, moved slightly until neighbours are `gap` apart; within 0 and 1 if possible."""
    steps = gap * np.arange(len(levels))
    moved = isotonic_regression(np.asarray(levels) - steps).x + steps
    return moved - max(0.0, moved[-1] - 1.0) + max(0.0, -moved[0])


def name_inside(axes, handles, names, fonts):
    """Draw a small legend in the emptiest part of the panel, or below it if there are many lines."""
    if len(names) > MOST_INSIDE:
        name_below(axes, handles, names, fonts)
    else:
        axes.legend(handles, names, loc="best", **_legend_style(fonts))


def name_below(axes, handles, names, fonts, columns=None):
    """Draw a legend below the panel, in as many columns as have room by default."""
    columns = columns or _columns_below(names, fonts, width_of(axes))
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.19 if axes.get_xlabel() else -0.12)}
    legend = axes.legend(handles, names, **place, ncols=columns, columnspacing=1.0, **_legend_style(fonts))
    legend.rows_below = -(-len(names) // columns)  # for fit_panel


def _columns_below(names, fonts, width):
    """In how many columns names fit below a panel of `width` inches."""
    widths = [fonts.note * (LETTER * len(name) + HANDLE) for name in names]
    return legend_columns(widths, 72 * width, LEGEND_COLUMNS)


def legend_columns(widths, room, most):
    """In how many columns entries of some widths fit into the room; a legend fills them one after the other."""
    numbers = range(min(most, len(widths)), 1, -1)
    return next((n for n in numbers if sum(map(max, np.array_split(widths, n))) <= room), 1)


def with_legend(names, fonts, size=SIZE):
    """The size of a figure that has room for a legend of these names below it."""
    rows = -(-len(names) // _columns_below(names, fonts, size[0])) if len(names) > MOST_INSIDE else 0
    return size[0], size[1] + LEGEND_ROW * max(0, rows - LEGEND_ROWS)


def _legend_style(fonts):
    return {
        "frameon": False,
        "fontsize": fonts.note,
        "labelcolor": INK,
        "handlelength": 1.2,
        "handletextpad": 0.5,
        "borderaxespad": 0.1,
        "labelspacing": 0.25,
    }


def fit_panel(axes, fonts):
    """Set the margins of the one panel of a canvas: what a layout engine finds by drawing, in much less time."""
    width, height = 72 * axes.figure.get_size_inches()
    labels = [words for _, words in ticks_of(axes.yaxis, tick)]
    left = 9 + LETTER * fonts.tick * max(map(len, labels), default=0)
    top, below = 1.4 * fonts.title + 4, fonts.tick + 9
    legend = axes.get_legend()
    rows = getattr(legend, "rows_below", 0)
    bottom = below + rows * 72 * LEGEND_ROW + (3 if rows else 0)
    axes.figure.subplots_adjust(left / width, bottom / height, 1 - 10 / width, 1 - top / height)
    if rows:
        middle = 0.5 - (left - 10) / (2 * (width - left - 10))  # of the canvas, in those of the panel
        legend.set_bbox_to_anchor((middle, -below / (height - top - bottom)), axes.transAxes)


def width_of(axes):
    """Width of a panel in inches, its labels included."""
    return axes.figure.get_size_inches()[0] / axes.get_subplotspec().get_gridspec().ncols


def room_for(names, fonts, width):
    """The share of a panel's `width` that the longest of `names` takes beside the end of its line."""
    longest = max((len(name) for name in names), default=0)
    return (LETTER * fonts.note * longest + 8) / (72 * 0.85 * width) if longest else 0.0


def one(name, title, words, draw, size=SIZE):
    """A figure of one panel: (for the page, for its file).

    Parameters
    ----------
    name, title, words : str
    draw : callable
        ``draw(axes, fonts)``, the axes being on a canvas of `size`.
    size : (float, float)
        Inches.
    """
    canvas = new_canvas(size)
    draw(canvas.add_subplot(), LARGE_FONTS)
    document = render(finish(canvas))
    return inline(document, name, title, words), standalone(document)


def multiples(panels, title, size=SMALL, key=()):
    """Small multiples: (for the page, for their file).

    Parameters
    ----------
    panels : list of Panel
    title : str
        Over the file.
    size : (float, float)
        Width and height of a panel, in inches.
    key : list of (str, Style)
        Names and styles of the lines, if the panels do not say them.
    """
    pieces = []
    for panel in panels:
        canvas = new_canvas(size, layout=None)
        axes = canvas.add_subplot()
        own_frame(axes)
        panel.draw(axes, SMALL_FONTS)
        fit_panel(axes, SMALL_FONTS)
        document = render(finish(canvas), frame(axes, SMALL_FONTS, tick))
        pieces.append(inline(document, panel.name, panel.title, panel.words))
    columns = min(int(FILE_WIDTH / size[0] + 1e-9), len(panels))
    page = f'<div>{html_key(key)}<div class="multiples">{"".join(pieces)}</div></div>'
    return page, sheet(pieces, columns, size, title, *svg_key(key, 72 * size[0] * columns))

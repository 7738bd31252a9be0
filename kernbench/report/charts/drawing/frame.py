"""The frame of a small panel: ticks, labels, grid and axes as SVG of our own.

matplotlib makes six objects for each tick and measures its label several times; a page has hundreds of panels, and this
was half of their time.
"""

from html import escape

from kernbench.report.charts.drawing.styles import GRID, INK

TICK, PAD = 3.5, 3.5  # points
SPINE, LINE = 0.8, 0.6
LETTER = 0.58  # width of an average letter over its height


def own_frame(axes):
    """Have the frame of `axes` drawn by :func:`frame`, not by matplotlib."""
    axes.framed = True
    axes.axison = False


def ticks_of(axis, label):
    """The ticks of an axis within its limits, as (value, text)."""
    low, high = sorted(axis.get_view_interval())
    values = getattr(axis, "own_ticks", None)
    if values is not None:
        found = [(value, label(value)) for value in values]
    else:
        places = axis.get_majorticklocs()
        found = list(zip(places, axis.get_major_formatter().format_ticks(places)))
    slack = 1e-9 * (high - low)
    return [(value, words) for value, words in found if low - slack <= value <= high + slack]


def frame(axes, fonts, label):
    """The frame as SVG elements, in the points of the canvas from its upper left corner.

    Parameters
    ----------
    axes : matplotlib Axes
        Framed, at its final place.
    fonts : Fonts
    label : callable
        Text of a tick's value.
    """
    scale, height = 72 / axes.figure.dpi, 72 * axes.figure.get_size_inches()[1]
    box = axes.get_window_extent()
    left, right = scale * box.x0, scale * box.x1
    top, bottom = height - scale * box.y1, height - scale * box.y0
    at = axes.transData.transform
    (x_low, _), (y_low, _) = axes.get_xlim(), axes.get_ylim()
    x = [(scale * at((value, y_low))[0], words) for value, words in ticks_of(axes.xaxis, label)]
    y = [(height - scale * at((x_low, value))[1], words) for value, words in ticks_of(axes.yaxis, label)]
    across, up = (
        getattr(axes, "own_grid", "both") in ("both", "x"),
        getattr(axes, "own_grid", "both") in ("both", "y"),
    )
    lines = [f"M {p:.1f} {bottom:.1f} {p:.1f} {top:.1f}" for p, _ in x if across]
    lines += [f"M {left:.1f} {p:.1f} {right:.1f} {p:.1f}" for p, _ in y if up]
    marks = [f"M {p:.1f} {bottom:.1f} {p:.1f} {bottom + TICK:.1f}" for p, _ in x]
    marks += [f"M {left:.1f} {p:.1f} {left - TICK:.1f} {p:.1f}" for p, _ in y]
    if axes.spines["left"].get_visible():
        marks.append(f"M {left:.1f} {bottom:.1f} {left:.1f} {top:.1f}")
    if axes.spines["bottom"].get_visible():
        marks.append(f"M {left:.1f} {bottom:.1f} {right:.1f} {bottom:.1f}")
    size = fonts.tick
    x_style = f"font-size: {size:g}px; text-anchor: middle; fill: {INK}"
    y_style = f"font-size: {size:g}px; text-anchor: end; fill: {INK}"
    below, before = bottom + TICK + PAD + 0.76 * size, left - TICK - PAD
    return "".join(
        [
            _path(lines, GRID, LINE),
            _path(marks, INK, SPINE),
            *(
                f'<text x="{p:.1f}" y="{below:.1f}" style="{x_style}">{escape(words)}</text>'
                for p, words in legible(x, size)
            ),
            *(
                f'<text x="{before:.1f}" y="{p + 0.38 * size:.1f}" style="{y_style}">{escape(words)}</text>'
                for p, words in y
            ),
        ]
    )


def legible(labels, size):
    """Those of some labels below an axis, (centre, text) in points, that do not run into the one before."""
    kept, end = [], float("-inf")
    for centre, words in labels:
        half = LETTER * size * len(words) / 2
        if centre - half >= end + LETTER * size:
            kept.append((centre, words))
            end = centre + half
    return kept


def _path(parts, colour, width):
    return f'<path d="{" ".join(parts)}" style="fill: none; stroke: {colour}; stroke-width: {width}"/>' if parts else ""

"""The key of small multiples: what each line or mark stands for, once for all panels."""

from functools import lru_cache
from html import escape

from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import PathPatch
from matplotlib.transforms import Affine2D

from kernbench._names import printable
from kernbench.report.charts.drawing.svg import inline, render

WIDTH, HEIGHT, MARK = 26, 11, 6  # points of a sample and of its mark
LETTER, GAP = 5.2, 18  # points of an average letter, and between entries, in a file
ROW = 14


def html_key(entries):
    """The key as HTML.

    Parameters
    ----------
    entries : list of (str, Style)

    Returns
    -------
    str
        Safe HTML; empty without entries.
    """
    if not entries:
        return ""
    items = "".join(f"<li>{_sample(style)}{escape(printable(name))}</li>" for name, style in entries)
    return f'<ul class="key">{items}</ul>'


def svg_key(entries, width):
    """The key as a group of SVG, in rows of at most `width` points: (its elements, its height in points)."""
    x, y, parts = 6.0, 0.0, []
    for name, style in entries:
        own = WIDTH + 5 + LETTER * len(name)
        if x > 6 and x + own > width:
            x, y = 6.0, y + ROW
        parts.append(
            _sample(style).replace("<svg ", f'<svg x="{x:.1f}" y="{y:.1f}" width="{WIDTH}" height="{HEIGHT}" ', 1)
        )
        parts.append(f'<text x="{x + WIDTH + 5:.1f}" y="{y + 9:.1f}" font-size="9" fill="currentColor">'
                     f"{escape(printable(name))}</text>")  # fmt: skip
        x += own + GAP
    return "".join(parts), y + ROW if entries else 0.0


@lru_cache(maxsize=256)
def _sample(style):
    """A piece of line with its mark."""
    canvas = Canvas(figsize=(WIDTH / 72, HEIGHT / 72))
    canvas.patch.set_alpha(0.0)
    line = {"color": style.colour, "linestyle": style.dash, "linewidth": 1.8}
    canvas.add_artist(Line2D([0.02, 0.98], [0.5, 0.5], **line))
    # As a path, since a marker has an id, and the same sample is in many figures of a page.
    mark = MarkerStyle(style.marker)
    placed = mark.get_transform() + Affine2D().scale(MARK / WIDTH, MARK / HEIGHT).translate(0.5, 0.5)
    path = mark.get_path().transformed(placed)
    canvas.add_artist(PathPatch(path, facecolor=style.colour, edgecolor=style.colour, transform=canvas.transFigure))
    found = inline(render(canvas), f"sample-{style}", "", "")
    # The name stands beside it: nothing to read out.
    start = found.index("</desc>") + len("</desc>")
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{found[start:]}'

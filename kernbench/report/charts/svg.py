"""From a matplotlib figure to SVG: a file that stands alone, and a piece that lives inside a page."""

import io
import re
import warnings
from html import escape

import matplotlib

from kernbench.report.charts.looks import GRID, INK
from kernbench.report.text import printable

# "none" keeps letters as text: small, selectable and in the reader's own font. The fixed salt makes the ids,
# and so the file, the same for the same records.
_SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "kernbench", "font.family": "sans-serif"}
_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
# A hundredth of a point is less than a screen can show; matplotlib writes six decimals.
_LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+(?![\d.])")


def standalone(canvas):
    """The figure as a whole SVG document with dark ink on white.

    Parameters
    ----------
    canvas : matplotlib.figure.Figure

    Returns
    -------
    str
    """
    return _render(canvas, "white").replace(INK, "#1a1a1a").replace(GRID, "#dddddd")


def inline(canvas, name, title, description):
    """The figure as an ``<svg>`` element that follows the page's colours, light and dark.

    Parameters
    ----------
    canvas : matplotlib.figure.Figure
    name : str
        Put before every id, since ids must be unique within a page.
    title, description : str
        What a screen reader says.

    Returns
    -------
    str
        Safe to place in HTML as it is.
    """
    document = _render(canvas, "none")
    body = document[document.index("<svg") :]
    # matplotlib's style element would hold for the whole page; the page's own sheet says the same.
    body = re.sub(r"<(metadata|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    prefix = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)
    body = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{prefix}-\1"', body)
    body = body.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    box = re.search(r'viewBox="[^"]+"', body).group(0)
    opening = (
        f'<svg {box} role="img" aria-labelledby="{prefix}-title {prefix}-description">'
        f'<title id="{prefix}-title">{escape(printable(title))}</title>'
        f'<desc id="{prefix}-description">{escape(printable(description))}</desc>'
    )
    return opening + body[body.index(">") + 1 :].rstrip()


def _render(canvas, facecolor):
    buffer = io.StringIO()
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # Letters stay text: the reader's font must have them, not the one used here to measure.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas.savefig(buffer, format="svg", facecolor=facecolor, metadata=_METADATA)
    return _LONG_NUMBER.sub(r"\1", buffer.getvalue())

"""From a matplotlib figure to SVG: a file of its own, and an element inside a page."""

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
# matplotlib writes six decimals; a hundredth of a point is below the resolution of screens.
_LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+(?![\d.])")


def render(canvas):
    """A matplotlib figure as an SVG document without a background, in the colours ``INK`` and ``GRID``."""
    buffer = io.StringIO()
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # Letters stay text: the reader's font must have them, not the one used here to measure.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas.savefig(buffer, format="svg", facecolor="none", metadata=_METADATA)
    return _LONG_NUMBER.sub(r"\1", buffer.getvalue())


def standalone(document):
    """A rendered document with dark ink on white, to stand alone."""
    start = document.index(">", document.index("<svg")) + 1
    white = '<rect width="100%" height="100%" fill="white"/>'
    return f"{document[:start]}{white}{document[start:]}".replace(INK, "#1a1a1a").replace(GRID, "#dddddd")


def inline(document, name, title, description):
    """A rendered document as an ``<svg>`` element that follows the page's colours, light and dark.

    Parameters
    ----------
    document : str
        Of :func:`render`.
    name : str
        Put before every id that is used, since ids must be unique within a page.
    title, description : str
        Read by screen readers.

    Returns
    -------
    str
        Safe HTML.
    """
    body = document[document.index("<svg") :]
    # matplotlib's style element would apply to the whole page; the page's own style sheet has the same rules.
    body = re.sub(r"<(metadata|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    prefix = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda id: f' id="{prefix}-{id[1]}"' if id[1] in used else "", body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)
    body = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{prefix}-\1"', body)
    # The page's own font is used; matplotlib names a dozen for every piece of text.
    body = re.sub(r"font-family: [^;\"]*(; )?", "", body)
    body = re.sub(r' transform="rotate\(-?0 [^"]*"', "", body)
    body = re.sub(r"\s*\n\s*", " ", body)
    body = body.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    box = re.search(r'viewBox="[^"]+"', body).group(0)
    opening = (
        f'<svg {box} role="img" aria-labelledby="{prefix}-title {prefix}-description">'
        f'<title id="{prefix}-title">{escape(printable(title))}</title>'
        f'<desc id="{prefix}-description">{escape(printable(description))}</desc>'
    )
    return opening + body[body.index(">") + 1 :].rstrip()

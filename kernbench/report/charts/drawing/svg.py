"""From a matplotlib figure to SVG: a file of its own, and an element inside a page."""

import io
import re
import warnings
from collections import Counter
from html import escape
from zlib import crc32

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG

from kernbench._names import printable
from kernbench.report.charts.drawing.styles import GRID, INK, PALETTE_NAMES

# "none" keeps letters as text: small, selectable and in the reader's own font. The fixed salt makes the ids,
# and so the file, the same for the same records.
_SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "kernbench", "font.family": "sans-serif"}
_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
# matplotlib writes six decimals; a tenth of a point is a tenth of a pixel of most screens.
_LONG_NUMBER = re.compile(r"(?<!opacity: )(?<![\d.])(\d+\.\d)\d+(?![\d.])")  # an opacity needs its digits
_GROUP = re.compile(r"<(/?)g\b([^>]*?)(/?)>")
_LEAST_SHARED = 3  # uses of a style from which a class of the page is shorter
_TOLERANCE = 0.2  # points: lines are thinned to what a screen shows
_LONG = 200  # letters of a path that is worth it
_POINTS = 96 / 72  # pixels of a point


def render(canvas, behind=""):
    """A matplotlib figure as an SVG document without a background, in the colours ``INK`` and ``GRID``.

    Parameters
    ----------
    canvas : matplotlib Figure
    behind : str, default=""
        SVG elements to put behind it.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # Letters stay text: the reader's font must have them, not the one used here to measure.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # Not savefig, which draws twice: once to find the bounding box, which is that of the canvas here.
        FigureCanvasSVG(canvas).print_svg(buffer, metadata=_METADATA)
    # In tags only: what is written between them is for readers.
    document = re.sub(r"<[^>]*>", lambda tag: _LONG_NUMBER.sub(r"\1", tag[0]), buffer.getvalue())
    # … and names may look like attributes, which the functions below change.
    document = re.sub(r">[^<]*[\"#-][^<]*<", _spelled_out, document)
    if not behind:
        return document
    start = document.index(">", document.index("<svg")) + 1
    return f"{document[:start]}{behind}{document[start:]}"


def _spelled_out(words):
    """Text that the patterns for attributes, addresses, colours and fonts do not find anything in."""
    return words[0].replace("#", "&#35;").replace('"', "&quot;").replace("font-family", "font&#45;family")


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
        SVG as :func:`render` returns it.
    name : str
        Makes the ids, which must be unique within a page.
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
    prefix = f"f{crc32(name.encode()):x}"
    used = list(dict.fromkeys(re.findall(r'(?:url\(|href=")#([^)"]+)', body)))
    ids = {old: f"{prefix}-{i}" for i, old in enumerate(used)}
    body = re.sub(r' id="([^"]+)"', lambda id: f' id="{ids[id[1]]}"' if id[1] in ids else "", body)
    body = re.sub(r"url\(#([^)]+)\)", lambda id: f"url(#{ids[id[1]]})", body)
    body = re.sub(r'xlink:href="#([^"]+)"', lambda id: f'href="#{ids[id[1]]}"', body)
    # The page's own font is used; matplotlib names a dozen for every piece of text.
    body = re.sub(r"font-family: [^;\"]*(; )?", "", body)
    body = re.sub(r' transform="rotate\(-?0 [^"]*"', "", body)
    body = re.sub(r'<path d="[^"]*" style="fill: none; opacity: 0"/>', "", body)  # the canvas
    body = re.sub(r' d="([^"]*)"', lambda path: f' d="{_shorter(path[1])}"', body)
    body = re.sub(r"\s*\n\s*", " ", body)
    body = re.sub(r">\s+<", "><", _without_bare_groups(body)).replace("<defs></defs>", "")
    body = body.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    for colour, variable in PALETTE_NAMES.items():
        body = body.replace(colour.lower(), f"var(--{variable})")
    box = re.search(r'viewBox="[^"]+"', body).group(0)
    opening = (
        f'<svg {box} role="img" aria-labelledby="{prefix}-title {prefix}-description">'
        f'<title id="{prefix}-title">{escape(printable(title))}</title>'
        f'<desc id="{prefix}-description">{escape(printable(description))}</desc>'
    )
    return opening + body[body.index(">") + 1 :].rstrip()


def sheet(pieces, columns, size, title, key="", key_height=0.0):
    """Several elements of :func:`inline` in one document of dark ink on white, to stand alone.

    Parameters
    ----------
    pieces : list of str
        SVG elements of one size.
    columns : int
    size : (float, float)
        Width and height of each element, in inches.
    title, key : str
        The key is SVG, `key_height` points high, between the title and the elements.
    key_height : float
    """
    width, height, head = 72 * size[0], 72 * size[1], 25 + key_height
    rows = -(-len(pieces) // columns)
    box = (columns * width, rows * height + head)
    placed = [
        piece.replace(
            "<svg ",
            f'<svg x="{i % columns * width:.1f}" y="{i // columns * height + head:.1f}" '
            f'width="{width:.1f}" height="{height:.1f}" ',
            1,
        )
        for i, piece in enumerate(pieces)
    ]
    if key:
        placed.append(f'<g transform="translate(0 24)">{key}</g>')
    body = "".join(placed).replace("currentColor", "#1a1a1a").replace("var(--grid)", "#dddddd")
    for colour, variable in PALETTE_NAMES.items():
        body = body.replace(f"var(--{variable})", colour)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {box[0]:.1f} {box[1]:.1f}" '
        f'width="{_POINTS * box[0]:.0f}" height="{_POINTS * box[1]:.0f}" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="white"/>'
        f'<text x="6" y="16" font-size="10" font-weight="bold" fill="#1a1a1a">{escape(printable(title))}</text>'
        f"{body}</svg>\n"
    )


def share_styles(html):
    """Move the styles that the figures of a page repeat into classes.

    Parameters
    ----------
    html : str
        A page with elements made by :func:`inline`.

    Returns
    -------
    html, css : str
    """
    counts = Counter(re.findall(r' style="([^"]*)"', html))
    shared = [style for style, count in counts.items() if count >= _LEAST_SHARED]
    classes = {style: f"s{i}" for i, style in enumerate(shared)}

    def name(match):
        return f' class="{classes[match[1]]}"' if match[1] in classes else match[0]

    css = "\n".join(f"svg .{name} {{ {style} }}" for style, name in classes.items())
    return re.sub(r' style="([^"]*)"', name, html), css


def _shorter(path):
    """A path without points that do not change the picture, and without the letters that SVG implies."""
    path = " ".join(path.split())
    if re.search("[A-KN-Ya-y]", path):
        return path  # it has curves
    path = path.replace("L ", "")  # a pair of numbers after a line begins the next line
    return re.sub(r"M ([-\d. ]+)", lambda line: f"M {_thinned(line[1])}", path) if len(path) > _LONG else path


def _thinned(line):
    """The points of a line that are needed to draw it within `_TOLERANCE` (Douglas and Peucker, 1973)."""
    numbers = line.split()
    points = np.array(numbers, dtype=float).reshape(-1, 2)
    kept, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        start, along = points[first], points[last] - points[first]
        between, length = points[first + 1 : last] - start, np.hypot(*along)
        off = np.abs(between[:, 0] * along[1] - between[:, 1] * along[0]) / length if length else np.hypot(*between.T)
        if off.max() > _TOLERANCE:
            middle = first + 1 + int(off.argmax())
            kept.add(middle)
            spans += [(first, middle), (middle, last)]
    ends = " " if line.endswith(" ") else ""
    return " ".join(f"{numbers[2 * i]} {numbers[2 * i + 1]}" for i in sorted(kept)) + ends


def _without_bare_groups(body):
    """An element without the groups that have no attribute."""
    kept = []

    def drop(tag):
        if tag[3]:  # empty
            return ""
        if tag[1]:
            return tag[0] if kept.pop() else ""
        kept.append(bool(tag[2].strip()))
        return tag[0] if kept[-1] else ""

    return _GROUP.sub(drop, body)

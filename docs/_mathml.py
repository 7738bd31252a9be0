"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

WRITTEN_OTHERWISE = {"…": r"\ldots", r"\dots": r"\ldots"}  # what the converter does not know

logger = logging.getLogger(__name__)


def setup(app):
    """Register the renderer ``"mathml"``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))


def _inline(self, node):
    self.body.append(_converted(node, as_block=False))
    raise nodes.SkipNode


def _display(self, node):
    self.body.append(f'<div class="math">{_converted(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _converted(node, as_block):
    formula = node.astext()
    for written, known in WRITTEN_OTHERWISE.items():
        formula = formula.replace(written, known)
    try:
        return tex2mathml(formula, as_block=as_block)
    except MathError as error:
        logger.warning("the formula %s cannot be converted: %s", formula, error, location=node)
        return f"<code>{escape(formula)}</code>"

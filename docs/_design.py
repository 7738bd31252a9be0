"""What the packages' own docstrings say of the design, put into docs/design.md as Sphinx reads it.

``<!-- docstring: solvers -->`` is the place of the diagram in the docstring of ``kernbench/solvers``;
``<!-- docstring: packages -->`` that of a table of all packages.
"""

import ast
import re
from pathlib import Path

import kernbench

PACKAGE = Path(kernbench.__file__).parent
PLACE = re.compile(r"^<!-- docstring: ([\w/]+) -->$", re.MULTILINE)
BLOCK = re.compile(r"^::\n\n((?: {4}.*\n|\n)+)", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?([^`]*)`")

# From the command down: what imports comes before what it imports.
ORDER = (
    "cli", "report", "experiments", "distributed", "deep", "estimators", "plot", "solvers", "problems", "pairs",
    "losses", "features", "saving", "kernels", "validation", "datasets", "reference",
)  # fmt: skip


def insert(app, docname, source):
    """Put diagrams and the table into a page that Sphinx has read."""
    source[0] = filled(source[0])


def filled(text):
    """Return the text of a page with its diagrams and tables."""
    return PLACE.sub(lambda found: packages() if found[1] == "packages" else diagram(found[1]), text)


def diagram(package):
    """Return the diagram of a package as a fenced block; raise LookupError if its docstring has none."""
    found = BLOCK.search(_docstring(package) + "\n")
    if not found:
        raise LookupError(f"the docstring of kernbench/{package} has no diagram")
    lines = found[1].rstrip().split("\n")
    return "```text\n" + "".join(f"{line[4:]}\n" for line in lines) + "```\n"


def packages():
    """Return a table of the packages with the first sentence of each."""
    rows = []
    for name in ORDER:
        sentence = " ".join(_docstring(name).split("\n\n")[0].split())
        sentence = ROLE.sub(r"`\1`", sentence).replace("``", "`")
        rows.append(f"| `{name}` | {sentence} |\n")
    return "| package | what it is |\n|---|---|\n" + "".join(rows)


def _docstring(package):
    path = PACKAGE / package / "__init__.py"
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))

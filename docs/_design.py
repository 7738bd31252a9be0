"""The packages, as their own docstrings describe them, for docs/design.md."""

import ast
import re
from pathlib import Path

import kernbench

PACKAGE = Path(kernbench.__file__).parent
BLOCK = re.compile(r"^::\n\n((?: {4}.*\n|\n)+)", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?([^`]*)`")

# Diagrams that docs/design.md shows: the name of a mark, and the package whose docstring has it.
DIAGRAMS = {
    "solver": "solvers",
    "fit": "estimators/fit",
    "kernels": "kernels/engine",
    "experiments": "experiments",
    "run": "experiments/run",
    "report": "report",
}
# From the command down: what imports comes before what it imports.
ORDER = (
    "cli", "report", "experiments", "distributed", "deep", "estimators", "plot", "solvers", "problems", "pairs",
    "losses", "features", "saving", "kernels", "validation", "datasets", "reference",
)  # fmt: skip


def _docstring(package):
    path = PACKAGE / package / "__init__.py"
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def diagram(name):
    """Return the diagram of a package as a fenced block, without indentation."""
    lines = BLOCK.search(_docstring(DIAGRAMS[name]) + "\n")[1].rstrip().split("\n")
    return "```text\n" + "".join(f"{line[4:]}\n" for line in lines) + "```\n"


def packages():
    """Return a table of the packages with the first sentence of each."""
    rows = []
    for name in ORDER:
        sentence = " ".join(_docstring(name).split("\n\n")[0].split())
        sentence = ROLE.sub(r"`\1`", sentence).replace("``", "`")
        rows.append(f"| `{name}` | {sentence} |\n")
    return "| package | what it is |\n|---|---|\n" + "".join(rows)

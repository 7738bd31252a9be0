"""Two sets of records side by side: what became slower, larger or worse (``kernbench compare``)."""

from kernbench.report.comparison.comparing import compare_sides
from kernbench.report.comparison.output import as_data, as_markdown, as_tables
from kernbench.report.comparison.sides import side_of_commit, side_of_store

__all__ = ["as_data", "as_markdown", "as_tables", "compare_sides", "side_of_commit", "side_of_store"]

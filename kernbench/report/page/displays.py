"""The tables and figures an experiment declares: each kind of display, and the function that makes it."""

from kernbench.experiments.declare import (
    Contours,
    CrossTable,
    Curves,
    HeatMap,
    Marks,
    MetricTable,
    Profiles,
    Recommendation,
)
from kernbench.report.charts import contours, curves, heat, marks, profiles
from kernbench.report.tables.cross_table import cross_table
from kernbench.report.tables.metric_table import metric_table
from kernbench.report.verdict.verdict import recommendation

FIGURES = {
    Curves: curves.picture,
    Marks: marks.picture,
    HeatMap: heat.picture,
    Contours: contours.picture,
    Profiles: profiles.picture,
}
TABLES = {MetricTable: metric_table, CrossTable: cross_table, Recommendation: recommendation}


def pictures_of(results):
    """The figures an experiment declares, without those that would be empty."""
    return _made(FIGURES, results.experiment.figures, results)


def tables_of(results):
    """The tables an experiment declares, without those that would be empty."""
    return _made(TABLES, results.experiment.tables, results)


def _made(makers, displays, results):
    found = (makers[type(display)](display, results) for display in displays)
    return [made for made in found if made is not None]

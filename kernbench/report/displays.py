"""The tables and figures of an experiment: the declared ones, and those a function makes."""

from kernbench._lazy import load
from kernbench.experiments.declare import (
    Contours,
    CrossTable,
    Curves,
    HeatMap,
    Marks,
    MetricTable,
    Profiles,
)
from kernbench.report import summaries
from kernbench.report.charts import contours, curves, heat, marks, profiles

FIGURES = {
    Curves: curves.picture,
    Marks: marks.picture,
    HeatMap: heat.picture,
    Contours: contours.picture,
    Profiles: profiles.picture,
}
TABLES = {MetricTable: summaries.metric_table, CrossTable: summaries.cross_table}


def pictures_of(experiment, group, looks):
    """The figures an experiment declares, without those that would be empty.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    looks : dict of str to Look

    Returns
    -------
    list of Picture
    """
    found = []
    for display in experiment.figures:
        if isinstance(display, str):
            found += load(display)(experiment, group, looks)
        else:
            found.append(FIGURES[type(display)](display, experiment, group, looks))
    return [picture for picture in found if picture is not None]


def tables_of(experiment, group):
    """The tables an experiment declares, without those that would be empty.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group

    Returns
    -------
    list of Table
    """
    found = []
    for display in experiment.tables:
        if isinstance(display, str):
            found.append(load(display)(experiment, group))
        else:
            found.append(TABLES[type(display)](display, experiment, group))
    return [table for table in found if table is not None]

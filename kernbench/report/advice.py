"""The answer to "which solver?" for one data set."""

from dataclasses import dataclass
from math import hypot

from kernbench.report.aggregate import speed_ratio
from kernbench.report.labels import kind_of, ordered

CLOSE = 1.1  # a runner-up that takes at most this many times as long is named: another day it may be first


@dataclass
class Advice:
    """The answer for one data set.

    Attributes
    ----------
    dataset, kind : str
    method : str
        The fastest among those whose test error is no worse than the baseline's.
    error, seconds : float
        Its mean test error and median fit time.
    ratio : float or None
        The baseline's time over this method's, within runs.
    close : list of str
        Others that are no worse, and nearly as fast.
    better : list of str
        Others whose test error is below the baseline's by more than margin and noise.
    """

    dataset: str
    kind: str
    method: str
    error: float
    seconds: float
    ratio: float | None
    close: list
    better: list


def finishers(experiment, group, dataset):
    """Methods that ran to the end by their own rule: those with results and without a time budget."""
    budgeted = {method.name for method in experiment.methods if method.depends_on is not None}
    cells = {name: group.cell(dataset, name) for name in ordered(experiment, group, dataset)}
    return [
        name
        for name, cell in cells.items()
        if name not in budgeted and cell.test_error[0] is not None and cell.fit_seconds
    ]


def advise(experiment, group, dataset):
    """The fastest method among those no worse than the baseline, or None when none finished.

    "No worse" is: mean test error at most the baseline's plus the claim's margin or two standard errors. It
    is not "as good as the best": at given parameters an unfinished fit may err less by luck of
    regularisation, which is no merit of a solver; such methods are named as `better`. Where the baseline has
    no result, the best error takes its place.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    dataset : str

    Returns
    -------
    Advice or None
    """
    cells = {name: group.cell(dataset, name) for name in finishers(experiment, group, dataset)}
    if not cells:
        return None
    base = group.cell(dataset, experiment.claim.baseline)
    level = base.test_error
    if level[0] is None:
        level = min((cell.test_error for cell in cells.values()), key=lambda found: found[0])

    excess, slack = {}, {}
    for name, cell in cells.items():
        mean, error = cell.test_error
        excess[name] = mean - level[0]
        slack[name] = max(experiment.claim.margin, 2 * hypot(error or 0.0, level[1] or 0.0))
    times = {name: cells[name].fit_seconds for name in cells if excess[name] <= slack[name]}
    if not times:
        return None
    chosen = min(times, key=times.get)
    return Advice(
        dataset=dataset,
        kind=kind_of(group, dataset),
        method=chosen,
        error=cells[chosen].test_error[0],
        seconds=times[chosen],
        ratio=None if chosen == experiment.claim.baseline else speed_ratio(base, cells[chosen]),
        close=[name for name in times if name != chosen and times[name] <= CLOSE * times[chosen]],
        better=[name for name in cells if name != chosen and excess[name] < -slack[name]],
    )

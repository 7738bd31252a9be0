"""The recommended method for one data set."""

from dataclasses import dataclass
from functools import cache, cached_property
from inspect import signature
from math import hypot

from kernbench._lazy import load
from kernbench.experiments.declare import Recommendation
from kernbench.report.records.cells import speed
from kernbench.report.records.results import Results
from kernbench.report.statistics import mean_and_error

CLOSE = 1.1  # a runner-up that takes at most this many times as long is mentioned, since the order may change

TELLING = ("kernel", "features", "solver", "loss", "pairs")  # arguments that make another method, not tune it


@cache
def _defaults(estimator):
    """The default arguments of a class given as ``"module:Class"``; empty if it cannot be imported."""
    try:
        parameters = signature(load(estimator)).parameters
    except (ImportError, AttributeError, TypeError, ValueError):
        return {}
    return {name: parameter.default for name, parameter in parameters.items()}


@dataclass
class Advice:
    """The recommendation for one data set.

    Attributes
    ----------
    results : Results
    display : kernbench.experiments.declare.Recommendation
    dataset : str
    method : str
        The fastest among those that are no worse than the baseline.
    times : dict of str to float
        Median time of each method without a budget.
    no_worse : list of str
        Those that are no worse than the baseline.
    better : list of str
        Those that are better by more than margin and noise.
    beats_zero : bool
        Whether the method is better than the zero model by more than margin and noise; True where none was measured.
    """

    results: Results
    display: Recommendation
    dataset: str
    method: str
    times: dict
    no_worse: list
    better: list
    beats_zero: bool = True

    @property
    def label(self):
        return self.results.label(self.method)

    @property
    def spelled(self):
        """The method in code: the estimator, with its package if it is not ours, and what makes it another method."""
        method = self.results.method(self.method)
        if method is None:
            return self.label
        kept = {name: method.params[name] for name in TELLING if name in method.params}
        usual = _defaults(method.estimator)
        kept = {name: value for name, value in kept.items() if name == "solver" or usual.get(name) != value}
        return self.results.spelled(self.method, kept)

    @property
    def peer(self):
        return self.results.short_label(self.display.baseline)

    @property
    def seconds(self):
        return self.times[self.method]

    @property
    def metric(self):
        return self.results.experiment.metric(self.display.metric)

    def cell(self, method):
        """The cell of a method on this data set."""
        return self.results.cell(self.dataset, method)

    def value(self, method):
        """The mean of the metric."""
        return mean_and_error(self.cell(method).values(self.metric))[0]

    @cached_property
    def ratio(self):
        """The baseline's time over the method's, within runs; None for the baseline itself."""
        if self.method == self.display.baseline:
            return None
        time = self.results.experiment.metric(self.display.time)
        return speed(time, self.cell(self.method), self.cell(self.display.baseline))

    @property
    def close(self):
        """Others that are no worse, and nearly as fast."""
        return [
            name for name in self.no_worse if name != self.method and self.times[name] <= CLOSE * self.seconds
        ]


def advise(results, display, dataset):
    """The fastest method among those no worse than the baseline, or None when none finished.

    "No worse" is not "as good as the best": at given parameters, a fit that stops early may have the lower error
    because stopping early regularises. If the baseline has no result, the best value replaces it.

    Returns
    -------
    Advice or None
    """
    experiment = results.experiment
    metric, time = experiment.metric(display.metric), experiment.metric(display.time)
    sign, found, times = (1.0 if metric.direction == "lower" else -1.0), {}, {}
    for name in results.chosen_methods(display, dataset):
        cell = results.cell(dataset, name)
        mean, error = mean_and_error(cell.values(metric))
        seconds = cell.median(time)
        if mean is not None and seconds and not results.has_budget(name):
            found[name], times[name] = (sign * mean, error or 0.0), seconds
    zero = found.pop(display.zero, None)
    times.pop(display.zero, None)
    if not found:
        return None
    level, level_error = found.get(display.baseline) or min(found.values())
    excess = {name: value - level for name, (value, _) in found.items()}
    slack = {name: max(display.margin, 2 * hypot(error, level_error)) for name, (_, error) in found.items()}
    no_worse = [name for name in found if excess[name] <= slack[name]]
    chosen = min(no_worse, key=times.get)
    if display.baseline in no_worse and chosen != display.baseline:
        # Medians of short times may say the contrary of every single run: the runs decide.
        ratio = speed(time, results.cell(dataset, chosen), results.cell(dataset, display.baseline))
        chosen = display.baseline if ratio is not None and ratio < 1 else chosen
    better = [name for name in found if name != chosen and excess[name] < -slack[name]]
    value, error = found[chosen]
    beats_zero = zero is None or zero[0] - value > max(display.margin, 2 * hypot(error, zero[1]))
    return Advice(results, display, dataset, chosen, times, no_worse, better, beats_zero)

"""What accuracy costs: the accuracy, time and memory of every method, and whether another beats it in all of them."""

from dataclasses import dataclass

from kernbench.experiments.declare import Quantity
from kernbench.report import text
from kernbench.report.statistics import mean_and_error, median_or_none
from kernbench.report.tables.metric_table import explained, over_repeats, setups_told
from kernbench.report.tables.optimality import REASON, optimality_column, optimality_entry, optimality_quantity
from kernbench.report.tables.quantities import entry_of
from kernbench.report.tables.table import NOTHING, Column, Table, words

# Names of metrics; of memory the first that is declared.
TIME, MEMORY = ("fit_seconds", ("working_memory", "peak_memory"))


@dataclass(frozen=True)
class Point:
    """A method on a data set.

    Attributes
    ----------
    method : str
    value, seconds : float
        Mean of the headline metric, median of the time.
    memory : float or None
        Median of the memory; None if it is not known.
    on_front : bool
        No other method is at least as good in all three and better in one, in the runs of both: repeats on one set-up.
    fast : bool
        Whether it is on the front of accuracy and time alone.
    """

    method: str
    value: float
    seconds: float
    memory: float | None
    on_front: bool = False
    fast: bool = False


def fronts(results):
    """The points of each data set with two methods or more.

    Returns
    -------
    dict of str to list of Point
        Points by data set, the fastest first; empty for an experiment that does not weigh accuracy against the time of
        fits.
    """
    experiment = results.experiment
    headline, time, memory = experiment.metrics[0], _metric(experiment, TIME), _memory(experiment)
    if time is None or headline.unit == "s":
        return {}
    found = {}
    for dataset in results.datasets:
        points, costs = [], {}
        for method in results.methods(dataset):
            cell = results.cell(dataset, method)
            value, seconds = _mean(cell.values(headline)), cell.median(time)
            if value is not None and seconds:
                points.append((method, value, seconds, memory and cell.median(memory)))
                costs[method] = _costs(cell, headline, time, memory)
        if len(points) > 1:
            found[dataset] = sorted(
                (Point(*point, _is_best(point[0], costs), _is_best(point[0], costs, 2)) for point in points),
                key=lambda point: point.seconds,
            )
    return found


def _costs(cell, headline, time, memory):
    """What a method costs in accuracy, time and memory, each by run; nothing of a memory that is not known."""
    sign = 1.0 if headline.direction == "lower" else -1.0
    errors = {run: sign * value for run, value in cell.by_run(headline).items()}
    return errors, cell.by_run(time), cell.by_run(memory) if memory else {}


def _is_best(name, costs, n=3):
    own = costs[name][:n]
    return not any(_is_beaten(own, cost[:n]) for other, cost in costs.items() if other != name)


def _is_beaten(own, other):
    """Whether another method is at least as good in the runs of both, and better in one cost; where its memory is not
    known of both, in accuracy and time."""
    gains = [_gain(*costs) for costs in zip(MIDDLES, own, other)]
    known = [gain for gain in gains if gain is not None]
    return None not in gains[:2] and min(known) >= 0 and max(known) > 0


def _gain(middle, own, other):
    """How much less another method costs, in the middle over the runs of both; None without any."""
    return middle([own[run] - other[run] for run in sorted(own.keys() & other.keys())])


def _mean(values):
    return mean_and_error(values)[0]


MIDDLES = (_mean, median_or_none, median_or_none)  # of accuracy, time and memory


def _metric(experiment, name):
    return next((metric for metric in experiment.metrics if metric.name == name), None)


def _memory(experiment):
    return next(filter(None, (_metric(experiment, name) for name in MEMORY)), None)


def tradeoff_table(results):
    """The table; None for an experiment that is no race.

    A column tells how near the optimum each method came, if the experiment says what that is: nobody should win by
    stopping early.
    """
    found, experiment = fronts(results), results.experiment
    if not found:
        return None
    quantities = [
        Quantity(experiment.metrics[0].name),
        Quantity(TIME, "median"),
        *([Quantity(_memory(experiment).name, "median")] if _memory(experiment) else []),
    ]
    metrics = [experiment.metric(quantity.metric) for quantity in quantities]
    blocks = []
    for dataset, points in found.items():
        rows = []
        for point in points:
            entries = [entry_of(results, quantity, dataset, point.method) for quantity in quantities]
            entries.append(optimality_entry(results, dataset, point.method))
            front = words("yes", mark="good") if point.on_front else NOTHING
            repeats = entry_of(results, Quantity(TIME, "repeats"), dataset, point.method)
            rows.append((words(results.label(point.method)), *entries, front, repeats))
        blocks.append((results.category_label("dataset", dataset), rows))
    notes = [
        "On the front: no other method is at least as good in accuracy, time and memory, and better in one, by the "
        "differences within the repeats of both on the same set-up. Methods that share no such repeat are not compared."
    ]
    if experiment.optimality is None:
        notes.append(REASON)
    columns = (
        Column("method", "method", numeric=False),
        *(_column(quantity, metric) for quantity, metric in zip(quantities, metrics)),
        optimality_column(experiment),
        Column("on the front", "on_front", numeric=False),
        Column("repeats", "repeats"),
    )
    caption = "Accuracy, time, memory and optimality"
    cells = [(dataset, point.method) for dataset, points in found.items() for point in points]
    shown = [*quantities, *filter(None, [optimality_quantity(experiment)])]
    notes += [*over_repeats(results, shown, cells), *explained(blocks)]
    notes += setups_told((results, dataset) for dataset in found)
    return Table(results.file_name("trade-offs"), caption, columns, blocks, notes)


def _column(quantity, metric):
    return Column(metric.label if quantity.form == "median" else text.heading(metric), metric.name)

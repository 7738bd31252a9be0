"""How near the optimum of its problem a method came: nobody should win by stopping early."""

from kernbench.experiments.declare import Quantity
from kernbench.report.tables.quantities import entry_of
from kernbench.report.tables.table import Column, words

OBJECTIVE = "objective"
REASON = "Optimality: none, since these methods do not minimise one objective."


def optimality_column(experiment):
    """The column; without a declared metric it is there all the same, and says "none" in every row."""
    if experiment.optimality is None:
        return Column("optimality", "optimality", numeric=False)
    metric = experiment.metric(experiment.optimality)
    if metric.name == OBJECTIVE:
        return Column(f"{metric.label} above the best here", f"relative_excess_{metric.name}")
    return Column(metric.label, metric.name)


def optimality_quantity(experiment):
    """An objective relative to the least on the same data, another metric as it is; None without a declared one."""
    name = experiment.optimality
    return None if name is None else Quantity(name, "excess" if name == OBJECTIVE else "median")


def optimality_entry(results, dataset, method):
    """The entry of a method on a data set."""
    quantity = optimality_quantity(results.experiment)
    return words("none") if quantity is None else entry_of(results, quantity, dataset, method)


def optimality_words(results, dataset, method):
    """The same for a table over several experiments, where the entry names what it is."""
    entry, name = optimality_entry(results, dataset, method), results.experiment.optimality
    if entry.value is None or name is None:
        return entry
    if name != OBJECTIVE:
        return words(f"{results.experiment.metric(name).label} {entry.text}")
    return words("best objective" if entry.value == 0 else f"{entry.text} above the best")

"""What the report calls methods and data sets, and how it prints the headline metric."""

import json

from kernbench.report import text
from kernbench.report.statistics import finite_values


def label_of(experiment, name):
    """What figures and tables call a method."""
    return next((method.label for method in experiment.methods if method.name == name), name)


def short_label(experiment, name):
    """A method's label, short enough for a column's heading or a sentence: ``LIBSVM``."""
    return label_of(experiment, name).partition(" (")[0]


def peer_of(experiment):
    """The short label of a race's baseline."""
    return short_label(experiment, experiment.claim.baseline)


def category_label(experiment, group, place, word):
    """What figures call a category: the label of a data set or a method, and any other word as it is.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    place : str
        Of the category in a record: ``"dataset"``, ``"method"``, or another.
    word : str
    """
    if place == "method":
        return label_of(experiment, word)
    setting = setting_of(experiment, group, word) if place == "dataset" else None
    return (setting.label if setting else "") or word


def spelled(experiment, name):
    """How a user writes a method: ``KernelSVC(solver='smo')``."""
    method = next((method for method in experiment.methods if method.name == name), None)
    if method is None:
        return name
    module, _, estimator = method.estimator.partition(":")
    package = "" if module.startswith("kernbench.") else f"{module}."
    arguments = ", ".join(f"{key}={json.dumps(value)}" for key, value in method.params.items())
    return f"{package}{estimator}({arguments})"


KINDS = {
    "full": "the full data",
    "subset": "a subset of the data",
    "generated": "generated data",
    "bundled": "data that come with scikit-learn",
}


def ordered(experiment, group, dataset=None):
    """Methods with records: the declared ones in their order, then any others."""
    recorded = group.methods(dataset)
    declared = [method.name for method in experiment.methods]
    return [name for name in declared if name in recorded] + [
        name for name in recorded if name not in declared
    ]


def setting_of(experiment, group, dataset):
    """The declared setting of a data set, or None for a record whose declaration has gone."""
    settings = experiment.scale(group.scale).settings
    return next((setting for setting in settings if setting.name == dataset), None)


def data_of(group, dataset):
    """What the records say of a data set: name, kind, sizes, checksum, description."""
    return next((data for name in group.methods(dataset) if (data := group.cell(dataset, name).data())), {})


def kind_of(group, dataset):
    """``"full"``, ``"subset"``, ``"generated"``, ``"bundled"`` or ``"unknown"``."""
    return str(data_of(group, dataset).get("kind") or "unknown")


def headline_values(experiment, cell):
    """The headline metric of all repeats of a cell."""
    return finite_values(experiment.metrics[0].of(record) for record in cell.ok)


def paper_entry(experiment, group, dataset, method, metric):
    """What the paper prints and the data set it belongs to when that is another one, or ``(None, None)``."""
    entry = experiment.paper_entry(dataset, method, metric)
    if entry is not None:
        return entry, None
    setting = setting_of(experiment, group, dataset)
    if setting is None or setting.stands_for is None:
        return None, None
    return experiment.paper_entry(setting.stands_for, method, metric), setting.stands_for


def paper_number(experiment, group, dataset, method, metric):
    """The value of :func:`paper_entry`, and the data set it belongs to when that is another one."""
    entry, elsewhere = paper_entry(experiment, group, dataset, method, metric)
    return None if entry is None else entry.value, elsewhere


def scaled(metric, value, error=None):
    """A value in the metric's unit, without naming it: two decimals for a percentage."""
    if value is None:
        return text.DASH
    if metric.unit in ("%", "points"):
        return text.percent(value, error)
    shown = text.significant(metric.factor * value)
    return shown if error is None else f"{shown} ± {text.significant(metric.factor * error, 2)}"


def printed(metric, value):
    """A paper's value, with the digits it was printed with."""
    if value is None:
        return text.DASH
    shown = f"{round(metric.factor * value, 6):g}"
    return f"{shown}.0" if metric.unit == "%" and shown.isdigit() else shown


def with_unit(metric, value):
    """A value and its unit."""
    return f"{scaled(metric, value)} {metric.unit}".rstrip()


def amount(metric, difference):
    """A difference without its sign, in words: ``0.07 points``."""
    if metric.unit == "%":
        return f"{100 * difference:.2f} points"
    return f"{metric.factor * difference:.3g} {metric.unit}".rstrip()


def signed(metric, difference):
    """A difference in the metric's unit, with its sign; points for percentages."""
    if difference is None:
        return text.DASH
    if metric.unit == "%":
        return text.points(difference)
    return f"{metric.factor * difference:+.3g}".replace("-", "−")

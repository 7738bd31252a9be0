"""The figures of a race: which ones a data set gets, and what they say in words."""

import json

from kernbench.report import text
from kernbench.report.aggregate import part
from kernbench.report.figures import Drawing, Line, draw, tick_count, tick_plain
from kernbench.report.labels import KINDS, headline_values, kind_of, label_of, ordered, peer_of, with_unit
from kernbench.report.pictures import Picture
from kernbench.report.statistics import finite, mean_and_error, median_or_none
from kernbench.report.svg import inline, standalone
from kernbench.report.tables import csv_text

SECONDS, EVALUATIONS = "seconds", "n_kernel_evaluations"  # columns of a trace

# column -> (title, x label, format of its ticks)
AXES = {
    SECONDS: ("against time", "training time (seconds)", tick_plain),
    EVALUATIONS: ("against kernel evaluations", "kernel evaluations", tick_count),
}


def pictures(experiment, group, looks):
    """All figures of a race, a heading for each data set.

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
    for dataset in group.datasets:
        for drawing in drawings(experiment, group, dataset, looks):
            canvas = draw(drawing)
            words = description(drawing, experiment.metrics[0].unit)
            found.append(
                Picture(
                    name=drawing.name,
                    caption=_caption(experiment, group, dataset, drawing),
                    alternative=words,
                    svg_inline=inline(canvas, drawing.name, drawing.title, words),
                    svg_file=standalone(canvas),
                    csv=csv_text(curve_rows(drawing)),
                    heading=dataset,
                )
            )
    return found


def drawings(experiment, group, dataset, looks):
    """The figures of one data set: the headline metric against seconds and against kernel evaluations.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    dataset : str
    looks : dict of str to Look

    Returns
    -------
    list of Drawing
        Without those that would be empty.
    """
    metric, claim = experiment.metrics[0], experiment.claim
    base = group.cell(dataset, claim.baseline)
    level, _ = mean_and_error(headline_values(experiment, base))
    unit = f" ({metric.unit})" if metric.unit else ""
    found = []
    for column, (title, x_label, x_format) in AXES.items():
        drawing = Drawing(
            name=text.file_name(f"{group.experiment}-{group.scale}-{dataset}-{column}".replace("_", "-")),
            column=column,
            title=f"{dataset}: {metric.label} {title}",
            x_label=x_label,
            y_label=f"{metric.label}{unit}",
            lines=_lines(experiment, group, dataset, column, looks),
            x_format=x_format,
        )
        if level is not None:
            drawing.level = metric.factor * level
            drawing.level_label = f"{peer_of(experiment)} {with_unit(metric, level)}"
        if column == SECONDS and claim.time_fraction is not None and base.fit_seconds:
            drawing.budget = claim.time_fraction * base.fit_seconds
            drawing.budget_label = f"{_share(claim.time_fraction)} of {peer_of(experiment)}'s time"
        if not drawing.empty:
            found.append(drawing)
    return found


def _share(fraction):
    return {0.25: "¼", 0.5: "½", 0.75: "¾"}.get(fraction, f"{100 * fraction:g} %")


def _lines(experiment, group, dataset, column, looks):
    metric = experiment.metrics[0]
    names = ordered(experiment, group, dataset)
    free = {_solver(experiment, name) for name in names if group.cell(dataset, name).ok} - {None}
    lines = []
    for name in names:
        cell = group.cell(dataset, name)
        method = next((method for method in experiment.methods if method.name == name), None)
        is_budgeted = method is not None and method.depends_on is not None
        # A run under a budget is the beginning of the same solver's free run: its end is enough.
        hidden = is_budgeted and (method.estimator, json.dumps(method.params)) in free
        curves = [] if hidden else cell.traces(column, metric.name)
        curves = [(x, [None if value is None else metric.factor * value for value in y]) for x, y in curves]
        end = _end(experiment, cell, column)
        line = Line(label_of(experiment, name), looks[name], curves, end, hollow=is_budgeted)
        if line.curves or line.ended:
            lines.append(line)
    return lines


def _solver(experiment, name):
    """What a method without a budget runs; None for one with a budget, or undeclared."""
    for method in experiment.methods:
        if method.name == name and method.depends_on is None:
            return method.estimator, json.dumps(method.params)
    return None


def _end(experiment, cell, column):
    """Where a method's final model stands: medians of x, the mean of the metric."""
    mean, _ = mean_and_error(headline_values(experiment, cell))
    traces = [part(record, "trace").get(column) for record in cell.ok]
    x = median_or_none(finite(trace[-1]) for trace in traces if isinstance(trace, list) and trace)
    if x is None:
        x = cell.fit_seconds if column == SECONDS else cell.n_kernel_evaluations
    return None if mean is None or not x or x <= 0 else (x, experiment.metrics[0].factor * mean)


def description(drawing, unit):
    """The figure in words, for those who cannot see it.

    Parameters
    ----------
    drawing : Drawing
    unit : str
        Of the y axis.

    Returns
    -------
    str
    """
    sentences = [f"Line plot of {drawing.y_label} over {drawing.x_label}, which is logarithmic."]
    for line in drawing.lines:
        if line.ended:
            x, y = line.ended
            where = text.seconds(x) if drawing.column == SECONDS else f"{text.count(x)} kernel evaluations"
            sentences.append(f"{line.label} ends at {y:.4g} {unit} after {where}.".replace("  ", " "))
    if drawing.level is not None:
        sentences.append(f"A dashed horizontal line marks {drawing.level_label}.")
    if drawing.budget is not None:
        sentences.append(
            f"A dotted vertical line marks {drawing.budget_label}, {text.seconds(drawing.budget)}."
        )
    return " ".join(sentences)


def curve_rows(drawing):
    """The mean curves as rows of a CSV: method, x, y."""
    yield ("method", drawing.x_label, drawing.y_label)
    for line in drawing.lines:
        x, y = line.mean
        points = zip(x.tolist(), y.tolist()) if line.curves else [line.ended]
        for point in points:
            yield (line.label, *(repr(float(value)) for value in point))


def _caption(experiment, group, dataset, drawing):
    kind = kind_of(group, dataset)
    parts = [f"{drawing.title} ({KINDS.get(kind, f'{kind} data')})."]
    if max((len(line.curves) for line in drawing.lines), default=0) > 1:
        parts.append("Thick: mean over repeats; thin: the repeats. Marks: final models.")
    else:
        parts.append("Marks: final models. One repeat only.")
    if any(line.hollow for line in drawing.lines):
        parts.append("Hollow marks: stopped at their time budget.")
    if drawing.column == SECONDS:
        parts.append("Curves run on the solver's own clock, without reading data and measuring the error.")
    else:
        drawn = {line.label for line in drawing.lines}
        ended = [name for name in group.methods(dataset) if group.cell(dataset, name).ok]
        missing = [label for label in (label_of(experiment, name) for name in ended) if label not in drawn]
        parts += [f"Not counted by {text.listed(missing)}."] if missing else []
    return " ".join(parts)

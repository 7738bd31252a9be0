"""The tables of one experiment: paper beside here, how far each solver got, what failed, which data."""

from kernbench.report import text
from kernbench.report.aggregate import part, speed_ratio
from kernbench.report.curves import positive_steps, settled_at
from kernbench.report.labels import (
    data_of,
    headline_values,
    kind_of,
    label_of,
    ordered,
    paper_number,
    peer_of,
    printed,
    scaled,
    setting_of,
    signed,
)
from kernbench.report.statistics import finite, mean_and_error, median_or_none
from kernbench.report.tables import NOTHING, Column, Entry, Table, words


def comparison_table(experiment, group):
    """The paper's table: its number, ours, and the baseline's here, method by method.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group

    Returns
    -------
    Table
    """
    metric, baseline = experiment.metrics[0], experiment.claim.baseline
    peer = peer_of(experiment)
    unit = f" ({metric.unit})" if metric.unit else ""
    columns = (
        Column("method", "method", numeric=False),
        Column(f"paper: {metric.label}{unit}", f"paper_{metric.name}"),
        Column(f"here: {metric.label}{unit}", f"here_{metric.name}"),
        Column(f"{peer} here{unit}", f"{baseline}_here_{metric.name}"),
        Column("difference", f"difference_to_{baseline}"),
        Column("paper: time", "paper_fit_seconds"),
        Column("here: time", "here_fit_seconds"),
        Column(f"speed ({peer} = 1)", f"speed_relative_to_{baseline}"),
        Column("repeats", "repeats"),
    )
    notes, blocks = [], []
    for dataset in group.datasets:
        base = group.cell(dataset, baseline)
        rows = []
        for name in ordered(experiment, group, dataset):
            row, elsewhere = _comparison_row(experiment, group, dataset, name, base)
            rows.append(row)
            if elsewhere:
                notes.append(f"† {dataset} here stands for {elsewhere}, where the paper's numbers are from.")
        blocks.append((dataset, rows))
    notes = list(dict.fromkeys(notes))
    notes.append(
        f"{text.capitalised(metric.label)}: mean ± standard error over repeats. Times: medians of the training "
        f"time. Speed: {peer}'s time divided by the method's, both from the same repeat of the same run, "
        "median over repeats."
    )
    return Table(
        name=f"{group.experiment}-{group.scale}-comparison",
        caption=f"{experiment.title}: the paper's numbers, ours, and {peer} on the same machine",
        columns=columns,
        blocks=blocks,
        notes=notes,
    )


def _comparison_row(experiment, group, dataset, name, base):
    """A row, and the data its paper's number is from when those are others."""
    metric, cell = experiment.metrics[0], group.cell(dataset, name)
    mean, error = mean_and_error(headline_values(experiment, cell))
    base_mean, _ = mean_and_error(headline_values(experiment, base))
    difference = None if mean is None or base_mean is None or cell is base else mean - base_mean
    ratio = None if cell is base else speed_ratio(base, cell)
    number, elsewhere = paper_number(experiment, group, dataset, name, metric.name)
    if elsewhere is None and number is not None and kind_of(group, dataset) == "subset":
        elsewhere = f"all of {dataset}"
    paper_time, _ = paper_number(experiment, group, dataset, name, "fit_seconds")
    total = len(cell.ok) + len(cell.failed)
    row = (
        words(label_of(experiment, name)),
        Entry(f"{printed(metric, number)}{'†' if elsewhere and number is not None else ''}", number),
        Entry(scaled(metric, mean, error), mean, error) if mean is not None else _failure_entry(cell),
        Entry(scaled(metric, base_mean), base_mean),
        Entry(signed(metric, difference), difference),
        Entry(text.seconds(paper_time), paper_time),
        Entry(text.seconds(cell.fit_seconds), cell.fit_seconds),
        Entry(text.DASH if ratio is None else f"{text.significant(ratio, 2)} ×", ratio),
        Entry(str(cell.n_repeats) if not cell.failed else f"{cell.n_repeats} of {total}", cell.n_repeats),
    )
    return row, elsewhere


def _failure_entry(cell):
    statuses = list(dict.fromkeys(record["status"] for record in cell.failed))
    return words(text.listed(statuses), mark="bad") if statuses else NOTHING


def optimality_table(experiment, group):
    """How far each solver got, so that nobody wins by stopping early, and what it cost.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group

    Returns
    -------
    Table
    """
    peer = peer_of(experiment)
    columns = (
        Column("method", "method", numeric=False),
        Column("objective", "objective"),
        Column("above the best here", "relative_excess_objective"),
        Column("duality gap", "gap"),
        Column("converged", "converged", numeric=False),
        Column("kernel evaluations", "n_kernel_evaluations"),
        Column("support vectors", "n_support"),
        Column(f"time to {peer}'s error", "seconds_to_baseline_error"),
        Column("predict", "predict_seconds"),
        Column("peak memory", "peak_memory_bytes"),
    )
    blocks = []
    for dataset in group.datasets:
        names = ordered(experiment, group, dataset)
        objectives = {name: median_or_none(group.cell(dataset, name).metric("objective")) for name in names}
        best = min((value for value in objectives.values() if value is not None), default=None)
        rows = [_optimality_row(experiment, group, dataset, name, objectives[name], best) for name in names]
        blocks.append((dataset, rows))
    margin = text.points(experiment.claim.margin).lstrip("+")
    return Table(
        name=f"{group.experiment}-{group.scale}-optimality",
        caption="How close each solver came to the optimum, and what it cost",
        columns=columns,
        blocks=blocks,
        notes=[
            "Objective: α/2·‖f‖² + mean hinge loss, computed by the same code for every method. Duality gap: "
            "a certified bound on the distance to the optimum; – where the method has none. Peak memory "
            "includes Python and the data.",
            f"Time to {peer}'s error: from then on the test error stays within {margin} points of {peer}'s, "
            "or below it.",
        ],
    )


def _optimality_row(experiment, group, dataset, name, objective, best):
    cell = group.cell(dataset, name)
    gap = max(cell.metric("gap"), default=None)
    excess = None if objective is None or not best else (objective - best) / abs(best)
    n_support = median_or_none(cell.metric("n_support"))
    reached = seconds_to_error(experiment, group, dataset, name)
    predict = median_or_none(cell.seconds("predict"))
    return (
        words(label_of(experiment, name)),
        Entry(text.significant(objective, 5), objective),
        Entry(text.DASH if excess is None else _excess(excess), excess),
        Entry(text.significant(gap, 2), gap),
        _converged(cell),
        Entry(text.count(cell.n_kernel_evaluations), cell.n_kernel_evaluations),
        Entry(text.count(n_support), n_support),
        Entry(text.seconds(reached), reached),
        Entry(text.seconds(predict), predict),
        Entry(text.memory(cell.peak_memory_bytes), cell.peak_memory_bytes),
    )


def _excess(excess):
    return "best" if excess == 0 else f"{text.significant(100 * excess, 2)} %"


def _converged(cell):
    flags = [part(record, "metrics").get("converged") for record in cell.ok]
    flags = [flag for flag in flags if isinstance(flag, bool)]
    if not flags:
        return NOTHING
    if all(flags):
        return words("yes", mark="good")
    return words("no") if not any(flags) else words(f"{sum(flags)} of {len(flags)}")


def seconds_to_error(experiment, group, dataset, name, slack=None):
    """Seconds after which a method's test error stays at the baseline's or below, median over repeats.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    dataset, name : str
    slack : float, optional
        Added to the baseline's error; the claim's margin by default.

    Returns
    -------
    float or None
        None when a repeat did not get there, or keeps no trace.
    """
    baseline = group.cell(dataset, experiment.claim.baseline)
    level, _ = baseline.test_error
    cell = group.cell(dataset, name)
    if level is None or cell.method == baseline.method:
        return None
    level += experiment.claim.margin if slack is None else slack
    times = []
    for seconds, errors in cell.traces("seconds"):
        if len(seconds) > 1:
            times.append(settled_at(*positive_steps(seconds, errors), level))
    return median_or_none(times) if times and None not in times else None


def data_table(experiment, group):
    """Which data each data set is: full, subset or generated, its sizes and its checksum."""
    columns = (
        Column("data", "data", numeric=False),
        Column("kind", "kind", numeric=False),
        Column("train", "n_train"),
        Column("test", "n_test"),
        Column("features", "n_features"),
        Column("SHA-256", "checksum", numeric=False),
        Column("what it is", "description", numeric=False),
    )
    rows = []
    for dataset in group.datasets:
        data = data_of(group, dataset)
        setting = setting_of(experiment, group, dataset)
        sentences = [str(data.get("description") or ""), setting.note if setting else ""]
        described = " ".join(text.sentence(words) for words in sentences if words)
        checksum = str(data.get("checksum") or text.DASH)
        sizes = [
            Entry(text.count(finite(data.get(key))), data.get(key))
            for key in ("n_train", "n_test", "n_features")
        ]
        rows.append(
            (
                words(dataset),
                words(data.get("kind") or "unknown"),
                *sizes,
                Entry(checksum[:12], checksum, mark="code"),
                words(described),
            )
        )
    return Table(
        f"{group.experiment}-{group.scale}-data", "The data these numbers are from", columns, [("", rows)]
    )


def failure_table(experiment, group):
    """Cells that ended in an error, a time-out or out of memory; None when there were none."""
    columns = (
        Column("data", "data", numeric=False),
        Column("method", "method", numeric=False),
        Column("repeat", "repeat"),
        Column("ended by", "status", numeric=False),
        Column("message", "error", numeric=False),
    )
    rows = [
        (
            words(cell.dataset),
            words(label_of(experiment, cell.method)),
            Entry(str(record["repeat"]), record["repeat"]),
            words(record["status"], mark="bad"),
            words(record.get("error") or text.DASH),
        )
        for cell in group.cells.values()
        for record in cell.failed
    ]
    if not rows:
        return None
    return Table(
        f"{group.experiment}-{group.scale}-failures", "Runs that failed: results too", columns, [("", rows)]
    )

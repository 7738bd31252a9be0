"""Why this solver: a sentence for each thing that speaks for it, or against it."""

from kernbench.report import text
from kernbench.report.advice import CLOSE, finishers
from kernbench.report.comparison import seconds_to_error
from kernbench.report.labels import label_of, peer_of, spelled, with_unit
from kernbench.report.statistics import median_or_none

ROUGH = 0.01  # "a rough answer": within this of the baseline's test error
SAME_OPTIMUM = 1e-3  # objectives that differ by less than this share are the same for a classifier


def reasons(experiment, group, advices, chosen):
    """The sentences of the verdict.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    advices : list of Advice
    chosen : str
        The method of the headline.

    Returns
    -------
    list of str
    """
    others = dict.fromkeys(advice.method for advice in advices if advice.method != chosen)
    sentences = [_speed([advice for advice in advices if advice.method == chosen], experiment, len(advices))]
    sentences += [_elsewhere([a for a in advices if a.method == name], experiment) for name in others]
    sentences += [
        _close(advices, experiment),
        _better(advices, experiment, group),
        _optimum(experiment, group, chosen),
        _memory(group, chosen),
        _budget(experiment, group, advices),
        _rough(experiment, group),
    ]
    return [sentence for sentence in sentences if sentence]


def _speed(advices, experiment, n_datasets):
    label, peer = label_of(experiment, advices[0].method), peer_of(experiment)
    where = text.listed(advice.dataset for advice in advices)
    if n_datasets > 2:
        share = f"all {n_datasets}" if len(advices) == n_datasets else f"{len(advices)} of {n_datasets}"
        where = f"{share} data sets ({where})"
    sentence = (
        f"On {where}, {label} was the fastest of the solvers whose test error is no worse than {peer}'s"
    )
    ratios = [advice.ratio for advice in advices if advice.ratio is not None]
    if not ratios:
        return f"{sentence}."
    low, high = text.significant(min(ratios), 2), text.significant(max(ratios), 2)
    factor = low if low == high else f"{low} to {high}"
    return f"{sentence}: {factor} times as fast as {peer} in the same run."


def _elsewhere(advices, experiment):
    where, name = text.listed(advice.dataset for advice in advices), advices[0].method
    return f"On {where}, {label_of(experiment, name)} was: there, use {spelled(experiment, name)}."


def _close(advices, experiment):
    """Those who might be first another day."""
    parts = [
        f"{text.listed(label_of(experiment, name) for name in advice.close)} on {advice.dataset}"
        for advice in advices
        if advice.close
    ]
    return f"No worse and at most {CLOSE:g} times as slow: {'; '.join(parts)}." if parts else ""


def _better(advices, experiment, group):
    """Those who erred less, and at what price."""
    metric, parts = experiment.metrics[0], []
    for advice in advices:
        for name in advice.better:
            cell = group.cell(advice.dataset, name)
            parts.append(
                f"{label_of(experiment, name)} on {advice.dataset} ({with_unit(metric, cell.test_error[0])} "
                f"in {text.seconds(cell.fit_seconds)})"
            )
    return f"Slower, but below {peer_of(experiment)}'s test error: {'; '.join(parts)}." if parts else ""


def _optimum(experiment, group, chosen):
    """That the winner did not win by stopping early, or that it did."""
    baseline = experiment.claim.baseline
    excesses = []
    for dataset in group.datasets:
        cells = [group.cell(dataset, name) for name in (chosen, baseline)]
        own, other = (median_or_none(cell.metric("objective")) for cell in cells)
        if own is not None and other:
            excesses.append((own - other) / abs(other))
    if chosen == baseline or not excesses:
        return ""
    label, peer, worst = label_of(experiment, chosen), peer_of(experiment), max(excesses)
    share = f"{text.significant(100 * worst, 2)} %"
    if worst <= 0:
        return f"It does not win by stopping early: its objective is nowhere above {peer}'s."
    if worst <= SAME_OPTIMUM:
        return f"It does not win by stopping early: its objective is at most {share} above {peer}'s."
    return f"Note that {label} stops earlier: its objective is up to {share} above {peer}'s."


def _memory(group, chosen):
    peaks = [group.cell(dataset, chosen).peak_memory_bytes for dataset in group.datasets]
    peak = max((peak for peak in peaks if peak), default=None)
    return f"It needed at most {text.memory(peak)} of memory, Python and data included." if peak else ""


def _budget(experiment, group, advices):
    """What the methods with a time budget reached in it, on the largest problem."""
    metric, peer = experiment.metrics[0], peer_of(experiment)
    dataset = max(advices, key=lambda advice: advice.seconds).dataset
    base = group.cell(dataset, experiment.claim.baseline)
    parts, fraction = [], None
    for method in experiment.methods:
        error, _ = group.cell(dataset, method.name).test_error
        if method.depends_on == experiment.claim.baseline and error is not None:
            fraction = method.budget_fraction
            parts.append(f"{method.label.partition(',')[0]} {with_unit(metric, error)}")
    if not parts or base.test_error[0] is None or not base.fit_seconds:
        return ""
    return (
        f"With {100 * fraction:g} % of {peer}'s time on {dataset} "
        f"({text.seconds(fraction * base.fit_seconds)}), test error was: {text.listed(parts)}; "
        f"{peer} ended at {with_unit(metric, base.test_error[0])}."
    )


def _rough(experiment, group):
    """Who is first to come near, for people who stop early."""
    wins = {}
    for dataset in group.datasets:
        names = [name for name in finishers(experiment, group, dataset) if name != experiment.claim.baseline]
        times = {name: seconds_to_error(experiment, group, dataset, name, slack=ROUGH) for name in names}
        times = {name: seconds for name, seconds in times.items() if seconds is not None}
        if times:
            first = min(times, key=times.get)
            wins.setdefault(first, []).append(f"{dataset}, {text.seconds(times[first])}")
    if not wins:
        return ""
    parts = [f"{label_of(experiment, name)} ({'; '.join(places)})" for name, places in wins.items()]
    near = f"If a test error within {100 * ROUGH:g} point of {peer_of(experiment)}'s is enough"
    return f"{near}, the first to get there: {text.listed(parts)}."

"""Is a number, or a ratio of two, within its bound? Judged over repeats."""

from kernbench.report import text
from kernbench.report.claims import FAILS, HOLDS, OPEN, ROUNDING, Judgement, missing, paired
from kernbench.report.labels import short_label, with_unit
from kernbench.report.statistics import MIN_REPEATS, finite, median_interval, median_or_none

EACH_UP_TO = 4  # data sets; above, those on which a claim holds share one sentence


def values_of(experiment, group, dataset, claim):
    """What a bound is about, repeat by repeat, and a sentence that says why there is nothing.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    dataset : str
    claim : kernbench.experiments.declare.Bound

    Returns
    -------
    values : list of float
    reason : str
        Empty when there are values.
    """
    metric = experiment.metric(claim.metric)
    names = [claim.method] if claim.baseline is None else [claim.method, claim.baseline]
    cells = [group.cell(dataset, name) for name in names]
    reasons = [missing(experiment, cell) for cell in cells if not cell.ok]
    if reasons:
        return [], " ".join(reasons)
    if claim.baseline is None:
        values = [finite(metric.of(record)) for record in cells[0].ok]
        values = [value for value in values if value is not None]
        return values, "" if values else f"No repeat has a {metric.label}."
    pairs = [tuple(finite(metric.of(record)) for record in pair) for pair in paired(*cells)]
    values = [top / bottom for top, bottom in pairs if top is not None and bottom]
    why = f"No repeat has both methods on the same set-up with a {metric.label} to divide by."
    return values, "" if values else why


def judge_bound(experiment, group, dataset, claim):
    """Judge a bound on one data set, as :class:`kernbench.experiments.declare.Bound` defines it.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    dataset : str
    claim : kernbench.experiments.declare.Bound

    Returns
    -------
    Judgement
    """
    values, reason = values_of(experiment, group, dataset, claim)
    if reason:
        return Judgement(dataset, OPEN, reason)
    metric, found = experiment.metric(claim.metric), median_or_none(values)
    sign = 1 if metric.direction == "lower" else -1
    slack = ROUNDING * max(1.0, abs(claim.bound))
    verdict = HOLDS if sign * (found - claim.bound) <= slack else FAILS
    shown = _shown(experiment, claim, found)
    limit = f"at {'most' if sign > 0 else 'least'} {_shown(experiment, claim, claim.bound)}"
    what = metric.label
    if claim.baseline is not None:
        own, base = (short_label(experiment, name) for name in (claim.method, claim.baseline))
        what = f"{what} of {own} over {text.possessive(base)}"
    why = f"{text.capitalised(what)}: {shown}, to be {limit}."
    if len(values) > 1 and min(values) < claim.bound < max(values):
        why += " Close: the repeats lie on both sides."
    return Judgement(dataset, verdict, why, found)


def bound_interval(experiment, group, dataset, claim):
    """How far repeats lie apart: a bootstrap interval of their median, or their range where they are few."""
    values, reason = values_of(experiment, group, dataset, claim)
    if reason:
        return ""
    if len(values) == 1:
        return "1 repeat: no interval."
    if len(values) < MIN_REPEATS:
        low, high = (_shown(experiment, claim, value) for value in (min(values), max(values)))
        return f"{text.plural(len(values), 'repeat')}: {low} to {high}."
    low, high = (_shown(experiment, claim, value) for value in median_interval(values))
    return f"Median of {len(values)} repeats; 95 % bootstrap interval {low} to {high}."


def summed_up(experiment, claim, judgements):
    """The judgements to list: where they are many, those that hold become one.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    claim : kernbench.experiments.declare.Bound
    judgements : list of Judgement

    Returns
    -------
    shown : list of Judgement
    """
    holding = [judgement for judgement in judgements if judgement.verdict == HOLDS]
    if len(judgements) <= EACH_UP_TO or len(holding) < 2:
        return judgements
    first, last = sorted(holding, key=lambda judgement: judgement.value)[:: len(holding) - 1]
    low, high = (f"{_shown(experiment, claim, end.value)} ({end.dataset})" for end in (first, last))
    metric = experiment.metric(claim.metric)
    where = f"{len(holding)} of {len(judgements)} data sets"
    together = Judgement(where, HOLDS, f"{text.capitalised(metric.label)} from {low} to {high}.")
    return [judgement for judgement in judgements if judgement.verdict != HOLDS] + [together]


def _shown(experiment, claim, value):
    if claim.baseline is not None:
        return f"{text.significant(value)} ×"
    return with_unit(experiment.metric(claim.metric), value)

"""Judge a :class:`~kernbench.experiments.declare.Bound`: a number, or a ratio of two, within its bound."""

from kernbench.report import text
from kernbench.report.claims.judgement import (
    HOLDS,
    UNDECIDED,
    CannotBeJudged,
    Judgement,
    is_at_most,
    pairs_of,
    require_results,
    verdict_of,
)
from kernbench.report.statistics import MIN_REPEATS, median_or_none, median_scatter, p_value_at, p_value_of_ratios

EACH_UP_TO = 4  # data sets; of more, those on which a claim holds share one sentence


def judge_bound(results, dataset, claim):
    """Judge a bound on one data set.

    Raises
    ------
    CannotBeJudged
    """
    metric, values = results.experiment.metric(claim.metric), _values(results, dataset, claim)
    found, sign = median_or_none(values), 1 if metric.direction == "lower" else -1
    ends = median_scatter(values)
    answer = is_at_most(sign * claim.bound, sign * found, ends and tuple(sorted(sign * end for end in ends)))
    what = metric.label
    if claim.baseline is not None:
        own, base = (results.short_label(name) for name in (claim.method, claim.baseline))
        what = f"{what} of {own} over {text.possessive(base)}"
    shown, bound = _told_apart(metric, claim, found)
    why = f"{text.capitalised(what)}: {shown}, to be at {'most' if sign > 0 else 'least'} {bound}."
    why += UNDECIDED if answer is None else ""
    test = p_value_at if claim.baseline is None else p_value_of_ratios
    scatter = _interval(metric, claim, values, ends)
    return Judgement(dataset, verdict_of([answer]), why, scatter, found, test(values, claim.bound))


def _values(results, dataset, claim):
    """The values that a bound limits, one for each repeat; at least one."""
    metric = results.experiment.metric(claim.metric)
    if claim.baseline is not None:
        pairs = pairs_of(results, metric, dataset, claim.method, claim.baseline)
        values = [top / bottom for top, bottom in pairs if bottom]
    else:
        cell = results.cell(dataset, claim.method)
        require_results(results, [cell])
        values = cell.values(metric)
    if not values:
        raise CannotBeJudged(f"No repeat has a measured {metric.label}.")
    return values


def _interval(metric, claim, values, ends):
    """The scatter of repeats in words."""
    if ends is None:
        return "1 repeat: no interval."
    low, high = (_shown(metric, claim, value) for value in ends)
    if len(values) < MIN_REPEATS:
        return f"{text.plural(len(values), 'repeat')}: {low} to {high}."
    return f"Median of {len(values)} repeats; 95 % bootstrap interval {low} to {high}."


def summed_up(results, claim, judgements):
    """The judgements to list: if there are many, those that hold are combined into one."""
    holding = [judgement for judgement in judgements if judgement.verdict == HOLDS]
    if len(judgements) <= EACH_UP_TO or len(holding) < 2:
        return judgements
    metric = results.experiment.metric(claim.metric)
    first, last = sorted(holding, key=lambda judgement: judgement.value)[:: len(holding) - 1]
    low, high = (f"{_shown(metric, claim, end.value)} ({end.dataset})" for end in (first, last))
    where = f"{len(holding)} of {len(judgements)} data sets"
    together = Judgement(where, HOLDS, f"{text.capitalised(metric.label)} from {low} to {high}.")
    return [judgement for judgement in judgements if judgement.verdict != HOLDS] + [together]


def _told_apart(metric, claim, found):
    """What was found, and its bound; ratios with as many digits as tell them apart, up to six."""
    pairs = [[_shown(metric, claim, value, digits) for value in (found, claim.bound)] for digits in (3, 4, 5, 6)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def _shown(metric, claim, value, digits=3):
    return text.with_unit(metric, value) if claim.baseline is None else text.times(value, digits=digits)

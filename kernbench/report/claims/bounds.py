"""Judge a :class:`~kernbench.experiments.declare.Bound`: a number, or a ratio of two, within its bound."""

from kernbench.report import text
from kernbench.report.claims.judgement import (
    HELD,
    HOLDS,
    ROUNDING,
    SINGLE,
    UNDECIDED,
    CannotBeJudged,
    Judgement,
    has_chance,
    is_at_most,
    pairs_of,
    require_numbers,
    require_results,
    scatter_of,
    untested_of,
    verdict_of,
)
from kernbench.report.statistics import estimate, estimate_of_ratios, finite

EACH_UP_TO = 4  # data sets; of more, those on which a claim holds, or held so far, share one sentence


def judge_bound(results, dataset, claim):
    """Judge a bound on one data set.

    Raises
    ------
    CannotBeJudged
    """
    metric, values = results.experiment.metric(claim.metric), _values(results, dataset, claim)
    chance = has_chance(results, dataset, claim)
    if claim.baseline is not None or metric.unit == "×":
        found = estimate_of_ratios(values, claim.bound, has_chance=chance, rounding=ROUNDING)
    else:
        found = estimate(values, claim.bound, has_chance=chance, rounding=ROUNDING * max(map(abs, values)))
    sign = 1 if metric.direction == "lower" else -1
    ends = found.interval or _of_fit(results, dataset, claim, found.value)
    answer = is_at_most(sign * claim.bound, sign * found.value, ends and tuple(sorted(sign * end for end in ends)))
    each = [answer] if len(values) == 1 else [is_at_most(sign * claim.bound, sign * value) for value in values]
    shown, bound = _told_apart(metric, claim, found.value, claim.bound)
    why = f"{_quantity(results, claim)}: {shown}, to be at {'most' if sign > 0 else 'least'} {bound}."
    why += UNDECIDED if answer is None else ""
    scatter = _interval(metric, claim, found, ends, len(values))
    verdict, untested = verdict_of([answer]), untested_of(each)
    return Judgement(dataset, verdict, why, scatter, found.value, found.p_value, len(values), untested)


def _quantity(results, claim):
    """What a claim limits, as the beginning of a sentence."""
    what = results.experiment.metric(claim.metric).label
    if claim.baseline is not None:
        own, base = (results.short_label(name) for name in (claim.method, claim.baseline))
        what = f"{what} of {text.names([own])} over {text.possessive(base)}"
    return text.capitalised(what)


def _values(results, dataset, claim):
    """The values that a bound limits, one for each repeat; at least one."""
    metric = results.experiment.metric(claim.metric)
    if claim.baseline is not None:
        pairs = pairs_of(results, metric, dataset, claim.method, claim.baseline)
        if min(bottom for _, bottom in pairs) <= 0:
            peer = text.possessive(results.short_label(claim.baseline))
            raise CannotBeJudged(f"{peer} {metric.label} is not above 0 in a repeat: a ratio to it says nothing.")
        return [top / bottom for top, bottom in pairs]
    cell = results.cell(dataset, claim.method)
    require_results(results, [cell])
    values = [finite(metric.of(record)) for record in cell.ok]
    require_numbers(metric, values)
    return values


def _of_fit(results, dataset, claim, found):
    """The interval of `found`, the value of a single repeat, by the fit that it comes from; None without one."""
    if claim.fitted is None:
        return None
    (record,) = results.cell(dataset, claim.method).ok
    value, low, high = (finite(results.experiment.metric(name).of(record)) for name in claim.fitted)
    return None if None in (value, low, high) else (found + low - value, found + high - value)


def _interval(metric, claim, found, ends, n_repeats):
    """The scatter of repeats, or the interval of a fit, in words."""
    if ends is None:
        return SINGLE

    def show(end):
        return _told_apart(metric, claim, end, claim.bound)[0]

    if n_repeats == 1:
        low, high = map(show, ends)
        return f"1 repeat; 95 % interval {low} to {high}, of the fit to the points of the repeat."
    return scatter_of(found, n_repeats, show)


def summed_up(results, claim, judgements):
    """The judgements to list: if there are many, those that hold are combined into one, and those that held so far."""
    if len(judgements) <= EACH_UP_TO:
        return judgements
    listed = judgements
    for verdict in (HOLDS, HELD):
        alike = [judgement for judgement in judgements if judgement.verdict == verdict]
        if len(alike) > 1:
            together = _together(results, claim, alike, len(judgements))
            listed = [judgement for judgement in listed if judgement.verdict != verdict] + [together]
    return listed


def _together(results, claim, alike, n_all):
    """One judgement for several of one verdict."""
    metric = results.experiment.metric(claim.metric)
    first, last = sorted(alike, key=lambda judgement: judgement.value)[:: len(alike) - 1]
    low, high = (f"{_told_apart(metric, claim, end.value, claim.bound)[0]} ({end.dataset})" for end in (first, last))
    where = f"{len(alike)} of {n_all} data sets"
    counts = [judgement.n_repeats for judgement in alike]
    scatter = f"{text.span(counts, 'repeat')} of each{_without_interval(alike)}."
    why = f"{_quantity(results, claim)} from {low} to {high}."
    return Judgement(where, alike[0].verdict, why, scatter)


def _without_interval(judgements):
    """How many of the judgements are by a single repeat without an interval, as the end of a sentence."""
    n_single = sum(judgement.is_single for judgement in judgements)
    if not n_single:
        return ""
    return ": no interval" if n_single == len(judgements) else f", {n_single} without an interval"


def _told_apart(metric, claim, value, bound):
    """A value, and the bound; with as many digits as tell them apart, up to six."""
    pairs = [[_shown(metric, claim, number, digits) for number in (value, bound)] for digits in (3, 4, 5, 6)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def _shown(metric, claim, value, digits=3):
    if claim.baseline is not None:
        return text.times(value, digits=digits)
    if metric.factor == 100.0:
        return f"{text.percent(value, digits=digits - 1)} {metric.unit}".rstrip()
    return f"{text.significant(metric.factor * value, digits)} {metric.unit}".rstrip()

"""Judge a :class:`~kernbench.experiments.declare.Claim`: as good as a baseline, in a fraction of its time."""

from math import hypot

from kernbench.report import text
from kernbench.report.claims.judgement import (
    FAILS,
    HOLDS,
    ROUNDING,
    CannotBeJudged,
    Judgement,
    pairs_of,
    too_few,
)
from kernbench.report.records.cells import paired
from kernbench.report.records.rows import place
from kernbench.report.statistics import compare, finite, mean_and_error

CLOCK_SHARE = (
    0.1  # of a time budget: where the clock is less exact than this, a small overrun cannot be judged
)


def judge_race(results, dataset, claim):
    """Judge a claim on one data set.

    Returns
    -------
    Judgement

    Raises
    ------
    CannotBeJudged
    """
    metric, peer = results.experiment.metric(claim.metric), results.short_label(claim.baseline)
    pairs = pairs_of(results, metric, dataset, claim.method, claim.baseline)
    (value, error), (base_value, base_error) = (mean_and_error(values) for values in zip(*pairs))
    worse_by = value - base_value if metric.direction == "lower" else base_value - value
    good_enough = worse_by <= claim.margin + ROUNDING
    why = (
        f"{text.capitalised(metric.label)} {text.with_unit(metric, value)} against {text.possessive(peer)} "
        f"{text.with_unit(metric, base_value)}: {text.amount(metric, abs(worse_by))} "
        f"{'worse' if worse_by > 0 else 'better'}{_margin(metric, claim, good_enough)}."
    )
    in_time = True
    if claim.time_fraction is not None:
        in_time, sentence = _in_time(results, dataset, claim)
        why = f"{why} {sentence}"
    if in_time is None and good_enough:
        raise CannotBeJudged(why)
    if in_time and abs(worse_by - claim.margin) < 2 * hypot(error or 0.0, base_error or 0.0):
        why += " Close: the distance to the margin is within two standard errors."
    verdict = HOLDS if good_enough and in_time else FAILS
    return Judgement(dataset, verdict, why, _interval(results, metric, dataset, claim))


def _margin(metric, claim, good_enough):
    """How the difference compares with the margin, as the end of a sentence."""
    if claim.margin == 0:
        return ""
    if claim.margin < 0:
        return f", to be better by {text.amount(metric, -claim.margin)} at least"
    return f", {'within' if good_enough else 'beyond'} the margin of {text.amount(metric, claim.margin)}"


def _in_time(results, dataset, claim):
    """Whether the claim's share of the time was kept (None if undecidable), and a sentence."""
    cells = [results.cell(dataset, name) for name in (claim.method, claim.baseline)]
    times = [[finite(place(record, "seconds.fit")) for record in pair] for pair in paired(*cells)]
    if any(None in pair for pair in times):
        return None, "Times are missing."
    own, base = (sum(side) / len(times) for side in zip(*times))
    allowed = claim.time_fraction * base
    budget = f"the {text.seconds(allowed)} allowed ({100 * claim.time_fraction:g} % of {text.seconds(base)})"
    if own <= allowed:
        return True, f"It took {text.seconds(own)}, within {budget}."
    if own > allowed + claim.time_slack:
        return False, f"It took {text.seconds(own)}, over {budget}."
    late = f"by less than the {text.seconds(claim.time_slack)} by which a solver may notice its budget late"
    if claim.time_slack <= CLOCK_SHARE * allowed:
        return True, f"It took {text.seconds(own)}, over {budget} {late}."
    return None, f"It took {text.seconds(own)}, over {budget} {late}: the run is too short to judge."


def _interval(results, metric, dataset, claim):
    """The result of a test over repeats, or that there are too few of them."""
    samples = [results.cell(dataset, name).values(metric) for name in (claim.method, claim.baseline)]
    found = compare(*samples)
    if found is None:
        return too_few(min(map(len, samples)))
    method, peer = results.label(claim.method), results.short_label(claim.baseline)
    low, high, difference = (
        text.signed(metric, value) for value in (found.low, found.high, found.difference)
    )
    return (
        f"{method} minus {peer}, medians over repeats: {difference} "
        f"(95 % bootstrap interval {low} to {high}); "
        f"Mann–Whitney p = {found.p_value:.2g}; a repeat of {method} is below one of {peer} with probability "
        f"{found.superiority:.2f}."
    )

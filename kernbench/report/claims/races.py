"""Judge a :class:`~kernbench.experiments.declare.Claim`: as good as a baseline, in a fraction of its time."""

from kernbench.report import text
from kernbench.report.claims.judgement import (
    ROUNDING,
    SINGLE,
    Judgement,
    all_of,
    has_chance,
    is_at_most,
    p_value_of,
    pairs_of,
    untested_of,
    verdict_of,
)
from kernbench.report.records.cells import paired
from kernbench.report.records.rows import place
from kernbench.report.statistics import estimate, estimate_of_ratios, finite, geometric_mean, mean_and_error

CLOCK_SHARE = 0.1  # of a time budget: where the clock is less exact than this, a small overrun cannot be judged


def judge_race(results, dataset, claim):
    """Judge a claim on one data set.

    Raises
    ------
    CannotBeJudged
    """
    metric, peer = results.experiment.metric(claim.metric), results.short_label(claim.baseline)
    pairs = pairs_of(results, metric, dataset, claim.method, claim.baseline)
    value, base_value = (mean_and_error(values)[0] for values in zip(*pairs))
    sign = 1.0 if metric.direction == "lower" else -1.0
    differences = [sign * (own - base) for own, base in pairs]
    found = estimate(
        differences,
        claim.margin,
        has_chance=has_chance(results, dataset, claim),
        rounding=ROUNDING * max(abs(number) for pair in pairs for number in pair),
    )
    good_enough = is_at_most(claim.margin, found.value, found.interval)
    why = (
        f"{text.capitalised(metric.label)} {text.with_unit(metric, value)} against {text.possessive(peer)} "
        f"{text.with_unit(metric, base_value)}: {_worse(metric, claim, found.value)}"
        f"{_margin(metric, claim, found.value)}."
    )
    why += " The limit lies inside the interval: the difference cannot be judged." if good_enough is None else ""
    in_time, p_in_time, each_in_time = True, None, [True] * len(pairs)
    if claim.time_fraction is not None:
        in_time, p_in_time, each_in_time, sentence = _in_time(results, dataset, claim)
        why = f"{why} {sentence}"
    scatter = _interval(results, metric, claim, found, len(pairs))
    answers = [good_enough, in_time]
    p_value = p_value_of(answers, [found.p_value, p_in_time])
    each = [all_of((is_at_most(claim.margin, worse), timely)) for worse, timely in zip(differences, each_in_time)]
    return Judgement(
        dataset, verdict_of(answers), why, scatter, p_value=p_value, n_repeats=len(pairs), untested=untested_of(each)
    )


def _worse(metric, claim, worse_by):
    """How much worse, or better, a value is, in words; with as many digits as tell it from the margin, up to six."""
    if abs(worse_by) <= ROUNDING:
        return "equal"
    both = [[text.amount(metric, abs(number), n) for number in (worse_by, claim.margin)] for n in (3, 4, 5, 6)]
    shown = next((own for own, margin in both if own != margin and claim.margin), both[0][0])
    if shown == text.amount(metric, 0.0):
        return f"equal to within {text.amount(metric, 0.01 / metric.factor)}"
    return f"{shown} {'worse' if worse_by > 0 else 'better'}"


def _margin(metric, claim, worse_by):
    """How the difference compares with the margin, as the end of a sentence."""
    if claim.margin == 0:
        return ""
    if claim.margin < 0:
        return f", to be better by {text.amount(metric, -claim.margin)} at least"
    if worse_by < -ROUNDING:
        return f", to be worse by {text.amount(metric, claim.margin)} at most"
    side = "within" if is_at_most(claim.margin, worse_by) else "beyond"
    return f", {side} the margin of {text.amount(metric, claim.margin)}"


def _in_time(results, dataset, claim):
    """Whether the claim's share of the time was kept (None if undecidable); p-value, each repeat, and a sentence.

    By the ratios of the time to what is allowed in the same repeat: on a slower machine both are longer.
    """
    cells = [results.cell(dataset, name) for name in (claim.method, claim.baseline)]
    times = [[finite(place(record, "seconds.fit")) for record in pair] for pair in paired(*cells)]
    if not all(map(all, times)):  # nor has a time of 0, by a coarse clock, a ratio
        return None, None, [None] * len(times), "Times are missing."
    limits = [claim.time_fraction * whole for _, whole in times]
    own, base = map(geometric_mean, zip(*times))
    allowed, latest = (geometric_mean([limit + late for limit in limits]) for late in (0.0, claim.time_slack))
    budget = f"the {text.seconds(allowed)} allowed ({100 * claim.time_fraction:g} % of {text.seconds(base)})"
    tolerated = claim.time_slack if claim.time_slack <= CLOCK_SHARE * allowed else 0.0
    # Slack is added to the limit: subtracted from the time, it might leave none, of which there is no logarithm.
    shares = [spent / (limit + tolerated) for (spent, _), limit in zip(times, limits)]
    over = estimate_of_ratios(shares, 1.0, rounding=ROUNDING)
    answer, each = is_at_most(1.0, over.value, over.interval), [is_at_most(1.0, share) for share in shares]
    if is_at_most(1.0, own / allowed):  # as the answer does, up to rounding
        why = f"It took {text.seconds(own)}, within {budget}."
    elif not is_at_most(1.0, own / latest):
        why = f"It took {text.seconds(own)}, over {budget}."
    else:
        why = (
            f"It took {text.seconds(own)}, over {budget} by less than the {text.seconds(claim.time_slack)} by which a "
            "solver may notice its budget late"
        )
        if not tolerated:
            return None, None, [None] * len(times), f"{why}: the run is too short to judge."
        why += "."
    if answer is None:
        why += " This limit lies inside the interval over repeats: the time cannot be judged."
    return answer, over.p_value, each, why


def _interval(results, metric, claim, found, n_repeats):
    """The mean of the differences over repeats with its interval, in the direction of the metric."""
    if found.interval is None:
        return SINGLE
    names = [text.names([name]) for name in (results.label(claim.method), results.short_label(claim.baseline))]
    low, high, worse = (text.signed(metric, value) for value in (*found.interval, found.value))
    worse = f"{worse} {text.unit_of_differences(metric)}".rstrip()
    return (
        f"How much worse {names[0]} is than {names[1]}, mean over {n_repeats} repeats: "
        f"{worse} (95 % interval {low} to {high}, by Student's t on the differences within repeats)."
    )

"""Judge a :class:`~kernbench.experiments.declare.Passing`: how soon a trace reaches another method's final value."""

from math import inf

from kernbench.report import text
from kernbench.report.claims.judgement import (
    FAILS,
    HOLDS,
    SINGLE,
    UNDECIDED,
    CannotBeJudged,
    Judgement,
    is_at_most,
    pairs_of,
    verdict_of,
)
from kernbench.report.records.cells import column, paired
from kernbench.report.records.rows import place
from kernbench.report.records.steps import seconds_until
from kernbench.report.statistics import (
    finite,
    finite_values,
    mean_and_error,
    median_or_none,
    median_scatter,
    p_value_of_ratios,
)


def judge_passing(results, dataset, claim):
    """Judge a claim on one data set.

    Raises
    ------
    CannotBeJudged
    """
    metric, peer = results.experiment.metric(claim.metric), results.short_label(claim.baseline)
    pairs = pairs_of(results, metric, dataset, claim.method, claim.baseline)
    level, _ = mean_and_error([base for _, base in pairs])
    records = paired(*(results.cell(dataset, name) for name in (claim.method, claim.baseline)))
    if not all(column(own, metric.name) for own, _ in records):
        raise CannotBeJudged(f"A repeat has no trace of {metric.label}.")
    whole = median_or_none(filter(None, (finite(place(base, "seconds.fit")) for _, base in records)))
    if whole is None:
        raise CannotBeJudged("Times are missing.")
    worse = 1.0 if metric.direction == "lower" else -1.0
    worst = level + worse * claim.within * abs(level)
    times = [seconds_until(own, metric, worst) for own, _ in records]
    never = times.count(None)
    near = f" within {100 * claim.within:g} %" if claim.within else ""
    goal = f"{text.possessive(peer)} final {metric.label} of {text.with_unit(metric, level)}{near}"
    if never == len(times):
        verdict, why = HOLDS if claim.later else FAILS, f"It never reaches {goal} for good."
        scatter = SINGLE if len(times) == 1 else f"{len(times)} repeats."
        return Judgement(dataset, verdict, why, scatter, n_repeats=len(times))
    found, allowed = median_or_none(times), claim.time_fraction * whole
    # A repeat that never arrives takes longer than any other.
    scatter = median_scatter(times) if not never else (min(finite_values(times)), inf)
    sign = -1 if claim.later else 1
    if scatter is not None:
        scatter = tuple(sorted(sign * end for end in scatter))
    answer = is_at_most(sign * allowed, sign * found, scatter)
    share = f"{100 * claim.time_fraction:g} % of {text.possessive(peer)} {text.seconds(whole)}"
    limit = f"at {'least' if claim.later else 'most'} {text.seconds(allowed)}, {share}"
    some = f" in {len(times) - never} of {len(times)} repeats" if never else ""
    why = f"It reaches {goal}{some} after {text.seconds(found)}, to be {limit}."
    why += UNDECIDED if answer is None else ""
    ends = " to ".join(text.seconds(end(finite_values(times))) for end in (min, max))
    spread = SINGLE if len(times) == 1 else f"{len(times)} repeats: {ends}{', or never' if never else ''}."
    p_value = None if never else p_value_of_ratios(times, allowed)  # no test where a repeat never arrives
    return Judgement(dataset, verdict_of([answer]), why, spread, found, p_value, len(times))

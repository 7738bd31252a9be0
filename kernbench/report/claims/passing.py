"""Judge a :class:`~kernbench.experiments.declare.Passing`: how soon a trace reaches another method's final value."""

from math import inf

from kernbench.report import text
from kernbench.report.claims.judgement import (
    SINGLE,
    UNDECIDED,
    CannotBeJudged,
    Judgement,
    has_chance,
    is_at_most,
    pairs_of,
    scatter_of,
    untested_of,
    verdict_of,
)
from kernbench.report.records.cells import column, paired
from kernbench.report.records.rows import place
from kernbench.report.records.steps import seconds_until_final
from kernbench.report.statistics import estimate_of_ratios, finite, geometric_mean, sign_test


def judge_passing(results, dataset, claim):
    """Judge a claim on one data set.

    Raises
    ------
    CannotBeJudged
    """
    metric, peer = results.experiment.metric(claim.metric), results.short_label(claim.baseline)
    levels = [base for _, base in pairs_of(results, metric, dataset, claim.method, claim.baseline)]
    times = _times(results, dataset, claim, metric)  # of the same repeats
    arrived, n = [pair for pair in times if pair[0] is not None], len(times)
    near = f" within {100 * claim.within:g} %" if claim.within else ""
    reached = " to ".join(dict.fromkeys(text.with_unit(metric, end(levels)) for end in (min, max)))
    goal = f"{text.possessive(peer)} final {metric.label} of {reached}{near}"
    sign, shares = -1 if claim.later else 1, [own / whole for own, whole in arrived]
    each = [is_at_most(sign * claim.time_fraction, sign * share) for share in [*shares, *[inf] * (n - len(arrived))]]
    # A repeat that never arrives takes longer than any other: it leaves no mean to test, but is on a side of the limit.
    p_of_sides = None
    if n > 1 and has_chance(results, dataset, claim):
        p_of_sides = sign_test(n) if len(set(each)) == 1 else 1.0
    if not arrived:
        why, scatter = f"It never reaches {goal} for good.", SINGLE if n == 1 else f"{n} repeats."
        return Judgement(dataset, verdict_of(each), why, scatter, None, p_of_sides, n, untested_of(each))
    found, has_missed = estimate_of_ratios(shares, claim.time_fraction), len(arrived) < n
    interval = (min(shares), inf) if has_missed else found.interval
    ends = interval and tuple(sorted(sign * end for end in interval))
    answer = is_at_most(sign * claim.time_fraction, sign * found.value, ends)
    own, whole = map(geometric_mean, zip(*arrived))
    share = f"{100 * claim.time_fraction:g} % of {text.possessive(peer)} {text.seconds(whole)}"
    limit = f"at {'least' if claim.later else 'most'} {text.seconds(claim.time_fraction * whole)}, {share}"
    some = f" in {len(arrived)} of {n} repeats" if has_missed else ""
    why = f"It reaches {goal}{some} after {text.seconds(own)}, to be {limit}."
    why += UNDECIDED if answer is None else ""
    p_value = p_of_sides if has_missed else found.p_value
    scatter = _spread(found, shares, n, peer)
    return Judgement(dataset, verdict_of([answer]), why, scatter, own, p_value, n, untested_of(each))


def _times(results, dataset, claim, metric):
    """Of each repeat of both methods, the seconds until the baseline's value, None for never, and its whole time."""
    records = paired(*(results.cell(dataset, name) for name in (claim.method, claim.baseline)))
    if not all(len(column(own, "seconds")) == len(column(own, metric.name)) > 0 for own, _ in records):
        raise CannotBeJudged(f"A repeat has no trace of {metric.label} over time.")
    times = [
        (
            seconds_until_final(own, base, metric, claim.within * abs(metric.of(base))),
            finite(place(base, "seconds.fit")),
        )
        for own, base in records
    ]
    if not all(whole for _, whole in times):
        raise CannotBeJudged("Times are missing.")
    return times


def _spread(found, shares, n_repeats, peer):
    """The scatter of the shares of the baseline's time over repeats."""
    of = f" of {text.possessive(peer)} time"

    def show(share):
        return f"{text.significant(100 * share)} %"

    if n_repeats == 1:
        return SINGLE
    if len(shares) < n_repeats:
        return f"{n_repeats} repeats: {show(min(shares))} to {show(max(shares))}{of}, or never."
    return scatter_of(found, n_repeats, show, of)

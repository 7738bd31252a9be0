"""The reasons for and against the recommended method, one sentence each."""

from kernbench.report import text
from kernbench.report.claims.judgement import is_at_most
from kernbench.report.records.cells import column, paired_values, relative_excess
from kernbench.report.statistics import finite_values
from kernbench.report.tables.quantities import seconds_to
from kernbench.report.verdict.advice import CLOSE, places

SAME_OPTIMUM = 1e-3  # objectives that differ by less than this share are equivalent for a classifier


def reasons(advices, chosen):
    """The sentences of the verdict.

    Parameters
    ----------
    advices : list of Advice
        One for each data set.
    chosen : str
        The method in the headline, in code.

    Returns
    -------
    list of str
    """
    mine = [advice for advice in advices if advice.spelled == chosen]
    others = _grouped(
        [advice for advice in advices if advice.spelled != chosen], lambda advice: (advice.label, advice.spelled)
    )
    rough = _grouped(
        [advice for advice in advices if advice.display.rough is not None],
        lambda advice: (*_peer_of(advice), advice.display.rough),
    )
    place = places(advices)
    same = _grouped(mine, lambda advice: (*_peer_of(advice), advice.label))  # code leaves out what only tunes a method
    sentences = [_speed(own, len(advices), place) for own in same]
    sentences += [_settings(mine, place), *(_elsewhere(own, place) for own in others)]
    sentences += [_close(advices, place), _unclear(advices, place)]
    sentences += [_better(own, place) for own in _grouped(advices, _limit_of)]
    sentences += [_optimum(own) for own in same]
    sentences += [_memory(mine), _budget(advices, place)]
    sentences += [_rough(own, place) for own in rough]
    return [sentence for sentence in sentences if sentence]


def _peer_of(advice):
    """The baseline and the limit of a comparison; where the baseline has no result, the best value replaced it."""
    return advice.peer, *_limit_of(advice), advice.has_baseline


def _limit_of(advice):
    """The metric of a comparison, and the margin."""
    return advice.metric.label, advice.display.margin


def _grouped(advices, key=_peer_of):
    """The advices that one sentence may compare: experiments of one task may have different baselines and metrics."""
    groups = {}
    for advice in advices:
        groups.setdefault(key(advice), []).append(advice)
    return list(groups.values())


def _speed(advices, n_races, place):
    first, races = advices[0], text.listed(map(place, advices))
    where, peer = f"On {races}", text.names([first.peer])
    if n_races > 2:
        share = f"all {n_races}" if len(advices) == n_races else f"{len(advices)} of {n_races}"
        where = f"In {share} races ({races})"
    fastest = f"{first.label} was the fastest of the methods whose {first.metric.label} is no worse than"
    limit = f" (to {text.amount(first.metric, margin)})" if (margin := first.display.margin) else ""
    if not first.has_baseline:
        return f"{where}, where {peer} has no result, {fastest} the best{limit}."
    if all(advice.method == advice.display.baseline for advice in advices):
        return f"{where}, the usual choice, {fastest} its own{limit}."
    sentence = f"{where}, {fastest} that of {peer}{limit}"
    timed = [advice for advice in advices if advice.ratio is not None]
    if not timed:
        return f"{sentence}."
    ratios, n_once = [advice.ratio for advice in timed], sum(advice.n_runs == 1 for advice in timed)
    factor = " to ".join(dict.fromkeys(text.significant(end(ratios), 2) for end in (min, max)))
    once = f" (the only one in {text.plural(n_once, 'race')})" if n_once else ""
    run = "the only run of both" if n_once == len(timed) else f"the same run{once}"
    some = "" if len(timed) == len(advices) else f", where that has a time ({text.plural(len(timed), 'race')})"
    return f"{sentence}: {factor} times as fast as {peer} in {run}{some}."


def _settings(mine, place):
    """The races in which the method had other settings than in the code to copy, which has those of the first race."""
    _, *others = _grouped(mine, lambda advice: advice.spelled_in_full)
    parts = [f"{own[0].spelled_in_full} on {text.listed(map(place, own))}" for own in others]
    return f"Measured with other settings than those of the code below: {'; '.join(parts)}." if parts else ""


def _elsewhere(advices, place):
    first = advices[0]
    return f"On {text.listed(map(place, advices))}, {first.label} was the fastest of those: there, use {first.spelled}."


def _close(advices, place):
    """The runners-up that are nearly as fast."""
    parts = [
        f"{text.names(map(advice.results.label, advice.close))} on {place(advice)}"
        for advice in advices
        if advice.close
    ]
    return f"No worse and at most {CLOSE:g} times as slow: {'; '.join(parts)}." if parts else ""


def _unclear(advices, place):
    """Faster methods of which the repeats do not tell whether they are worse."""
    parts = [
        f"{text.names(map(advice.results.label, advice.unclear))} on {place(advice)}"
        for advice in advices
        if advice.unclear
    ]
    words = "Faster, but it cannot be judged from these repeats whether they are worse"
    return f"{words}: {'; '.join(parts)}." if parts else ""


def _better(advices, place):
    """Methods that are better than the one to use, and the time they took."""
    parts = [
        f"{advice.results.label(name)} on {place(advice)} "
        f"({text.with_unit(advice.metric, advice.value(name))} in {text.seconds(advice.times[name])}"
        f"{' on another set-up' if advice.times_as_long(name) is None else ''})"
        for advice in advices
        for name in advice.better
    ]
    if not parts:
        return ""
    metric, margin = advices[0].metric, advices[0].display.margin
    by = f" by more than {text.amount(metric, margin)}" if margin else ""
    timed = all(advice.times_as_long(name) is not None for advice in advices for name in advice.better)
    slower = "Slower" if timed else "Slower, or timed on another set-up"
    return f"{slower}, but of a better {metric.label} than the method to use{by}: {'; '.join(parts)}."


def _optimum(advices):
    """Whether the recommended method wins by stopping early."""
    excesses = []
    for advice in advices:
        if advice.display.objective is not None and advice.method != advice.display.baseline:
            objective = advice.results.experiment.metric(advice.display.objective)
            excess = relative_excess(objective, *map(advice.cell, (advice.method, advice.display.baseline)))
            excesses += [] if excess is None else [excess]
    if not excesses:
        return ""
    label, peer, worst = advices[0].label, text.possessive(advices[0].peer), max(excesses)
    share = f"{text.significant(100 * worst, 2)} %"
    if worst <= 0:
        return f"It does not win by stopping early: its objective is nowhere above {peer}."
    if worst <= SAME_OPTIMUM:
        return f"It does not win by stopping early: its objective is at most {share} above {peer}."
    return f"Note that {label} stops earlier, or minimises something else: its objective is up to {share} above {peer}."


def _memory(advices):
    records = (record for advice in advices for record in advice.cell(advice.method).ok)
    peak = max(finite_values(record.get("peak_memory_bytes") for record in records), default=None)
    return f"It needed at most {text.memory(peak)} of memory, Python and data included." if peak else ""


def _budget(advices, place):
    """What the methods with a time budget reached, on the problem that took longest."""
    advice = max(advices, key=lambda advice: advice.seconds)
    base, baseline = advice.times.get(advice.display.baseline), advice.display.baseline
    methods = [
        method
        for method in advice.results.experiment.methods
        if method.depends_on == baseline and advice.value(method.name) is not None
    ]
    if not methods or base is None:
        return ""
    shown = [*(method.name for method in methods), baseline]
    values, once = advice.values(shown), ", in one repeat" if len(advice.repeats_of(shown)) == 1 else ""
    parts = [
        f"{method.label.partition(',')[0]} {text.with_unit(advice.metric, values[method.name])}" for method in methods
    ]
    fraction = methods[-1].budget_fraction
    return (
        f"With {100 * fraction:g} % of {text.possessive(advice.peer)} time on {place(advice)} "
        f"({text.seconds(fraction * base)}), {advice.metric.label} was{once}: {text.listed(parts)}; "
        f"{advice.peer} ended at {text.with_unit(advice.metric, values[baseline])}."
    )


def _rough(advices, place):
    """The method that first comes near the baseline, for users who stop early; of those timed beside the one to use."""
    wins = {}
    for advice in advices:
        timed = [name for name in advice.times if advice.times_as_long(name) is not None]
        times = {name: _seconds_to_rough(advice, name) for name in timed if name != advice.display.baseline}
        times = {name: seconds for name, seconds in times.items() if seconds is not None}
        if times:
            first = min(times, key=times.get)
            when = f"{place(advice)}, {text.seconds(times[first])}"
            wins.setdefault(advice.results.label(first), []).append(when)
    if not wins:
        return ""
    parts = [f"{label} ({'; '.join(places)})" for label, places in wins.items()]
    advice = advices[0]
    near = f"{text.amount(advice.metric, advice.display.rough)} of {text.possessive(advice.peer)} {advice.metric.label}"
    return f"First to come within {near}, and to stay there: {text.listed(parts)}."


def _seconds_to_rough(advice, name):
    """Seconds after which a method stays near the baseline: by its trace, or all of its time if it has none."""
    cell, base = advice.cell(name), advice.cell(advice.display.baseline)
    if any(len(column(record, "seconds")) > 1 for record in cell.ok):
        return seconds_to(advice.metric, cell, base, advice.display.rough)
    sign = 1.0 if advice.metric.direction == "lower" else -1.0
    pairs = paired_values(advice.metric, cell, base)
    is_near = pairs and all(is_at_most(advice.display.rough, sign * (own - other)) for own, other in pairs)
    return advice.times[name] if is_near else None

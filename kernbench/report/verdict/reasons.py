"""The reasons for and against the recommended method, one sentence each."""

from kernbench.report import text
from kernbench.report.statistics import finite_values
from kernbench.report.tables.quantities import seconds_to
from kernbench.report.verdict.advice import CLOSE

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
    mine, others = [advice for advice in advices if advice.spelled == chosen], {}
    for advice in advices:
        if advice.spelled != chosen:
            others.setdefault(advice.label, []).append(advice)
    sentences = [_speed(mine, len(advices)), *map(_elsewhere, others.values())]
    sentences += [
        _close(advices),
        _unclear(advices),
        _better(advices),
        _optimum(mine),
        _memory(mine),
        _budget(advices),
        _rough(advices),
    ]
    return [sentence for sentence in sentences if sentence]


def _where(advices):
    return text.listed(dict.fromkeys(advice.dataset for advice in advices))


def _speed(advices, n_races):
    first, where = advices[0], f"On {_where(advices)}"
    if n_races > 2:
        share = f"all {n_races}" if len(advices) == n_races else f"{len(advices)} of {n_races}"
        where = f"In {share} races ({_where(advices)})"
    sentence = (
        f"{where}, {first.label} was the fastest of the methods whose {first.metric.label} is no worse "
        f"than {text.possessive(first.peer)}"
    )
    ratios = [advice.ratio for advice in advices if advice.ratio is not None]
    if not ratios:
        return f"{sentence}."
    factor = " to ".join(dict.fromkeys(text.significant(end(ratios), 2) for end in (min, max)))
    return f"{sentence}: {factor} times as fast as {first.peer} in the same run."


def _elsewhere(advices):
    first = advices[0]
    return f"On {_where(advices)}, {first.label} was: there, use {first.spelled}."


def _close(advices):
    """The runners-up that are nearly as fast."""
    parts = [
        f"{text.names(map(advice.results.label, advice.close))} on {advice.dataset}"
        for advice in advices
        if advice.close
    ]
    return f"No worse and at most {CLOSE:g} times as slow: {'; '.join(parts)}." if parts else ""


def _unclear(advices):
    """Faster methods of which the repeats do not tell whether they are worse."""
    parts = [
        f"{text.names(map(advice.results.label, advice.unclear))} on {advice.dataset}"
        for advice in advices
        if advice.unclear
    ]
    words = "Faster, but it cannot be judged from these repeats whether they are worse"
    return f"{words}: {'; '.join(parts)}." if parts else ""


def _better(advices):
    """Methods that are better than the baseline, and the time they took."""
    parts = [
        f"{advice.results.label(name)} on {advice.dataset} "
        f"({text.with_unit(advice.metric, advice.value(name))} in {text.seconds(advice.times[name])})"
        for advice in advices
        for name in advice.better
    ]
    if not parts:
        return ""
    first = advices[0]
    side = "below" if first.metric.direction == "lower" else "above"
    return f"Slower, but {side} {text.possessive(first.peer)} {first.metric.label}: {'; '.join(parts)}."


def _optimum(advices):
    """Whether the recommended method wins by stopping early."""
    excesses = []
    for advice in advices:
        if advice.display.objective is not None and advice.method != advice.display.baseline:
            objective = advice.results.experiment.metric(advice.display.objective)
            own, other = (advice.cell(name).median(objective) for name in (advice.method, advice.display.baseline))
            if own is not None and other:
                excesses.append((own - other) / abs(other))
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


def _budget(advices):
    """What the methods with a time budget reached, on the problem that took longest."""
    advice = max(advices, key=lambda advice: advice.seconds)
    base, baseline = advice.times.get(advice.display.baseline), advice.display.baseline
    parts, fraction = [], None
    for method in advice.results.experiment.methods:
        value = advice.value(method.name)
        if method.depends_on == baseline and value is not None:
            fraction = method.budget_fraction
            parts.append(f"{method.label.partition(',')[0]} {text.with_unit(advice.metric, value)}")
    if not parts or base is None:
        return ""
    return (
        f"With {100 * fraction:g} % of {text.possessive(advice.peer)} time on {advice.dataset} "
        f"({text.seconds(fraction * base)}), {advice.metric.label} was: {text.listed(parts)}; "
        f"{advice.peer} ended at {text.with_unit(advice.metric, advice.value(baseline))}."
    )


def _rough(advices):
    """The method that first comes near the baseline, for users who stop early."""
    wins = {}
    for advice in (advice for advice in advices if advice.display.rough is not None):
        base = advice.cell(advice.display.baseline)
        times = {
            name: seconds_to(advice.metric, advice.cell(name), base, advice.display.rough)
            for name in advice.times
            if name != advice.display.baseline
        }
        times = {name: seconds for name, seconds in times.items() if seconds is not None}
        if times:
            first = min(times, key=times.get)
            place = f"{advice.dataset}, {text.seconds(times[first])}"
            wins.setdefault(advice.results.label(first), []).append((place, advice))
    if not wins:
        return ""
    parts = [f"{label} ({'; '.join(place for place, _ in places)})" for label, places in wins.items()]
    advice = next(iter(wins.values()))[0][1]
    near = f"{text.amount(advice.metric, advice.display.rough)} of {text.possessive(advice.peer)} {advice.metric.label}"
    return f"First to come within {near}, and to stay there: {text.listed(parts)}."

"""The recommended method for one data set."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from kernbench.experiments.declare import Recommendation
from kernbench.experiments.declare.entrants import model_of
from kernbench.report import text
from kernbench.report.claims.judgement import ROUNDING, is_at_most
from kernbench.report.records.cells import paired_values, speed
from kernbench.report.records.results import Results, defaults_of
from kernbench.report.statistics import finite_values, mean_and_error, mean_interval

CLOSE = 1.1  # a runner-up that takes at most this many times as long is mentioned, since the order may change

TELLING = ("kernel", "features", "solver", "loss", "pairs", "search")  # arguments that make another method, not tune it


@dataclass
class Advice:
    """The recommendation for one data set.

    Attributes
    ----------
    results : Results
    display : kernbench.experiments.declare.Recommendation
    dataset : str
    method : str
        The fastest among those that are no worse than the baseline.
    times : dict of str to float
        Median time of each method without a budget.
    no_worse : list of str
        The methods that are no worse than the baseline.
    better : list of str
        The methods that are better than this one by more than margin and noise.
    unclear : list of str
        Faster ones of which the repeats do not tell whether they are worse.
    beats_zero : bool
        Whether the method is better than the zero model by more than margin and noise; True where none was measured.
    """

    results: Results
    display: Recommendation
    dataset: str
    method: str
    times: dict
    no_worse: list
    better: list
    unclear: list = field(default_factory=list)
    beats_zero: bool = True

    @property
    def label(self):
        return self.results.label(self.method)

    @property
    def spelled(self):
        """The method in code: the estimator, with its package if it is not ours, and what makes it another method."""
        method = self.results.method(self.method)
        if method is None:
            return self.label
        # The search for alpha of a race, a dict, is no parameter of the estimator.
        kept = {name: value for name in TELLING if isinstance(value := method.params.get(name), str | int | float)}
        usual = defaults_of(method.estimator) or {}
        kept = {name: value for name, value in kept.items() if name == "solver" or usual.get(name) != value}
        return self.results.spelled(self.method, kept)

    @property
    def spelled_in_full(self):
        """The same with all arguments of its own that are not the default."""
        method = self.results.method(self.method)
        if method is None:
            return self.label
        usual = defaults_of(method.estimator)
        kept = {
            name: value
            for name, value in method.params.items()
            if usual is None or (name in usual and (name == "solver" or usual[name] != value))
        }
        return self.results.spelled(self.method, kept)

    @property
    def short(self):
        """The method in a figure: the name of its class, or the label of what is no class for users."""
        _, package = self.results.code(self.method)
        return self.spelled.partition("(")[0] if package else self.results.short_label(self.method)

    @property
    def peer(self):
        return self.results.short_label(self.display.baseline)

    @property
    def has_baseline(self):
        """Whether the baseline has a result, so that it is what the methods are compared with."""
        return self.display.baseline in self.times

    @property
    def seconds(self):
        return self.times[self.method]

    @property
    def metric(self):
        return self.results.experiment.metric(self.display.metric)

    @property
    def time_metric(self):
        return self.results.experiment.metric(self.display.time)

    def cell(self, method):
        """The cell of a method on this data set."""
        return self.results.cell(self.dataset, method)

    def value(self, method):
        """The mean of the metric."""
        return mean_and_error(self.cell(method).values(self.metric))[0]

    def repeats_of(self, methods):
        """The repeats in which all of some methods have a value of the metric."""
        return set.intersection(*(set(self.cell(method).by_repeat(self.metric)) for method in methods))

    def values(self, methods):
        """The means of the metric of methods shown side by side, over the repeats of all of them, if there are any."""
        found, common = {name: self.cell(name).by_repeat(self.metric) for name in methods}, self.repeats_of(methods)
        return {name: _mean({repeat: own[repeat] for repeat in common} or own) for name, own in found.items()}

    def loss(self, method):
        """How much worse another method is than this one: the mean difference of the metric, as in `excess_of`."""
        other, own = (self.cell(name).by_repeat(self.metric) for name in (method, self.method))
        return (1.0 if self.metric.direction == "lower" else -1.0) * excess_of(other, own)[0]

    def runs_with(self, method):
        """The times of this method and of another one in the runs of both: a list of (own, the other's)."""
        return paired_values(self.time_metric, self.cell(self.method), self.cell(method))

    @property
    def n_runs(self):
        """The number of runs of both this method and the baseline; of this one alone where there is no other."""
        return len(self.runs_with(self.display.baseline if self.has_baseline else self.method))

    def times_as_long(self, method):
        """The time of another method over this one's, within runs; None if no run has both."""
        return speed(self.time_metric, self.cell(self.method), self.cell(method))

    @cached_property
    def ratio(self):
        """The baseline's time over the method's, within runs; None for the baseline itself."""
        if self.method == self.display.baseline:
            return None
        return self.times_as_long(self.display.baseline)

    @property
    def failed(self):
        """Other methods without a budget of which fits failed: they have no time, unless they are the baseline."""
        names = self.results.chosen_methods(self.display, self.dataset)
        others = [name for name in names if name not in (self.method, self.display.zero)]
        return [name for name in others if self.cell(name).failed and not self.results.has_budget(name)]

    @property
    def close(self):
        """Others that are no worse than this one, nor than the baseline, and nearly as fast."""
        times = {name: self.times_as_long(name) for name in self.no_worse if name != self.method}
        near = [name for name, ratio in times.items() if ratio is not None and ratio <= CLOSE]
        return [name for name in near if is_at_most(self.display.margin, self.loss(name))]


def is_measured(results, display, dataset):
    """Whether our own model for the task was run on a data set, if only to fail; not within a time budget."""
    if not display.main:
        return True
    names = (name for name in results.chosen_methods(display, dataset) if not results.has_budget(name))
    methods = filter(None, map(results.method, names))
    return any(model_of(method) == display.main for method in methods)


def advise(results, display, dataset):
    """The fastest method among those no worse than the baseline, or None when none finished or ours was not measured.

    The fastest is the method that the fewest others beat in time, two methods being compared in the runs of both; of
    several, that with the smallest share of the baseline's time in such runs, if any has one. A method that has no run
    in common with any other is chosen only where there is no other.

    "No worse" is not "as good as the best": at given parameters, a fit that stops early may have the lower error
    because stopping early regularises. If the baseline has no result, the best value replaces it.

    Returns
    -------
    Advice or None
    """
    if not is_measured(results, display, dataset):
        return None
    experiment = results.experiment
    metric, time = experiment.metric(display.metric), experiment.metric(display.time)
    sign, found, times = (1.0 if metric.direction == "lower" else -1.0), {}, {}
    for name in results.chosen_methods(display, dataset):
        cell = results.cell(dataset, name)
        values, seconds = cell.by_repeat(metric), cell.median(time)
        fails = cell.failed and name != display.baseline  # now and then: what is left would be its fast repeats
        if values and seconds and not results.has_budget(name) and not fails:
            found[name] = {repeat: sign * value for repeat, value in values.items()}
            times[name] = seconds
    zero = found.pop(display.zero, None)
    times.pop(display.zero, None)
    if not found:
        return None
    baseline = found.get(display.baseline) or min(found.values(), key=_mean)
    excess = {name: excess_of(values, baseline) for name, values in found.items()}
    answers = {name: is_at_most(display.margin, *over) for name, over in excess.items()}
    no_worse = [name for name in found if answers[name]]

    def is_faster(name, other):
        """Whether one method is faster than another within runs; False if no run has both."""
        ratio = speed(time, results.cell(dataset, name), results.cell(dataset, other))
        return ratio is not None and ratio > 1

    def rank(name):
        # Medians of short times may say the contrary of every single run, and those of other runs say nothing.
        faster = [other for other in no_worse if is_faster(other, name)]
        alone = not any(is_faster(name, other) or other in faster for other in no_worse if other != name)
        # Methods beaten as often may have no run in common: their times may be of different machines.
        share = speed(time, results.cell(dataset, display.baseline), results.cell(dataset, name))
        return display.baseline in faster, alone, len(faster), inf if share is None else share, times[name]

    chosen = min(no_worse, key=rank)
    return Advice(
        results,
        display,
        dataset,
        chosen,
        times,
        no_worse,
        better=[name for name in found if _is_better(*excess_of(found[name], found[chosen]), display.margin)],
        unclear=[name for name in found if answers[name] is None and is_faster(name, chosen)],
        beats_zero=zero is None or _is_better(*excess_of(found[chosen], zero), display.margin),
    )


def places(advices):
    """A function that names the race of an advice: by its data set, with the experiment where two have one of the name.

    So there are as many names as races.
    """
    counts = Counter(advice.dataset for advice in advices)

    def place(advice):
        return f"{advice.dataset} of {advice.results.experiment.name}" if counts[advice.dataset] > 1 else advice.dataset

    return place


def by_peer(advices):
    """The advices by the usual choice that they are compared with, named with the library or the paper that it is of.

    Those of which the method to use is the usual choice itself are left out.
    """
    compared = [advice for advice in advices if advice.method != advice.display.baseline]
    labels = [advice.results.label(advice.display.baseline) for advice in compared]
    found = {}
    for label, advice in zip(labels, compared):
        # "linear, all pairs" where there is "all pairs" names the same.
        same = [label, *(other for other in labels if label.endswith(f" {other}"))]
        found.setdefault(min(same, key=len), []).append(advice)
    return found


def against_each(advices, words):
    """How many times as fast methods are as each usual choice, in words.

    Parameters
    ----------
    advices : list of Advice
    words : str
        What is said of a usual choice, with the places ``{factor}``, for the range of its factors, and ``{peer}``. Each
        has a range of its own: factors over different methods say nothing of each other.

    Returns
    -------
    str
        With the number of races in which it has a time, if not in all; also where a factor rests on one run.
    """
    parts = []
    for peer, own in by_peer(advices).items():
        name, timed = text.names([peer]), [advice for advice in own if advice.ratio is not None]
        if not timed:
            parts.append(f"{name} has no time to compare with")
            continue
        ratios, n_once = [advice.ratio for advice in timed], sum(advice.n_runs == 1 for advice in timed)
        factor = "–".join(dict.fromkeys(text.significant(end(ratios), 2) for end in (min, max)))
        once = f" (in {text.plural(n_once, 'race')} from one run)" if n_once else ""
        if n_once == len(timed):
            once = " in one run each" if n_once > 1 else " in one run"
        some = "" if len(timed) == len(own) else f" where that has a time ({text.plural(len(timed), 'race')})"
        parts.append(f"{words.format(factor=factor, peer=name)}{once}{some}")
    return ", ".join(parts)


def margins_told(advices):
    """What "no worse" means in some races: the margins of each metric, in sentences."""
    margins = {}
    for advice in advices:
        margins.setdefault(advice.metric.label, (advice.metric, set()))[1].add(advice.display.margin)
    exact = [label for label, (_, found) in margins.items() if not any(found)]
    parts = []
    for label, (metric, found) in margins.items():
        if label in exact:
            continue
        *low, high = sorted({min(found), max(found)})
        shown = "".join(f"{text.scaled(metric, margin)} to " for margin in low) + text.amount(metric, high)
        parts.append(f"{shown} of {label}")
    own = ", each race its own" if any(len(found) > 1 for _, found in margins.values()) else ""
    allowed = f"a margin{own}: {text.listed(parts)}" if parts else "no margin"
    none = f"; for none of {text.listed(exact)}" if parts and exact else ""
    return (
        f"“Equal accuracy” and “no worse” allow for {allowed}{none}. Over repeats, the 95 % interval of the difference "
        "lies within it; a single repeat has no interval."
    )


def remarks_on(advices):
    """What readers of some races should know, as declared: sentences, each once."""
    return list(dict.fromkeys(remark for advice in advices for remark in advice.display.remarks))


def most_chosen(advices):
    """The advices of the method to use: the choice on most data sets, among equals that on real, then larger ones.

    Real are data that are not generated. Larger are problems with more training rows; of as many, those on which the
    usual choice takes longer. The method's own time would favour a slower one. Methods are told apart by their code,
    which is what a reader copies.
    """
    by_code = {}
    for advice in advices:
        by_code.setdefault(advice.spelled, []).append(advice)

    def weight(own):
        n_real = sum(advice.results.kind(advice.dataset) != "generated" for advice in own)
        rows = finite_values(advice.results.data(advice.dataset).get("n_train") for advice in own)
        return len(own), n_real, sum(rows), sum(advice.times.get(advice.display.baseline, 0.0) for advice in own)

    return max(by_code.values(), key=weight)


def _mean(values):
    return mean_and_error(values.values())[0]


def excess_of(values, baseline):
    """How much larger values are than others, both by repeat: the mean difference, and its interval or None.

    Within the repeats of both, of which each may have drawn its data anew; without any, that of the means.
    """
    common = values.keys() & baseline.keys()
    if not common:
        return _mean(values) - _mean(baseline), None
    differences = [values[repeat] - baseline[repeat] for repeat in sorted(common)]
    return mean_and_error(differences)[0], mean_interval(differences)


def _is_better(mean, interval, margin):
    """Whether values are below the baseline's by more than the margin, and by more than their scatter."""
    return mean < -margin - ROUNDING and bool(is_at_most(-margin, mean, interval))

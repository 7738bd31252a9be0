"""Judge what changed between two sides, cell by cell and metric by metric.

A counter that is the same on every run (kernel evaluations, iterations) is compared exactly, where both sides ran on
one machine. Everything else varies: it changed if the medians differ by more than the metric's tolerance *and* the
Mann-Whitney test, corrected by Holm for the number of tests made, says that they differ. Times and memory are those of
one machine, that with the most repeats on both sides. Where a test by itself would say so, or says as much as so few
repeats can, a change is not decided: more repeats would decide it. A sample whose quartiles lie a quarter of its median
apart is noisy, and is not judged. But where fits on one thread had to share the processor with other programs (their
times are noisy, or above their processor times), their processor times are judged instead. Repeats that fail on one
side alone are a change, too. Cells on data that have changed under one name are not judged.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from kernbench.report.records.cells import machine_of, on_other_data, part
from kernbench.report.statistics import (
    MIN_REPEATS,
    NOISY_SPREAD,
    Comparison,
    compare,
    compare_pairs,
    finite,
    holm,
    spread,
)

LEVEL = 0.01  # of the tests together: a false alarm in one comparison of a hundred
SHARED = 1.1  # time over processor time, of one thread, from which other programs had the processor meanwhile

BETTER, WORSE, SAME = "better", "worse", "same"
UNDECIDED, NOISY, FEW = "not decided", "noisy", "too few repeats"
MACHINES, DATA = "other machine", "other data"
VERDICTS = (WORSE, BETTER, UNDECIDED, NOISY, FEW, MACHINES, DATA, SAME)
FAILED = "failed repeats"  # in the place of a metric


@dataclass
class Change:
    """One metric of one cell on both sides.

    Attributes
    ----------
    experiment, scale, dataset, method, metric, unit : str
    first, second : float
        Medians over the repeats, in `unit`.
    n_first, n_second : int
        Repeats.
    clock : str
        ``"processor"`` if processor time was judged in its place, else empty.
    exact : bool
        Whether this is a counter that was compared exactly, repeat by repeat.
    test : Comparison or None
        Test of the difference of the samples, in `unit`; None if there are too few repeats.
    p_value : float or None
        p-value of the test, corrected for the number of tests.
    verdict : str
        One of `VERDICTS`.
    """

    experiment: str
    scale: str
    dataset: str
    method: str
    metric: str
    unit: str
    first: float
    second: float
    n_first: int
    n_second: int
    clock: str = ""
    exact: bool = False
    test: Comparison | None = None
    p_value: float | None = None
    verdict: str = SAME

    @property
    def ratio(self):
        """second / first; None where the first is 0."""
        return self.second / self.first if self.first else None


@dataclass
class Outcome:
    """What a comparison found.

    Attributes
    ----------
    first, second : Side
    changes : list of Change
        Every metric that both sides have, in the order of the experiments.
    alone : list of (str, str, str, str, str)
        Cells that one side only has: its name, experiment, scale, data set, method.
    environment : list of (str, str, str)
        Entries of the environment that differ, and their values on either side.
    """

    first: object
    second: object
    changes: list = field(default_factory=list)
    alone: list = field(default_factory=list)
    environment: list = field(default_factory=list)

    def having(self, *verdicts):
        """The changes with one of these verdicts."""
        return [change for change in self.changes if change.verdict in verdicts]


def compare_sides(first, second, *, tolerance=None):
    """Compare two sides.

    Parameters
    ----------
    first, second : Side
        `second` is judged: it is worse or better than `first`.
    tolerance : float, optional
        Relative change of times, their ratios and memory that is accepted; what each metric declares by default.

    Returns
    -------
    Outcome
    """
    first, second = first.beside(second), second.beside(first)
    outcome = Outcome(first, second)
    before, after = first.environment(), second.environment()
    outcome.environment = [
        (name, ", ".join(before[name]), ", ".join(after[name])) for name in before if before[name] != after[name]
    ]
    for key in dict.fromkeys([*first.results, *second.results]):
        _compare_results(outcome, key, first.results.get(key), second.results.get(key), tolerance)
    tested = [change for change in outcome.changes if change.test is not None]
    for change, p_value in zip(tested, holm([change.test.p_value for change in tested])):
        change.p_value = p_value
        if change.verdict in (BETTER, WORSE) and p_value >= LEVEL:
            alone, least = change.test.p_value, change.test.least_p_value
            change.verdict = UNDECIDED if alone <= max(LEVEL, least) else SAME
    return outcome


def _compare_results(outcome, key, first, second, tolerance):
    cells = [{} if results is None else results.cells for results in (first, second)]
    for place in dict.fromkeys([*cells[0], *cells[1]]):
        found = [side.get(place) for side in cells]
        present = [cell is not None and bool(cell.ok) for cell in found]
        if None not in found:
            outcome.changes += _compare_failures(key, *found)
        if all(present):
            outcome.changes += _compare_cells(key, first or second, *found, tolerance)
        elif any(present) and None in found:
            side = outcome.first if present[0] else outcome.second
            outcome.alone.append((side.name, *key, *place))


def _compare_failures(key, first, second):
    """Return the change of the number of failures among the repeats that both cells have, if there are any."""
    repeats = [{record["repeat"] for record in cell.records} for cell in (first, second)]
    common = repeats[0] & repeats[1]
    failed = [sum(record["repeat"] in common for record in cell.failed) for cell in (first, second)]
    if not any(failed):
        return []
    verdict = SAME if failed[0] == failed[1] else WORSE if failed[1] > failed[0] else BETTER
    n_repeats = len(common), len(common)
    return [Change(*key, first.dataset, first.method, FAILED, "", *failed, *n_repeats, exact=True, verdict=verdict)]


def _compare_cells(key, results, first, second, tolerance):
    timed, data_changed = results.has_budget(first.method), _data_changed(first, second)
    for metric in results.experiment.metrics:
        samples = [_values(cell, metric) for cell in (first, second)]
        if not all(samples):
            continue
        change = Change(*key, first.dataset, first.method, metric.name, metric.unit, *map(_median, samples),
                        *map(len, samples))  # fmt: skip
        measured = metric.varies
        # Times of two machines are never divided, and two BLAS may count differently.
        common = {place[0] for place in samples[0]} & {place[0] for place in samples[1]}
        common = _with_most_repeats(common, samples) if measured else common
        on_one_machine = measured or metric.deterministic
        if on_one_machine:
            samples = [_of_machines(sample, common) for sample in samples]
        if data_changed:
            change.verdict = DATA
        elif not all(samples):
            change.verdict = MACHINES
        else:
            if metric.unit == "s":
                by_processor = [_of_machines(_processor_times(cell, metric), common) for cell in (first, second)]
                if all(by_processor) and (_is_noisy(samples) or _is_shared(samples, by_processor)):
                    samples, change.clock = by_processor, "processor"
            change.first, change.second = map(_median, samples)
            change.n_first, change.n_second = map(len, samples)
            pairs = _pairs(*samples, on_one_machine)
            change.exact = metric.deterministic and not timed and bool(pairs)
            if change.exact:
                _judge_exactly(change, metric, pairs)
            else:
                accepted = tolerance if measured and tolerance is not None else metric.tolerance
                _judge_by_test(change, metric, samples, pairs, measured, accepted)
        yield change


def _data_changed(first, second):
    """Whether a repeat that both cells have is of different data."""
    before = {record["repeat"]: record for record in first.ok}
    return any(on_other_data(before[record["repeat"]], record) for record in second.ok if record["repeat"] in before)


def _values(cell, metric):
    """The finite values of a metric, in its unit: (machine, repeat, seed) -> value."""
    found = {}
    for record in cell.ok:
        value = finite(metric.of(record))
        if value is not None:
            found[machine_of(record), record["repeat"], record["seed"]] = metric.factor * value
    return found


def _processor_times(cell, metric):
    """The processor times of what a metric times, of records that have them, on one thread."""
    *above, phase = metric.path
    alone = [record for record in cell.ok if part(record, "environment").get("n_threads") == 1]
    return _values(replace(cell, ok=alone), replace(metric, path=(*above, f"{phase}_cpu")))


def _of_machines(sample, machines):
    return {place: value for place, value in sample.items() if place[0] in machines}


def _with_most_repeats(machines, samples):
    """The one machine that has most repeats on both sides, as a set: over several, medians would tell their shares."""

    def n_repeats(machine):
        return min(sum(place[0] == machine for place in sample) for sample in samples)

    return {max(sorted(machines), key=n_repeats)} if machines else machines


def _is_noisy(samples):
    return max(spread(list(sample.values())) for sample in samples) >= NOISY_SPREAD


def _is_shared(samples, by_processor):
    return any(_median(wall) > SHARED * _median(own) for wall, own in zip(samples, by_processor))


def _median(sample):
    return float(np.median(list(sample.values())))


def _pairs(first, second, on_one_machine):
    """The values of repeats that both sides have, with one seed: a list of (first, second)."""
    start = 0 if on_one_machine else 1  # where a place begins with its machine
    others = {place[start:]: value for place, value in second.items()}
    return [(value, others[place[start:]]) for place, value in first.items() if place[start:] in others]


def _direction(metric, difference):
    """The verdict on second - first, which is not 0."""
    return WORSE if (difference > 0) == (metric.direction == "lower") else BETTER


def _judge_exactly(change, metric, pairs):
    differences = [after - before for before, after in pairs]
    change.first, change.second = (float(np.median(values)) for values in zip(*pairs))
    if any(differences):
        total = sum(differences) or next(filter(None, differences))
        change.verdict = _direction(metric, total)


def _judge_by_test(change, metric, samples, pairs, measured, tolerance):
    values = [list(sample.values()) for sample in samples]
    if measured:
        change.test = compare(*values)
    elif len(pairs) >= MIN_REPEATS:
        change.test = compare_pairs(pairs)  # repeats differ by their data: compare each with its own
        change.first, change.second = (float(np.median(values)) for values in zip(*pairs))
        change.n_first = change.n_second = len(pairs)
    if change.test is None:
        change.verdict = FEW
    elif measured and _is_noisy(samples):
        change.verdict, change.test = NOISY, None
    elif abs(difference := -change.test.difference) > tolerance * abs(change.first):
        change.verdict = _direction(metric, difference)

"""Findings in a form that records can confirm or refute.

One rule for all: a claim holds, or does not, where its limit lies outside the 95 % interval over repeats, and the test
survives the correction for the number of verdicts. Estimate, interval and p-value are of one test, Student's t: on the
differences within repeats, on the values of a single method, or, where these are positive ratios, on their logarithms,
so that the estimate is a geometric mean. Repeats that are too few for that, such as a single one, decide nothing; where
all of them agree, the report says what they do. Of a single repeat whose record has an interval of the number, as that
of a fitted power, the limit must lie outside it. With a repeat that failed, or that has no such number, a claim cannot
be judged: the others would count as if they were all.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Claim:
    """A race: as good as a baseline, in a fraction of its time.

    It holds on a data set when, averaged over repeats, `method` is no worse on `metric` than `baseline` plus
    `margin`, and needed at most `time_fraction` of the baseline's fit time in the same repeat on the same set-up, in
    the geometric mean.

    Attributes
    ----------
    text : str
        The finding in one sentence.
    method, baseline, metric : str
    margin : float
        Margin in the units of records.
    time_fraction : float or None
        None makes no claim about time.
    time_slack : float
        Seconds by which the budget may be overrun, since a solver checks its clock only at intervals. If this is more
        than a tenth of the budget, an overrun within it cannot be judged.
    datasets : tuple of str or None
        Data sets to which it applies; None: all on which the methods are run.
    """

    text: str
    method: str
    baseline: str
    metric: str
    margin: float
    time_fraction: float | None = None
    time_slack: float = 0.0
    datasets: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Bound:
    """A number, or the ratio of two, that is no worse than a bound.

    It holds on a data set when the mean over repeats of `metric` of `method` is at most `bound` (at least,
    for a metric of which more is better). With a `baseline`, it is about the ratio of the two methods' values, both
    from the same repeat on the same set-up, the baseline's being positive. The mean of ratios, of which the unit ×
    makes a metric one, is geometric.

    Attributes
    ----------
    text, datasets : see `Claim`
    method, metric : str
    bound : float
        Bound in the units of records; a plain number for a ratio.
    baseline : str or None
        Method whose value the method's is divided by.
    fitted : tuple of str or None
        Metrics, none of a ratio: a number that was fitted to several points of a record, and the low and the high end
        of its 95 % interval. `metric` is that number, or differs from it by a constant of the record. A single repeat
        has this interval.
    """

    text: str
    method: str
    metric: str
    bound: float
    baseline: str | None = None
    datasets: tuple[Any, ...] | None = None
    fitted: tuple[str, str, str] | None = None

    def __post_init__(self) -> None:
        if self.fitted is not None and self.baseline is not None:
            raise ValueError("fitted= is the interval of a number, not of a ratio: give no baseline=")


@dataclass(frozen=True)
class Passing:
    """A race to the level of another method, on the clock of the solvers.

    The traces of `method` stay, from some time on, at the final `metric` of `baseline` in the same repeat on the same
    set-up, or better. It holds on a data set when that time, with what the fit takes before the trace begins, is at
    most `time_fraction` of the baseline's fit time there, in the geometric mean over repeats.

    Attributes
    ----------
    text, datasets : see `Claim`
    method, baseline, metric : str
        The metric's name is also that of its column in the traces.
    time_fraction : float
    within : float
        Relative distance to the level that counts as reaching it.
    later : bool
        The claim is that it takes `method` at least that share of the time, or that it never reaches the level.
    """

    text: str
    method: str
    baseline: str
    metric: str
    time_fraction: float
    within: float = 0.0
    later: bool = False
    datasets: tuple[Any, ...] | None = None

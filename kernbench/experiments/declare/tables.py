"""Declarations of tables: which metrics of which methods they show. The report makes them.

Entries are the mean over repeats with its standard error, unless a :class:`Quantity` says otherwise. Where some of the
repeats that succeeded have no value, such as a time to a level that they never reach, an entry says of how many it is.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The records that a display uses.

    Attributes
    ----------
    methods, datasets : tuple of str or None
        None takes all.
    """

    methods: tuple[Any, ...] | None = None
    datasets: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Quantity:
    """What a column of a :class:`MetricTable` shows of a metric.

    Attributes
    ----------
    metric : str
    form : str
        Over the repeats: ``"mean"`` with its standard error, ``"median"``, ``"largest"``, ``"all"`` (yes, no, or
        how many of the repeats, for a metric that is true or false), ``"repeats"`` (how many succeeded).
        ``"paper"``: the number the paper prints. ``"excess"``: how far above the best on the same data, relative
        to it: the largest, over the other methods, of the median difference in the repeats of both.
        With a `baseline`: ``"difference"`` (from the baseline's value in the same repeat: the mean with its 95 %
        interval by Student's t), ``"speed"`` (the baseline's value over the method's, both from the same repeat on the
        same set-up; median) and ``"reached"`` (time of a fit, its set-up included, after which the trace of the metric
        is never again worse than the baseline's final value in the same repeat by more than `margin`; median).
    label : str
        Heading of the column; the metric's own by default.
    baseline : str or None
    margin : float
    digits : int
        Significant digits of a median.
    """

    metric: str
    form: str = "mean"
    label: str = ""
    baseline: str | None = None
    margin: float = 0.0
    digits: int = 3

    def __post_init__(self) -> None:
        forms = ("mean", "median", "largest", "all", "repeats", "paper", "excess")
        related = ("difference", "speed", "reached")
        if self.form not in forms + related:
            raise ValueError(f"unknown form {self.form!r}; choose one of {', '.join(forms + related)}")
        if (self.form in related) != (self.baseline is not None):
            raise ValueError(f"baseline= goes with the forms {', '.join(related)}; got {self.form!r}")


@dataclass(frozen=True)
class MetricTable(Selection):
    """A column for each metric, a row for each method on each data set.

    Attributes
    ----------
    name, caption : str
    metrics : tuple of str or Quantity
        A name stands for the mean of that metric.
    notes : tuple of str
    """

    name: str
    caption: str
    metrics: tuple[Any, ...]
    notes: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CrossTable(Selection):
    """A row for each data set, a column for each method, one metric; with the paper's number, if there is one, beside
    ours.

    Attributes
    ----------
    name, caption : str
    metric : str
    baseline : str or None
        A method all others are compared with: instead of values, their ratio to the baseline's, or their
        difference from it, both from the same repeat on the same set-up. The paper's numbers are treated
        alike.
    difference : bool
        With a baseline: method minus baseline; False means method over baseline.
    notes : tuple of str
    """

    name: str
    caption: str
    metric: str
    baseline: str | None = None
    difference: bool = False
    notes: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Recommendation(Selection):
    """Which method to use: on each data set the fastest that is no worse than a baseline.

    "No worse" means: the mean of `metric` is worse than the baseline's by at most `margin`, and `margin` does not lie
    inside the 95 % interval of the differences within repeats. Methods with a time budget are left out. Where our own
    model for the task has no record, nothing is recommended. The recommendations of all experiments with one `task`
    make one headline of the page.

    Attributes
    ----------
    task : str
        The purpose of the methods, to be read after "for": ``"a kernel SVM"``.
    have : str
        What a reader with this task has, to be read after "I have": ``"labelled rows, and want a kernel SVM"``.
    metric : str
    baseline : str
    margin : float
        Margin in the units of records.
    time : str
        Metric by which one of those that are no worse is chosen.
    objective : str or None
        Metric of optimality, which reveals methods that win by stopping early.
    main : str
        Our own model for the task, one of those that take part.
    models : str
        Which public models do the task: those of this task in ``kernbench._models``.
    zero : str
        The method that is the zero model: the best constant, which is never recommended.
    left_out : dict of str to str
        The models that are not in the race, and the reasons, each a clause.
    rough : float or None
        A second, larger margin: the report names the method whose trace comes this close first.
    arguments : tuple of str
        Arguments that a user adds in most cases, by name, for the code to copy: ``("C=1.0",)``. A class that does not
        take one is without it.
    remarks : tuple of str
        What a reader of the recommendation should know of its races, sentences.
    name, caption : str
    """

    task: str
    metric: str
    baseline: str
    margin: float
    time: str = "fit_seconds"
    objective: str | None = None
    main: str = ""
    models: str = "classify"
    zero: str = "zero"
    left_out: dict[str, Any] = field(default_factory=dict)
    rough: float | None = None
    arguments: tuple[Any, ...] = ()
    have: str = ""
    remarks: tuple[Any, ...] = ()
    name: str = "recommended"
    caption: str = "Which method, by data set"

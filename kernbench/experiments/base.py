"""What an experiment is, declared as plain data: data sets, methods, metrics, and the paper's own numbers.

Nothing here computes. An :class:`Experiment` says what the paper did; :mod:`.cells` turns it into work,
:mod:`.runner` does the work, and the report reads it again to put the paper's numbers beside ours.
"""

from dataclasses import dataclass, field

from kernbench._names import unknown_name


def _require_known(what, name, known):
    if name not in known:
        raise ValueError(unknown_name(what, name, known))


def _require_unique(what, items):
    names = [item.name for item in items]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what} {name!r} is declared twice")


@dataclass(frozen=True)
class Setting:
    """A data set together with the hyper-parameters the paper gives for it.

    Attributes
    ----------
    name : str
        What users type for ``--dataset`` and what a record calls its data set.
    arguments : dict
        Keyword arguments of the loader.
    params : dict
        Estimator parameters that hold for every method on this data (γ, C); a method's own parameters win.
    loader : str
        ``"module:function"`` that returns an object with the attributes of ``kernbench.datasets.Dataset``.
    optional : bool
        Takes hours: runs only when asked for by name.
    stands_for : str or None
        Name of the setting, in another scale, whose place this one takes where no file may be needed.
    note : str
        How this differs from what the paper did, in words a reader of the report needs.
    """

    name: str
    arguments: dict
    params: dict = field(default_factory=dict)
    loader: str = "kernbench.datasets:load"
    optional: bool = False
    stands_for: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Scale:
    """How large an experiment is run.

    Attributes
    ----------
    settings : tuple of Setting
    repeats : int
    time_limit : float
        Seconds one cell may take in all, loading and evaluation included.
    memory_limit : int or None
        Bytes one cell may have resident; None watches nothing.
    """

    settings: tuple
    repeats: int
    time_limit: float
    memory_limit: int | None = None

    def __post_init__(self):
        _require_unique("data set", self.settings)

    def setting(self, name):
        """The setting called `name`; ValueError with the nearest name when there is none."""
        for setting in self.settings:
            if setting.name == name:
                return setting
        raise ValueError(unknown_name("data set", name, [setting.name for setting in self.settings]))


@dataclass(frozen=True)
class Method:
    """One way to solve the problem: an estimator as data, so that a fresh process can build it.

    Attributes
    ----------
    name, label : str
        What users type, and what figures print.
    estimator : str
        ``"module:Class"``.
    params : dict
        Constructor parameters, JSON values only.
    traced : bool
        The estimator takes ``callback=`` and keeps ``trace_``: its test error is followed while it runs.
    seed_param : str or None
        Parameter that takes the cell's seed; None for a deterministic method.
    input_dtype : str or None
        Cast the data to this dtype before the clock starts; None leaves it as loaded.
    depends_on : str or None
        Method whose fit time, on the same data and repeat, this one's budget is a fraction of.
    budget_fraction : float or None
        That fraction.
    budget_param : str
        Parameter that takes the budget in seconds.
    requires, package : str or None
        Module that must be importable and the package that brings it; without it the method is a named gap.
    """

    name: str
    label: str
    estimator: str
    params: dict = field(default_factory=dict)
    traced: bool = False
    seed_param: str | None = None
    input_dtype: str | None = None
    depends_on: str | None = None
    budget_fraction: float | None = None
    budget_param: str = "max_seconds"
    requires: str | None = None
    package: str | None = None

    def __post_init__(self):
        if (self.depends_on is None) != (self.budget_fraction is None):
            raise ValueError(f"method {self.name!r}: depends_on and budget_fraction go together")


@dataclass(frozen=True)
class Metric:
    """A number of a record: where it is, how to print it, and which way is better.

    Attributes
    ----------
    name, label : str
    direction : {"lower", "higher"}
        Which way is better.
    path : tuple of str
        Where a record keeps it.
    unit : str
    factor : float
        Multiply by this to print in `unit`; records keep plain fractions, seconds and bytes.
    tolerance : float
        Relative change between two stores below which they count as equal.
    deterministic : bool
        Equal on every machine for the same seed and number of threads, so a change is a change of the code.
    """

    name: str
    label: str
    direction: str
    path: tuple
    unit: str = ""
    factor: float = 1.0
    tolerance: float = 0.0
    deterministic: bool = False

    def __post_init__(self):
        _require_known("direction", self.direction, ("lower", "higher"))

    def of(self, record):
        """The metric's value in `record` as a float, or None where the record has none."""
        value = record
        for step in self.path:
            value = value.get(step) if isinstance(value, dict) else None
        return None if value is None else float(value)


@dataclass(frozen=True)
class PaperNumber:
    """A number the paper prints, in the units of records (fractions, seconds).

    Attributes
    ----------
    dataset, method, metric : str
        Names of a setting, a method and a metric of the experiment.
    value : float
    """

    dataset: str
    method: str
    metric: str
    value: float


@dataclass(frozen=True)
class Claim:
    """The paper's finding in a form that records can confirm or refute.

    It holds on a data set when, averaged over repeats, `method` is no worse on `metric` than `baseline` plus
    `margin`, and needed at most `time_fraction` of the baseline's fit time.

    Attributes
    ----------
    text : str
        The finding in one sentence.
    method, baseline, metric : str
    margin : float
        In the units of records.
    time_fraction : float or None
        None makes no claim about time.
    time_slack : float
        Seconds by which the budget may be overrun: a solver looks at its clock only now and then.
    """

    text: str
    method: str
    baseline: str
    metric: str
    margin: float
    time_fraction: float | None = None
    time_slack: float = 0.0


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper as a grid of data sets and methods.

    Attributes
    ----------
    name, title : str
    paper : str
        Citation, with the place in the paper.
    claim : Claim
    methods : tuple of Method
        In the order of tables.
    scales : dict of str to Scale
        ``"quick"`` (offline, a minute) and ``"paper"`` (the real sizes).
    metrics : tuple of Metric
        The first is the headline.
    paper_numbers : tuple of PaperNumber
    evaluate : str
        ``"module:function"``, called as ``function(model, data, predictions) -> dict`` off the clock, with
        the model's predictions on the test rows: the cell's metrics.
    threads : int or None
        Threads per cell unless the user says otherwise; None shares out the cores.
    warm_up_rows : int
        Rows each estimator is fitted to before the clock starts, so that loading libraries is nobody's time.
    note : str
        What a reader must know about how this differs from the paper.
    """

    name: str
    title: str
    paper: str
    claim: Claim
    methods: tuple
    scales: dict
    metrics: tuple
    paper_numbers: tuple = ()
    evaluate: str = "kernbench.experiments.evaluation:kernel_svm"
    threads: int | None = None
    warm_up_rows: int = 0
    note: str = ""

    def __post_init__(self):
        _require_unique("method", self.methods)
        _require_unique("metric", self.metrics)
        methods = [method.name for method in self.methods]
        metrics = [metric.name for metric in self.metrics]
        settings = {setting.name for scale in self.scales.values() for setting in scale.settings}
        for method in self.methods:
            if method.depends_on is not None:
                _require_known("method", method.depends_on, methods)
        for name in (self.claim.method, self.claim.baseline):
            _require_known("method", name, methods)
        _require_known("metric", self.claim.metric, metrics)
        for number in self.paper_numbers:
            _require_known("data set", number.dataset, settings)
            _require_known("method", number.method, methods)
            _require_known("metric", number.metric, metrics)

    def scale(self, name):
        """The scale called `name`; ValueError with the nearest name when there is none."""
        _require_known("scale", name, list(self.scales))
        return self.scales[name]

    def method(self, name):
        """The method called `name`; ValueError with the nearest name when there is none."""
        methods = {method.name: method for method in self.methods}
        _require_known("method", name, list(methods))
        return methods[name]

    def metric(self, name):
        """The metric called `name`; ValueError with the nearest name when there is none."""
        metrics = {metric.name: metric for metric in self.metrics}
        _require_known("metric", name, list(metrics))
        return metrics[name]

    def paper_number(self, dataset, method, metric):
        """The paper's value for one entry of its table, or None.

        A stand-in has no number of its own: look up ``setting.stands_for`` and say so.
        """
        for number in self.paper_numbers:
            if (number.dataset, number.method, number.metric) == (dataset, method, metric):
                return number.value
        return None

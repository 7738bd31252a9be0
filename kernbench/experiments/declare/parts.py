"""What an experiment is made of: data sets, scales, methods, metrics, and the paper's own numbers."""

from dataclasses import dataclass, field

from kernbench._names import unknown_name


def require_known(what, name, known):
    """Raise ValueError, with the nearest name, unless `name` is among `known`."""
    if name not in known:
        raise ValueError(unknown_name(what, name, known))


def require_unique(what, items):
    """Raise ValueError if two of `items` have one name."""
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
    label : str
        What figures print; the name by default.
    methods : tuple of str or None
        The methods that make sense here; None: all of the experiment's.
    repeat_argument : str or None
        Argument of the loader that takes the number of the repeat, from 0: each repeat draws or splits its
        data anew. None: all repeats are about the same data.
    """

    name: str
    arguments: dict
    params: dict = field(default_factory=dict)
    loader: str = "kernbench.datasets:load"
    optional: bool = False
    stands_for: str | None = None
    note: str = ""
    label: str = ""
    methods: tuple | None = None
    repeat_argument: str | None = None

    def arguments_of(self, repeat):
        """Keyword arguments of the loader for one repeat."""
        if self.repeat_argument is None:
            return self.arguments
        return {**self.arguments, self.repeat_argument: repeat}

    def takes(self, method):
        """Whether the method of that name is run on this data set."""
        return self.methods is None or method in self.methods


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
        require_unique("data set", self.settings)

    def setting(self, name):
        """The setting called `name`; ValueError with the nearest name when there is none."""
        for setting in self.settings:
            if setting.name == name:
                return setting
        raise ValueError(unknown_name("data set", name, [setting.name for setting in self.settings]))


@dataclass(frozen=True)
class Method:
    """One way to solve the problem, as data, so that a fresh process can build it.

    Attributes
    ----------
    name, label : str
        What users type, and what figures print.
    estimator : str
        ``"module:Class"``; for a measurement of its own, ``"module:function"`` of whatever is measured.
    params : dict
        Constructor parameters, or those of the measurement; JSON values only.
    traced : bool
        The estimator takes ``callback=`` and keeps ``trace_``: its test error is followed while it runs.
    seed_param : str or None
        Parameter that takes the cell's seed; None for a deterministic method.
    input_dtype : str or None
        Cast the data to this dtype before the clock starts; None leaves it as loaded.
    dense_input : bool
        Make sparse data dense before the clock starts.
    depends_on : str or None
        Method whose fit time, on the same data and repeat, this one's budget is a fraction of.
    budget_fraction : float or None
        That fraction.
    budget_param : str
        Parameter that takes the budget in seconds.
    requires, package : str or None
        Module that must be importable and the package that brings it; without it the method is a named gap.
    measure : str or None
        How it is measured, where that differs from the rest of the experiment: see :class:`Experiment`.
    """

    name: str
    label: str
    estimator: str
    params: dict = field(default_factory=dict)
    traced: bool = False
    seed_param: str | None = None
    input_dtype: str | None = None
    dense_input: bool = False
    depends_on: str | None = None
    budget_fraction: float | None = None
    budget_param: str = "max_seconds"
    requires: str | None = None
    package: str | None = None
    measure: str | None = None

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
        A count that is equal for the same seed, BLAS and number of threads, so a change is a change of the code.
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
        require_known("direction", self.direction, ("lower", "higher"))

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
    error : float or None
        The standard error it prints beside it.
    """

    dataset: str
    method: str
    metric: str
    value: float
    error: float | None = None

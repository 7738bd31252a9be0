"""The parts of an experiment: data sets, scales, methods, metrics, and the paper's own numbers."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from kernbench._names import find, unknown_name

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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


def require_file_name(what, name):
    """Raise ValueError unless `name` is text that can name a file on any system."""
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ValueError(f"{name!r} is not a valid {what} name: use letters, digits and hyphens")


def require_address(whose, what, address):
    """Raise ValueError unless `address` is text of the form ``"module:name"``, or None."""
    if address is not None and not (isinstance(address, str) and re.fullmatch(r"[\w.]+:\w+", address)):
        raise ValueError(f"{whose}: {what} must be 'module:name', got {address!r}")


def require_plain(whose, what, values):
    """Raise ValueError unless JSON can hold `values`: they go to another process, and into records."""
    try:
        json.dumps(values, allow_nan=False)  # a record has no infinity
    except (TypeError, ValueError) as error:
        raise ValueError(f"{whose}: {what} must be numbers, text, lists and dicts, as in JSON: {error}") from error


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
        Takes hours, or files placed by hand: runs only when selected by name, in a snapshot after everything else.
    stands_for : str or None
        Name of the setting of another scale that this one replaces where no file is available.
    note : str
        How this differs from the paper, for readers of the report.
    label : str
        What figures print; the name by default.
    methods : tuple of str or None
        The methods to run here; None: all of the experiment's.
    repeat_argument : str or None
        Argument of the loader that takes the number of the repeat, from 0: each repeat draws or splits its data again.
        None: all repeats have the same data.
    kind : str
        What readers of the report take the data for, where it is not what the loader says: as in
        ``kernbench.datasets.Dataset``.
    """

    name: str
    arguments: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)
    loader: str = "kernbench.datasets:load"
    optional: bool = False
    stands_for: str | None = None
    note: str = ""
    label: str = ""
    methods: tuple[Any, ...] | None = None
    repeat_argument: str | None = None
    kind: str = ""

    def __post_init__(self) -> None:
        whose = f"data set {self.name!r}"
        require_address(whose, "loader", self.loader)
        require_plain(whose, "arguments", self.arguments)
        require_plain(whose, "params", self.params)

    def arguments_of(self, repeat: Any) -> Any:
        """Keyword arguments of the loader for one repeat."""
        if self.repeat_argument is None:
            return self.arguments
        return {**self.arguments, self.repeat_argument: repeat}

    def takes(self, method: Any) -> Any:
        """Whether the method of that name is run on this data set."""
        return self.methods is None or method in self.methods


@dataclass(frozen=True)
class OwnFile:
    """How a data file of the user's own joins an experiment, as one more data set.

    Attributes
    ----------
    params : dict
        Parameters as of a :class:`Setting`; ``gamma="scale"`` is replaced by 1 / (d Var X) of the file's training rows.
    task : str
        Task of the data that the experiment takes: ``"binary"``, ``"multi-class"`` or ``"regression"``.
    methods : tuple of str or None
        Methods as of a :class:`Setting`.
    """

    params: dict[str, Any]
    task: str = "binary"
    methods: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Scale:
    """The size of an experiment.

    Attributes
    ----------
    settings : tuple of Setting
    repeats : int
    time_limit : float
        Seconds one cell may take in all, loading and evaluation included.
    memory_limit : int or None
        Resident bytes that one cell may have; None sets no limit.
    """

    settings: tuple[Any, ...]
    repeats: int
    time_limit: float
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if not self.repeats >= 1 or not self.time_limit > 0:
            raise ValueError(f"a scale has repeats >= 1 and time_limit > 0, got {self.repeats} and {self.time_limit}")
        require_unique("data set", self.settings)

    def setting(self, name: Any) -> Any:
        """The setting called `name`; ValueError with the nearest name when there is none."""
        return find("data set", name, self.settings)


@dataclass(frozen=True)
class Method:
    """One way to solve the problem, as data, so that a new process can build it.

    Attributes
    ----------
    name, label : str
        What users type, and what figures print.
    estimator : str
        ``"module:Class"``; with its own `measure`, ``"module:function"`` of what is measured.
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
        Module that must be importable and the package that provides it; without it the report names the method as
        missing.
    measure : str or None
        How it is measured, if this differs from the rest of the experiment: see :class:`Experiment`.
    model : str or None
        The public model that a class of the experiment's own wraps; None: `estimator` is one, or of another library.
    code : str
        What a user writes instead of a class of the experiment's own: imports, then an expression as the last line.
    """

    name: str
    label: str
    estimator: str
    params: dict[str, Any] = field(default_factory=dict)
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
    model: str | None = None
    code: str = ""

    def __post_init__(self) -> None:
        if (self.depends_on is None) != (self.budget_fraction is None):
            raise ValueError(f"method {self.name!r}: depends_on and budget_fraction go together")
        whose = f"method {self.name!r}"
        require_address(whose, "estimator", self.estimator)
        require_address(whose, "measure", self.measure)
        require_plain(whose, "params", self.params)


@dataclass(frozen=True)
class Metric:
    """A number of a record: its place, how to print it, and which direction is better.

    Attributes
    ----------
    name, label : str
    direction : {"lower", "higher"}
        Which direction is better.
    path : tuple of str
        Its place in a record.
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
    path: tuple[Any, ...]
    unit: str = ""
    factor: float = 1.0
    tolerance: float = 0.0
    deterministic: bool = False

    def __post_init__(self) -> None:
        require_known("direction", self.direction, ("lower", "higher"))

    @property
    def varies(self) -> bool:
        """Whether it varies from run to run, as times, memory and ratios of times do; ratios of counts do not."""
        return self.unit in ("s", "µs", "MB", "×") and not self.deterministic

    def of(self, record: Any) -> Any:
        """The metric's value in `record` as a float, or None if the record has no number there."""
        value = record
        for step in self.path:
            value = value.get(step) if isinstance(value, dict) else None
        return float(value) if isinstance(value, (int, float)) else None


@dataclass(frozen=True)
class PaperNumber:
    """A number the paper prints, in the units of records (fractions, seconds).

    Attributes
    ----------
    dataset, method, metric : str
        Names of a setting, a method and a metric of the experiment.
    value : float
    error : float or None
        What it prints behind ±, which may be a standard deviation.
    """

    dataset: str
    method: str
    metric: str
    value: float
    error: float | None = None


@dataclass(frozen=True)
class PaperData:
    """What the paper had where it prints numbers of a data set.

    Attributes
    ----------
    dataset : str
        Name of the data set, as in its :class:`PaperNumber`.
    what : str
        Rows, columns and how they were made, as far as the paper says it: ``"100,000 of the 245,057 rows"``.
    differs : bool
        Whether the data of that name here are others, so that the paper's numbers need a footnote. Those that stand for
        other ones always have it.
    """

    dataset: str
    what: str
    differs: bool = False

"""One data set as it stands in the list of data sets."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DatasetEntry:
    """What is known of a data set before it is loaded; printing it gives a readable account.

    Attributes
    ----------
    name : str
    kind : {"full", "subset", "generated", "bundled"}
        As in :class:`~kernbench.datasets.Dataset`, for the sizes loaded by default.
    summary : str
    source : str
    n_train, n_test : int
        Sizes of the whole set, as its default options split it; for a generated one the sizes drawn by
        default.
    n_features : int
    layout : {"dense float32", "dense float64", "CSR float64"}
    build : callable
        ``build(paths, **options) -> (X_train, y_train, X_test, y_test)`` of a real or bundled set,
        ``build(n, rng, **options) -> (X, y)`` of a generated one.
    positive : str
        Share of +1 in the training part, as text; of binary sets only.
    task : {"binary", "multi-class", "regression"}
        As in :class:`~kernbench.datasets.Dataset`.
    files : tuple of RemoteFile
        What a real set is read from.
    n_published : int or None
        Examples in the published set where the default options take fewer; None: ``n_train + n_test``.
    population_auc : float or None
        As in :class:`~kernbench.datasets.Dataset`.
    common_test : bool
        The seed of a generated set draws its training part only; the test part is one and the same.
    """

    name: str
    kind: str
    summary: str
    source: str
    n_train: int
    n_test: int
    n_features: int
    layout: str
    build: Callable = field(repr=False)
    positive: str = ""
    task: str = "binary"
    files: tuple = ()
    n_published: int | None = None
    population_auc: float | None = None
    common_test: bool = False

    @property
    def n_examples(self):
        """Number of examples of the whole published set."""
        return self.n_published or self.n_train + self.n_test

    @property
    def options(self):
        """Keyword arguments of `load` beyond sizes and seed, with their defaults."""
        parameters = inspect.signature(self.build).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def __str__(self):
        lines = [
            f"{self.name} ({self.kind}): {self.summary}",
            f"  {self.n_train:,} training and {self.n_test:,} test examples, {self.n_features:,} features, "
            f"{self.layout}, {f'{self.positive} positive' if self.positive else self.task}",
            f"  source: {self.source}",
        ]
        if self.options:
            lines.append(
                "  options: " + ", ".join(f"{name}={value!r}" for name, value in self.options.items())
            )
        if self.files:
            lines.append("  files: " + ", ".join(file.name for file in self.files))
        return "\n".join(lines)


def generated(name, build, summary, **facts):
    """The entry of a generated set: its source is the function that draws it."""
    source = f"kernbench.datasets.{build.__module__.rpartition('.')[2]}.{build.__name__}"
    return DatasetEntry(name=name, kind="generated", summary=summary, source=source, build=build, **facts)

"""One entry of the list of data sets."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DatasetEntry:
    """The description of a data set that is not loaded yet; ``print`` shows all of it.

    Attributes
    ----------
    name : str
    summary : str
    source : str
    n_train, n_test : int
        Sizes of the whole set with its default options; of a generated set the sizes drawn by default.
    n_features : int
    build : callable
        ``build(paths, **options) -> (X_train, y_train, X_test, y_test)`` of a published or bundled set,
        ``build(n, rng, **options) -> (X, y)`` of a generated set, ``build(paths, seed, **options) -> (stream, X_test,
        y_test)`` of an endless one.
    kind : {"full", "subset", "generated", "bundled"}, default="full"
        As in :class:`~kernbench.datasets.Dataset`, for the default sizes.
    layout : {"dense float32", "dense float64", "CSR float64"}, default="dense float64"
    positive : str
        Share of +1 in the training part, as text; empty unless the set is binary.
    task : {"binary", "multi-class", "regression"}
        As in :class:`~kernbench.datasets.Dataset`.
    files : tuple of RemoteFile
        Files of a published set.
    n_published : int or None
        Number of examples of the published set, if it is not ``n_train + n_test``.
    population_auc : float or None
        As in :class:`~kernbench.datasets.Dataset`.
    common_test : bool
        Whether the test part of a generated set is the same for all seeds.
    endless : bool
        Whether there are as many training examples as one asks for; see `kernbench.datasets.stream`.
    """

    name: str
    summary: str
    source: str
    n_train: int
    n_test: int
    n_features: int
    build: Callable = field(repr=False)
    kind: str = "full"
    layout: str = "dense float64"
    positive: str = ""
    task: str = "binary"
    files: tuple = ()
    n_published: int | None = None
    population_auc: float | None = None
    common_test: bool = False
    endless: bool = False

    @property
    def n_examples(self):
        """Number of examples of the published set."""
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
            lines.append("  options: " + ", ".join(f"{name}={value!r}" for name, value in self.options.items()))
        if self.files:
            lines.append("  files: " + ", ".join(file.name for file in self.files))
        return "\n".join(lines)

"""Data sets by name: load, list, describe, fetch, verify."""

from typing import Any

import numpy as np

from kernbench._names import unknown_name
from kernbench.datasets.base import Dataset, array_checksum
from kernbench.datasets.files.locate import check_files, locate
from kernbench.datasets.files.remote import combined_checksum
from kernbench.datasets.registry import DATASETS, get
from kernbench.datasets.splits import random_indices, stratified_indices
from kernbench.validation.numbers import check_number


def load(name: str, n_train: int | None = None, n_test: int | None = None, seed: int = 0, **options: Any) -> Dataset:
    """Load a data set; the labels of binary sets are -1 and +1.

    A generated set is drawn with the sizes requested; its test part does not depend on `n_train`, and in some sets not
    on the seed. The files of a published set are looked for in ``$KERNBENCH_DATA``, then in the cache folder, and
    downloaded if they are in neither. Training and test parts are the published ones, or drawn by the option
    ``split_seed``; with smaller sizes, seeded stratified subsets of them.

    Parameters
    ----------
    name : str
        One of :func:`available`.
    n_train, n_test : int, optional
        Numbers of examples, at least 2 and 1. By default all of a published set, and the sizes of :func:`describe` of a
        generated set.
    seed : int, default=0
        Draws a generated set, or the subset of a published one.
    **options
        Options of the set, such as ``noise=0.1``, ``standardise=False`` or ``test_fraction=0.2``; see
        :func:`describe`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        Unknown name or option, too many examples for the set, or a training part with a single class.
    ChecksumMismatch
        A ValueError: a file has other content than the published one.
    DatasetUnavailable
        An OSError: a file is neither found nor downloaded; the message names its page and the folder to place it in.
    """
    entry = get(name)
    _check_options(entry, options)
    for what, asked, least in (("n_train", n_train, 2), ("n_test", n_test, 1)):
        if asked is not None:
            check_number(what, asked, at_least=least, whole=True)
    check_number("seed", seed, at_least=0, whole=True)
    # Two streams, so that a learning curve over n_train keeps one test set.
    streams = np.random.default_rng([0, seed]), np.random.default_rng([1, 0 if entry.common_test else seed])
    options = {**entry.options, **options}
    build = _from_stream if entry.endless else _draw if entry.kind == "generated" else _read
    dataset = build(entry, n_train, n_test, seed, streams, options)
    if dataset.task != "regression" and np.all(dataset.y_train == dataset.y_train[0]):
        raise ValueError(
            f"the {dataset.n_train} training examples of {name} are of one class; ask for a larger n_train"
        )
    return dataset


def stream(name: str, seed: int = 0, **options: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Open an endless data set.

    Parameters
    ----------
    name : str
        ``"mnist-deformed"``.
    seed : int, default=0
        Seed of the stream.
    **options
        Options of the set, see :func:`describe`.

    Returns
    -------
    stream : object
        ``chunks(rows)`` yields (X, y) without end, for the ``fit_chunks`` of estimators; ``chunks(rows, n_rows)`` stops
        after `n_rows`, ``rows(start, stop)`` returns some of them.
    X_test, y_test : ndarray
        The test part.

    Raises
    ------
    ValueError, DatasetUnavailable
        As `load`, and ValueError for a set that has an end.
    """
    entry = get(name)
    if not entry.endless:
        endless = ", ".join(entry.name for entry in DATASETS if entry.endless)
        raise ValueError(f"{name} has an end: use load. Endless sets: {endless}")
    _check_options(entry, options)
    check_number("seed", seed, at_least=0, whole=True)
    return entry.build(locate(entry.name, entry.files, entry.source), seed, **options)


def available(*, offline: bool = False) -> list[str]:
    """Return the names of the data sets.

    Parameters
    ----------
    offline : bool, default=False
        Only those that need no download: generated, bundled, or with all files on this computer.

    Returns
    -------
    list of str
    """
    entries = [entry for entry in DATASETS if not offline or all(file.find() for file in entry.files)]
    return [entry.name for entry in entries]


def describe(name: Any) -> Any:
    """Describe a data set without loading it.

    Parameters
    ----------
    name : str
        One of :func:`available`.

    Returns
    -------
    DatasetEntry
        With the attributes name, kind, summary, source, sizes, options and files; ``print`` shows all of them.

    Raises
    ------
    ValueError
        Unknown name.
    """
    return get(name)


def fetch(name: Any) -> list[Any]:
    """Find or download the files of a published set, and verify them.

    Parameters
    ----------
    name : str
        One of :func:`available`.

    Returns
    -------
    list of Path
        Empty for a generated or bundled set.

    Raises
    ------
    ValueError
        Unknown name.
    ChecksumMismatch, DatasetUnavailable
        As `load`.
    """
    entry = get(name)
    return list(locate(name, entry.files, entry.source).values())


def verify(name: Any = None) -> list[Any]:
    """Compare the checksums of the files of a published set, or of all sets, with the published ones.

    Nothing is downloaded, and stored checksums are not used. A file that several sets share is read once.

    Parameters
    ----------
    name : str or list of str, optional
        Of :func:`available`; by default all sets.

    Returns
    -------
    list of FileStatus
        One per set and file; ``status`` is ``"ok"``, ``"missing"``, ``"damaged"`` or ``"wrong checksum"``.

    Raises
    ------
    ValueError
        Unknown name.
    """
    names = name if isinstance(name, list) else [name]
    entries = DATASETS if name is None else [get(one) for one in names]
    return check_files((entry.name, entry.files) for entry in entries)


def _check_options(entry, options):
    for option in options:
        if option not in entry.options:
            if entry.options:
                raise ValueError(unknown_name(f"option of {entry.name}", option, entry.options))
            raise ValueError(f"unknown option {option!r}: {entry.name} has no options but n_train, n_test and seed")


def _draw(entry, n_train, n_test, seed, streams, options):
    n_train, n_test = n_train or entry.n_train, n_test or entry.n_test
    parts = *entry.build(n_train, streams[0], **options), *entry.build(n_test, streams[1], **options)
    description = f"{entry.summary} {_sizes(n_train, n_test)} drawn with seed {seed}"
    if entry.common_test:
        description += ", the test part with seed 0 always"
    return _dataset(entry, parts, entry.kind, description, options)


def _from_stream(entry, n_train, n_test, seed, streams, options):
    rows, X_test, y_test = stream(entry.name, seed, **options)
    n_train, whole = n_train or entry.n_train, len(y_test)
    _require_enough(entry, n_test=(n_test, whole))
    X_test, y_test = _subset(X_test, y_test, n_test or whole, stratified_indices, streams[1])
    parts = (*rows.rows(0, n_train), X_test, y_test)
    description = f"{entry.summary} {_sizes(n_train, len(y_test))}, those to train with drawn with seed {seed}"
    return _dataset(entry, parts, entry.kind, description, options, combined_checksum(entry.files))


def _read(entry, n_train, n_test, seed, streams, options):
    if entry.files:  # before anything is downloaded
        _require_enough(entry, n_train=(n_train, entry.n_examples), n_test=(n_test, entry.n_examples))
    paths = locate(entry.name, entry.files, entry.source)
    parts = X_train, y_train, X_test, y_test = entry.build(paths, **options)
    checksum = combined_checksum(entry.files) if entry.files else array_checksum(*parts)
    whole = len(y_train), len(y_test)
    _require_enough(entry, n_train=(n_train, whole[0]), n_test=(n_test, whole[1]))
    n_train, n_test = n_train or whole[0], n_test or whole[1]
    description, kind = entry.summary, "full" if entry.files else entry.kind
    if sum(whole) < entry.n_examples:
        kind = "subset"
        description += f" Subset: {sum(whole):,} of the {entry.n_examples:,} published examples."
    if (n_train, n_test) == whole:
        description += f" {_sizes(*whole)}"
    else:
        kind = "subset"
        description += (
            f" Subset: {n_train:,} of {whole[0]:,} training and {n_test:,} of {whole[1]:,} test examples, "
            f"{'' if entry.task == 'regression' else 'stratified, '}drawn with seed {seed}"
        )
        draw = random_indices if entry.task == "regression" else stratified_indices
        parts = (
            *_subset(X_train, y_train, n_train, draw, streams[0]),
            *_subset(X_test, y_test, n_test, draw, streams[1]),
        )
    return _dataset(entry, parts, kind, description, options, checksum)


def _dataset(entry, parts, kind, description, options, checksum=None):
    listed = f" ({', '.join(f'{name}={value!r}' for name, value in options.items())})" if options else ""
    X_train, y_train, X_test, y_test = parts
    is_pair = entry.task == "multi-class" and y_train.min() < 0  # two of the classes
    return Dataset(
        name=entry.name,
        X_train=X_train,
        y_train=y_train,
        X_test=X_test,
        y_test=y_test,
        kind=kind,
        description=f"{description}{listed}.",
        source=entry.source,
        checksum=checksum or array_checksum(*parts),
        task="binary" if is_pair else entry.task,
        population_auc=entry.population_auc,
    )


def _require_enough(entry, **sizes):
    for name, (requested, present) in sizes.items():
        if requested is not None and requested > present:
            raise ValueError(f"{name}={requested} is more than {entry.name} has: {present}")


def _sizes(n_train, n_test):
    return f"{n_train:,} training and {n_test:,} test examples"


def _subset(X, y, size, draw, rng):
    if size == len(y):
        return X, y
    rows = draw(y, size, rng)
    return X[rows], y[rows]

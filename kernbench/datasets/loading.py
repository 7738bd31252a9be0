"""Load data sets by name."""

import numpy as np

from kernbench._names import unknown_name
from kernbench.datasets.base import Dataset, array_checksum
from kernbench.datasets.checks import require_number
from kernbench.datasets.registry import DATASETS, get
from kernbench.datasets.splits import random_indices, stratified_indices
from kernbench.datasets.storage import check_files, combined_checksum, locate


def load(name, n_train=None, n_test=None, seed=0, **options):
    """Load a data set, most of them binary with labels -1 and +1.

    A generated set is drawn anew, with as many examples as asked for; its test part depends on the seed (in
    some sets not even on that) and not on `n_train`. A real set is looked for in ``$KERNBENCH_DATA``, then in
    the cache folder, then downloaded from its origin. Its training and test parts are the published ones, or
    drawn by its option ``split_seed``; smaller sizes give seeded stratified parts of them.

    Parameters
    ----------
    name : str
        One of :func:`available`.
    n_train, n_test : int, optional
        Numbers of examples, at least 2 and 1. By default all of a real set, see :func:`describe` for the
        others.
    seed : int, default=0
        Draws a generated set, or the part of a real one.
    **options
        Options of the set, such as ``noise=0.1``, ``standardise=False`` or ``test_fraction=0.2``; see
        :func:`describe`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        Unknown name or option, a size beyond the set's, a training part with one class only.
    ChecksumMismatch
        A ValueError: a file found is not the published one.
    DatasetUnavailable
        An OSError: no file and no download; the message says which file to place by hand, and where.
    """
    entry = get(name)
    for option in options:
        if option not in entry.options:
            if entry.options:
                raise ValueError(unknown_name(f"option of {name}", option, entry.options))
            raise ValueError(f"unknown option {option!r}: {name} has no options but n_train, n_test and seed")
    for what, asked, least in (("n_train", n_train, 2), ("n_test", n_test, 1)):
        if asked is not None:
            require_number(what, asked, at_least=least, whole=True)
    require_number("seed", seed, at_least=0, whole=True)
    # Two streams, so that a learning curve over n_train keeps one test set.
    streams = np.random.default_rng([0, seed]), np.random.default_rng([1, 0 if entry.common_test else seed])
    options = {**entry.options, **options}
    fill = _drawn if entry.kind == "generated" else _read
    dataset = fill(entry, n_train, n_test, seed, streams, options)
    if dataset.task != "regression" and np.all(dataset.y_train == dataset.y_train[0]):
        raise ValueError(
            f"the {dataset.n_train} training examples of {name} are of one class; ask for a larger n_train"
        )
    return dataset


def available(*, offline=False):
    """Names of the data sets.

    Parameters
    ----------
    offline : bool, default=False
        Only those that need no download: generated, bundled, or with all their files on this computer.

    Returns
    -------
    list of str
    """
    entries = [entry for entry in DATASETS if not offline or all(file.find() for file in entry.files)]
    return [entry.name for entry in entries]


def describe(name):
    """What is known of a data set before loading it.

    Returns
    -------
    DatasetEntry
        Its attributes are name, kind, summary, source, sizes, options and files; printing it gives all of
        them.
    """
    return get(name)


def fetch(name):
    """Make sure that the files of a real set are on this computer and are the published ones.

    Returns
    -------
    list of Path
        The files, found or downloaded into the cache folder; empty for a generated or bundled set.

    Raises
    ------
    ChecksumMismatch, DatasetUnavailable
        As `load`.
    """
    entry = get(name)
    return list(locate(name, entry.files, entry.source).values())


def verify(name=None):
    """Hash the files of a real set, or of all of them, and compare with the published checksums.

    Returns
    -------
    list of FileStatus
        One per file; ``status`` is ``"ok"``, ``"missing"``, ``"damaged"`` or ``"wrong checksum"``. Nothing is
        downloaded, and nothing remembered from earlier is trusted.
    """
    entries = DATASETS if name is None else [get(name)]
    return [status for entry in entries for status in check_files(entry.name, entry.files)]


def _drawn(entry, n_train, n_test, seed, streams, options):
    n_train = n_train or entry.n_train
    n_test = n_test or entry.n_test
    X_train, y_train = entry.build(n_train, streams[0], **options)
    X_test, y_test = entry.build(n_test, streams[1], **options)
    sizes = f"{_sizes(n_train, n_test)} drawn with seed {seed}"
    if entry.common_test:
        sizes += ", the test part with seed 0 always"
    return Dataset(
        name=entry.name,
        X_train=X_train,
        y_train=y_train,
        X_test=X_test,
        y_test=y_test,
        kind=entry.kind,
        description=f"{entry.summary} {sizes}{_listed(options)}.",
        source=entry.source,
        checksum=array_checksum(X_train, y_train, X_test, y_test),
        task=entry.task,
        population_auc=entry.population_auc,
    )


def _read(entry, n_train, n_test, seed, streams, options):
    if entry.files:  # before anything is downloaded
        _require_enough(entry, n_train=(n_train, entry.n_examples), n_test=(n_test, entry.n_examples))
    paths = locate(entry.name, entry.files, entry.source)
    X_train, y_train, X_test, y_test = entry.build(paths, **options)
    if entry.files:
        checksum = combined_checksum(entry.files)
    else:
        checksum = array_checksum(X_train, y_train, X_test, y_test)
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
        X_train, y_train = _part(X_train, y_train, n_train, draw, streams[0])
        X_test, y_test = _part(X_test, y_test, n_test, draw, streams[1])
    return Dataset(
        name=entry.name,
        X_train=X_train,
        y_train=y_train,
        X_test=X_test,
        y_test=y_test,
        kind=kind,
        description=f"{description}{_listed(options)}.",
        source=entry.source,
        checksum=checksum,
        task=entry.task,
    )


def _require_enough(entry, **sizes):
    for what, (asked, there) in sizes.items():
        if asked is not None and asked > there:
            raise ValueError(f"{what}={asked} is more than {entry.name} has: {there}")


def _sizes(n_train, n_test):
    return f"{n_train:,} training and {n_test:,} test examples"


def _part(X, y, size, draw, rng):
    if size == len(y):
        return X, y
    rows = draw(y, size, rng)
    return X[rows], y[rows]


def _listed(options):
    return f" ({', '.join(f'{name}={value!r}' for name, value in options.items())})" if options else ""

"""Load data sets by name."""

import numpy as np

from kernbench._names import unknown_name
from kernbench.datasets.base import Dataset, array_checksum
from kernbench.datasets.checks import require_number
from kernbench.datasets.registry import DATASETS, get
from kernbench.datasets.splits import stratified_indices
from kernbench.datasets.storage import check_files, combined_checksum, locate


def load(name, n_train=None, n_test=None, seed=0, **options):
    """Load a data set with labels -1 and +1.

    A generated set is drawn anew, with as many examples as asked for; its test part depends on the seed and
    not on `n_train`. A real set is looked for in ``$KERNBENCH_DATA``, then in the cache folder, then
    downloaded from its origin; its training and test parts are always the same, and smaller sizes give seeded
    stratified parts of them.

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
        Options of the set, such as ``noise=0.1`` or ``standardise=False``; see :func:`describe`.

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
    n_train = _size("n_train", n_train, 2, entry)
    n_test = _size("n_test", n_test, 1, entry)
    require_number("seed", seed, at_least=0, whole=True)
    # Two streams, so that a learning curve over n_train keeps one test set.
    streams = np.random.default_rng([0, seed]), np.random.default_rng([1, seed])
    options = {**entry.options, **options}
    if entry.kind == "generated":
        dataset = _draw(entry, n_train, n_test, seed, streams, options)
    else:
        dataset = _read(entry, n_train, n_test, seed, streams, options)
    if np.all(dataset.y_train == dataset.y_train[0]):
        raise ValueError(
            f"the {n_train} training examples drawn from {name} are of one class; ask for a larger n_train"
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


def _size(what, asked, least, entry):
    whole = getattr(entry, what)
    if asked is None:
        return whole
    require_number(what, asked, at_least=least, whole=True)
    if entry.kind != "generated" and asked > whole:
        raise ValueError(f"{what}={asked} is more than {entry.name} has: {whole}")
    return int(asked)


def _draw(entry, n_train, n_test, seed, streams, options):
    X_train, y_train = entry.build(n_train, streams[0], **options)
    X_test, y_test = entry.build(n_test, streams[1], **options)
    return Dataset(
        name=entry.name,
        X_train=X_train,
        y_train=y_train,
        X_test=X_test,
        y_test=y_test,
        kind=entry.kind,
        description=f"{entry.summary} {_sizes(n_train, n_test)} drawn with seed {seed}{_listed(options)}.",
        source=entry.source,
        checksum=array_checksum(X_train, y_train, X_test, y_test),
    )


def _read(entry, n_train, n_test, seed, streams, options):
    paths = locate(entry.name, entry.files, entry.source)
    X_train, y_train, X_test, y_test = entry.build(paths, **options)
    if entry.files:
        checksum = combined_checksum(entry.files)
    else:
        checksum = array_checksum(X_train, y_train, X_test, y_test)
    sizes = _sizes(n_train, n_test)
    whole = (n_train, n_test) == (entry.n_train, entry.n_test)
    if not whole:
        sizes = (
            f"Subset: {n_train:,} of {entry.n_train:,} training and {n_test:,} of {entry.n_test:,} test "
            f"examples, stratified, drawn with seed {seed}"
        )
        X_train, y_train = _part(X_train, y_train, n_train, streams[0])
        X_test, y_test = _part(X_test, y_test, n_test, streams[1])
    return Dataset(
        name=entry.name,
        X_train=X_train,
        y_train=y_train,
        X_test=X_test,
        y_test=y_test,
        kind=entry.kind if whole else "subset",
        description=f"{entry.summary} {sizes}{_listed(options)}.",
        source=entry.source,
        checksum=checksum,
    )


def _sizes(n_train, n_test):
    return f"{n_train:,} training and {n_test:,} test examples"


def _part(X, y, size, rng):
    if size == len(y):
        return X, y
    rows = stratified_indices(y, size, rng)
    return X[rows], y[rows]


def _listed(options):
    return f" ({', '.join(f'{name}={value!r}' for name, value in options.items())})" if options else ""

"""Where examples come from: a file, or the name of a data set."""

import os
from pathlib import Path


def is_file(source):
    """Whether `source` means a file: it exists, or it looks like a path.

    Raises
    ------
    FileNotFoundError
        If it looks like a path and there is nothing.
    ValueError
        If it is a folder, or empty.
    """
    if source == "":  # as of a variable of the shell that is not set; the path of it is the current folder
        raise ValueError("the name of the file is empty: name a data file or a data set")
    path = Path(source)
    if path.is_dir():
        raise ValueError(f"{source} is a folder; name a data file or a data set")
    if path.exists():
        return True
    if os.sep in source or path.suffix:
        raise FileNotFoundError(f"there is no file {source}")
    return False


def label_column(text):
    """Return ``--label`` as a position if it is an integer, else as the name of a column."""
    try:
        return int(text)
    except ValueError:
        return text


def column_names(source, label):
    """Return the names of the features of a table, as its header has them; None without a header, and of other files.

    Parameters
    ----------
    source : str
        File or data set.
    label : int, str or None
        The label column, which is left out.
    """
    layout = _layout_of(source, label)
    return layout and layout.names and _without_label(layout.names, layout)


def _layout_of(source, label):
    """Return the layout of a table; None of other files, and of data sets."""
    from kernbench.datasets.readers.chunks import COLUMN_FORMATS
    from kernbench.datasets.readers.delimited_layout import detect_layout
    from kernbench.datasets.readers.detect import format_of

    if not is_file(source) or Path(source).suffix.lower() in (".npy", *COLUMN_FORMATS) or format_of(source) != "csv":
        return None
    return detect_layout(source, label, None, "auto")


def _without_label(fields, layout):
    return [field for i, field in enumerate(fields) if i != layout.label]


def names_in_folder(folder, label):
    """Return the `column_names` of the first file of a folder that is not empty."""
    from kernbench.datasets.errors import EmptyFile
    from kernbench.distributed.sources import files_of

    for file in files_of(Path(folder)):
        try:
            return column_names(str(file), label)
        except EmptyFile:
            continue
    return None


def check_names(source, label, fitted):
    """Raise ValueError where the features of a table are not those of the fit, in their order, by their names.

    Parameters
    ----------
    source, label
        As of `column_names`.
    fitted : sequence of str, or None
        The names in the fit. Nothing is compared where they, or those of the table, are not known.
    """
    names = None if fitted is None else column_names(source, label)
    if names is None:
        return
    for place, (name, known) in enumerate(zip(names, fitted), 1):
        if name != known:
            raise ValueError(
                f"{source}: feature {place} is {name!r}, but the fit had {known!r} there: bring the columns "
                "into its order, and name the label column by --label"
            )


def load_named(name):
    """Load the data set called `name`; the error for an unknown name says that there is no such file either."""
    from kernbench.datasets import available, load

    if name not in available():
        from kernbench._names import unknown_name

        raise ValueError(f"there is no file {name!r}, and {unknown_name('data set', name, available())}")
    return load(name)


def train_and_test(source, *, label=-1, test=None, test_size=None, seed=0, stratify=True):
    """Return examples to fit and to test with.

    Parameters
    ----------
    source : str
        File or data set.
    label : int or str
        Label column of a table.
    test : str, optional
        File with test examples.
    test_size : float, optional
        Share of a file's examples to set aside.
    seed : int
        Seed of the draw of these examples.
    stratify : bool, default=True
        Keep the shares of the classes.

    Returns
    -------
    X_train, y_train, X_test, y_test
        The last two are None without a test.
    """
    if test is not None and test_size is not None:
        raise ValueError("give --test or --test-size, not both")
    from kernbench.datasets import read_file

    if is_file(source):
        X, y = read_file(source, label=label)
        X_test = y_test = None
        if test_size is not None:
            X, X_test, y, y_test = _split(X, y, test_size, seed, stratify)
    else:
        if test_size is not None:
            raise ValueError(f"the data set {source!r} has a test part of its own; leave --test-size out")
        data = load_named(source)
        X, y, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test
    if test is not None:
        X_test, y_test = test_rows(test, label, X.shape[1], column_names(source, label))
        X_test = like(X_test, X)
    return X, y, X_test, y_test


def chunks_of(source, model, rows, *, label=-1, test_size=None):
    """Return the chunks of a file for an estimator that learns from streams."""
    if not hasattr(model, "fit_chunks"):
        raise ValueError(f"{type(model).__name__} does not learn from chunks: leave --chunk-rows out, or choose "
                         "another --estimator, such as doublystochasticclassifier")  # fmt: skip
    if test_size is not None:
        raise ValueError("--chunk-rows reads the file once and sets nothing aside: give the test examples by --test")
    if not is_file(source):
        raise ValueError(f"{source!r} is a data set, which is read whole: leave --chunk-rows out")
    from kernbench.datasets import chunks

    return chunks(source, rows, label=label)


def test_rows(test, label, n_features, names=None):
    """Return the examples of the file `test`, or (None, None) without one or without a model; see `check_names`."""
    if test is None or n_features is None:
        return None, None
    if not is_file(test):
        raise FileNotFoundError(f"there is no file {test}")
    return _read(test, label, n_features, names)


def _read(source, label, n_features, names):
    """Read examples for a model; `names` are those of its columns, if they are known, see `check_names`.

    A first line of just these names is a header, even if they are numbers, which `read_file` takes for an example.
    """
    from kernbench.datasets import read_csv, read_file

    layout = None if names is None else _layout_of(source, label)
    if layout is not None and _without_label(layout.first, layout) == list(names):
        return read_csv(source, label=label, header=True)
    X, y = read_file(source, label=label, n_features=n_features)
    check_names(source, label, names)
    return X, y


def _split(X, y, test_size, seed, stratify):
    from sklearn.model_selection import train_test_split

    try:
        return train_test_split(X, y, test_size=test_size, random_state=seed, stratify=y if stratify else None)
    except ValueError as error:
        raise ValueError(
            f"--test-size {test_size:g} cannot be split off with every class in both parts: {error}"
        ) from None


def like(X, pattern):
    """Return X as a sparse or dense matrix, whichever `pattern` is."""
    from scipy import sparse

    if sparse.issparse(X) == sparse.issparse(pattern):
        return X
    return X.toarray() if sparse.issparse(X) else sparse.csr_matrix(X)


def rows_to_predict(source, model, *, label=-1, names=None):
    """Return examples for a fitted model, with labels if the source has some.

    A table with as many columns as the model has features has no labels; one with one column more does. Its columns
    must have the names of those of the fit, if both are known.

    Returns
    -------
    X : ndarray or CSR matrix
    y : ndarray or None
    """
    n_features = model.n_features_in_
    if not is_file(source):
        data = load_named(source)
        if data.n_features != n_features:
            raise ValueError(f"the model was fitted with {n_features} features, {source} has {data.n_features}")
        return like(data.X_test, getattr(model, "support_vectors_", data.X_test)), data.y_test
    if not _has_labels(source, n_features):
        label = None
    X, y = _read(source, label, n_features, names)
    return like(X, getattr(model, "support_vectors_", X)), y


def _has_labels(source, n_features):
    from kernbench.datasets.readers.delimited_layout import detect_layout
    from kernbench.datasets.readers.detect import format_of
    from kernbench.datasets.readers.npz import holds_labels

    kind = format_of(source)
    if kind == "csv":
        return detect_layout(source, None, None, "auto").n_columns != n_features
    return kind == "svmlight" or holds_labels(source)

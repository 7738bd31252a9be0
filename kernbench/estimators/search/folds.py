"""The folds of a search, as index arrays of held-out rows, after checks that name what to change."""

from dataclasses import dataclass

import numpy as np

from kernbench.validation.numbers import is_integer


@dataclass(frozen=True)
class Fold:
    """One split of the rows.

    Attributes
    ----------
    train, test : ndarray of intp
    """

    train: np.ndarray
    test: np.ndarray


def checked_folds(cv, X, y, codes, classes, weights, groups):
    """Return the folds of a classifier's search.

    Parameters
    ----------
    cv : int, splitter or iterable
        What ``check_cv`` accepts; an integer means stratified folds.
    X, y : array-like
        As a splitter is given them.
    codes : ndarray of shape (n,)
        Index of each label in `classes`.
    classes : ndarray
    weights : ndarray of shape (n,), or None
    groups : array-like of shape (n,), or None

    Raises
    ------
    ValueError
        For a class with fewer rows than folds or absent from a training part, rows held out twice, missing groups.
    """
    from sklearn.model_selection import check_cv  # slow to import, and needed here only

    used = np.ones(len(codes), dtype=bool) if weights is None else weights > 0
    counts = np.bincount(codes[used], minlength=len(classes))
    if is_integer(cv) and counts.min() < cv:
        raise ValueError(
            f"cv={cv} folds need at least {cv} rows of each class, but class {str(classes[counts.argmin()])!r} has "
            f"{counts.min()}: choose fewer folds, or KernelSVC with fixed parameters"
        )
    splitter = check_cv(cv, y, classifier=True)
    try:
        folds = [Fold(*map(_indices, parts)) for parts in splitter.split(X, y, groups)]
    except ValueError as error:
        if groups is None and "groups" in str(error):
            raise ValueError(f"cv={cv!r} splits by groups: pass them, fit(X, y, groups=...)") from error
        raise
    if not folds:
        raise ValueError(f"cv={cv!r} makes no folds")
    _check_parts(folds, codes, classes, used)
    return folds


def _indices(part):
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool else part.astype(np.intp)


def _check_parts(folds, codes, classes, used):
    times = np.zeros(len(codes), dtype=np.intp)
    for k, fold in enumerate(folds):
        for part in (fold.train, fold.test):
            if len(part) and (part.min() < 0 or part.max() >= len(codes)):
                raise ValueError(f"fold {k} of cv has row numbers outside of 0 to {len(codes) - 1}")
        if len(fold.test) == 0:
            raise ValueError(f"fold {k} of cv holds out no rows")
        if len(np.intersect1d(fold.train, fold.test)):
            raise ValueError(f"fold {k} of cv trains on rows that it holds out")
        if len(np.unique(fold.train)) < len(fold.train):
            raise ValueError(f"fold {k} of cv has rows twice in its training part: use sample_weight instead")
        present = np.bincount(codes[fold.train][used[fold.train]], minlength=len(classes)) > 0
        if not present.all():
            raise ValueError(
                f"the training part of fold {k} of cv has no row of class {str(classes[~present][0])!r}: use "
                "stratified folds, or fewer of them"
            )
        np.add.at(times, fold.test, 1)
    if times.max() > 1:
        raise ValueError(
            f"cv holds row {times.argmax()} out {times.max()} times, but there is one out-of-fold score for each row: "
            "use a splitter without repetitions, such as StratifiedKFold"
        )

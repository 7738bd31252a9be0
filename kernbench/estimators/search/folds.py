"""The training data of a search, and its folds: index arrays, after checks that name what to change."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from sklearn.utils import _safe_indexing, indexable

from kernbench.validation.foreign import host_array
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


@dataclass(frozen=True)
class Examples:
    """Checked training data.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
        A kernel matrix if `is_precomputed`.
    y : ndarray of shape (n,) or (n, n_outputs)
        Labels or targets, as scorers take them.
    sample_weight : ndarray of shape (n,), or None
        Without class weights.
    classes : ndarray of shape (n_classes,), or None in a regression
    codes : ndarray of shape (n,), or None in a regression
        Index of each label in `classes`.
    weights : ndarray of shape (n,), or None
        With class weights: rows of weight 0 do not take part.
    is_precomputed : bool
    given : object, or None
        X as it was passed, for a scorer that looks at rows.
    """

    X: object
    y: np.ndarray
    sample_weight: np.ndarray | None
    classes: np.ndarray | None = None
    codes: np.ndarray | None = None
    weights: np.ndarray | None = None
    is_precomputed: bool = False
    given: object = None

    @property
    def used(self):
        """Whether each row takes part."""
        return np.ones(len(self.y), dtype=bool) if self.weights is None else self.weights > 0

    @property
    def shape(self):
        """Shape of the decision values, or predictions, of all rows."""
        if self.classes is None:
            return len(self.y), 1 if self.y.ndim == 1 else self.y.shape[1]
        return len(self.y), 1 if len(self.classes) == 2 else len(self.classes)

    def on(self, rows):
        """Return those of some rows."""
        parts = {name: getattr(self, name) for name in ("sample_weight", "codes", "weights")}
        own = {name: None if part is None else part[rows] for name, part in parts.items()}
        X = self.X[np.ix_(rows, rows)] if self.is_precomputed else self.X[rows]
        given = None if self.given is None else self._given_rows(rows, rows)
        return replace(self, X=X, y=self.y[rows], given=given, **own)

    def given_to_scorer(self, fold):
        """Return the held-out rows of a fold as passed; of a kernel matrix the columns of its training rows."""
        return self._given_rows(fold.test, fold.train)

    def _given_rows(self, rows, columns):
        part = _safe_indexing(self.given, rows)
        return _safe_indexing(part, columns, axis=1) if self.is_precomputed else part

    def training(self, fold):
        """Return rows, labels or targets, and weights of the training part of a fold."""
        rows = fold.train
        X = self.X[np.ix_(rows, rows)] if self.is_precomputed else self.X[rows]
        return X, self.y[rows], None if self.sample_weight is None else self.sample_weight[rows]

    def held_out(self, fold):
        """Return the held-out rows of a fold, as its model predicts from them."""
        return self.X[np.ix_(fold.test, fold.train)] if self.is_precomputed else self.X[fold.test]


def checked_folds(cv, X, examples, groups, name, *, both_parts=False):
    """Return the folds of a search.

    Parameters
    ----------
    cv : int, splitter or iterable
        What ``check_cv`` accepts; an integer means stratified folds of a classifier's rows, else consecutive ones.
    X : array-like
        The rows as they were passed, for a splitter that looks at them.
    examples : Examples
    groups : array-like of shape (n,), or None
    name : str
        The estimator of the cells.
    both_parts : bool, default=False
        Whether held-out parts need both of two classes, too, for a score of pairs.

    Raises
    ------
    ValueError
        For a class with fewer rows than folds or absent from a training part, rows held out twice, missing groups.
    """
    from sklearn.model_selection import check_cv  # slow to import, and needed here only

    used, is_classifier = examples.used, examples.classes is not None
    if isinstance(cv, Integral) and (isinstance(cv, bool) or cv < 2):
        raise ValueError(f"cv must be at least 2 folds, a splitter or an iterable of splits, got {cv!r}")
    if is_classifier and is_integer(cv):
        counts = np.bincount(examples.codes[used], minlength=len(examples.classes))
        if counts.min() < cv:
            raise ValueError(
                f"cv={cv} folds need at least {cv} rows of each class, but class "
                f"{str(examples.classes[counts.argmin()])!r} has {counts.min()}: choose fewer folds, or {name} with "
                "fixed parameters"
            )
    if isinstance(cv, Iterable) and not hasattr(cv, "split"):  # which text has
        splits = cv
    else:
        given = indexable(host_array(X, "X"))[0]
        splits = check_cv(cv, examples.y, classifier=is_classifier).split(given, examples.y, groups)
    try:
        folds = [_fold(parts) for parts in splits]
    except ValueError as error:
        if groups is None and "groups" in str(error):
            raise ValueError(f"cv={cv!r} splits by groups: pass them, fit(X, y, groups=...)") from error
        raise
    if not folds:
        raise ValueError(f"cv={cv!r} makes no folds")
    for k, fold in enumerate(folds):
        _check_rows(k, fold, len(used))
        _check_classes(k, fold, examples, used, both_parts)
    _check_held_out_once(folds, len(used))
    return folds


def _fold(parts):
    try:
        train, test = map(_indices, parts)
    except (TypeError, ValueError):
        raise ValueError(f"cv must make pairs of row numbers, for training and held out, got {parts!r}") from None
    return Fold(train, test)


def _indices(part):
    part = np.asarray(part)
    if part.dtype.kind not in "bui" and part.size:
        raise ValueError("not row numbers")
    return np.flatnonzero(part) if part.dtype == bool else part.astype(np.intp)


def _check_rows(k, fold, n_rows):
    for part in (fold.train, fold.test):
        if len(part) and (part.min() < 0 or part.max() >= n_rows):
            raise ValueError(f"fold {k} of cv has row numbers outside of 0 to {n_rows - 1}")
    if len(fold.test) == 0:
        raise ValueError(f"fold {k} of cv holds out no rows")
    times = np.bincount(fold.train, minlength=n_rows)
    if times[fold.test].any():
        raise ValueError(f"fold {k} of cv trains on rows that it holds out")
    if times.max(initial=0) > 1:
        raise ValueError(f"fold {k} of cv has rows twice in its training part: use sample_weight instead")


def _check_classes(k, fold, examples, used, both_parts):
    if not used[fold.test].any():
        raise ValueError(f"every row that fold {k} of cv holds out has weight 0, so that it has no score")
    if examples.classes is None:
        if not used[fold.train].any():
            raise ValueError(f"the training part of fold {k} of cv has no row of positive weight")
        return
    present = [
        np.bincount(examples.codes[part][used[part]], minlength=len(examples.classes)) > 0
        for part in (fold.train, fold.test)
    ]
    if both_parts and not np.all(present):
        raise ValueError(
            f"fold {k} of cv has a part whose rows of positive weight are of one class only: use stratified folds"
        )
    if not present[0].all():
        raise ValueError(
            f"the training part of fold {k} of cv has no row of class {str(examples.classes[~present[0]][0])!r}: use "
            "stratified folds, or fewer of them"
        )


def _check_held_out_once(folds, n_rows):
    times = np.zeros(n_rows, dtype=np.intp)
    for fold in folds:
        np.add.at(times, fold.test, 1)
    if times.max() > 1:
        raise ValueError(
            f"cv holds row {times.argmax()} out {times.max()} times, but there is one out-of-fold score for each row: "
            "use a splitter without repetitions, such as StratifiedKFold"
        )

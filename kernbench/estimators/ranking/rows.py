"""The rows for the fit of a ranking, and those for its threshold."""

from dataclasses import dataclass

import numpy as np

from kernbench.estimators.fit.training_data import check_each_class_has_weight, check_examples, check_square
from kernbench.estimators.ranking.parameters import ON_TRAINING_ROWS
from kernbench.kernels.domain import is_precomputed


@dataclass(frozen=True)
class RankedRows:
    """Checked rows of two classes.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    positive : ndarray of shape (n_rows,), bool
    weights : ndarray of shape (n_rows,), or None
    indices : ndarray of shape (n_rows,), or None
        Their indices among the rows given to ``fit``; None means that these are all.
    """

    X: object
    positive: np.ndarray
    weights: np.ndarray | None
    indices: np.ndarray | None = None

    @property
    def signs(self):
        """The labels of solvers, -1 and +1."""
        return np.where(self.positive, 1.0, -1.0)

    def take(self, chosen):
        """Return the rows whose indices are `chosen`."""
        return RankedRows(
            self.X[chosen],
            self.positive[chosen],
            None if self.weights is None else self.weights[chosen],
            chosen if self.indices is None else self.indices[chosen],
        )


def check_ranked_rows(model, X, y, sample_weight):
    """Check the arguments of ``fit`` and set ``classes_``.

    Rows of weight 0 are left out, so that bandwidths and landmarks do not depend on them either; those of a precomputed
    kernel are kept, since its columns belong to them.

    Returns
    -------
    RankedRows
    """
    X, _, classes, codes, weights = check_examples(model, X, y, sample_weight, kernel=model.kernel)
    if len(classes) > 2:
        name = type(model).__name__
        raise ValueError(
            f"Only binary classification is supported: {name} ranks the rows of two classes, and y has "
            f"{len(classes)}. Use sklearn.multiclass.OneVsRestClassifier({name}()): one ranking per class"
        )
    check_square(X, model.kernel)
    model.classes_ = classes
    rows = RankedRows(X, codes == 1, weights)
    if weights is None:
        return rows
    check_each_class_has_weight(classes, codes, weights)
    if is_precomputed(model.kernel) or np.all(weights > 0):
        return rows
    return rows.take(np.flatnonzero(weights > 0))


def split_for_threshold(model, rows, seed):
    """Return the rows for the fit, and those for the threshold (None: the same)."""
    share = model.threshold_on
    if share == ON_TRAINING_ROWS:
        return rows, None
    if is_precomputed(model.kernel):
        raise ValueError(
            "threshold_on='train' is the only choice for kernel='precomputed', whose columns are the "
            "training rows; adjust_threshold takes the scores of others"
        )
    held = _held_out(rows.positive, share, np.random.default_rng(seed))
    return rows.take(np.flatnonzero(~held)), rows.take(np.flatnonzero(held))


def _held_out(positive, share, rng):
    """Choose this share of each class, at least one row but not all; shape (n,), bool."""
    held = np.zeros(len(positive), dtype=bool)
    for members in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        if len(members) < 2:
            raise ValueError(
                f"threshold_on={share:g} cannot hold out rows of a class that has one row only: "
                "choose threshold_on='train'"
            )
        size = min(max(1, round(share * len(members))), len(members) - 1)
        held[rng.choice(members, size, replace=False)] = True
    return held

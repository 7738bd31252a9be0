"""The rows that a model is fitted to, and those held out for its threshold or its validation."""

from dataclasses import dataclass

import numpy as np

from kernbench.estimators.roc.parameters import ON_TRAINING_ROWS
from kernbench.kernels.domain import is_precomputed


@dataclass(frozen=True)
class Rows:
    """Checked rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,), float64
        -1 and +1 for two classes, or the numbers of a regression.
    weights : ndarray of shape (n_rows,), or None
    indices : ndarray of shape (n_rows,), or None
        Indices of the rows among those given to ``fit``; None means all of them.
    """

    X: object
    y: np.ndarray
    weights: np.ndarray | None
    indices: np.ndarray | None = None

    @property
    def positive(self):
        """Which rows of two classes are positive."""
        return self.y > 0

    def take(self, chosen):
        """Return the rows whose indices are `chosen`."""
        return Rows(
            self.X[chosen],
            self.y[chosen],
            None if self.weights is None else self.weights[chosen],
            chosen if self.indices is None else self.indices[chosen],
        )

    def without_weightless(self, kernel):
        """Leave out rows of weight 0, so that bandwidths and landmarks do not depend on them either.

        Those of a precomputed kernel stay, since its columns belong to them; `fit_space` draws no landmarks from them.
        """
        if self.weights is None or is_precomputed(kernel) or np.all(self.weights > 0):
            return self
        return self.take(np.flatnonzero(self.weights > 0))


def split_for_threshold(model, rows, seed):
    """Return the rows to fit to, and those that ``threshold_on=`` holds out."""
    if is_precomputed(model.kernel):
        raise ValueError(
            "threshold_on='train' is the only choice for kernel='precomputed', whose columns are the "
            "training rows; adjust_threshold takes the scores of others"
        )
    return hold_out(rows, "threshold_on", model.threshold_on, seed, without=ON_TRAINING_ROWS)


def hold_out(rows, name, share, seed, *, stratified=True, without=None):
    """Draw rows to be left out of a fit.

    Parameters
    ----------
    rows : Rows
    name : str
        Name of the parameter that requests the split.
    share : float
        Fraction of each class, or of all rows; at least one row, and not all.
    seed : int
    stratified : bool, default=True
        Whether the rows are of two classes.
    without : object, default=None
        Value of the parameter that holds out nothing.

    Returns
    -------
    kept, held : Rows
    """
    rng = np.random.default_rng(seed)
    held = np.zeros(len(rows.y), dtype=bool)
    parts = (rows.positive, ~rows.positive) if stratified else (~held,)
    for members in map(np.flatnonzero, parts):
        if len(members) < 2:
            what = "rows of a class that has one row only" if stratified else "rows where there is one row only"
            raise ValueError(f"{name}={share:g} cannot hold out {what}: choose {name}={without!r}")
        size = min(max(1, round(share * len(members))), len(members) - 1)
        held[rng.choice(members, size, replace=False)] = True
    return rows.take(np.flatnonzero(~held)), rows.take(np.flatnonzero(held))

"""The fast path for a `KernelSVC` of few rows: all pairs of classes on the same kernel rows; see `fit.small`."""

import math

import numpy as np

from kernbench.estimators.fit.centring import rounding_of
from kernbench.estimators.fit.folding import NEGLIGIBLE
from kernbench.estimators.fit.small import fit_small, is_small, small_rows
from kernbench.estimators.svm.expansion import set_intercept, set_support
from kernbench.kernels.domain import is_precomputed
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo._small_pairs import SmallPairs


def fit_small_pairs(task, rows=None):
    """Fit the model of a `KernelTask` if its pairs are small and it needs nothing of the driver.

    Parameters
    ----------
    task : KernelTask
    rows : KernelRows, optional
        Its `rows_of_small_pairs`, of an earlier fit for another C; made by default.

    Returns
    -------
    bool
        False if the model was not fitted; see `fit_small`.
    """
    return fit_small(_SmallPairs(task), rows)


def has_small_pairs(task):
    """Return whether `fit_small_pairs` fits such a task, unless a pair needs more steps than usual."""
    return is_small(_SmallPairs(task))


def rows_of_small_pairs(task):
    """Return the kernel rows of such a task, for several fits."""
    return small_rows(_SmallPairs(task))


class _SmallPairs:
    """The pairs of classes of a task, on the rows of positive weight."""

    def __init__(self, task):
        self.task, self.kernel, self.balanced = task, task.model.kernel_, bool(task.model.fit_intercept)
        self.X, self.codes, self.costs, self.used = _rows_that_count(task)

    def largest(self):
        n_classes = len(self.task.model.classes_)
        if self.task.model.loss != "hinge" or self.task.shares_data:
            return None
        if not 0.0 < self.costs.min() <= self.costs.max() < np.inf:
            return None
        return len(self.codes) if n_classes == 2 else int(np.sort(np.bincount(self.codes))[-2:].sum())

    def problems(self, rows):
        model = self.task.model
        return SmallPairs(
            rows,
            self.codes,
            len(model.classes_),
            self.costs,
            C=float(model.C),
            fit_intercept=bool(model.fit_intercept),
            tol=float(model.tol),
        )

    def folding(self, pairs):
        return 0.0

    def solutions(self, pairs):
        """Return solutions with the intercepts only, since `KernelTask.stored` takes weights, not coefficients.

        Computing weights costs a tenth of a fit. So none are returned if the rounding of <w, centre> is negligible even
        for the largest possible |w|, that with alpha/2 |w|^2 = objective.
        """
        centre = self.task.model.centre_
        if centre is None:
            return None
        C, objective = self.task.model.C, pairs.objective
        shift = math.sqrt(2.0 * C * len(self.codes) * objective.max() * (centre @ centre))
        rounding = rounding_of(None, None, shift, np.abs(pairs.intercept).max())
        if self.costs.max() / C * rounding <= NEGLIGIBLE * objective.min():
            return None
        return [Solution(None, intercept) for intercept in pairs.intercept.tolist()]

    def set_coef(self, pairs):
        """Set support vectors, coefficients and intercepts; pairs that were not solved have coefficients of 0."""
        task, model = self.task, self.task.model
        # With more than two classes the earlier one of a pair is positive in the layout of scikit-learn.
        sign = 1.0 if len(model.classes_) == 2 else -1.0
        columns = np.flatnonzero(pairs.dual_coef if len(pairs.dual_coef) == 1 else pairs.dual_coef.any(axis=0))
        support = columns if self.used is None else self.used[columns]
        order = np.argsort(task.codes[support], kind="stable")
        set_support(model, task.given, task.codes, support[order])
        model.dual_coef_ = np.multiply(pairs.dual_coef[:, columns[order]], sign, order="C")
        set_intercept(model, sign * pairs.intercept)


def _rows_that_count(task):
    """Return the rows of positive weight, their classes, the bounds of their coefficients and their indices (None:
    all)."""
    X, codes, weights = task.X, task.codes, task.weights
    if weights is None:
        return X, codes, np.full(len(codes), float(task.model.C)), None
    used = np.flatnonzero(weights > 0)
    if len(used) == len(codes):
        return X, codes, task.model.C * weights, None
    X = X[np.ix_(used, used)] if is_precomputed(task.model.kernel) else X[used]
    return X, codes[used], task.model.C * weights[used], used

"""Folds of a kernel regression by SMO, all on the same kernel rows.

As in :mod:`kernbench.estimators.search.one_kernel`, of which C is 1 / (alpha n) here: to hold rows out is to fix their
coefficients at 0. With weights of mean 1 the objective of a fold, a mean over its training part, is that of all rows.
"""

from functools import cached_property

import numpy as np

from kernbench.estimators.regression.tasks import KernelRegressorTask
from kernbench.estimators.search.fold_paths import identity_of
from kernbench.estimators.search.one_kernel import OneKernel
from kernbench.estimators.search.starts import without_rows
from kernbench.estimators.search.svc_search import SVCCells
from kernbench.problems.nu_problem import kernel_problem

LARGEST_SLOPE = 4.0  # of r² at twice the largest target, as a multiple of that target


class RegressionKernel(OneKernel):
    """The cells of one kernel, whose "pairs of classes" are outputs; parameters as of `OneKernel`."""

    def __init__(self, task, sample_weight, folds, deadline):
        self.task, self.model, self.folds, self.deadline, self.loss = task, task.model, folds, deadline, task.loss
        self.rows = task.make_rows(keep=True)
        self.pairs = task.problems
        self.weights = np.ones(task.n_rows) if task.weights is None else task.weights
        self.fold_weights = []
        for fold in folds:
            own = np.zeros(task.n_rows)
            own[fold.train] = self.weights[fold.train]
            self.fold_weights.append(own / own.mean())
        self.solved = {}

    def cells(self, alphas):
        """Yield the `Cell` of each alpha, from large to small; raise `SearchEnded` where it is cut short."""
        for cell in super().cells([1.0 / (alpha * self.rows.n_rows) for alpha in alphas]):
            cell.values += [problem.offset for problem in self.task.problems]
            yield cell

    def weights_of_pair(self, pair, j=None):
        return self.weights if j is None else self.fold_weights[j]

    def problem(self, pair, weights, C):
        return kernel_problem(self.rows, pair.y, weights=weights, loss=self.loss, **self._objective(C))

    def box(self, pair, weights, C):
        lower, upper = self.problem(pair, weights, C).box()
        # Squared losses have no bounds, but their slopes at residuals of twice the largest target; starts need some.
        most = LARGEST_SLOPE * np.abs(pair.y).max() * C * weights
        return np.maximum(lower, -most), np.minimum(upper, most)

    def _nearest(self, starts, full, y, boxes):
        # The solution for all rows is nearer than that of the fold for another alpha (measured for factors of 10: a
        # fifth fewer steps). Coefficients move towards 0 only: those of 0 lie inside their boxes, and all rows would be
        # support vectors.
        lower, upper = np.minimum(full.coef, 0.0), np.maximum(full.coef, 0.0)
        boxes = [(np.maximum(lower, own[0]), np.minimum(upper, own[1])) for own in boxes]
        return without_rows(self.rows, full, y, boxes, self.model.fit_intercept)


class SharedRows(SVCCells):
    """The cells along alpha; parameters as of `FoldPaths`, less those that it does not need."""

    @cached_property
    def task(self):
        return KernelRegressorTask(self.model, self.examples.X, self.examples.y, self.examples.sample_weight)

    @property
    def identity(self):
        return identity_of(self.model, self.examples, self.folds)

    @property
    def shape(self):
        return self.examples.shape

    def _make_kernel(self):
        return RegressionKernel(self.task, self.examples.sample_weight, self.folds, self.deadline)

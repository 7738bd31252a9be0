"""Cells on some of the rows, for searches that drop cells before all rows are used: stratified, nested subsamples."""

from contextlib import contextmanager
from copy import copy
from functools import cached_property

import numpy as np
from sklearn.utils import check_random_state

from kernbench._random import generator_of
from kernbench.estimators.search.cells import GridOfCells
from kernbench.estimators.search.folds import Fold
from kernbench.kernels.domain import is_precomputed


class SubsampledCells(GridOfCells):
    """The cells of a grid, some of which may be solved on subsamples of the rows."""

    @cached_property
    def tasks(self):
        """The task of each group, all of the same rows."""
        sources = [self.search._source(group, self.examples, self.folds, self.deadline) for group in self.groups]
        return [source.task for source in sources]

    @contextmanager
    def _counting_values(self, source):
        """Count the kernel values of what solves cells, also where the search ends."""
        try:
            yield
        finally:
            self.n_kernel_evaluations += source.n_kernel_evaluations

    def _trains_on_all_classes(self, rows):
        """Return whether the training part of each fold, of the rows of a subsample, has all classes."""
        return all(self._has_all_classes(fold, rows) for fold in self.folds)

    def _has_all_classes(self, fold, rows):
        used = np.intersect1d(fold.train, rows)
        if self.examples.weights is not None:
            used = used[self.examples.weights[used] > 0]
        return len(np.unique(self.examples.codes[used])) == len(self.examples.classes)


def random_order_of(random_state):
    """Return the RandomState that orders rows: for an int that of scikit-learn, whose seeds end at 2³² - 1."""
    try:
        return check_random_state(random_state)
    except ValueError:
        return np.random.RandomState(generator_of(random_state).integers(2**32, size=4))


def nested_order(strata, random):
    """Return all rows in an order of which the first ones, whatever their number, are a stratified subsample.

    Parameters
    ----------
    strata : ndarray of int, shape (n,)
        Stratum of each row, from 0.
    random : RandomState
    """
    order = random.permutation(len(strata))
    within = np.empty(len(strata))
    for stratum in range(strata.max() + 1):
        own = order[strata[order] == stratum]
        within[own] = (np.arange(len(own)) + random.uniform()) / len(own)
    return np.argsort(within, kind="stable")


def folds_on(folds, rows, n_rows):
    """Return the folds of a subsample, in places of its rows; some may hold out nothing.

    Parameters
    ----------
    folds : list of Fold
        Of all rows.
    rows : ndarray of int
        Those of the subsample, ascending.
    n_rows : int
        Of all.
    """
    place = np.full(n_rows, -1)
    place[rows] = np.arange(len(rows))
    return [Fold(*(place[part][place[part] >= 0] for part in (fold.train, fold.test))) for fold in folds]


def task_on(task, rows):
    """Return a task on some of the rows, with the same kernel."""
    own = copy(task)
    own.X = task.X[np.ix_(rows, rows)] if is_precomputed(task.model.kernel) else task.X[rows]
    own.codes = task.codes[rows]
    own.weights = None if task.weights is None else task.weights[rows]
    return own

"""The cells of few rows and many classes: a fit by itself for each fold and C, as fast as `KernelSVC` is there.

With dozens of pairs of classes a problem has few rows and is solved in microseconds, where a solver object of
:mod:`kernbench.estimators.search.one_kernel` takes a millisecond. So the folds have kernel rows of their own, computed
once for all Cs, and every fit begins at 0.
"""

from functools import cached_property
from time import perf_counter

import numpy as np

from kernbench._callbacks import silent
from kernbench.estimators.fit.solver_data import MEGABYTE
from kernbench.estimators.search.fold_paths import size_of
from kernbench.estimators.search.frame import changed
from kernbench.estimators.search.one_kernel import Cell, SearchEnded
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.estimators.svm.small_pairs import fit_small_pairs, has_small_pairs, rows_of_small_pairs
from kernbench.kernels.domain import is_precomputed

DOUBLE = 8  # bytes


class SmallFolds:
    """The folds of one kernel, of more than two classes.

    Parameters
    ----------
    task : KernelTask
        Of all rows.
    examples : Examples
    folds : list of Fold
    deadline : float
        Time of ``perf_counter`` at which the search ends.
    """

    def __init__(self, task, examples, folds, deadline):
        self.task, self.examples, self.folds, self.deadline = task, examples, folds, deadline
        self.n_kernel_evaluations = 0

    def cells(self, Cs):
        """Yield the `Cell` of each C, before the first of which a pair needs the driver; raise `SearchEnded`.

        None are yielded if the folds are not small, or too many for `cache_size`.
        """
        paths = self._paths()
        if paths is None:
            return
        n_classes = len(self.examples.classes)
        shape = len(self.examples.y), n_classes * (n_classes - 1) // 2
        for C in Cs:
            cell = Cell(np.full(shape, np.nan), seconds=np.zeros(len(self.folds)))
            for j, path in enumerate(paths):
                begin = perf_counter()
                if begin >= self.deadline:
                    raise SearchEnded("max_seconds")
                n_earlier = path.rows.n_evaluations
                is_fitted = path.fit(C)
                self.n_kernel_evaluations += path.rows.n_evaluations - n_earlier
                if not is_fitted:
                    return
                cell.seconds[j] = perf_counter() - begin
                cell.values[path.fold.test] = path.held_out_values()
            yield cell

    def _paths(self):
        """Return the path of each fold; None where these are not small, or too many for `cache_size`."""
        examples, model = self.examples, self.task.model
        n_bytes = len(self.folds) * (DOUBLE * len(examples.y) ** 2 + size_of(examples.X))
        if len(examples.classes) == 2 or n_bytes > MEGABYTE * model.cache_size:
            return None
        paths = []
        for fold in self.folds:
            paths.append(_FoldPath(self.task, examples, fold))
            if not paths[-1].is_small():
                return None
        return paths


class _FoldPath:
    """The fits to the training part of one fold."""

    def __init__(self, task, examples, fold):
        self.fold, self.X_test = fold, examples.held_out(fold)
        kernel = task.model.kernel if is_precomputed(task.model.kernel) else task.model.kernel_  # that of all rows
        self.model = changed(task.model, kernel=kernel)
        with silent():
            self.task = KernelTask(self.model, *examples.training(fold))

    @cached_property
    def rows(self):
        return rows_of_small_pairs(self.task)

    def is_small(self):
        with silent():
            return has_small_pairs(self.task)

    def fit(self, C):
        """Return whether the model was fitted."""
        self.model.C = C
        with silent():
            return fit_small_pairs(self.task, self.rows)

    def held_out_values(self):
        """Return the decision values of all pairs, of which the later class is the positive one."""
        return -self.model._pair_values(self.X_test)

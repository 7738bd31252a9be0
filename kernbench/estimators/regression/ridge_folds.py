"""Folds of a kernel ridge regression from one eigendecomposition, instead of a Cholesky factor for each fold and alpha.

Every cell is certified as the fits to its folds would be (`problems.kernel.ridge`); a fold that rounding keeps from its
tolerance is fitted by itself.
"""

from concurrent.futures import Future
from threading import Thread
from time import perf_counter

import numpy as np
import psutil

from kernbench.estimators.fit.certificate import Examined
from kernbench.estimators.fit.choice import kernel_regression_entry
from kernbench.estimators.regression.tasks import KernelRegressorTask
from kernbench.estimators.search.fold_paths import FoldPaths
from kernbench.estimators.search.frame import changed
from kernbench.estimators.search.one_kernel import Cell, SearchEnded
from kernbench.kernels.threads import single_threaded_blas
from kernbench.problems.kernel.ridge import LeftOut, Ridge

DOUBLE = 8  # bytes
MATRICES = 6  # of n² doubles: kernel values, eigenvectors, the workspace of LAPACK, the products of a batch of folds
COLUMNS = 256  # of solutions at a time
LEAST = -1e-10  # ratio of the extreme eigenvalues that rounding may cause; below, the kernel is indefinite
LOOK_SECONDS = 0.05
MARGIN = 2.0  # of a time budget, for a machine that is busy and for the first cell

# Times in multiplications of a product of matrices, measured with OpenBLAS on one core for n from 300 to 4,000.
DECOMPOSITION = 3.3  # of n³
PASSES = 120.0  # of n²: what a fit to a fold does besides its factor
A_FIT = 2.5e7  # and what it does once
ROWS = 60.0  # of n for each row that is left out, besides the products


class RidgeFolds(FoldPaths):
    """The cells of kernel ridge regressions along alpha; parameters as of `FoldPaths`."""

    def cells(self, strengths):
        """Yield the `Cell` of each alpha, as `FoldPaths` does."""
        if not is_cheaper(len(strengths), sizes_of(self.folds, self.examples)) or not self._fits_into_memory():
            yield from super().cells(strengths)
            return
        if self.deadline < np.inf and self._ends_before_decomposition(strengths[0]):
            yield from super().cells(strengths)
            return
        begin, ridge = perf_counter(), self._make_ridge()
        if ridge is None:
            yield from super().cells(strengths)
            return
        shared = (perf_counter() - begin) / (len(strengths) * len(self.folds))
        for alpha in strengths:
            cell = Cell(np.full(self.shape, np.nan), seconds=np.full(len(self.folds), shared))
            with single_threaded_blas():
                failed = self._fill(cell, alpha, ridge)
            for j in failed:
                self._solve_alone(j, alpha, cell)
            yield cell

    def _ends_before_decomposition(self, alpha):
        """Return whether too little time is left for the decomposition, by the time that a fit to a fold takes."""
        sizes, trial = (
            sizes_of(self.folds, self.examples),
            Cell(np.empty(self.shape), seconds=np.zeros(len(self.folds))),
        )
        self._solve_alone(0, alpha, trial)
        relative = DECOMPOSITION * len(self.examples.y) ** 3 / cost_of_fits(1, sizes[:1])
        return MARGIN * relative * trial.seconds[0] > self.deadline - perf_counter()

    def _fits_into_memory(self):
        n_bytes = MATRICES * DOUBLE * len(self.examples.y) ** 2
        return n_bytes <= psutil.virtual_memory().available

    def _make_ridge(self):
        """Return the `Ridge` of the rows with a weight; None where the folds do not share a kernel matrix."""
        examples = self.examples
        model = changed(self.model, verbose=0, callback=None)
        task = KernelRegressorTask(model, examples.X, examples.y, examples.sample_weight)
        if task.model.centre_ is not None:  # the columns of each fold less their means
            return None
        rows, everything = task.make_rows(), np.arange(task.n_rows)
        K = np.array(rows.block(everything, everything), dtype=np.float64)
        self.n_kernel_evaluations += K.size
        if not np.isfinite(K).all():
            return None
        examined = Examined(None, task.X, task.kernel, rows, np.dtype(rows.dtype).name, own_dual=True)
        self._unit, self._largest = examined.value_error[0], examined.largest
        self._offsets = np.array([problem.offset for problem in task.problems])
        self._y = np.column_stack([problem.y for problem in task.problems])
        self._weights = np.ones(task.n_rows) if task.weights is None else task.weights
        self._used = used = np.flatnonzero(self._weights)
        self._parts = [self._part(fold) for fold in self.folds]
        self._of_others = np.delete(K, used, axis=0)[:, used]  # rows of weight 0, which may be held out
        with single_threaded_blas():
            own = K if len(used) == len(K) else K[np.ix_(used, used)]
            try:
                ridge = Ridge(own, self._y[used], self._weights[used], decompose=_decomposed)
            except np.linalg.LinAlgError:  # LAPACK's iteration did not converge
                return None
        is_definite = ridge.least >= LEAST or (task.kernel.is_semi_definite and np.isfinite(ridge.least))
        return ridge if is_definite else None

    def _fill(self, cell, alpha, ridge):
        """Add the held-out values of all folds to a cell; return the folds without a certificate."""
        folds, parts, at_once = self.folds, self._parts, max(1, COLUMNS // self._y.shape[1])
        single = [j for j, part in enumerate(parts) if len(part.rows) == 1 == len(folds[j].test)]
        single = [j for j in single if self._used[parts[j].rows[0]] == folds[j].test[0]]
        left = set(range(len(folds)))
        if len(single) > at_once:  # else the products take less time than the bounds on what rounding does to them
            for which in self._batches(single, at_once, cell):
                values, ratios = ridge.leave_one_out([parts[j] for j in which], alpha, self._unit, self._largest)
                for j, value, ratio in zip(which, values, ratios, strict=True):
                    if np.all(ratio <= self.model.tol):
                        cell.values[folds[j].test] = value + self._offsets
                        left.remove(j)
        for which in self._batches(sorted(left), at_once, cell):
            own = [parts[j] for j in which]
            u = ridge.solve(own, alpha)
            scores, objectives, gaps = ridge.examine(own, alpha, u, self._unit, self._largest)
            for k, j in enumerate(which):
                if np.all(gaps[k] <= self.model.tol * objectives[k]):
                    self._set_values(cell, j, scores[k], ridge.roots[:, None] * u[k])
                    left.remove(j)
        return sorted(left)

    def _batches(self, which, at_once, cell):
        """Yield folds, some at a time, within the time budget; add the time that passes between to the cell."""
        for first in range(0, len(which), at_once):
            own, begin = which[first : first + at_once], perf_counter()
            if begin >= self.deadline:
                raise SearchEnded("max_seconds")
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite is not certified
                yield own
            cell.seconds[own] += (perf_counter() - begin) / len(own)

    def _set_values(self, cell, j, scores, coef):
        """Set the held-out values of a fold, given those of the rows with a weight, and their coefficients."""
        values, test = np.empty_like(self._y), self.folds[j].test
        values[self._used] = scores
        if len(self._of_others):
            values[self._weights == 0.0] = self._of_others @ coef
        cell.values[test] = values[test] + (self._parts[j].offset + self._offsets)

    def _part(self, fold):
        """Return the regression on the training part of a fold."""
        is_out = np.ones(len(self._y), dtype=bool)
        is_out[fold.train] = False
        weights = np.where(is_out, 0.0, self._weights)
        mass = float(weights.sum())
        offset = weights @ self._y / mass if self.model.fit_intercept else np.zeros(self._y.shape[1])
        return LeftOut(np.flatnonzero(is_out[self._used]), offset, mass)


def has_ridge_folds(entry, loss, folds):
    """Return whether Newton's method, in one step, is the solver of all folds; `entry` is None for ``"auto"``."""
    sizes = [len(fold.train) for fold in folds]
    return loss.name == "squared_error" and all(
        (entry or kernel_regression_entry(loss, size)).name == "newton" for size in sizes
    )


def sizes_of(folds, examples):
    """Return, for each fold, the number of all rows and that of its training part."""
    return [(len(examples.y), len(fold.train)) for fold in folds]


def is_cheaper(n_alphas, sizes, n_workers=1):
    """Return whether one decomposition is faster than a fit for each fold and alpha.

    Parameters
    ----------
    n_alphas : int
    sizes : list of (int, int)
        See `sizes_of`.
    n_workers : int, default=1
        How many folds would be fitted at a time.
    """
    n = sizes[0][0]
    systems = sum((n / 2 + m / 6) * m**2 + ROWS * n * m for m in (n - size for _, size in sizes))
    return DECOMPOSITION * n**3 + n_alphas * systems < cost_of_fits(n_alphas, sizes) / n_workers


def cost_of_fits(n_alphas, sizes):
    """Return the cost of these fits; parameters as of `is_cheaper`."""
    return n_alphas * sum(size**3 / 6 + PASSES * size**2 + A_FIT for _, size in sizes)


def _decomposed(M):
    """Return the eigenvalues and eigenvectors of M, in a thread, so that Ctrl-C need not wait for LAPACK."""
    answer = Future()

    def decompose():
        try:
            answer.set_result(np.linalg.eigh(M))
        except BaseException as error:
            answer.set_exception(error)

    # Not a daemon: Python has to wait for it before it exits, or OpenBLAS would free the memory that LAPACK works on.
    Thread(target=decompose).start()
    while True:
        try:
            return answer.result(timeout=LOOK_SECONDS)
        except TimeoutError:
            continue

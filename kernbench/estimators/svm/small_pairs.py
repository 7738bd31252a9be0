"""The fast path for a `KernelSVC` of few rows: all pairs of classes on the same kernel rows, in one compiled loop.

Data, a solver object and a run of the driver for each pair (:mod:`kernbench.estimators.fit.runs`) take a millisecond
even for a dozen rows. If nothing needs the driver, :class:`~kernbench.solvers.kernel.smo._small_pairs.SmallPairs`
solves the same problems by the same steps to the same tolerance.
"""

from collections.abc import Sequence

import numpy as np

from kernbench._callbacks import SILENT, current_report
from kernbench.estimators.fit.outcome import INTERRUPTED, NOT_STARTED
from kernbench.estimators.fit.parameters import callbacks_of
from kernbench.estimators.fit.solver_data import cache_bytes_of, make_rows
from kernbench.estimators.svm.expansion import set_intercept, set_support
from kernbench.kernels.constants import EPS
from kernbench.kernels.domain import is_precomputed
from kernbench.kernels.threads import single_threaded_blas
from kernbench.problems.certificate.certify import SMALL
from kernbench.problems.certificate.curvature import shows_negative_curvature
from kernbench.problems.certificate.extended import DOUBLE
from kernbench.problems.certificate.rounding import error_of_values
from kernbench.solvers.kernel.smo._small_pairs import SmallPairs

LISTED_TRACES = 1000  # building more of them would take longer than solving the pairs
MOST_ROWS = 2500  # of a pair: up to this size `SMO` takes it for one working set, too; a fraction of a second
MOST_SINGLE_ROWS = 1000  # ... in float32, whose rounding is too large above for the simple bound of `_is_certified`


def fit_small_pairs(task):
    """Fit the model of a `KernelTask` if its pairs are small and it needs nothing of the driver.

    Returns
    -------
    bool
        False if the model was not fitted: it is not such a task, or a pair needs more steps than usual.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the model is fitted as far as the run got.
    """
    if not _is_plain(task.model) or task.shares_data or task.model.kernel_.calls_python:
        return False
    X, codes, costs, used = _rows_that_count(task)
    n, item = len(codes), np.dtype(task.dtype).itemsize
    n_rows = n if len(task.model.classes_) == 2 else np.sort(np.bincount(codes))[-2:].sum()  # of the largest pair
    if (
        n_rows > (MOST_SINGLE_ROWS if task.dtype == "float32" else MOST_ROWS)
        or n * n * item > cache_bytes_of(task.model.cache_size, n, task.dtype)
        or not 0.0 < costs.min() <= costs.max() < np.inf
    ):
        return False
    with single_threaded_blas():
        pairs = _prepare(task, X, codes, costs)
        n_computed = pairs.kernel.n_evaluations
        try:
            solved, interrupted = pairs.run(), False
        except KeyboardInterrupt:
            solved, interrupted = True, True
    if not solved or not (interrupted or _is_certified(task, pairs, X)):
        return False
    _set_model(task, pairs, used, n_computed)
    if interrupted:
        raise KeyboardInterrupt
    return True


def _is_plain(model):
    return (
        model.solver == "smo"
        and model.loss == "hinge"
        and model.max_iter == -1
        and model.max_seconds is None
        and not (model.warm_start or model.solver_options or model.verbose or callbacks_of(model))
        and model._twin == "compiled"
        and current_report() is SILENT
    )


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


def _prepare(task, X, codes, costs):
    model = task.model
    rows = make_rows(
        X, model.kernel_, task.dtype, cache_size=model.cache_size, twin="compiled", may_widen=model.dtype == "auto"
    )
    model.dtype_ = rows.dtype.__name__
    return SmallPairs(
        rows,
        codes,
        len(model.classes_),
        costs,
        C=float(model.C),
        fit_intercept=bool(model.fit_intercept),
        tol=float(model.tol),
    )


def _is_certified(task, pairs, X):
    """Whether rounding is small for all pairs, and their objectives are at most those of f = 0; adds it to the gaps.

    A bound as in `problems.certificate.rounding`, in the norms of the whole: if it does not suffice, the driver's runs
    follow, with their certificates.
    """
    model, kernel, rows = task.model, task.model.kernel_, pairs.kernel
    if not kernel.is_semi_definite and shows_negative_curvature(
        kernel, X, np.abs(pairs.dual_coef).sum(axis=0), balanced=bool(model.fit_intercept)
    ):
        return False
    has_terms = kernel.translation_invariant and kernel.norm_factor is not None
    terms = rows.row_terms() if has_terms else None
    given = not rows.single and is_precomputed(kernel)
    unit = 0.0 if given else error_of_values(kernel, EPS[np.dtype(rows.dtype)], task.X.shape[1], terms)
    error = pairs.sensitivity * (unit + DOUBLE * pairs.n_terms)
    gap = pairs.gap + error
    within = np.minimum(model.tol * pairs.objective - gap, pairs.at_zero - pairs.objective)
    if not rows.single:
        within = np.minimum(within, SMALL * model.tol * pairs.objective - error)
    if not within.min() >= 0.0:
        return False
    pairs.gap[:] = gap
    return True


def _set_model(task, pairs, used, n_computed):
    """Set all fitted attributes; pairs that were not solved have coefficients of 0."""
    model, n_classes = task.model, len(task.model.classes_)
    # With more than two classes the earlier one of a pair is positive in the layout of scikit-learn.
    sign = 1.0 if n_classes == 2 else -1.0
    columns = np.flatnonzero(pairs.dual_coef.any(axis=0))
    support = columns if used is None else used[columns]
    order = np.argsort(task.codes[support], kind="stable")
    set_support(model, task.given, task.codes, support[order])
    model.dual_coef_ = np.multiply(pairs.dual_coef[:, columns[order]], sign, order="C")
    set_intercept(model, sign * pairs.intercept)
    _set_outcome(model, pairs, n_computed)


def _set_outcome(model, pairs, n_computed):
    """Set the attributes that `set_outcome` sets after runs of the driver; `n_computed` kernel values preceded them."""
    n_pairs, n_done = len(pairs.intercept), pairs.n_done
    n_evaluations = model.n_kernel_evaluations_ = pairs.kernel.n_evaluations
    status = ["converged"] * n_done
    if n_done < n_pairs:
        status += [INTERRUPTED] + [NOT_STARTED] * (n_pairs - n_done - 1)
    trace = Traces(pairs.n_iter, pairs.seconds, pairs.dual, [n_computed, n_evaluations])
    if n_pairs <= LISTED_TRACES:
        trace = list(trace)
    model.n_iter_ = pairs.n_iter
    model.converged_ = n_done == n_pairs
    model.fit_status_ = 0 if model.converged_ else 1
    model.objective_, model.duality_gap_ = pairs.objective, pairs.gap
    model.status_, model.trace_ = status, trace
    if n_pairs == 1:
        (model.objective_,), (model.duality_gap_,) = pairs.objective.tolist(), pairs.gap.tolist()
        (model.status_,), model.trace_ = status, trace[0]
    model._continuation = None


class Traces(Sequence):
    """The traces of all pairs, each from its start to its end; made on access, since there may be thousands."""

    def __init__(self, n_iter, seconds, objective, n_evaluations):
        self._n_iter, self._seconds, self._objective = n_iter, seconds, objective
        self._n_evaluations = n_evaluations

    def __len__(self):
        return len(self._n_iter)

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return {
            "n_iter": [0, int(self._n_iter[k])],
            "seconds": [0.0, float(self._seconds[k])],
            "n_kernel_evaluations": list(self._n_evaluations),
            "objective": [0.0, float(self._objective[k])],
        }

"""The fast path for few rows: problems solved by one compiled loop on the same kernel rows, without the driver.

Data, a solver object and a run of the driver for each problem (:mod:`kernbench.estimators.fit.runs`) take a millisecond
even for a dozen rows. If nothing needs the driver,
:class:`~kernbench.solvers.kernel.smo._small_problems.SmallProblems` solve the same problems by the same steps to the
same tolerance.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from kernbench._callbacks import SILENT, current_report
from kernbench.estimators.arguments.parameters import callbacks_of
from kernbench.estimators.fit.folding import costs_of_storing
from kernbench.estimators.fit.outcome import INTERRUPTED, NOT_STARTED
from kernbench.estimators.fit.solver_data import cache_bytes_of, make_rows
from kernbench.kernels.domain import is_precomputed
from kernbench.kernels.threads import single_threaded_blas
from kernbench.problems.certificate.certify import SMALL
from kernbench.problems.certificate.curvature import shows_negative_curvature
from kernbench.problems.certificate.kernel_values import asymmetry_of_values, error_of_values, with_subnormals

LISTED_TRACES = 1000  # building more of them would take longer than solving the problems
MOST_ROWS = 2500  # of a problem: up to this size `SMO` takes it for one working set, too; a fraction of a second
MOST_SINGLE_ROWS = 1000  # ... in float32, whose rounding is too large above for the simple bound of `_is_certified`


class SmallTask(Protocol):
    """What `fit_small` needs to know of a task.

    Attributes
    ----------
    task : Task
    X : ndarray or CSR matrix of shape (n, d)
        The rows that all problems share.
    kernel : Kernel
        Of these rows.
    balanced : bool
        Whether the sum of the coefficients is given, since an intercept is free.
    """

    task: object
    X: object
    kernel: object
    balanced: bool

    def largest(self):
        """Return how many rows the largest problem has; None if they are no `SmallProblems`, whatever their size."""

    def problems(self, rows):
        """Return the `SmallProblems` on kernel rows of X."""

    def folding(self, problems):
        """Return the bound on the change of objectives where the model is stored that gaps shall contain anyway."""

    def solutions(self, problems):
        """Return a Solution for each problem; None where norms show that their intercepts lose nothing when stored."""

    def set_coef(self, problems):
        """Set the attributes that define the model's function."""


def is_small(small):
    """Return whether the problems of a `SmallTask` are small and it needs nothing of the driver."""
    return _is_plain(small.task) and _are_few(small)


def small_rows(small):
    """Return the kernel rows of a `SmallTask`."""
    task, model = small.task, small.task.model
    return make_rows(
        small.X, small.kernel, task.dtype, cache_size=model.cache_size, twin="compiled", may_widen=model.dtype == "auto"
    )


def fit_small(small, rows=None):
    """Fit the model of a `SmallTask` if its problems are small and it needs nothing of the driver.

    Parameters
    ----------
    small : SmallTask
    rows : KernelRows, optional
        Its `small_rows`, of an earlier fit; made by default.

    Returns
    -------
    bool
        False if the model was not fitted: it is not such a task, or a problem needs more steps than usual.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the model is fitted as far as the run got.
    """
    model = small.task.model
    if not is_small(small):
        return False
    with single_threaded_blas():
        rows = small_rows(small) if rows is None else rows
        n_earlier = rows.n_evaluations
        model.dtype_ = rows.dtype.__name__
        problems = small.problems(rows)
        n_computed = rows.n_evaluations - n_earlier
        try:
            solved, interrupted = problems.run(), False
        except KeyboardInterrupt:
            solved, interrupted = True, True
            problems.gap[:] = np.nan  # rounding and the kernel are examined below, once all problems are solved
    if not solved or not (interrupted or _is_certified(small, problems)):
        return False
    small.set_coef(problems)
    if not (interrupted or _reaches_tol_as_stored(small, problems)):
        return False
    _set_outcome(model, problems, n_computed, rows.n_evaluations - n_earlier)
    if interrupted:
        raise KeyboardInterrupt
    return True


def _is_plain(task):
    model = task.model
    options = model.solver_options
    return (
        task.entry is not None
        and task.entry.name == "smo"
        and model.max_iter == -1
        and model.max_seconds is None
        and not (model.warm_start or model.verbose or callbacks_of(model))
        and (not options or options == {"shrinking": True})
        and model._twin == "compiled"
        and current_report() is SILENT
    )


def _are_few(small):
    task, n = small.task, small.X.shape[0]
    if n * n * np.dtype(task.dtype).itemsize > cache_bytes_of(task.model.cache_size, n, task.dtype):
        return False
    largest = None if small.kernel.calls_python else small.largest()
    return largest is not None and largest <= (MOST_SINGLE_ROWS if task.dtype == "float32" else MOST_ROWS)


def _is_certified(small, problems):
    """Whether rounding is small for all problems, and their objectives are at most those of f = 0; add it to the gaps.

    A bound as in `problems.certificate.rounding`, in the norms of the whole: if it does not suffice, the driver's runs
    follow, with their certificates.
    """
    kernel, rows = small.kernel, problems.kernel
    if not kernel.is_semi_definite and (
        problems.largest == 0.0  # no k(x, x) is positive, so that it bounds no value
        or shows_negative_curvature(kernel, small.X, np.abs(problems.dual_coef).sum(axis=0), balanced=small.balanced)
    ):
        return False
    has_terms = kernel.translation_invariant and kernel.norm_factor is not None
    terms = rows.row_terms() if has_terms else None
    given = not rows.single and is_precomputed(kernel)
    unit = 0.0 if given else error_of_values(kernel, rows.dtype, small.X, terms)
    unit = with_subnormals(unit, rows.dtype, problems.largest) + asymmetry_of_values(kernel, small.X)
    return problems.is_certified(unit, small.folding(problems), 1.0 if rows.single else SMALL)


def _reaches_tol_as_stored(small, problems):
    """Add the rounding of stored intercepts to the gaps, see `fit.folding`; return whether these are small enough."""
    objectives, model, solutions = problems.objective, small.task.model, small.solutions(problems)
    if solutions is None:
        return True
    counted = [small.folding(problems)] * len(objectives)
    costs = costs_of_storing(small.task, model, solutions, objectives.tolist(), counted)
    if not any(costs):
        return True
    problems.gap[:] += costs
    return bool(np.all(problems.gap <= model.tol * np.abs(objectives)))


def _set_outcome(model, problems, n_computed, n_evaluations):
    """Set the attributes that `set_outcome` sets after runs of the driver; `n_computed` kernel values preceded them."""
    n_problems, n_done = len(problems.intercept), problems.n_done
    model.n_kernel_evaluations_ = n_evaluations
    status = ["converged"] * n_done
    if n_done < n_problems:
        status += [INTERRUPTED] + [NOT_STARTED] * (n_problems - n_done - 1)
    trace = Traces(problems.n_iter, problems.seconds, problems.start, problems.dual, [n_computed, n_evaluations])
    if n_problems <= LISTED_TRACES:
        trace = list(trace)
    model.n_iter_ = problems.n_iter
    model.converged_ = n_done == n_problems
    model.fit_status_ = 0 if model.converged_ else 1
    model.objective_, model.duality_gap_ = problems.objective, problems.gap
    model.status_, model.trace_ = status, trace
    if n_problems == 1:
        (model.objective_,), (gap,) = problems.objective.tolist(), problems.gap.tolist()
        model.duality_gap_ = None if np.isnan(gap) else gap
        (model.status_,), model.trace_ = status, trace[0]
    model._continuation = None
    vars(model).pop("objective_of_sample_", None)  # of an earlier fit


class Traces(Sequence):
    """The traces of all problems, each from its start to its end; made on access, since there may be thousands."""

    def __init__(self, n_iter, seconds, start, objective, n_evaluations):
        self._n_iter, self._seconds, self._start, self._objective = n_iter, seconds, start, objective
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
            "objective": [float(self._start[k]), float(self._objective[k])],
        }

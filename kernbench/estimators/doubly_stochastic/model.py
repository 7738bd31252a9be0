"""Base of all doubly stochastic models: the fit, the state from which it continues, and outputs of new rows."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from kernbench._random import generator_of
from kernbench.estimators.arguments.kernel import kernel_of
from kernbench.estimators.arguments.parameters import callbacks_of, precision
from kernbench.estimators.base import Model
from kernbench.estimators.doubly_stochastic.parameters import (
    batch_size_of,
    block_size_of,
    check_block_size,
    check_doubly_stochastic,
    fewest_steps_of,
    full_steps_of,
    has_large_batches,
    steps_of,
    warn_of_few_rows,
    window_of,
)
from kernbench.estimators.fit.continuation import digest
from kernbench.estimators.fit.fitted_state import check_floats, check_kernel_state, require
from kernbench.estimators.fit.outcome import INTERRUPTED, drop_outcome, set_outcome
from kernbench.estimators.fit.problem import snapshot_of
from kernbench.estimators.fit.runs import run_solver, title_of
from kernbench.estimators.fit.solver import make_solver
from kernbench.features.blocks import FeatureBlocks
from kernbench.features.draws.spans import MAX_SEED
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Kernel
from kernbench.losses.output import output_loss
from kernbench.problems.linear_problem import FAR
from kernbench.problems.streaming.batches import ArrayBatches, StreamBatches
from kernbench.solvers import registry
from kernbench.solvers.base import Solution
from kernbench.validation.rows import check_rows

MEGABYTE = 2**20
ROWS_AT_ONCE = 2**16  # of a prediction
LOSS_PARAMETERS = ("delta", "epsilon", "quantile", "floor")
SHARED = (
    "n_features_in_",
    "feature_names_in_",
    "classes_",
    "class_weight_",
    "dtype_",
    "kernel_",
    "loss_",
    "points_",
    "n_samples_",
)  # set before the run, of which callbacks are given a copy


@dataclass
class Progress:
    """State from which a fit continues.

    Attributes
    ----------
    solution : Solution
    seeds : tuple of int
        Seeds of the kernel's width and of the order of the rows; that of the features is part of the solution.
    identity : tuple
        Coefficients are reusable only if this matches: columns, classes, and the parameters that define the features.
    kernel : Kernel
    key : str or None
        Identifies the rows of the last `fit`: position and cached outputs are valid only for the same rows.
    rows : tuple of (X, y), or None
        Some of the rows learned from last, for the window of a `partial_fit` of few rows; None where the solution has
        a window, and for models that do without.
    """

    solution: Solution
    seeds: tuple
    identity: tuple
    kernel: Kernel
    key: str | None = None
    rows: tuple | None = None


class DoublyStochasticModel(Model):
    """A function f(x) = sum_b z_b(x) A_b of blocks of random features: a seed, and coefficients.

    An estimator adds its parameters, ``_problem`` and the methods that users call.
    """

    # What "auto" means: block_size; step_size and schedule, without and with the preconditioner.
    _largest_block, _rows_per_feature = 256, 4  # a covariance needs some rows for each feature
    _chooses_batches = False  # whether batch_size may be "auto"
    _has_window = True  # whether steps of small batches are on a window of the latest rows
    _shortens_steps = False  # whether those of schedule="auto" get shorter after the first pass over arrays
    _n_outputs = 1  # of the fitted model
    _identity_of_file: tuple = ()  # `Progress.identity` of the parameters in the file that the model was read from
    _steps = {False: (1.0, "bounded"), True: (0.3, "published")}

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        check_doubly_stochastic(self)

    def _problem(self, n_rows):
        """Return the settings of the solver that define the objective: loss and its parameters, n_outputs, alpha."""
        raise NotImplementedError

    def _source_of(self, X, y=None, weights=None, code=None):
        """Return a function of precision, batch size and seed that makes the batches of checked rows."""

        def source_of(dtype, batch_size, seed):
            settings = {"batch_size": batch_size, "seed": seed, "shuffle": self.shuffle, "code": code}
            return ArrayBatches(as_dtype(X, dtype), y, weights, **settings)

        return source_of

    def _fit_arrays(self, X, source_of, *, weights=None, key=(), validate=None):
        """Fit to checked rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        source_of : callable
            ``source_of(dtype, batch_size, seed)`` returns the batches.
        weights : ndarray of shape (n_samples,), or None
        key : tuple
            What else identifies the state of a solver: labels, weights.
        validate : callable, optional
            A callback that adds columns to the trace.
        """
        n_rows = _n_used(X, weights)
        key = digest(X) + "".join(digest_of(part) for part in key) if self.warm_start else None

        def begun(last):
            start = replace(self._start(last, X, n_rows, weights), key=key)
            batch_size = min(batch_size_of(self, n_rows, _block_of(start)), n_rows)
            return start, source_of(np.dtype(self.dtype_), batch_size, start.seeds[1])

        last = getattr(self, "_progress", None) if self.warm_start else None
        start, source = begun(last)
        if start.solution is not None and last.key != key:
            start.solution = without_rows(start.solution)
            if self._is_far(start.solution, source, n_rows):
                start, source = begun(None)
        limit = int(self.max_iter)
        if limit == -1:
            limit = max(self._fewest_steps(n_rows), source.batches_per_pass)
        self._run(source, n_rows, start, limit, [] if validate is None else [validate])

    def _fit_batch(self, X, source_of, *, weights=None, n_rows=np.inf):
        """Learn from one batch of checked rows, of a stream of `n_rows`; see `_fit_arrays`."""
        start = self._start(self._progress_so_far(), X, n_rows, weights)
        t = 0
        if start.solution is not None:
            start.solution, t = without_place(start.solution), start.solution.n_iter
        batch_size = batch_size_of(self, np.inf, _block_of(start))
        source = source_of(np.dtype(self.dtype_), batch_size, start.seeds[1] + t)
        source.n_passes = 1
        limit = None if self.max_iter == -1 else int(self.max_iter)
        least = _n_used(X, weights) % batch_size or batch_size
        self._run(source, n_rows, start, limit, [], in_stream=True, least=least)

    def _fit_stream(self, X, weights, take, *, n_rows=np.inf, validate=None, fault=None):
        """Fit to a stream, of which X are the first rows, with their weights; ``take(count)`` returns coded examples.

        `fault`, the error that ended the reading of the first rows, is raised after these are learned from.
        """
        start = self._start(None, X, n_rows, weights)

        def checked(count):
            found = take(count)
            self._check_range(found[0])
            return found

        source = StreamBatches(
            checked, batch_size=batch_size_of(self, np.inf), n_features=X.shape[1], dtype=self.dtype_
        )
        limit = None if self.max_iter == -1 else int(self.max_iter)
        self._run(source, n_rows, start, limit, [] if validate is None else [validate], in_stream=True)
        if fault is not None:
            raise fault

    def _start(self, last, X, n_rows, weights):
        """Set precision and kernel; return the `Progress` to continue from, without a solution for a cold start."""
        identity = self._identity()
        if self._continues(last):
            self.kernel_ = last.kernel
            if self.dtype != "auto":
                self.dtype_ = self.dtype
            self._check_range(X)
            return Progress(last.solution, last.seeds, identity, last.kernel)
        rng = generator_of(self.random_state)
        seeds = tuple(int(seed) for seed in rng.integers(2**62, size=3))
        self.dtype_ = precision(self.dtype, n_rows)
        self.kernel_ = kernel_of(self, X, weights, seeds[0])
        return Progress(None, seeds, identity, self.kernel_)

    def _identity(self):
        """Return the `Progress.identity` of a fit with these parameters, to rows of these columns and classes."""
        problem = self._problem(1)
        options = {**(self.solver_options or {}), **problem}
        return (
            self.n_features_in_, tuple(getattr(self, "classes_", ())),
            repr((self.kernel, self.gamma, self.degree, self.coef0, options.get("form"), options.get("draws"))),
            tuple(sorted((k, v) for k, v in problem.items() if k in ("loss", "n_outputs", "operator"))),
        )  # fmt: skip

    def _continues(self, last):
        """Return whether a fit continues from the `Progress` of the last one; else it starts anew."""
        if last is None or last.identity != self._identity():
            return False
        _, block_size, n_outputs = last.solution.coef.shape
        return self.block_size in ("auto", block_size) and self._problem(1)["n_outputs"] == n_outputs

    def _is_far(self, solution, source, n_rows):
        """Return whether a solution is so much worse than f = 0, on the first batch, that the latter is the better
        start: steps of targets a thousand times as small would take long to remove it."""
        problem, batch = self._problem(n_rows), source.next()
        source.place = 0
        loss = output_loss(problem["loss"], **{name: problem[name] for name in LOSS_PARAMETERS if name in problem})
        features = vars(self).get("_features") or self._make_features()
        blocks = np.arange(len(solution.coef))
        outputs = features.multiply(batch.X, int(solution.state["seed"][0]), blocks, solution.coef)
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        now, at_zero = (weights @ loss.value(f, batch.y) for f in (outputs, np.zeros_like(outputs)))
        return at_zero > 0.0 and not now <= FAR * at_zero

    def _check_range(self, X):
        check_range(X, self.kernel_, self.dtype_, feature_names=getattr(self, "feature_names_in_", None))

    def _progress_so_far(self):
        """Return the state from which `partial_fit` continues; for a model read from a file, its coefficients."""
        if hasattr(self, "_progress") or not hasattr(self, "block_coef_"):
            return getattr(self, "_progress", None)
        state = {"seed": np.array([self.seed_], dtype=np.uint64)}
        if hasattr(self, "operator_coef_"):
            state["operator"] = self.operator_coef_
        solution = Solution(self.block_coef_.astype(np.float64), self._intercept(), int(self.n_iter_[0]), state)
        return Progress(solution, (0, self.seed_ % 2**62, self.seed_), self._identity_of_file, self.kernel_)

    def _fewest_steps(self, n_rows):
        """Return the smallest number of batches of a fit to arrays for ``max_iter=-1``."""
        return 0 if has_large_batches(self, n_rows) else fewest_steps_of(self, n_rows)

    def _smallest_block(self, n_rows):
        """Return the smallest number of features of a block for ``block_size="auto"``."""
        return 2

    def _intercept(self):
        return 0.0

    def _run(self, source, n_rows, start, max_iter, callbacks, in_stream=False, make=make_solver, least=None):
        """Advance the solver on a source of batches, and set the model to its solution.

        After a failure in the middle of a stream the model is that of the run so far, without an outcome, if that did a
        step and ended with finite coefficients; else it stays as it was. `make` returns the solver, as `make_solver`
        does. `least` are the rows of the smallest batch of a stream, which decide whether there is a window.
        """
        if self.batch_size == "auto":
            check_block_size(self, source.batch_size)
        step_size, schedule = steps_of(self, n_rows)
        initial = start.solution
        block_size = block_size_of(self, n_rows) if initial is None else initial.coef.shape[1]
        settings = {
            "block_size": block_size, "schedule": schedule, "step_size": step_size, "precondition": self.precondition,
            "damping": self.damping, "average": self.average, "max_blocks": self.max_blocks,
            "cache_size": self.cache_size, "random_state": start.seeds[2], "initial": initial, **self._problem(n_rows),
        }  # fmt: skip
        given = self.solver_options or {}
        if not in_stream and "t0" not in given and (t0 := full_steps_of(self, n_rows, source.batches_per_pass)):
            settings |= {"schedule": "late_inverse", "t0": t0}
        if self._has_window and "window" not in given:
            settings["window"] = window_of(self, n_rows, source.batch_size if least is None else least, block_size)
        solver = make(self, registry.get("doubly-sgd"), source, self.kernel_, settings)
        warn_of_few_rows(self, n_rows, solver)
        self.loss_ = settings["loss"]

        def snapshot(solver):
            now = snapshot_of(self, SHARED, solver)
            now._set_function(solver.solution(), solver)
            return now

        try:
            result = run_solver(
                self,
                solver,
                max_iter=max_iter,
                max_seconds=self.max_seconds,
                callbacks=[*callbacks, *callbacks_of(self)],
                snapshot=snapshot,
                title=title_of(self) if self.verbose else False,
            )
        except Exception:
            if in_stream and solver.n_iter > (0 if initial is None else initial.n_iter):
                solution = solver.solution()
                if np.isfinite(solution.coef).all():
                    with suppress(ValueError):  # of coefficients outside the range of the precision
                        self._set_function(solution, solver)
                        drop_outcome(self)
                        self._set_progress(solution, solver, start)
            raise
        self._set_function(result.solution, solver)  # if it raises, the run has no outcome
        set_outcome(self, [result])
        self._set_progress(result.solution, solver, start)
        if result.status == INTERRUPTED:
            raise KeyboardInterrupt

    def _set_progress(self, solution, solver, start):
        self.n_iter_ = np.array([solver.n_iter])
        self._progress = replace(start, solution=solution)

    def _set_function(self, solution, solver):
        """Set the attributes that define f."""
        options = {**(self.solver_options or {}), **self._problem(1)}
        self.block_coef_ = self._in_precision(solution.coef)
        self.seed_ = int(solver.seed)
        self.form_, self.draws_ = options.get("form", "auto"), options.get("draws", "iid")
        self.n_feature_values_ = int(solver.n_feature_values)
        self._features = self._make_features()

    def _in_precision(self, coef):
        """Return coefficients in the precision of the model; raise ValueError if they are outside its range.

        Outputs after the first `_n_outputs` are those of points, which may be as small as the kernel there.
        """
        with np.errstate(over="ignore"):
            rounded = coef.astype(self.dtype_)
        own, stored = (values[:, :, : self._n_outputs] for values in (coef, rounded))
        is_too_large = np.isfinite(coef).all() and not np.isfinite(rounded).all()
        if is_too_large or (own.any() and not stored.any()):
            size = "large" if is_too_large else "small"
            raise ValueError(
                f"{type(self).__name__}: the coefficients, up to {np.abs(own).max():.2g}, are too {size} for "
                f"{self.dtype_}: scale y (or the weights), or use dtype='float64'"
            )
        return rounded

    def _make_features(self, second_stream=False):
        room = int(self.cache_size * MEGABYTE)
        return FeatureBlocks(
            self.kernel_, self.block_coef_.shape[1], self.n_features_in_, form=self.form_, draws=self.draws_,
            cache_bytes=room, second_stream=second_stream,
        )  # fmt: skip

    def _outputs(self, X, reset=False):
        """Return f of new rows, shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        return self._outputs_of(check_rows(self, X, reset=reset))

    def _outputs_of(self, X):
        """Return f of checked rows."""
        self._check_range(X)
        features = vars(self).get("_features") or self._make_features()
        blocks = np.arange(len(self.block_coef_))
        out = np.zeros((X.shape[0], self.block_coef_.shape[2]))
        for start in range(0, len(out), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            out[rows] = features.multiply(as_dtype(X[rows], self.dtype_), self.seed_, blocks, self.block_coef_)
        return out

    def _check_fitted_state(self):
        """Check a model read from a file; a solver may continue from it, with other bits."""
        check_kernel_state(self)
        require(np.ndim(self.block_coef_) == 3, "block_coef_ is not an array of blocks")
        require(self.block_coef_.shape[2] == self._n_outputs, "block_coef_ has another number of outputs")
        check_floats(self, {"block_coef_": self.block_coef_.shape})
        require(0 <= self.seed_ <= MAX_SEED, "seed_ is not a valid seed")
        require(self.n_features_in_ >= 1, "n_features_in_ is not positive")
        names = getattr(self, "feature_names_in_", None)
        require(names is None or len(names) == self.n_features_in_, "feature_names_in_ has another length")
        self._features = self._make_features()
        with suppress(ValueError):  # of parameters that were set after the fit
            self._check_parameters()
            self._identity_of_file = self._identity()

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_features", None)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "block_coef_")


def as_dtype(X, dtype):
    """Return rows in a precision, dense ones C-ordered."""
    return X.astype(dtype, copy=False) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=dtype)


def _n_used(X, weights):
    """Return the number of rows that are learned from: those of weight 0 are left out."""
    return X.shape[0] if weights is None else np.count_nonzero(weights)


def _block_of(start):
    """Return the number of features of a block of the initial solution; 0 without one."""
    return 0 if start.solution is None else start.solution.coef.shape[1]


def without_place(solution):
    """Return a solution that can continue on other rows: without its position in the old ones and outputs on them."""
    state = {name: value for name, value in solution.state.items() if name not in ("place", "outputs")}
    return replace(solution, state=state)


def without_rows(solution):
    """Return a solution that can continue a fit to other rows: without the last ones of the old fit, too."""
    solution = without_place(solution)
    state = {name: value for name, value in solution.state.items() if not name.startswith("recent_")}
    return replace(solution, state=state)


def digest_of(part):
    return "" if part is None else digest(np.ascontiguousarray(part))

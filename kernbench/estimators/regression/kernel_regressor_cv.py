"""Kernel regression with alpha and gamma chosen by cross-validation: `KernelRegressorCV`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from joblib import effective_n_jobs
from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.fit.choice import kernel_regression_entry
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.fit.small_problem import fit_small_problem
from kernbench.estimators.regression.expansion import ExpansionRegressor
from kernbench.estimators.regression.kernel_regressor import KernelRegressor
from kernbench.estimators.regression.parameters import check_regression_data
from kernbench.estimators.regression.ridge_folds import RidgeFolds, has_ridge_folds, is_cheaper, sizes_of
from kernbench.estimators.regression.shared_rows import SharedRows
from kernbench.estimators.regression.tasks import KernelRegressorTask, check_kernel_regressor
from kernbench.estimators.search.folds import Examples
from kernbench.estimators.search.frame import Search, changed
from kernbench.estimators.search.held_out import HeldOutPredictions
from kernbench.estimators.search.parameters import checked_grid
from kernbench.kernels.base import Kernel
from kernbench.kernels.domain import is_precomputed


class KernelRegressorCV(Search, ExpansionRegressor):
    """`KernelRegressor` with ``alpha`` and ``gamma`` chosen by cross-validation, each fold along a path of warm starts.

    Every cell of the grid (a combination of the parameters to choose) is solved to `tol` in every fold, as in
    ``GridSearchCV(KernelRegressor(), ...)``; each fit starts from the solution of its fold for the previous alpha, with
    the kernel rows that were computed for it. With ``smo`` all folds use the same kernel rows, as in `KernelSVCCV`, and
    start from the solution for all rows; the more columns, the more time this saves. With the squared error and
    ``newton`` one eigendecomposition of the kernel matrix serves all folds and alphas, leave-one-out included. Other
    solvers fit the training part of each fold separately.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 0.01, 1e-3, 1e-4, 1e-5)
        Each > 0, without repetitions; solved from large to small.
    gammas : array-like of shape (n_gammas,), default=("scale",)
        Each as ``gamma`` of `KernelRegressor`, resolved on all rows, without repetitions. One for a kernel without
        gamma.
    kernels : list of str, Kernel or callable, default=None
        Kernels to choose from, in place of ``kernel``: each with all gammas, or once if it has no gamma; with each of
        `epsilons`.
    epsilons : array-like of shape (n_epsilons,), default=None
        Half widths to choose from, in place of ``epsilon``, each at least 0; for the two losses that have it.
    loss : str, default="squared_error"
        ``"squared_error"``, ``"huber"``, ``"epsilon_insensitive"``, ``"squared_epsilon_insensitive"``,
        ``"absolute_error"`` or ``"quantile"``, as in `KernelRegressor`; so are all parameters that are not explained
        here.
    cv : int, splitter or iterable, default=5
        Number of folds, of consecutive rows as in scikit-learn, or anything that its ``check_cv`` accepts, if it holds
        out each row at most once.
    scoring : str, callable, list, tuple, set or dict, default=None
        As in ``GridSearchCV``; None means R². Sample weights are passed to scores that accept them. Unlike that of
        ``GridSearchCV``, the method ``score`` returns R², whatever `scoring` is.
    refit : bool, str or callable, default=True
        As in `KernelSVCCV`.
    n_jobs : int, default=None
        Number of folds (or of gammas, if all folds are solved together) that are solved at the same time, in the
        workers of joblib's backend.
    memory : str or Path, default=None
        Folder for finished cells, which another search does not solve again; see `KernelSVCCV`.
    warm_start : bool, default=False
        Keep the finished cells for the next ``fit``, which solves only the new cells of an extended grid, if rows,
        targets, weights, folds and other parameters are the same. Otherwise all cells are solved again.
    max_seconds : float, default=None
        Time budget of the search in seconds. If it ends early, the best of the finished cells is taken, with a warning;
        Ctrl-C during the search has the same effect.
    cache_size : float, default=500
        Memory for kernel rows in megabytes (2²⁰ bytes): with ``smo`` for all folds together, otherwise for each.
    callback : callable or list of callables, default=None
        Called during the last fit, the one to all rows; see `KernelSVC`.
    verbose : int, default=0
        Whether to show a progress bar over the cells.
    kernel, degree, coef0, delta, epsilon, quantile, solver, tol : see `KernelRegressor`
    max_iter, fit_intercept, dtype, random_state, solver_options : see `KernelRegressor`

    Attributes
    ----------
    best_params_ : dict
        ``alpha`` and ``gamma`` of the best mean score, of equal ones the first in ``cv_results_``. Where there are
        `epsilons`, also ``epsilon``; where there are `kernels`, also ``kernel``, and ``gamma`` only if the kernel
        depends on it.
    best_score_ : float
    best_index_ : int
    cv_results_ : dict of arrays
        As in ``GridSearchCV``.
    oof_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Out-of-fold predictions of the best cell: each row's from the fold that held it out; NaN for rows that no fold
        held out.
    n_splits_ : int
    multimetric_ : bool
    refit_time_ : float
        Seconds of the last fit.
    estimator_ : KernelRegressor
        The best cell fitted to all rows; shares its arrays with this model.
    n_kernel_evaluations_ : int
        Values k(x, z) that the solvers computed in the whole search.

    All other attributes are those of `KernelRegressor`, fitted to all rows with ``best_params_``.

    See Also
    --------
    KernelRegressor : For given parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import KernelRegressorCV
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(200, 1))
    >>> model = KernelRegressorCV(gammas=[0.1, 1.0]).fit(X, np.sin(2 * X[:, 0]))
    >>> len(model.cv_results_["mean_test_score"])
    10
    >>> print(model.best_score_ > 0.99)
    True
    """

    _estimator, _grid = (
        KernelRegressor,
        {"alphas": "alpha", "epsilons": "epsilon", "gammas": "gamma", "kernels": "kernel"},
    )
    _make_task, _ascending = KernelRegressorTask, False
    _score_name, _oof_name = "R²", "oof_prediction_"
    _without_probabilities = "a regressor does not have: choose a score of predictions, such as 'r2'"

    def __init__(
        self,
        alphas: ArrayLike = (0.1, 0.01, 1e-3, 1e-4, 1e-5),
        gammas: ArrayLike = ("scale",),
        *,
        loss: str = "squared_error",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        kernels: Sequence[str | Kernel | Callable[..., Any]] | None = None,
        epsilons: ArrayLike | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        n_jobs: int | None = None,
        memory: str | Path | None = None,
        warm_start: bool = False,
        delta: float = 1.0,
        epsilon: float = 0.1,
        quantile: float = 0.5,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        max_seconds: float | None = None,
        fit_intercept: bool = True,
        cache_size: float = 500,
        dtype: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.alphas = alphas
        self.gammas = gammas
        self.loss = loss
        self.kernel = kernel
        self.kernels = kernels
        self.epsilons = epsilons
        self.degree = degree
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.memory = memory
        self.warm_start = warm_start
        self.delta = delta
        self.epsilon = epsilon
        self.quantile = quantile
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.cache_size = cache_size
        self.dtype = dtype
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def fit(
        self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose alpha and gamma by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `KernelRegressor.fit`.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters such as ``GroupKFold``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `KernelRegressor.fit`; for folds that hold rows out twice; where `max_seconds` ends before the first
            cell.
        KeyboardInterrupt
            After Ctrl-C before the first cell is finished, or during the last fit; the model is then fitted as far as
            that got.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the search ended early, or fits did not reach `tol`.
        """
        return self._search(X, y, sample_weight, groups)

    def _check_own(self):
        if self.epsilons is not None and "epsilon_insensitive" not in str(self.loss):
            raise ValueError(f"loss={self.loss!r} does not depend on epsilon: pass epsilons=None")

    def _read(self, X, y, sample_weight):
        model = self._model({"alpha": self._first_strength(), **checked_grid(self)[1][0]})
        X, y, _ = check_regression_data(model, X, y, sample_weight, kernel=model.kernel, several=True)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        return Examples(X, y, weights, weights=weights, is_precomputed=is_precomputed(self.kernel))

    def _solves_all_folds(self, examples):
        """Return whether the solver is SMO, for which the folds are problems on the same kernel rows."""
        entry, loss = check_kernel_regressor(self._model({}))
        return (entry or kernel_regression_entry(loss, len(examples.y))).name == "smo"

    def _parts(self, examples, folds):
        if self._solves_all_folds(examples) or self._shares_decomposition(examples, folds):
            return [list(range(len(folds)))]
        return super()._parts(examples, folds)

    def _shares_decomposition(self, examples, folds):
        """Return whether one worker solves all folds of a kernel ridge regression from one decomposition."""
        if not has_ridge_folds(*check_kernel_regressor(self._model({})), folds):
            return False
        strengths, groups = checked_grid(self)
        n_workers = min(len(folds), max(1, effective_n_jobs(self.n_jobs) // len(groups)))
        return is_cheaper(len(strengths), sizes_of(folds, examples), n_workers)

    def _source(self, group, examples, folds, deadline, part=None):
        model = self._on_all_rows(self._model({"alpha": self._first_strength(), **group}), examples)
        if self._solves_all_folds(examples):
            return SharedRows(model, examples, folds, deadline)
        has_all = part is None or len(part) == len(folds)
        if has_all and has_ridge_folds(*check_kernel_regressor(model), folds):
            return RidgeFolds(self, model, examples, folds, deadline, part)
        return super()._source(group, examples, folds, deadline, part)

    def _fit_best(self, model, cells, X, y, sample_weight):
        if not cells.best.solutions:
            super()._fit_best(model, cells, X, y, sample_weight)
            return
        task = KernelRegressorTask(model, X, y, sample_weight)
        task.last = replace(task.last, solutions=cells.best.solutions, key=task.key)
        fit_task(task, [model])

    def _on_all_rows(self, model, examples):
        if not isinstance(model.kernel, str) or is_precomputed(model.kernel):
            return model
        own = KernelRegressorTask(model, examples.X, examples.y, examples.sample_weight).model
        return changed(model, kernel=own.kernel_)

    def _decisions(self, model, X):
        return model.predict(X)

    def _held_out(self, values, examples):
        return HeldOutPredictions.of(values[:, 0] if examples.y.ndim == 1 else values)

    def _fit_all(self, model, X, y, sample_weight):
        task = KernelRegressorTask(model, X, y, sample_weight)
        if not fit_small_problem(task):
            fit_task(task, [model])

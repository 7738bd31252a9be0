"""The support vector classifier with C and kernel chosen by cross-validation: `KernelSVCCV`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernbench._callbacks import current_report
from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.search.cells import GridOfCells
from kernbench.estimators.search.certificate import covered_range
from kernbench.estimators.search.folds import checked_folds
from kernbench.estimators.search.held_out import checked_scoring
from kernbench.estimators.search.parameters import check_memory, checked_grid
from kernbench.estimators.search.race import Race
from kernbench.estimators.search.results import index_chosen, results_of
from kernbench.estimators.search.search_result import SearchResult
from kernbench.estimators.svm.expansion import ExpansionClassifier
from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.kernels.base import Kernel
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_flag, check_number

SHARED = frozenset(KernelSVC._get_param_names())


class KernelSVCCV(SearchResult, ExpansionClassifier):
    """`KernelSVC` with ``C`` and ``gamma`` chosen by cross-validation, all folds on the same kernel rows.

    Every cell of the grid is solved to `tol`, as in ``GridSearchCV(KernelSVC(), ...)``; the
    problem of a fold is that of all rows with the coefficients of the held-out rows fixed at 0. So all folds and Cs use
    the kernel rows that were computed once (as far as ``cache_size`` holds them), each fold starts from the solution
    for all rows or from its own for the C before, and the gradient holds the scores of held-out rows, so that nothing
    is predicted.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,), default=(0.1, 1.0, 10.0, 100.0)
        Each > 0, without repetitions; solved from small to large.
    gammas : array-like of shape (n_gammas,), default=("scale",)
        Each as ``gamma`` of `KernelSVC`, resolved on all rows, without repetitions. One for a kernel without gamma.
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`, like all parameters that are not explained here.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, or anything that scikit-learn's ``check_cv`` accepts, if it holds out each row at
        most once.
    scoring : str, callable, list, tuple, set or dict, default=None
        As in ``GridSearchCV``; None means accuracy. Scores of probabilities, such as ``"neg_brier_score"``, need
        `calibration`. Weights of examples do not enter them.
    refit : bool, str or callable, default=True
        As in ``GridSearchCV``: whether to fit the model to all rows with the best parameters; with several scores the
        name of the one that decides, or False; or a function that returns the index of the cell to take, given
        ``cv_results_``.
    search : {"exact", "race"}, default="exact"
        ``"race"`` drops a cell, with its further folds, once it is worse than the best one in a paired test of the
        losses of held-out rows, and a gamma all of whose cells are worse on a subsample. The others are solved as by
        ``"exact"``. Only for accuracy. ``cv_results_`` then has ``dropped_after``, such as "fold 3",
        ``dropped_p_value`` and ``dropped_against``, the index of the better cell.
    risk : float, default=0.05
        Of a race: largest probability that the cell with the smallest expected error is dropped, if held-out rows are
        independent; > 0 and < 1.
    certify : float, default=None
        Width, > 0, of intervals of the mean accuracy that hold for the exact minimisers of all folds, not only up to
        `tol`: ``certified_lower`` and ``certified_upper`` in ``cv_results_``, for each cell within one standard error
        of the best. These are solved again in float64, to smaller tolerances until the interval is so narrow (or until
        1e-10). Only for accuracy.
    calibration : {"sigmoid", "isotonic"}, default=None
        Fit a calibration as ``CalibratedClassifierCV`` does, to the out-of-fold decision values, so that there is
        ``predict_proba``. Scores of probabilities are computed from calibrations fitted to the other folds.
    n_jobs : int, default=None
        Number of gammas of an exact search that are solved at a time, in the workers of joblib's backend. A race
        solves one after the other.
    memory : str or Path, default=None
        Folder of finished cells of exact searches. Those that are in it are not solved again: a search that was killed
        continues, and a grid may grow. A cell is found again if rows, labels, weights, folds, kernel, parameters and
        the version of kernbench are the same.
    store_oof_decisions : bool, default=False
        Whether to keep the out-of-fold decision values of all cells, not of the best one alone: ``oof_decisions_``.
    cache_size : float, default=500
        Megabytes of kernel rows. The search is cheapest if it holds all of them: 4 n² bytes in float32.
    max_seconds : float, default=None
        Budget of the search. Where it ends early, the best of the finished cells is taken, with a warning; Ctrl-C
        during the search does the same. Cells that were not finished have the score NaN.
    callback : callable or list of callables, default=None
        Called during the last fit.
    verbose : int, default=0
        Whether to show a progress bar over the cells.
    degree, coef0, fit_intercept, tol, max_iter, class_weight : see `KernelSVC`
        The class weight ``"balanced"`` is that of the training part of each fold.
    decision_function_shape, break_ties, dtype, random_state : see `KernelSVC`

    Attributes
    ----------
    best_params_ : dict
        ``C`` and ``gamma`` of the best mean score; of equal ones the first in ``cv_results_``.
    best_score_ : float
    best_index_ : int
    cv_results_ : dict of arrays
        As in ``GridSearchCV``: ``pandas.DataFrame(model.cv_results_)`` is a table of the cells. ``mean_fit_time`` is
        that of a fold, without the fit to all rows that the folds share.
    oof_decision_ : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
        Decision values of the best cell, each row's from the fold that held it out; NaN for rows that none held out.
    oof_decisions_ : ndarray of shape (n_cells, ...)
        With `store_oof_decisions`: those of each cell, in the order of ``cv_results_``; NaN for cells not finished.
    calibration_ : dict
        With `calibration`: its ``method`` and numbers, which ``predict_proba`` evaluates.
    n_splits_ : int
    multimetric_ : bool
        Whether there are several scores; columns of ``cv_results_`` are named after them then.
    refit_time_ : float
        Seconds of the last fit, which starts from the solution of the search.
    estimator_ : KernelSVC
        The best cell fitted to all rows; shares its arrays with this model.
    n_iter_ : ndarray of shape (n_pairs,)
        Iterations of the fit to all rows with the best parameters: in the search, or in the last fit, which starts from
        there, if those are more.
    n_kernel_evaluations_ : int
        Values k(x, z) computed in the whole search.

    All other attributes are those of `KernelSVC`, fitted to all rows with ``best_params_``.

    See Also
    --------
    KernelSVC : For given parameters.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernbench import KernelSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelSVCCV(Cs=[0.1, 1, 10], gammas=[0.003, 0.03]).fit(scale(X), y)
    >>> len(model.cv_results_["mean_test_score"])
    6
    >>> print(model.best_score_ > 0.95)
    True
    """

    loss, solver, multi_class = "hinge", "smo", "ovo"  # of all fits

    def __init__(
        self,
        Cs: ArrayLike = (0.1, 1.0, 10.0, 100.0),
        gammas: ArrayLike = ("scale",),
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        search: str = "exact",
        risk: float = 0.05,
        certify: float | None = None,
        calibration: str | None = None,
        n_jobs: int | None = None,
        memory: str | Path | None = None,
        store_oof_decisions: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        cache_size: float = 500,
        class_weight: dict[Any, Any] | str | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        dtype: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.search = search
        self.risk = risk
        self.certify = certify
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.memory = memory
        self.store_oof_decisions = store_oof_decisions
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.dtype = dtype
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(
        self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose C and gamma by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `KernelSVC.fit`.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters such as ``GroupKFold``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `KernelSVC.fit`; for folds without a class or that hold rows out twice; for a score that needs
            probabilities; where the folds do not fit into memory, or `max_seconds` ends before the first cell.
        KeyboardInterrupt
            After Ctrl-C before the first cell is finished, or during the last fit.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the search ended early, or fits did not reach `tol`.
        """
        Cs, gammas = checked_grid(self)
        task = KernelTask(self._model(Cs[0], gammas[0]), X, y, sample_weight)
        first, labels = task.model, task.model.classes_[task.codes]
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, task.given)
        folds = checked_folds(self.cv, task.given, labels, task.codes, first.classes_, task.weights, groups)
        n_pairs = len(first.classes_) * (len(first.classes_) - 1) // 2
        check_memory(len(labels), len(folds), n_pairs)
        scoring = checked_scoring(self, folds, labels, first.classes_)
        kind = Race if self.search == "race" else GridOfCells
        search = kind(self, task, sample_weight, folds, scoring, (X, y))
        n_cells, report = len(Cs) * len(gammas), current_report()
        report.begin(n_cells + bool(self.refit), in_order=False)
        search.run(Cs, gammas)
        search.check_finished()
        table = results_of(search.cells, len(folds), scoring.names, self.search == "race", self.certify is not None)
        if callable(self.refit):
            search.choose(index_chosen(self.refit, table))
        begin = perf_counter()
        model = None
        if self.refit:
            with report.part(n_cells, "refit"):
                model = self._refitted(search, X, y, sample_weight)
        self._take(model, search)
        self.cv_results_, self.n_splits_, self.multimetric_ = table, len(folds), scoring.names != ("score",)
        if model is not None:
            self.refit_time_ = perf_counter() - begin
        search.warn()
        return self

    def covered_C(
        self,
        X: Rows,
        y: ArrayLike,
        low: float,
        high: float,
        *,
        gain: float = 0.01,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
        max_seconds: float | None = None,
    ) -> float:
        """Return the C up to which, from `low`, no C has a mean accuracy above ``best_score_`` by more than `gain`.

        That holds for the exact minimisers of all folds for every C in between, at the best gamma, and not only for
        those of a grid. The folds are solved in float64 for one C after the other, as close to each other as the bound
        requires: the smaller `gain`, the more.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`; ``cv`` must make the same folds again.
        low, high : float
            Range of C, 0 < low < high.
        gain : float, default=0.01
            Share of rows, > 0.
        max_seconds : float, default=None
            Time after which what was covered so far is returned.

        Returns
        -------
        float
            `high` if the whole range is covered, `low` if nothing of it.
        """
        self._check_is_fitted()
        check_number("low", low, above=0)
        check_number("high", high, above=low)
        check_number("gain", gain, above=0)
        if self.scoring not in (None, "accuracy"):
            raise ValueError(f"covered_C bounds the accuracy, not scoring={self.scoring!r}")
        task = KernelTask(self._model(low, self.best_params_["gamma"]), X, y, sample_weight)
        labels = task.model.classes_[task.codes]
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, task.given)
        folds = checked_folds(self.cv, task.given, labels, task.codes, task.model.classes_, task.weights, groups)
        deadline = np.inf if max_seconds is None else perf_counter() + check_number("max_seconds", max_seconds, above=0)
        return float(covered_range(task, sample_weight, folds, low, high, self.best_score_ + gain, deadline)[0])

    def _refitted(self, search, X, y, sample_weight):
        """Return the best cell fitted to all rows."""
        C, gamma, solutions, _ = search.best
        model = self._model(C, gamma)
        task = KernelTask(model, X, y, sample_weight)
        if solutions:  # else a race ended before, or a function chose the cell
            task.last = replace(task.last, solutions=_of_pairs(task, solutions), key=task.key)
        fit_task(task, [model])
        return model

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        checked_grid(self)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("store_oof_decisions", self.store_oof_decisions)

    def _model(self, C, gamma):
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name in SHARED}
        model = KernelSVC(C=C, gamma=gamma, **{**parameters, "max_seconds": None, "n_jobs": None})
        model._twin = self._twin
        return model


def _of_pairs(task, solutions):
    """Return solutions over all rows as those of the problems of `task`, which have the rows of their classes only."""
    result = []
    for problem, solution in zip(task.problems, solutions, strict=True):
        own = problem.pair.of_rows
        state = {"products": own(solution.state["products"])}
        result.append(Solution(own(solution.coef), solution.intercept, state=state))
    return result

"""The support vector classifier with C and kernel chosen by cross-validation: `KernelSVCCV`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.search.certificate import covered_range
from kernbench.estimators.search.folds import checked_folds
from kernbench.estimators.search.svc_search import SVCSearch
from kernbench.estimators.svm.expansion import ExpansionClassifier
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.kernels.base import Kernel
from kernbench.validation.numbers import check_number


class KernelSVCCV(SVCSearch, ExpansionClassifier):
    """`KernelSVC` with ``C``, ``gamma`` and kernel chosen by cross-validation, all folds on the same kernel rows.

    Every cell of the grid (a combination of the parameters to choose) is solved to `tol` in every fold, as in
    ``GridSearchCV(KernelSVC(), ...)``. The problem of a fold is that of all rows with the coefficients of the held-out
    rows fixed at 0. So all folds and all values of C use the same kernel rows, which are computed once if they fit into
    ``cache_size``; each fold starts from the solution for all rows or from its own solution for the previous C; and the
    gradient contains the scores of the held-out rows, so that nothing needs to be predicted. With few rows and more
    than two classes, folds are fitted separately, as `KernelSVC` fits them, if this is faster.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,), default=(0.1, 1.0, 10.0, 100.0)
        Each > 0, without repetitions; solved from small to large.
    gammas : array-like of shape (n_gammas,), default=("scale",)
        Each as ``gamma`` of `KernelSVC`, resolved on all rows, without repetitions. One for a kernel without gamma.
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`, like all parameters that are not explained here.
    kernels : list of str, Kernel or callable, default=None
        Kernels to choose from, in place of `kernel`: each with all gammas, or once if it has no gamma. They share
        ``degree`` and ``coef0``; for others pass objects of ``kernbench.kernels``.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, or anything that scikit-learn's ``check_cv`` accepts, provided that it holds out
        each row at most once. With ``LeaveOneOut`` (without balanced class weights, and with ``max_iter=-1``) only the
        folds that hold out a support vector are solved, since the others have the solution for all rows; with two
        classes, accuracy as the score and ``search="exact"``, they are solved only until the sign of the held-out
        decision value is certain, if the kernel is positive semi-definite. At the end, the decision values of the best
        cell are solved to `tol`.
    scoring : str, callable, list, tuple, set or dict, default=None
        As in ``GridSearchCV``; None means accuracy. Scores of probabilities, such as ``"neg_brier_score"``, need
        `calibration`. Sample weights are passed to scores that accept them, as in ``GridSearchCV`` of scikit-learn 1.9.
        A function ``score(model, X, y)`` is given the held-out rows, and can ask `model` only for the predictions of
        all of them. Unlike that of ``GridSearchCV``, the method ``score`` returns the accuracy, whatever `scoring` is.
    refit : bool, str or callable, default=True
        As in ``GridSearchCV``: whether to fit the model to all rows with the best parameters; with several scores the
        name of the score that decides, or False; or a function of ``cv_results_`` that returns the index of the cell to
        take.
    search : {"exact", "race", "halving"}, default="exact"
        ``"exact"`` solves all cells in all folds.

        ``"race"``, for accuracy only and rows of equal weight (or weight 0), drops a cell as soon as it is
        significantly worse than the best one, in a paired test of the losses of held-out rows, and before that a gamma
        all of whose cells are worse on a subsample. Other cells are solved as by ``"exact"``. ``cv_results_`` then has
        the columns ``dropped_after``, such as "fold 3", ``dropped_p_value`` and ``dropped_against``, the index of the
        better cell.

        ``"halving"``, for any single score, takes less time but does not bound the risk of dropping the best cell, like
        scikit-learn's ``HalvingGridSearchCV``: all cells are solved on few rows, the best of each round on more rows,
        and those of the last round, at most `factor`, on all rows, as by ``"exact"``. ``cv_results_`` then has the
        columns ``dropped_after``, such as "1111 rows", ``dropped_score``, the mean score in that round, and
        ``dropped_against``, the index of the best cell of that round. A round has at least 500 rows, and about two rows
        of each class in each held-out part, so that with few rows few cells are dropped, or none. Of cells with equal
        scores those with the larger area under the ROC curve stay.
    risk : float, default=0.05
        For ``search="race"``: largest probability of dropping the cell with the smallest expected error, if held-out
        rows are independent; > 0 and < 1. Where a subsample comes first (from 4,000 rows on, with several kernels or
        gammas), the errors there are those of models trained on an eighth of the rows, among which another cell may be
        the best.
    factor : float, default=3
        For ``search="halving"``: a round has `factor` times more rows than the previous one, and `factor` times fewer
        cells; > 1.
    certify : float, default=None
        Width, > 0, of intervals for the mean accuracy of the exact minimisers of all folds (not only of solutions to
        `tol`): ``certified_lower`` and ``certified_upper`` in ``cv_results_``, for each cell within one standard error
        of the best. These cells are solved again in float64, to smaller and smaller tolerances, until the interval is
        as narrow as `certify` (or down to 1e-10). Only for accuracy. With a kernel that is not positive semi-definite,
        as many a sigmoid, nothing is bounded: the ends are NaN, with a warning.
    calibration : {"sigmoid", "isotonic"}, default=None
        Fit a calibration to the out-of-fold decision values, as ``CalibratedClassifierCV`` does; the model then has
        ``predict_proba``. Scores of probabilities are computed from calibrations fitted to the other folds.
    n_jobs : int, default=None
        Number of gammas that are solved at the same time, in the workers of joblib's backend, in an exact search and in
        the last round of halving. Otherwise they are solved one after the other.
    memory : str or Path, default=None
        Folder for the finished cells of exact searches and of the last round of halving. Cells that are in it are not
        solved again: a search that was killed continues, and a grid may be extended. A cell is reused if rows, labels,
        weights, folds, kernel, parameters and the version of kernbench are the same.
    warm_start : bool, default=False
        Keep the finished cells for the next ``fit``, which solves only the new cells of an extended grid, if rows,
        labels, weights, folds and other parameters are the same. Otherwise all cells are solved again.
    store_oof_decisions : bool, default=False
        Whether to keep the out-of-fold decision values of all cells, ``oof_decisions_``, not only those of the best.
    cache_size : float, default=500
        Memory for kernel rows in megabytes (2²⁰ bytes). The search is fastest if all kernel rows fit: 4 n² bytes in
        float32.
    max_seconds : float, default=None
        Time budget of the search in seconds. If it ends early, the best of the finished cells is taken, with a warning;
        Ctrl-C during the search has the same effect. Cells that were not finished have the score NaN.
    callback : callable or list of callables, default=None
        Called during the last fit, the one to all rows; see `KernelSVC`.
    verbose : int, default=0
        Whether to show a progress bar over the cells.
    degree, coef0, fit_intercept, tol, max_iter, class_weight : see `KernelSVC`
        The class weight ``"balanced"`` is that of the training part of each fold.
    decision_function_shape, break_ties, dtype, random_state : see `KernelSVC`

    Attributes
    ----------
    best_params_ : dict
        ``C`` and ``gamma`` of the best mean score, of equal ones the first in ``cv_results_``. Where there are
        `kernels`, also ``kernel``, and ``gamma`` only if the kernel depends on it.
    best_score_ : float
    best_index_ : int
    cv_results_ : dict of arrays
        As in ``GridSearchCV``: ``pandas.DataFrame(model.cv_results_)`` is a table of the cells. ``mean_fit_time`` is
        that of a fold, without the fit to all rows that the folds share.
    oof_decision_ : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
        Out-of-fold decision values of the best cell: each row's from the fold that held it out; NaN for rows that no
        fold held out.
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
        Iterations of the fit to all rows with the best parameters: those in the search or those in the last fit, which
        starts from the solution of the search, whichever are more.
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
        kernels: Sequence[str | Kernel | Callable[..., Any]] | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        search: str = "exact",
        risk: float = 0.05,
        factor: float = 3,
        certify: float | None = None,
        calibration: str | None = None,
        n_jobs: int | None = None,
        memory: str | Path | None = None,
        warm_start: bool = False,
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
        self.kernels = kernels
        self.degree = degree
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.search = search
        self.risk = risk
        self.factor = factor
        self.certify = certify
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.memory = memory
        self.warm_start = warm_start
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
            As for `KernelSVC.fit`, but a class whose examples all have weight 0 is refused, not left out.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters such as ``GroupKFold``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `KernelSVC.fit`; for a class without weight; for folds without a class or that hold rows out twice; for a
            score that needs probabilities; where the folds do not fit into memory, or `max_seconds` ends before the
            first cell.
        KeyboardInterrupt
            After Ctrl-C before the first cell is finished, or during the last fit; the model is then fitted as far as
            that got.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the search ended early, or fits did not reach `tol`.
        UserWarning
            If `certify` bounds nothing, since a kernel is not positive semi-definite.
        """
        return self._search(X, y, sample_weight, groups)

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

        This holds for the exact minimisers of all folds, at the best gamma, and for every C in the range, not only for
        those of a grid. The folds are solved in float64 for one C after the other, as close to each other as the bound
        requires; a smaller `gain` requires more of them.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`; ``cv`` must make the same folds again.
        low, high : float
            Range of C, 0 < low < high.
        gain : float, default=0.01
            Share of rows, > 0.
        max_seconds : float, default=None
            Time budget in seconds; when it is used up, the C reached so far is returned.

        Returns
        -------
        float
            `high` if the whole range is covered, `low` if nothing of it.

        Raises
        ------
        ValueError
            For rows or labels that cannot be those of `fit`, for searches of other scores than the accuracy, and for a
            kernel that is not positive semi-definite.
        KeyboardInterrupt
            After Ctrl-C, with nothing returned.
        """
        self._check_is_fitted()
        check_number("low", low, above=0)
        check_number("high", high, above=low)
        check_number("gain", gain, above=0)
        if self.scoring not in (None, "accuracy"):
            raise ValueError(f"covered_C bounds the accuracy, not scoring={self.scoring!r}")
        examples, shape = self._read(X, y, sample_weight), (len(self.oof_decision_), self.n_features_in_)
        if examples.X.shape != shape or not np.array_equal(examples.classes, self.classes_):
            raise ValueError(
                f"X of shape {examples.X.shape} and the classes {examples.classes.tolist()} are not those of fit, of "
                f"shape {shape} and with the classes {self.classes_.tolist()}: pass the same rows and labels again"
            )
        folds = checked_folds(self.cv, X, examples, groups, "KernelSVC")
        params = {**self.best_params_, "C": low}
        if params.get("gamma") == "median" and self.refit:
            params["kernel"] = self.kernel_  # its rows were drawn by the fit, perhaps without a seed
        model = self._model(params)
        task = KernelTask(model, examples.X, examples.y, examples.sample_weight)
        deadline = np.inf if max_seconds is None else perf_counter() + check_number("max_seconds", max_seconds, above=0)
        most = self.cv_results_["mean_test_score"][self.best_index_] + gain  # a function refit leaves no best_score_
        return float(covered_range(task, examples.sample_weight, folds, low, high, most, deadline)[0])

"""The classifier that ranks, with regularisation chosen by cross-validation: `ROCSVCCV`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.roc.ranking_search import RankingSearch
from kernbench.estimators.roc.roc_svc import ROCSVC, fit_models
from kernbench.estimators.roc.roc_task import ROC
from kernbench.estimators.roc.scores import RankingClassifier
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.estimators.search.results import OF_SEARCH
from kernbench.kernels.base import Kernel
from kernbench.metrics import roc_auc
from kernbench.validation.numbers import check_name

ALPHAS = tuple(10.0 ** (k / 2) for k in range(2, -9, -1))  # 10 to 1e-4
SELECTIONS = ("best", "1se")
OF_CURVE = ("alpha_", "alphas_", "auc_path_", "mean_auc_", "standard_error_")


class ROCSVCCV(RankingSearch, RankingClassifier):
    """`ROCSVC` with ``alpha`` chosen by the mean AUC of stratified cross-validation.

    In each fold, one feature map is fitted to the training part, the models for all alphas are fitted from large to
    small, each starting from the previous solution, and scored on the validation part. Then a model with the best alpha
    is fitted to all rows.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        As in `ROCSVC`, like all parameters that are not explained here.
    alphas : array-like of shape (n_alphas,), default=None
        Each > 0; None means 10, 10^0.5, …, 10^-4.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, or anything that scikit-learn's ``check_cv`` accepts, if it holds out each row at
        most once. Indices are those of the rows given to `fit`, among them rows of weight 0.
    scoring : str, callable, list, tuple, set or dict, default=None
        As in ``GridSearchCV``; None means the AUC. Sample weights are passed to scores that accept them. Unlike that of
        ``GridSearchCV``, the method ``score`` returns the accuracy at the threshold, whatever `scoring` is.
    refit : bool, str or callable, default=True
        As in `KernelSVCCV`.
    selection : {"best", "1se"}, default="best"
        ``"best"`` takes the alpha with the largest mean AUC (of equal ones the largest alpha); ``"1se"`` takes the
        largest alpha whose mean AUC is within one standard error of the best.
    n_jobs : int, default=None
        Number of folds fitted at the same time, in the workers of joblib's backend.
    memory : str or Path, default=None
        Folder for finished cells, which another search does not solve again; see `KernelSVCCV`.
    warm_start : bool, default=False
        Keep the finished cells for the next ``fit``, which solves only the new cells of an extended grid, if rows,
        labels, weights, folds and other parameters are the same. Otherwise all cells are solved again.
    max_seconds : float, default=None
        Time budget of the search in seconds. If it ends early, the best of the finished cells is taken, with a warning;
        Ctrl-C during the search has the same effect.
    callback : callable or list of callables, default=None
        Called during the last fit, the one to all rows; see `KernelSVC`.
    verbose : int, default=0
        Whether to show a progress bar over the cells.
    pairs, loss, threshold, threshold_on, gamma, degree, coef0 : see `ROCSVC`
    features, n_landmarks, landmarks, n_features : see `ROCSVC`
    solver, tol, max_iter, cache_size, dtype, random_state, solver_options : see `ROCSVC`

    Attributes
    ----------
    alpha_ : float
        The alpha chosen.
    alphas_ : ndarray of shape (n_alphas,)
        Those tried, from large to small.
    auc_path_ : ndarray of shape (n_folds, n_alphas)
        Validation AUC.
    mean_auc_ : ndarray of shape (n_alphas,)
    standard_error_ : ndarray of shape (n_alphas,)
        Standard error of the mean: the standard deviation over the folds divided by √n_folds. Folds share most of their
        training rows, so it does not give a confidence interval. With another `scoring` there are no ``auc_path_``,
        ``mean_auc_`` and ``standard_error_``.
    best_params_, best_score_, best_index_, cv_results_, n_splits_, multimetric_, refit_time_
        As in `KernelSVCCV`; ``cv_results_`` is in the order of ``alphas_``.
    oof_decision_ : ndarray of shape (n_samples,)
        Out-of-fold scores with the alpha chosen: each row's from the fold that held it out; NaN for rows that no fold
        held out.
    estimator_ : ROCSVC
        Shares its arrays with this model.
    n_kernel_evaluations_ : int
        Values k(x, z) computed in the whole search.

    All other attributes are those of `ROCSVC`, fitted to all rows with ``alpha_``.

    See Also
    --------
    ROCSVC : For a given alpha.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernbench import ROCSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ROCSVCCV(alphas=[1e-1, 1e-2, 1e-3]).fit(scale(X), y)
    >>> model.auc_path_.shape
    (5, 3)
    >>> print(model.mean_auc_.max() > 0.99)
    True
    """

    _estimator, _score_name = ROCSVC, "the AUC"
    _of_search = (*OF_SEARCH, *OF_CURVE)

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        *,
        alphas: ArrayLike | None = None,
        cv: Any = 5,
        selection: str = "best",
        scoring: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        n_jobs: int | None = None,
        memory: str | Path | None = None,
        warm_start: bool = False,
        pairs: Any = "all",
        loss: str = "auto",
        threshold: str | float | tuple[str, float] = "youden",
        threshold_on: str | float = "train",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        features: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "stratified",
        n_features: int | None = None,
        solver: str = "bundle",
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        cache_size: float = 500,
        dtype: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.alphas = alphas
        self.cv = cv
        self.selection = selection
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.memory = memory
        self.warm_start = warm_start
        self.pairs = pairs
        self.loss = loss
        self.threshold = threshold
        self.threshold_on = threshold_on
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.features = features
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.n_features = n_features
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.dtype = dtype
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def fit(
        self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose alpha by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `ROCSVC.fit`; weights count in the validation AUC too.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters such as ``StratifiedGroupKFold``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `ROCSVC.fit`, for a class with fewer rows than folds, for folds that hold rows out twice, and where
            `max_seconds` ends before the first cell.
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
        check_name("selection", self.selection, SELECTIONS)
        if self.selection == "1se" and callable(self.refit):
            raise ValueError("selection='1se' and a function refit both choose: use selection='best'")

    @staticmethod
    def _make_task(model, X, y, sample_weight):
        return SpaceTask(ROC, model, X, y, sample_weight)

    def _fit_all(self, model, X, y, sample_weight):
        fit_models([model], X, y, sample_weight)

    def _area(self, positive, scores, weights):
        return roc_auc(positive, scores, sample_weight=weights)

    def _values(self, name):
        return ALPHAS if self.alphas is None else self.alphas

    def _ordered(self, alphas):
        return sorted(alphas, reverse=True)

    def _choice(self, decides):
        if self.selection == "1se" and decides is not None:
            return partial(_largest_within_one_error, name=decides)
        return super()._choice(decides)

    def _take(self, model, cells):
        super()._take(model, cells)
        self.alphas_ = np.array(cells.strengths)
        if self.scoring is None:
            nothing = np.full(len(cells.folds), np.nan)
            self.auc_path_ = np.array([cell.get("scores", {}).get("score", nothing) for cell in cells.cells]).T
            self.mean_auc_, self.standard_error_ = _mean_and_error(self.auc_path_)
        if cells.best is not None:
            self.alpha_ = self.best_params_["alpha"]

    def _check_fitted_state(self):
        super()._check_fitted_state()
        shapes = {np.shape(getattr(self, name)) for name in OF_CURVE[3:] if hasattr(self, name)}
        if hasattr(self, "auc_path_") and shapes | {np.shape(self.alphas_)} != {np.shape(self.auc_path_)[1:]}:
            raise ValueError("alphas_, auc_path_, mean_auc_ and standard_error_ do not belong together")


def _mean_and_error(scores):
    """Return mean and standard error over the folds of scores of shape (n_folds, n_cells)."""
    n = len(scores)
    return scores.mean(axis=0), scores.std(axis=0, ddof=min(1, n - 1)) / np.sqrt(n)


def _largest_within_one_error(table, name):
    """Return the index of the first cell whose mean score is within one standard error of the best."""
    splits = [column for column in table if column.startswith("split")]
    own = [column for column in splits if column.partition("_test_")[2] == name]  # other names may end with this one
    mean, error = _mean_and_error(np.array([table[column] for column in own]))
    if np.isnan(mean).all():
        raise ValueError("selection='1se' needs a cell with a finite score: every one is NaN; check scoring and cv")
    best = np.nanargmax(mean)
    return int(np.flatnonzero(mean >= mean[best] - error[best])[0])

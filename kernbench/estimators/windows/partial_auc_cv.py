"""The classifier of a range of false positive rates with alpha chosen by cross-validation: `PartialAUCClassifierCV`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.roc.ranking_search import RankingSearch
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.estimators.windows.partial_auc import PartialAUCClassifier
from kernbench.estimators.windows.partial_auc_task import PARTIAL_AUC
from kernbench.estimators.windows.window_classifier import WindowClassifier
from kernbench.kernels.base import Kernel
from kernbench.metrics import partial_auc


class PartialAUCClassifierCV(RankingSearch, WindowClassifier):
    """`PartialAUCClassifier` with ``alpha`` chosen by the mean partial AUC of stratified cross-validation.

    Every cell is the fit of ``PartialAUCClassifier(alpha=...)`` to the training part of a fold, from its own `start`,
    not from the solution for another alpha: the problem is not convex, and the last fit, to all rows, should find the
    kind of solution that was validated. The features of a fold are computed once for all alphas.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.1)
        As in `PartialAUCClassifier`, like all parameters that are not explained here.
    alphas : array-like of shape (n_alphas,), default=(0.01, 1e-3, 1e-4, 1e-5, 1e-6)
        Each > 0, without repetitions; solved from large to small.
    cv : int, splitter or iterable, default=5
        As in `KernelSVCCV`. Held-out parts need both classes, unless `scoring` does not.
    scoring : str, callable, list, tuple, set or dict, default=None
        As in ``GridSearchCV``; None means the partial AUC over `fpr_range`. Sample weights are passed to scores that
        accept them. Unlike that of ``GridSearchCV``, the method ``score`` returns the accuracy at the threshold,
        whatever `scoring` is.
    refit : bool, str or callable, default=True
        As in `KernelSVCCV`.
    n_jobs : int, default=None
        Number of folds that are solved at the same time, in the workers of joblib's backend.
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
    loss, solver, kernel, start, threshold, threshold_on : see `PartialAUCClassifier`
    gamma, degree, coef0, features, n_landmarks, landmarks, n_features : see `PartialAUCClassifier`
    tol, max_iter, cache_size, dtype, random_state, solver_options : see `PartialAUCClassifier`

    Attributes
    ----------
    best_params_ : dict
        ``alpha`` of the best mean score; of equal ones the first in ``cv_results_``.
    best_score_ : float
    best_index_ : int
    cv_results_ : dict of arrays
        As in ``GridSearchCV``.
    oof_decision_ : ndarray of shape (n_samples,)
        Out-of-fold scores of the best cell: each row's from the fold that held it out; NaN for rows that no fold held
        out.
    n_splits_ : int
    multimetric_ : bool
    refit_time_ : float
        Seconds of the last fit.
    estimator_ : PartialAUCClassifier
        The best cell fitted to all rows; shares its arrays with this model.
    n_kernel_evaluations_ : int
        Values k(x, z) computed in the whole search.

    All other attributes are those of `PartialAUCClassifier`, fitted to all rows with ``best_params_``.

    See Also
    --------
    PartialAUCClassifier : For a given alpha.
    ROCSVCCV : The same for the whole curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernbench import PartialAUCClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PartialAUCClassifierCV((0.0, 0.1), alphas=[1e-2, 1e-3], random_state=0).fit(scale(X), y)
    >>> len(model.cv_results_["mean_test_score"])
    2
    >>> print(model.best_score_ > 0.9)
    True
    """

    _estimator, _continues, _score_name = PartialAUCClassifier, False, "the partial AUC"

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.1),
        *,
        alphas: ArrayLike = (0.01, 1e-3, 1e-4, 1e-5, 1e-6),
        cv: Any = 5,
        scoring: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        n_jobs: int | None = None,
        memory: str | Path | None = None,
        warm_start: bool = False,
        loss: str = "auto",
        solver: str = "dca-exact",
        kernel: str | Kernel | Callable[..., Any] = "linear",
        start: str = "logistic",
        threshold: str | float | tuple[str, float] = "youden",
        threshold_on: str | float = "train",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        features: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "stratified",
        n_features: int | None = None,
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
        self.fpr_range = fpr_range
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.memory = memory
        self.warm_start = warm_start
        self.loss = loss
        self.solver = solver
        self.kernel = kernel
        self.start = start
        self.threshold = threshold
        self.threshold_on = threshold_on
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.features = features
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.n_features = n_features
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
            As for `PartialAUCClassifier.fit`; weights count in the partial AUC of held-out rows too.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters such as ``StratifiedGroupKFold``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `PartialAUCClassifier.fit`; for folds without a class or that hold rows out twice; where `max_seconds`
            ends before the first cell.
        KeyboardInterrupt
            After Ctrl-C before the first cell is finished, or during the last fit; the model is then fitted as far as
            that got.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the search ended early, or fits did not reach `tol`.
        """
        return self._search(X, y, sample_weight, groups)

    @staticmethod
    def _make_task(model, X, y, sample_weight):
        return SpaceTask(PARTIAL_AUC, model, X, y, sample_weight)

    def _area(self, positive, scores, weights):
        low, high = self.fpr_range
        return partial_auc(positive, scores, (low, high), sample_weight=weights)

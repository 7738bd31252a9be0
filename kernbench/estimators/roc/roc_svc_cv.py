"""The classifier that ranks, with regularisation chosen by cross-validation: `ROCSVCCV`."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from kernbench._callbacks import current_report, nested
from kernbench._random import generator_of
from kernbench._typing import RandomState, Rows
from kernbench.estimators.arguments.parameters import check_grid, check_n_jobs
from kernbench.estimators.roc.roc_svc import ROCSVC
from kernbench.estimators.roc.scores import RankingClassifier, space_of, weights_of
from kernbench.estimators.roc.space_task import read_two_classes
from kernbench.kernels import blocks
from kernbench.kernels.base import Kernel
from kernbench.kernels.domain import is_precomputed
from kernbench.metrics import roc_auc
from kernbench.solvers.design import as_design
from kernbench.validation.numbers import check_name, is_integer

ALPHAS = tuple(10.0 ** (k / 2) for k in range(2, -9, -1))  # 10 to 1e-4
SELECTIONS = ("best", "1se")
OWN = ("alphas", "cv", "selection", "n_jobs")  # parameters that ROCSVC does not have


class ROCSVCCV(RankingClassifier):
    """`ROCSVC` with ``alpha`` chosen by the mean AUC of stratified cross-validation.

    Each fold fits one feature map to its training part, fits the alphas from large to small, each from the previous
    solution, and scores its validation part. The alpha of the best mean is then fitted to all rows.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        As in `ROCSVC`, like all parameters that are not explained here.
    alphas : array-like of shape (n_alphas,), default=None
        Each > 0; None means 10, 10^0.5, …, 10^-4.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, or anything that scikit-learn's ``check_cv`` accepts. Indices are those of the rows
        given to `fit`, among them rows of weight 0.
    selection : {"best", "1se"}, default="best"
        ``"best"`` takes the alpha of the largest mean AUC, of equal ones the largest; ``"1se"`` the largest
        whose mean is within one standard error of that.
    n_jobs : int, default=None
        Number of folds fitted at a time, as in scikit-learn.
    pairs, loss, threshold, threshold_on, gamma, degree, coef0 : see `ROCSVC`
    features, n_landmarks, landmarks, n_features : see `ROCSVC`
    solver, tol, max_iter, max_seconds, cache_size, dtype : see `ROCSVC`
        ``max_seconds`` is the budget of each fold, and of the final fit.
    random_state, verbose, solver_options : see `ROCSVC`

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
        training rows, so it does not give a confidence interval.

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

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        *,
        alphas: ArrayLike | None = None,
        cv: Any = 5,
        selection: str = "best",
        n_jobs: int | None = None,
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
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.alphas = alphas
        self.cv = cv
        self.selection = selection
        self.n_jobs = n_jobs
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
        self.verbose = verbose
        self.solver_options = solver_options

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose alpha by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `ROCSVC.fit`; weights count in the validation AUC too.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `ROCSVC.fit`, and for a class with fewer rows than folds.
        """
        alphas = np.sort(check_grid("alphas", ALPHAS if self.alphas is None else self.alphas))[::-1]
        check_name("selection", self.selection, SELECTIONS)
        check_n_jobs(self.n_jobs)
        seed = self.random_state
        if not is_integer(seed):  # one for all folds: a generator, or the global state, is not shared with workers
            seed = int(generator_of(seed).integers(2**53))
        rows = read_two_classes(self, X, y, sample_weight)
        folds, report = self._folds(rows), current_report()
        report.begin(len(folds) + 1, in_order=False)
        work = (
            delayed(_validation_aucs)(
                self, report.subtask(k, "fold"), self._model(alphas[0], seed), rows, *fold, alphas
            )
            for k, fold in enumerate(folds)
        )
        auc_path = np.array(Parallel(n_jobs=self.n_jobs)(work))
        mean = auc_path.mean(axis=0)
        error = auc_path.std(axis=0, ddof=min(1, len(auc_path) - 1)) / np.sqrt(len(auc_path))
        best = np.argmax(mean)  # the first of equal ones has the largest alpha
        if self.selection == "1se":
            best = np.flatnonzero(mean >= mean[best] - error[best])[0]
        model = self._model(alphas[best], seed)
        with nested(report.subtask(len(folds), "refit"), self, model):
            model.fit(X, y, sample_weight)
        for name in _fitted_attributes(self):
            delattr(self, name)
        for name in _fitted_attributes(model):
            setattr(self, name, getattr(model, name))
        self.alpha_, self.alphas_, self.auc_path_ = float(alphas[best]), alphas, auc_path
        self.mean_auc_, self.standard_error_ = mean, error
        return self

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        alphas = check_grid("alphas", ALPHAS if self.alphas is None else self.alphas)
        check_name("selection", self.selection, SELECTIONS)
        self._model(alphas[0], self.random_state)._check_parameters()

    def _model(self, alpha, seed):
        parameters = {k: v for k, v in self.get_params(deep=False).items() if k not in OWN}
        return ROCSVC(alpha=float(alpha), **{**parameters, "random_state": seed})

    def _folds(self, rows):
        """Return the folds as pairs of index arrays, after checking that each part of each fold holds both classes.

        They are folds of all rows, also of those of weight 0, which are left out of each part later.
        """
        from sklearn.model_selection import check_cv  # slow to import, and needed here only

        cv, positive = self.cv, rows.positive
        used = np.ones(len(positive), dtype=bool) if rows.weights is None else rows.weights > 0
        smallest = int(min((used & positive).sum(), (used & ~positive).sum()))
        if isinstance(cv, Integral) and not isinstance(cv, bool) and 2 <= cv and smallest < cv:
            label = self.classes_[int((used & positive).sum() <= (used & ~positive).sum())]
            raise ValueError(
                f"cv={cv} folds need at least {cv} rows of each class, but class {str(label)!r} has "
                f"{smallest}: choose fewer folds, or ROCSVC with a fixed alpha"
            )
        folds = list(check_cv(cv, positive, classifier=True).split(rows.X, positive))
        for k, fold in enumerate(folds):
            if any(np.unique(positive[part][used[part]]).size < 2 for part in fold):
                raise ValueError(
                    f"fold {k} of cv has a part whose rows of positive weight are of one class only: use stratified "
                    "folds"
                )
        return folds

    def _check_fitted_state(self):
        super()._check_fitted_state()
        shapes = {np.shape(getattr(self, name)) for name in ("alphas_", "mean_auc_", "standard_error_")}
        if shapes != {np.shape(self.auc_path_)[1:]}:
            raise ValueError("alphas_, auc_path_, mean_auc_ and standard_error_ do not belong together")


def _fitted_attributes(model):
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def _validation_aucs(search, task, model, rows, train, test, alphas):
    """The AUC of the validation part for each alpha, shape (n_alphas,), of fits that `search` reports as `task`."""
    if is_precomputed(model.kernel):
        X, X_test = rows.X[np.ix_(train, train)], rows.X[np.ix_(test, train)]
    else:
        X, X_test = rows.X[train], rows.X[test]
    weights, weights_test = (None if rows.weights is None else rows.weights[part] for part in (train, test))
    with nested(task, search, model):
        models = model.path(X, rows.positive[train], alphas, weights)
    scores = _all_scores(models, X, X_test)
    return [roc_auc(rows.positive[test], column, sample_weight=weights_test) for column in scores.T]


def _all_scores(models, X, X_test):
    """Scores of models that share a feature map or a kernel, shape (n_test, n_models)."""
    first = models[0]
    if first.features_ != "exact":
        design = as_design(space_of(first).features(X_test))
        return np.column_stack([design.scores(weights_of(model)) for model in models])
    coef = np.zeros((X.shape[0], len(models)))
    for k, model in enumerate(models):
        coef[model.support_, k] = model.dual_coef_[0]
    if is_precomputed(first.kernel):
        return X_test @ coef
    return blocks.matmul(first.kernel_, X_test, X, coef, dtype=first.dtype_)

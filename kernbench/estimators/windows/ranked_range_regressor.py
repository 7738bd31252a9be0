"""The regressor of a ranked range: `RankedRangeRegressor`."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.base import KernelRegressor
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.roc.scores import SpaceModel
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.estimators.windows.ranked_range_task import RANKED_RANGE_REGRESSOR
from kernbench.kernels.base import Kernel


class RankedRangeRegressor(SpaceModel, KernelRegressor):
    r"""Regressor that minimises the mean of the losses between two ranks: a trimmed mean of squares, for instance.

    It minimises over functions :math:`f` of the kernel's space

    .. math::

        \frac{\alpha}{2} \|f\|^2 + \frac{1}{n - m} \sum_{k = m + 1}^{n} \ell_{[k]}(f),

    where :math:`\ell_{[k]}` is the k-th largest of the losses of the residuals :math:`f(x_i) - y_i`, the sum of ranked
    range [1]_. With the squared error and the largest losses left out, these are the least trimmed squares of robust
    statistics.

    Parameters
    ----------
    ranked_range, solver, alpha, kernel, keep
        As in `RankedRangeClassifier`.
    loss : {"auto", "squared_error", "absolute_error", "huber", "epsilon_insensitive"}, default="auto"
        ½ r², \|r\|, Huber's function with its bend at 1, or max(0, \|r\| - 0.1), of the residual r in units of `unit`.
        ``"auto"`` is ``squared_error``.
    fit_intercept : bool, default=True
        Whether to add an intercept: the median of y, plus the weight of a constant column, which is regularised like
        the others. A kernel without features has no such column: the intercept is then the median of y.
    unit : float, default=1.0
        The unit in which residuals are measured, > 0: the scale of the loss, in units of y.
    validation : float or (X, y), default=None
        Rows on which the model is monitored during the fit: a float is a share of the training rows, which is left out
        of the fit and scored with its weights; a pair gives other rows, which the steps of a pipeline do not transform.
        The trace then has a column ``validation_score``, minus the median of the absolute residuals.
    gamma, degree, coef0, features, n_landmarks, landmarks, n_features, cache_size, dtype
        As in `RankedRangeClassifier`. Landmarks are drawn from all rows by default.
    tol, max_iter, max_seconds, warm_start, random_state, callback, verbose, solver_options
        As in `PartialAUCClassifier`.

    Attributes
    ----------
    coef_, feature_coef_, dual_coef_, support_, support_vectors_, feature_map_, features_, kernel_
        The function f; as in `ROCSVC`.
    intercept_ : ndarray of shape (1,)
    loss_ : str
    dtype_ : {"float32", "float64"}
    objective_ : float
        The objective above, of the last iterate, in units of `unit`.
    status_, duality_gap_, subproblem_gap_, validation_score_, best_n_iter_
        As in `PartialAUCClassifier`.
    n_iter_, converged_, fit_status_, n_kernel_evaluations_, trace_, n_features_in_, feature_names_in_
        As in `ROCSVC`.

    See Also
    --------
    RankedRangeClassifier : The same for two classes.

    References
    ----------
    .. [1] S. Hu, Y. Ying, X. Wang, S. Lyu, "Learning by minimizing the sum of ranked range", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import RankedRangeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=300)
    >>> y[:15] = 100.0  # outliers
    >>> model = RankedRangeRegressor((0.1, 1.0)).fit(X, y)
    >>> print(np.abs(model.coef_[0] - [1.0, -2.0]).max() < 0.05)
    True
    """

    def __init__(
        self,
        ranked_range: Any = (0.05, 1.0),
        *,
        loss: str = "auto",
        solver: str = "dca-exact",
        alpha: float = 1e-4,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        fit_intercept: bool = True,
        unit: float = 1.0,
        validation: Any = None,
        keep: str = "best",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        features: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        n_features: int | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        cache_size: float = 500,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.ranked_range = ranked_range
        self.loss = loss
        self.solver = solver
        self.alpha = alpha
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.unit = unit
        self.validation = validation
        self.keep = keep
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
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    _default_landmarks = "uniform"

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        RANKED_RANGE_REGRESSOR.check(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            At least 0: a weight of k is equivalent to k copies of the row.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message says what to change.
        KeyboardInterrupt
            After Ctrl-C, with the model fitted as far as it got.
        """
        fit_task(SpaceTask(RANKED_RANGE_REGRESSOR, self, X, y, sample_weight), [self])
        return self

    def path(self, X: Rows, y: ArrayLike, alphas: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several values of alpha, each starting from the previous solution; see `ROCSVC.path`.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        alphas : array-like of shape (n_alphas,)
            Each > 0.

        Returns
        -------
        list of RankedRangeRegressor
        """
        models, in_turn = models_along(self, "alpha", alphas, ascending=False)
        fit_task(SpaceTask(RANKED_RANGE_REGRESSOR, in_turn[0], X, y, sample_weight), in_turn)
        return models

    def predict(self, X: Rows) -> np.ndarray:
        """Return the prediction of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whatever ``fit`` was given; K(X, train) if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        return self._scores(X)

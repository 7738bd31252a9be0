"""Support vector regression with the parameters of scikit-learn's `SVR`: `KernelSVR`."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.fit.small_problem import fit_small_problem
from kernbench.estimators.regression.kernel_regressor import KernelRegressor
from kernbench.estimators.regression.tasks import KernelSVRTask, check_kernel_svr
from kernbench.kernels.base import Kernel


class KernelSVR(KernelRegressor):
    r"""Epsilon support vector regression, to be used in place of scikit-learn's ``SVR``.

    Minimises over functions :math:`f` of the kernel's space and an intercept :math:`b` that is not regularised

    .. math::

        \frac{1}{2} \|f\|^2 + C \sum_{i=1}^{n} w_i \max\bigl(0, |f(x_i) + b - y_i| - \epsilon\bigr),

    by sequential minimal optimisation with a certificate, ``duality_gap_``. It is `KernelRegressor` with other names of
    its parameters.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`, as are `gamma`, `degree` and `coef0`.
    degree : int, default=3
    gamma : {"scale", "auto", "median"} or float, default="scale"
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Tolerance, > 0, of the largest violation of the optimality conditions, divided by the targets' mean distance
        from the best constant, and of the certified duality gap, divided by the objective.
    C : float, default=1.0
        Inverse strength of the regularisation, > 0.
    epsilon : float, default=0.1
        Residuals up to this size cost nothing; at least 0.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss above, or its square, as in ``sklearn.svm.LinearSVR``.
    shrinking : bool, default=True
        Whether to leave rows out whose coefficients will probably not change any more.
    cache_size : float, default=500
        Memory for kernel rows in megabytes (2²⁰ bytes).
    verbose : int, default=0
        1 shows a progress bar.
    max_iter : int, default=-1
        Maximum number of iterations; -1 means 10 million, or 100 for each row if that is more.
    max_seconds : float, default=None
        Time budget in seconds; None means no limit.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of kernel values, as in `KernelSVC`.
    warm_start : bool, default=False
        Start the next ``fit`` from the solution of the last one, if the number of rows is the same;
        not from one far worse than f = 0, such as that for targets a million times as large.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows of ``gamma="median"``; not used otherwise.
    callback : callable or list of callables, default=None
        As in `KernelRegressor`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int32
        Indices of the support vectors.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_support, n_features)
        Empty if ``kernel="precomputed"``.
    n_support_ : ndarray of shape (1,), int32
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients; with ``epsilon_insensitive`` between -C and C times the weight.
    intercept_ : ndarray of shape (1,)
    coef_ : ndarray of shape (1, n_features)
        Weights of the features; linear kernel only.
    objective_ : float
        The objective above divided by C times the sum of the weights.
    duality_gap_ : float or None
        Certified bound on the distance of ``objective_`` to the optimum; None as in `KernelRegressor`.
    centre_, kernel_, dtype_, solver_, n_iter_, converged_, status_, fit_status_, n_kernel_evaluations_, trace_
        As in `KernelRegressor`.
    shape_fit_ : tuple of int of shape (2,)
        Shape of the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    KernelRegressor : Other losses and solvers.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import KernelSVR
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> model = KernelSVR(gamma=1.0, C=100.0, epsilon=0.01).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(1.0)) < 0.02)
    True
    """

    solver: str
    fit_intercept: bool
    delta: Any
    quantile: Any

    solver, fit_intercept, delta, quantile = "smo", True, 1.0, 0.5  # of the regressor that this is
    _task = KernelSVRTask

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        shrinking: bool = True,
        cache_size: float = 500,
        verbose: int = 0,
        max_iter: int = -1,
        max_seconds: float | None = None,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback

    def _check_parameters(self):
        check_kernel_svr(self)

    @property
    def solver_options(self) -> Any:
        """The solver's keywords beyond those of every solver."""
        return {"shrinking": bool(self.shrinking)}

    @property
    def n_support_(self) -> Any:
        """The number of support vectors, shape (1,)."""
        self._check_is_fitted()
        return np.array([len(self.support_)], dtype=np.int32)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C, at least 0.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message says what to change.
        KeyboardInterrupt
            After Ctrl-C; the model is fitted as far as the run got.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If a limit ended the run before `tol` was reached.
        """
        task = self._task(self, X, y, sample_weight)
        if not fit_small_problem(task):
            fit_task(task, [self])
        return self

    def path(self, X: Rows, y: ArrayLike, Cs: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several values of C, from small to large, each starting from the previous solution.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        Cs : array-like of shape (n_Cs,)
            Each > 0, in any order.

        Returns
        -------
        list of KernelSVR
            Fitted models in the order of `Cs`; each is this one with another ``C``.

        Notes
        -----
        ``max_seconds`` limits all fits together. The estimator itself is not changed.
        """
        models, in_turn = models_along(self, "C", Cs, ascending=True)
        fit_task(self._task(in_turn[0], X, y, sample_weight), in_turn)
        return models

    def predict(self, X: Rows) -> np.ndarray:
        """Return f(x) + b of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whatever ``fit`` was given; K(X, train) if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return super().predict(X)[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

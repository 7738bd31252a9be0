"""Novelty detection by the one-class support vector machine: `KernelNoveltyDetector`."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.base import KernelModel
from kernbench.estimators.fit.fitted_state import check_floats, check_kernel_state, check_names, check_support
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.fit.small_problem import fit_small_problem
from kernbench.estimators.novelty.task import NoveltyTask, check_novelty_detector
from kernbench.estimators.svm.expansion import Expansion, require_linear
from kernbench.kernels.base import Kernel
from kernbench.validation.numbers import check_number


class KernelNoveltyDetector(OutlierMixin, Expansion, KernelModel):
    r"""One-class support vector machine, to be used in place of scikit-learn's ``OneClassSVM``.

    Minimises over functions :math:`f` of the kernel's space and levels :math:`\rho`

    .. math::

        \frac{1}{2} \|f\|^2 + \sum_{i=1}^{n} w_i \max\bigl(0, \rho - f(x_i)\bigr) - \nu \rho \sum_{i=1}^{n} w_i

    by sequential minimal optimisation, with a certificate: ``duality_gap_``. At the optimum at most a share
    :math:`\nu` of the training rows is below the level, and at least that share are support vectors [1]_.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`, as are `gamma`, `degree` and `coef0`.
    degree : int, default=3
    gamma : {"scale", "auto", "median"} or float, default="scale"
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Tolerance, > 0, of the largest violation of the optimality conditions, as in ``OneClassSVM``, and of the
        certified duality gap, divided by the magnitude of the objective.
    nu : float, default=0.5
        Upper bound on the share of training rows below the level and lower bound on that of support vectors; in (0, 1].
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
        Start the next ``fit`` from the solution of the last one, if the number of rows is the same.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows of ``gamma="median"``; not used otherwise.
    callback : callable or list of callables, default=None
        Called as ``callback(model)`` at intervals during ``fit`` with a copy of the model that has the current iterate;
        its time is not counted. If it returns a dict, this adds columns to ``trace_``; if it returns True, the run
        stops.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int32
        Indices of the support vectors.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_support, n_features)
        Empty if ``kernel="precomputed"``.
    n_support_ : ndarray of shape (1,), int32
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients, between 0 and the weight.
    offset_ : float
        The level: rows with a smaller f(x) are novel.
    intercept_ : ndarray of shape (1,)
        ``-offset_``.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features; linear kernel only.
    objective_ : float
        The objective above divided by n, which is negative.
    duality_gap_ : float or None
        Certified bound on the distance of ``objective_`` to the optimum; None as in `KernelRegressor`.
    centre_, kernel_, dtype_, solver_, n_iter_, converged_, status_, fit_status_, n_kernel_evaluations_, trace_
        As in `KernelRegressor`; `centre_` is None.
    shape_fit_ : tuple of int of shape (2,)
        Shape of the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    DoublyStochasticNoveltyDetector : Data of any length.

    References
    ----------
    .. [1] B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson, "Estimating the support of a
       high-dimensional distribution", Neural Computation 13, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import KernelNoveltyDetector
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = KernelNoveltyDetector(nu=0.05).fit(X)
    >>> print(model.predict([[0.0, 0.0], [6.0, 6.0]]))
    [ 1 -1]
    """

    solver: str
    loss: str
    fit_intercept: bool

    solver_: str
    offset_: float

    # Of every model of a task of SMO, fixed here.
    solver, loss, fit_intercept = "smo", "one_class", False

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
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
        check_novelty_detector(self)

    @property
    def solver_options(self) -> Any:
        """The solver's keywords beyond those of every solver."""
        return {"shrinking": bool(self.shrinking)}

    @property
    def n_support_(self) -> Any:
        """The number of support vectors, shape (1,)."""
        self._check_is_fitted()
        return np.array([len(self.support_)], dtype=np.int32)

    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the losses, at least 0.

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
        task = NoveltyTask(self, X, sample_weight)
        if not fit_small_problem(task):
            fit_task(task, [self])
        return self

    def decision_function(self, X: Rows) -> np.ndarray:
        """Return f(x) - ``offset_`` of each row: negative for those that are novel.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whatever ``fit`` was given; K(X, train) if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def score_samples(self, X: Rows) -> np.ndarray:
        """Return f(x) of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self._check_is_fitted()
        X = self._checked(X)
        if self._has_weights:
            return np.concatenate(list(self._products_with_weights(X)))[:, 0]
        return self._product(X, slice(None))[:, 0]

    def predict(self, X: Rows) -> np.ndarray:
        """Return 1 for each row that is like the training rows, -1 for one that is novel.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    @property
    def coef_(self) -> Any:
        """Weights of the features, shape (1, n_features), read-only; linear kernel only."""
        self._check_is_fitted()
        require_linear(self.kernel_)
        coef = self.dual_coef_ @ self.support_vectors_
        coef.flags.writeable = False
        return coef

    def _check_fitted_state(self):
        check_names(self)
        check_kernel_state(self)
        check_support(self)
        check_floats(self, {"dual_coef_": (1, len(self.support_)), "intercept_": (1,)})
        check_number("offset_", self.offset_)

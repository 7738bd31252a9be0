"""Kernel regression with losses of the residual: `KernelRegressor`."""

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.fit.small_problem import fit_small_problem
from kernbench.estimators.regression.expansion import ExpansionRegressor
from kernbench.estimators.regression.tasks import KernelRegressorTask, check_kernel_regressor
from kernbench.kernels.base import Kernel


class KernelRegressor(ExpansionRegressor):
    r"""Kernel regression with a choice of losses and solvers: ridge, robust, support vector and quantile regression.

    Minimises over functions :math:`f` of the kernel's space

    .. math::

        \frac{\alpha}{2} \|f\|^2 + \frac{1}{n} \sum_{i=1}^{n} w_i \, \ell\bigl(f(x_i) - y_i\bigr)

    with sample weights :math:`w_i` of mean 1, by the solvers of `KernelSVC`, with a certificate: ``duality_gap_``.

    Parameters
    ----------
    loss : str, default="squared_error"
        ``"squared_error"`` r²/2 of r = f(x) - y, ``"huber"`` (r²/2 up to `delta`, linear beyond),
        ``"epsilon_insensitive"`` ``max(0, |r| - epsilon)``, ``"squared_epsilon_insensitive"`` its square,
        ``"absolute_error"`` ``|r|``, or ``"quantile"`` max(-q r, (1 - q) r), whose minimiser estimates the conditional
        quantile q = `quantile`.
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`.
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Parameter of a kernel that is given by name, as are `degree` and `coef0`; as in `KernelSVC`.
    degree : int, default=3
    coef0 : float, default=0.0
    alpha : float, default=1e-3
        Strength of the regularisation, > 0. With the squared error that of
        ``sklearn.kernel_ridge.KernelRidge`` is n alpha; with ``epsilon_insensitive`` the C of ``sklearn.svm.SVR`` is
        1 / (n alpha).
    delta : float, default=1.0
        Of ``huber``: size of the residuals from which on the loss is linear, > 0.
    epsilon : float, default=0.1
        Of the epsilon-insensitive losses: residuals up to this size cost nothing; at least 0.
    quantile : float, default=0.5
        Of ``quantile``; in (0, 1).
    solver : {"auto", "smo", "newton", "sdca", "norma", "pegasos"}, default="auto"
        ``"auto"`` chooses ``smo``, sequential minimal optimisation as in `KernelSVC`, for losses with kinks and for
        ``squared_epsilon_insensitive``, whose solutions have few support vectors; for ``squared_error`` and ``huber``
        it chooses ``newton`` up to 4,000 rows, and ``sdca``, dual coordinate ascent [1]_, above. ``newton`` factorises
        the kernel matrix; one step is exact for the squared error (kernel ridge regression), a few for ``huber``.
        ``norma`` and ``pegasos`` take stochastic steps and are for comparison. Those of ``norma`` depend on the unit of
        y for the smooth losses, the two squared ones and ``huber``: scale y to a standard deviation of about 1, or
        choose the ``step_size`` in `solver_options`.
    tol : float, default=1e-4
        Tolerance, > 0, for the certified duality gap divided by the objective; for ``smo`` also for the largest
        violation of the optimality conditions, divided by the targets' mean distance from the best constant.
    max_iter : int, default=-1
        Maximum number of iterations; an iteration of ``sdca`` is a step on one row. -1 means 1,000 for ``newton``; for
        ``smo`` 10 million, or 100 for each row if that is more; for ``sdca`` a million, or 1,000 passes over the data
        if that is more; for ``norma`` and ``pegasos`` 20 passes.
    max_seconds : float, default=None
        Time budget of the solver in seconds; None means no limit. Callbacks and traces are not charged.
    fit_intercept : bool, default=True
        ``smo`` finds the best intercept, which is not regularised, as in ``sklearn.svm.SVR``. With other solvers the
        intercept is the constant of least loss (for the squared error the mean of y), and f is fitted to the remaining
        targets. For a linear kernel, given by name or object, the columns are centred by their means, so that
        <w, x> + b has the best b for the squared error, as in ``sklearn.linear_model.Ridge``. With a function or a
        precomputed matrix the columns are unknown, so they are not centred, as in ``sklearn.kernel_ridge.KernelRidge``.
        False leaves y and the columns unchanged.
    cache_size : float, default=500
        Memory for kernel rows in megabytes (2²⁰ bytes); the kernel matrix of at most 2,500 rows is kept whatever it
        is.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of kernel values; sums are float64. ``"auto"`` is float64 for ``newton`` and for at most 2,000 rows,
        float32 above, where ``smo`` ends in float64 if the rounding of float32 keeps its gap above `tol`.
    warm_start : bool, default=False
        Start the next ``fit`` from the solution of the last one, if the number of rows and the solver are the same;
        not from one far worse than f = 0, such as that for targets a million times as large.
    random_state : int, RandomState, Generator or None, default=None
        Source of the order in which rows are drawn. Pass an int for reproducible results; None is NumPy's global state
        (``np.random.seed``).
    callback : callable or list of callables, default=None
        Called as ``callback(model)`` at intervals during ``fit`` with a copy of the model that has the current iterate;
        its time is not counted. If it returns a dict, this adds columns to ``trace_``; if it returns True, the run
        stops.
    verbose : int, default=0
        1 shows a progress bar of the iterations.
    solver_options : dict, default=None
        Further keyword arguments for the solver's class, such as ``{"shrinking": False}`` for ``smo`` and ``sdca``.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int32
        Indices of the training rows with a coefficient other than 0.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_support, n_features)
        Empty if ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (1, n_support) or (n_outputs, n_support)
        Their coefficients.
    intercept_ : float or ndarray of shape (n_outputs,)
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features; linear kernel only.
    centre_ : ndarray of shape (n_features,), or None
        Means of the columns, which ``fit`` subtracts with a linear kernel and an intercept, so that predictions do not
        depend on a shift of the columns. ``coef_`` is the sum of the centred support vectors times ``dual_coef_``;
        together with ``intercept_`` it applies to rows that are not centred. None for other kernels.
    kernel_ : Kernel
        The kernel with its numbers, for instance ``Gaussian(sigma=1.2)``.
    dtype_ : {"float32", "float64"}
        Precision of kernel values.
    solver_ : str
        The solver that `solver` stands for.
    n_iter_ : ndarray of shape (1,) or (n_outputs,)
        Iterations of the last ``fit``; an iteration of ``smo`` changes two coefficients.
    converged_ : bool
        Whether `tol` was reached.
    status_ : str, or list of str with more than one output
        ``"converged"``, or what ended the run: ``"max_iter"``, ``"max_seconds"``, ``"callback"``, ``"stalled"``,
        ``"stagnated"``, ``"interrupted"``; see `KernelSVC`. ``"diverged"`` if ``newton`` finds that the kernel is not
        positive semi-definite, so that there is no minimum.
    fit_status_ : int
        0 if converged, else 1.
    objective_ : float, or ndarray of shape (n_outputs,) with more than one output
        The objective above, for the centred targets.
    duality_gap_ : float or None, or ndarray of shape (n_outputs,) with more than one output
        Certified bound on the distance of ``objective_`` to the optimum. None (NaN in an array) where there is no
        bound: for a kernel that is found not to be positive semi-definite, and where Ctrl-C came before the certificate
        was complete.
    n_kernel_evaluations_ : int
        Number of kernel values that ``fit`` computed.
    trace_ : dict of lists, or list of dicts with more than one output
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations``, ``objective``, and those of the callbacks.
    shape_fit_ : tuple of int of shape (2,)
        Shape of the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    LinearRegressor : The same on explicit features.
    DoublyStochasticRegressor : The same losses on data of any length.

    References
    ----------
    .. [1] S. Shalev-Shwartz, T. Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization",
       JMLR 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import KernelRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> model = KernelRegressor(gamma=1.0, alpha=1e-5, random_state=0).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(1.0)) < 0.02)
    True
    """

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        alpha: float = 1e-3,
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
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
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
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        check_kernel_regressor(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets; with several columns, each is an output that is fitted separately.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the losses, at least 0, relative to their mean; a weight of k is equivalent to k copies of the
            row, 0 to leaving it out.

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
        task = KernelRegressorTask(self, X, y, sample_weight)
        if not fit_small_problem(task):
            fit_task(task, [self])
        return self

    def path(self, X: Rows, y: ArrayLike, alphas: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several alphas, from large to small, each starting from the previous solution.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        alphas : array-like of shape (n_alphas,)
            Each > 0, in any order.

        Returns
        -------
        list of KernelRegressor
            Fitted models in the order of `alphas`; each is this one with another ``alpha``.

        Notes
        -----
        ``max_seconds`` limits all fits together. The estimator itself is not changed.
        """
        models, in_turn = models_along(self, "alpha", alphas, ascending=False)
        fit_task(KernelRegressorTask(in_turn[0], X, y, sample_weight), in_turn)
        return models

"""Linear regression with losses of the residual: `LinearRegressor`."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.base import Model
from kernbench.estimators.fit.fitted_state import check_floats, check_names
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.regression.tasks import LinearRegressorTask, check_linear_regressor
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Linear
from kernbench.validation.numbers import check_number
from kernbench.validation.rows import check_rows


class LinearRegressor(RegressorMixin, Model):
    r"""Linear regression with a choice of losses and solvers: ridge, robust, support vector and quantile regression.

    Minimises over weights :math:`w` of the features and an intercept :math:`b`, which is not regularised,

    .. math::

        \frac{\alpha}{2} \|w\|^2 + \frac{1}{n} \sum_{i=1}^{n} w_i \, \ell\bigl(\langle w, x_i \rangle + b - y_i\bigr)

    with sample weights :math:`w_i` of mean 1, by the solvers of `LinearSVC`, with a certificate: ``duality_gap_``.

    Parameters
    ----------
    loss : str, default="squared_error"
        ``"squared_error"`` r²/2 of r = f(x) - y, ``"huber"`` (r²/2 up to `delta`, linear beyond),
        ``"epsilon_insensitive"`` ``max(0, |r| - epsilon)``, ``"squared_epsilon_insensitive"`` its square,
        ``"absolute_error"`` ``|r|``, or ``"quantile"`` max(-q r, (1 - q) r), whose minimiser estimates the conditional
        quantile q = `quantile`.
    alpha : float, default=1e-3
        Strength of the regularisation, > 0. With the squared error that of
        ``sklearn.linear_model.Ridge`` is n alpha.
    delta : float, default=1.0
        Of ``huber``: size of the residuals from which on the loss is linear, > 0.
    epsilon : float, default=0.1
        Of the epsilon-insensitive losses: residuals up to this size cost nothing; at least 0.
    quantile : float, default=0.5
        Of ``quantile``; in (0, 1).
    solver : str, default="auto"
        ``"auto"`` chooses ``newton``, which does not depend on the scales of the columns and on `alpha`, for at most
        1,500 columns (with losses other than ``squared_error`` and ``huber`` only if there are at least as many rows as
        columns), and for more columns if the loss is smooth and there are at least as many rows; an intercept counts as
        a column. For the squared error, one step solves the normal equations. Otherwise it chooses ``sdca``, dual
        coordinate ascent [1]_. ``rbcd`` minimises smooth losses only.
        ``kernbench.solvers.registry.names("linear-regression")`` lists all.
    tol : float, default=1e-4
        Tolerance, > 0, for the certified duality gap divided by the objective. If X has at most 16,384 stored values,
        ``sdca`` continues to the last digit, provided that a million steps suffice, since this costs almost nothing; so
        does ``newton`` (with losses that have kinks up to 64 columns).
    max_iter : int, default=-1
        Maximum number of iterations. An iteration of ``sdca`` is a step on one row, one of ``newton`` a Newton step. -1
        means the limit given in the registry; for ``sdca`` this is at least 10 million steps, or as many as read 10⁹
        stored values.
    max_seconds : float, default=None
        Time budget of the solver in seconds; None means no limit. Callbacks and traces are not charged.
    fit_intercept : bool, default=True
        Whether there is an intercept; False fixes it at 0. The targets are centred by the constant of least loss, dense
        columns by their means; for the squared error the intercept of the centred problem is then 0. For other losses,
        and for sparse rows, solvers other than ``newton`` regularise what remains of the intercept, as the weight of a
        constant column whose entries have the size of a row's norm.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision in which the training rows are held; weights and sums are float64. ``"auto"`` keeps that of X. In
        float32 the certificate is for the rounded rows, dense ones with an intercept less the means of their columns:
        it does not cover residuals as small as that rounding.
    warm_start : bool, default=False
        Start the next ``fit`` from the solution of the last one, if columns, solver and loss are the same;
        not from one far worse than f = 0, such as that for targets a million times as large, of which ``pegasos`` and
        ``sbmd`` take the best multiple.
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
        Further keyword arguments for the solver's class, such as ``{"shrinking": False}`` for ``sdca``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features.
    intercept_ : float or ndarray of shape (n_outputs,)
    solver_ : str
        The solver that `solver` stands for.
    dtype_ : {"float32", "float64"}
        Precision in which the training rows were held.
    n_iter_ : ndarray of shape (1,) or (n_outputs,)
        Iterations of the last ``fit``.
    converged_ : bool
        Whether `tol` was reached.
    status_ : str, or list of str with more than one output
        ``"converged"``, or what ended the run: ``"max_iter"``, ``"max_seconds"``, ``"callback"``, ``"stalled"``,
        ``"stagnated"``, ``"interrupted"``; see `KernelSVC`.
    fit_status_ : int
        0 if converged, else 1.
    objective_ : float, or ndarray of shape (n_outputs,) with more than one output
        The objective above, for the centred targets.
    duality_gap_ : float or None, or ndarray of shape (n_outputs,) with more than one output
        Certified bound on the distance of ``objective_`` to the optimum. None (NaN in an array) where Ctrl-C came
        before the certificate was complete.
    n_inner_products_ : int
        Number of inner products with rows of X, and of updates of w by a row, in ``fit``.
    n_kernel_evaluations_ : int
        0.
    trace_ : dict of lists, or list of dicts with more than one output
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations``, ``objective``, and those of the callbacks.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    KernelRegressor : The same with a kernel.
    LinearSVC : Classification by the same solvers.

    Notes
    -----
    Random features turn it into a kernel machine: ``make_pipeline(kernbench.features.RandomFeatures(Gaussian(2.0),
    256), LinearRegressor())``.

    References
    ----------
    .. [1] S. Shalev-Shwartz, T. Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization",
       JMLR 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import LinearRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 3.0
    >>> y[::10] += 100.0
    >>> model = LinearRegressor("absolute_error", random_state=0).fit(X, y)
    >>> print(model.coef_.round(1), round(model.intercept_, 1))
    [ 1.  -2.   0.5] 3.0
    >>> print(model.converged_)
    True
    """

    coef_: np.ndarray
    intercept_: Any
    solver_: str
    dtype_: str
    n_inner_products_: int

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        alpha: float = 1e-3,
        delta: float = 1.0,
        epsilon: float = 0.1,
        quantile: float = 0.5,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        max_seconds: float | None = None,
        fit_intercept: bool = True,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.delta = delta
        self.epsilon = epsilon
        self.quantile = quantile
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        check_linear_regressor(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows. With an intercept they are copied once; sparse rows stay sparse.
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
        fit_task(LinearRegressorTask(self, X, y, sample_weight), [self])
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
        list of LinearRegressor
            Fitted models in the order of `alphas`; each is this one with another ``alpha``.

        Notes
        -----
        ``max_seconds`` limits all fits together. The estimator itself is not changed.
        """
        models, in_turn = models_along(self, "alpha", alphas, ascending=False)
        fit_task(LinearRegressorTask(in_turn[0], X, y, sample_weight), in_turn)
        return models

    def predict(self, X: Rows) -> np.ndarray:
        """Return <w, x> + b of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        check_range(X, Linear(), "float64", feature_names=getattr(self, "feature_names_in_", None))
        return X @ self.coef_.T + self.intercept_

    def _check_fitted_state(self):
        check_names(self)
        outputs = np.shape(self.intercept_)
        check_floats(self, {"coef_": (*outputs, self.n_features_in_)})
        if outputs:
            check_floats(self, {"intercept_": outputs[:1]})
        else:
            check_number("intercept_", self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

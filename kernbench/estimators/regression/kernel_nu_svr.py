"""ν-support vector regression, with the parameters of scikit-learn's `NuSVR`: `KernelNuSVR`."""

from collections.abc import Callable
from typing import Any

from kernbench._typing import Callback, RandomState
from kernbench.estimators.fit.fitted_state import require
from kernbench.estimators.regression.kernel_svr import KernelSVR
from kernbench.estimators.regression.nu_svr_task import KernelNuSVRTask, check_kernel_nu_svr
from kernbench.kernels.base import Kernel
from kernbench.validation.numbers import is_number


class KernelNuSVR(KernelSVR):
    r"""ν-support vector regression, to be used in place of scikit-learn's ``NuSVR``.

    Minimises over functions :math:`f` of the kernel's space, an intercept :math:`b` that is not regularised and
    :math:`\epsilon \ge 0`

    .. math::

        \frac{1}{2} \|f\|^2 + C \Bigl(\nu \epsilon \sum_{i=1}^{n} w_i
        + \sum_{i=1}^{n} w_i \max\bigl(0, |f(x_i) + b - y_i| - \epsilon\bigr)\Bigr)

    by sequential minimal optimisation, with a certificate: ``duality_gap_``. At the optimum it is the `KernelSVR` with
    this :math:`\epsilon`. At most a share :math:`\nu` of the weight of the training rows has residuals larger than
    that, and at least that share belongs to support vectors [1]_.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the share of rows with residuals larger than ``epsilon_`` and lower bound on the share of support
        vectors; in (0, 1].
    C : float, default=1.0
        Inverse strength of the regularisation, > 0.
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`, as are `gamma`, `degree` and `coef0`.
    degree : int, default=3
    gamma : {"scale", "auto", "median"} or float, default="scale"
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Whether to leave rows out whose coefficients will probably not change any more.
    tol : float, default=1e-3
        Tolerance, > 0, of the largest violation of the optimality conditions, divided by the targets' mean distance
        from their median, and of the certified duality gap, divided by the objective.
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
        As in `KernelRegressor`.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the insensitive tube that was found: residuals up to this size cost nothing.
    objective_ : float
        The objective above, with the best :math:`\epsilon` for :math:`f + b`, divided by C times the sum of the
        weights. ``epsilon_`` is that best one at the optimum only.
    duality_gap_ : float or None
        Certified bound on the distance of ``objective_`` to the optimum; None as in `KernelRegressor`.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As in `KernelSVR`.
    centre_, kernel_, dtype_, solver_, n_iter_, converged_, status_, fit_status_, n_kernel_evaluations_, trace_
        As in `KernelRegressor`.
    shape_fit_ : tuple of int of shape (2,)
        Shape of the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    KernelSVR : Half the width of the tube is a parameter.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, "New support vector algorithms", Neural
       Computation 12, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import KernelNuSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(300, 1))
    >>> model = KernelNuSVR(nu=0.2, gamma=1.0, C=10.0).fit(X, np.sin(2 * X[:, 0]) + rng.uniform(-0.5, 0.5, size=300))
    >>> bool(0.3 < model.epsilon_ < 0.5)
    True
    """

    loss: str
    epsilon: Any

    epsilon_: float

    loss, epsilon = "nu_residual", None  # of the regressor that this is
    _task = KernelNuSVRTask

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 500,
        verbose: int = 0,
        max_iter: int = -1,
        max_seconds: float | None = None,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback

    def _check_parameters(self):
        check_kernel_nu_svr(self)

    def _check_fitted_state(self):
        super()._check_fitted_state()
        require(is_number(self.epsilon_) and self.epsilon_ >= 0.0, "epsilon_ is not the width of a zone")

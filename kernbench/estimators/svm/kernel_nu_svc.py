"""The ν-support vector classifier: `KernelNuSVC`."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.fitted_state import check_floats
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.fit.small_problem import fit_small_problem
from kernbench.estimators.svm.expansion import ExpansionClassifier
from kernbench.estimators.svm.nu_task import KernelNuTask
from kernbench.estimators.svm.parameters import check_kernel_nu_svc
from kernbench.kernels.base import Kernel


class KernelNuSVC(ExpansionClassifier):
    r"""ν-support vector classifier, to be used in place of scikit-learn's ``NuSVC``.

    For two classes it minimises over functions :math:`f` of the kernel's space, intercepts :math:`b` and levels
    :math:`\rho \ge 0`

    .. math::

        \frac{1}{2} \|f\|^2 + \sum_{i=1}^{n} w_i \max\bigl(0, \rho - y_i (f(x_i) + b)\bigr)
        - \nu \rho \sum_{i=1}^{n} w_i

    by sequential minimal optimisation, with a certificate: ``duality_gap_``. The model is :math:`(f + b) / \rho`, as in
    ``NuSVC``: that of a `KernelSVC` with :math:`C = 1 / \rho`. At most a share :math:`\nu` of the weight of the
    training rows is inside the margin, and at least that share belongs to support vectors [1]_. More than two classes
    are handled one against one, each pair with the same :math:`\nu`.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the share of rows inside the margin and lower bound on the share of support vectors. In (0, 1],
        and for each pair of classes at most twice the share of the lighter class in their total weight.
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`, as are `gamma`, `degree` and `coef0`.
    degree : int, default=3
    gamma : {"scale", "auto", "median"} or float, default="scale"
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Whether to leave rows out whose coefficients will probably not change any more.
    probability : bool, default=False
        As in `KernelSVC`, whose notes name the replacement.
    tol : float, default=1e-3
        Tolerance, > 0, of the largest violation of the optimality conditions, in units of :math:`f` as in ``NuSVC``,
        and of the certified duality gap, divided by the magnitude of the objective.
    cache_size : float, default=500
        Memory for kernel rows in megabytes (2²⁰ bytes), of each of ``n_jobs`` threads.
    class_weight : dict or "balanced", default=None
        Factors of the weights by class, as in `KernelSVC`. (``NuSVC`` ignores it.)
    verbose : int, default=0
        1 shows a progress bar.
    max_iter : int, default=-1
        Maximum number of iterations of each pair of classes; -1 means 10 million, or 100 for each row if that is more.
    max_seconds : float, default=None
        Time budget of ``fit`` in seconds, divided among the pairs; None means no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        More than two classes: a column of ``decision_function`` for each class, or for each pair.
    break_ties : bool, default=False
        As in `KernelSVC`.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of kernel values, as in `KernelSVC`.
    warm_start : bool, default=False
        Start the next ``fit`` from the solution of the last one, if classes and labels are the same.
    random_state : int, RandomState, Generator or None, default=None
        Draws the rows of ``gamma="median"``; not used otherwise.
    n_jobs : int, default=None
        Threads that work on pairs of classes at once, as in `KernelSVC`.
    callback : callable or list of callables, default=None
        As in `KernelSVC`.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, coef_, intercept_, kernel_, dtype_
        As in `KernelSVC`.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        Coefficients of the support vectors, divided by :math:`\rho`: between 0 and the weight over :math:`\rho` in
        magnitude.
    rho_ : ndarray of shape (n_pairs,)
        The level of each pair; 0 where f = 0. With a kernel that is not positive semi-definite it may be negative; the
        division by it then changes the signs of ``dual_coef_``, as in ``NuSVC``.
    objective_ : float, or ndarray of shape (n_pairs,) with more than two classes
        The objective above, with the best :math:`\rho` for :math:`f + b`, divided by n, which is negative, or 0 for
        f = 0. It belongs to :math:`f` before the division.
    duality_gap_ : float or None, or ndarray of shape (n_pairs,) with more than two classes
        Certified bound on the distance of ``objective_`` to the optimum. None (NaN in an array) where there is no
        bound: for a kernel that is found not to be positive semi-definite, and where Ctrl-C came before the certificate
        was complete.
    centre_, n_iter_, converged_, status_, fit_status_, n_kernel_evaluations_, trace_, shape_fit_
        As in `KernelSVC`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    KernelSVC : The regularisation C in place of a share, other losses and solvers.

    Notes
    -----
    If the classes overlap so much that the reduced convex hulls of their rows (with no coefficient larger than
    2 / (ν n)) intersect, the optimum is f = 0. The model is then f = 0, with a warning. A larger `nu` helps.

    If ν / 2 is exactly the share of some rows of a class, it may be that no support vector of that class lies on the
    margin. The level of the class is then the midpoint of an interval; that of ``NuSVC`` depends on rounding.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, "New support vector algorithms", Neural
       Computation 12, 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernbench import KernelNuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelNuSVC(nu=0.1).fit(X, y)
    >>> print(model.predict(X[[0, 50, 100]]))
    [0 1 2]
    """

    solver: str
    loss: str
    fit_intercept: bool
    multi_class: str
    solver_options: Any

    rho_: np.ndarray

    # Of every model of a task of SMO on pairs of classes, fixed here.
    solver, loss, fit_intercept, multi_class, solver_options = "smo", "nu_margin", True, "ovo", None

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float = 500,
        class_weight: dict[Any, Any] | str | None = None,
        verbose: int = 0,
        max_iter: int = -1,
        max_seconds: float | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        callback: Callback = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_parameters(self):
        check_kernel_nu_svc(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            At least 0; a weight of k is equivalent to k copies of the row, 0 to leaving it out. A class that has no
            other rows is left out, too, if two others remain: ``classes_`` does not contain it.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data, and where `nu` is infeasible for the weights of two classes; the message
            says what to change.
        KeyboardInterrupt
            After Ctrl-C; the model is fitted as far as the run got.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If a limit ended the run before `tol` was reached, or if the model is f = 0.
        """
        task = KernelNuTask(self, X, y, sample_weight)
        if not fit_small_problem(task):
            fit_task(task, [self])
        return self

    def _check_fitted_state(self):
        super()._check_fitted_state()
        check_floats(self, {"rho_": np.shape(self.intercept_)})

"""The support vector classifier on explicit features: `LinearSVC`."""

from typing import Any, Self

from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.svm.linear_classifier import LinearClassifier
from kernbench.estimators.svm.linear_task import LinearTask
from kernbench.estimators.svm.parameters import check_linear_svc


class LinearSVC(LinearClassifier):
    r"""Support vector classifier on explicit features: scikit-learn's ``LinearSVC``, with a choice of solvers.

    For two classes it minimises over weights :math:`w` of the features and, with an intercept, of one more
    column that is ``intercept_scaling`` everywhere,

    .. math::

        \frac{\alpha}{2} \|w\|^2 + \frac{1}{n} \sum_{i=1}^{n} w_i \, \ell\bigl(y_i \langle w, x_i \rangle\bigr),
        \qquad C = \frac{1}{\alpha n},

    with :math:`y_i = +1` for ``classes_[1]`` and weights :math:`w_i` = sample weight × class weight. Times
    :math:`n C` that is the problem of scikit-learn's ``LinearSVC`` and of LIBLINEAR: the same ``C`` means the same.
    More than two classes are handled one against the rest.

    Parameters
    ----------
    loss : {"auto", "squared_hinge", "hinge", "log_loss"}, default="auto"
        max(0, 1 - m)², max(0, 1 - m) or log(1 + exp(-m)) of the margin m. ``"auto"`` is ``squared_hinge``, as
        in scikit-learn, if the solver minimises it, and ``hinge`` if it does not. ``log_loss`` gives a logistic
        regression with a regularised intercept.
    C : float, default=1.0
        Inverse strength of the regularisation, > 0; without a unit.
    solver : str, default="auto"
        ``"auto"`` chooses ``newton`` if there are at least as many rows as columns, of which an intercept counts as one
        (with the hinge also at most 1,500 columns), since it does not depend on the scales of the columns and on C;
        otherwise ``sdca``, dual coordinate ascent with shrinking [1]_. Both are exact.
        ``kernbench.solvers.registry.names("linear-svm")`` lists all.
    tol : float, default=1e-4
        Tolerance, > 0, for the certified duality gap divided by the objective. If X has at most 16,384 stored values,
        ``sdca`` continues to the last digit, provided that a million steps suffice, since this costs almost nothing; so
        does ``newton`` (with the hinge up to 64 columns).
    max_iter : int, default=-1
        Maximum number of iterations for each two-class problem. An iteration of ``sdca`` is a step on one row; one of
        ``newton`` is a Newton step, or the whole coordinate ascent that it tries first for the hinge if a Hessian takes
        far longer than a pass over X. -1 means the limit given in the registry; for ``sdca`` this is at least 10
        million steps, or as many as read 10⁹ stored values (a step of the logistic loss counts as 400 more).
    max_seconds : float, default=None
        Time budget of the solver in seconds, divided among the classes; None means no limit. Callbacks and
        traces are not charged.
    fit_intercept : bool, default=True
        False fixes the intercept at 0.
    intercept_scaling : float, default=1.0
        Value of the constant column, > 0. Its weight is regularised like all others, as in LIBLINEAR, so that adding a
        constant to a column changes the model; a large value reduces this effect. With ``inf`` the intercept is not
        regularised, as in `KernelSVC`, so that such a shift changes only the intercept, however far the columns are
        from the origin; this needs ``newton``, which ``"auto"`` then chooses.
    class_weight : dict or "balanced", default=None
        Factors of C by class; ``"balanced"`` is n_samples / (n_classes · number of examples of the class),
        where an example of sample weight k counts k times. With more than two classes the factor of a class applies
        where it is the positive one, and the rest has the factor 1, as in LIBLINEAR.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision in which the training rows are held; weights and sums are float64. ``"auto"`` keeps that of
        X. In float32 the certificate is for the rounded rows, with ``intercept_scaling=np.inf`` less their centre: it
        does not cover losses as small as that rounding.
    warm_start : bool, default=False
        Start the next ``fit`` from the solution of the last one, if classes, columns, solver and loss are the
        same. On the same rows ``sdca`` keeps its dual variables too, and with the same C continues exactly where it
        stopped. ``pegasos`` and ``sbmd`` start from the best multiple of a solution that is now worse than f = 0, such
        as that for a much larger C.
    random_state : int, RandomState, Generator or None, default=None
        Source of the order in which rows are drawn. Pass an int for reproducible results; None is NumPy's global state
        (``np.random.seed``).
    callback : callable or list of callables, default=None
        Called as ``callback(model)`` at intervals during ``fit`` with a two-class `LinearSVC` that has the current
        iterate; its time is not counted. If it returns a dict, this adds columns to ``trace_``; if it returns True, the
        run stops.
    verbose : int, default=0
        1 shows a progress bar of the iterations; with ``n_jobs`` > 1, of the problems done.
    solver_options : dict, default=None
        Further keyword arguments for the solver's class, such as ``{"shrinking": False}`` for ``sdca``.
    n_jobs : int, default=None
        Number of threads for more than two classes; None means 1 (unless in a ``joblib.parallel_config``), -1 all
        cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    loss_ : {"squared_hinge", "hinge", "log_loss"}
    solver_ : str
        The solver that `solver` stands for.
    dtype_ : {"float32", "float64"}
        Precision in which the training rows were held.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Iterations of the last ``fit``.
    converged_ : bool
        Whether ``tol`` was reached, for every class.
    status_ : str, or list of str with more than two classes
        ``"converged"``, or what ended the run: ``"max_iter"``, ``"max_seconds"``, ``"callback"``,
        ``"stalled"``, ``"stagnated"``, ``"interrupted"``, ``"not started"``.
    fit_status_ : int
        0 if converged, else 1.
    objective_ : float, or ndarray of shape (n_classes,) with more than two classes
        The objective above.
    duality_gap_ : float or None, or ndarray of shape (n_classes,) with more than two classes
        Certified bound on the distance of ``objective_`` to the optimum. None (NaN in an array) where Ctrl-C came
        before the certificate was complete.
    n_inner_products_ : int
        Number of inner products with rows of X, and of updates of w by a row, in ``fit``.
    n_kernel_evaluations_ : int
        0.
    trace_ : dict of lists, or list of dicts with more than two classes
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations``, ``objective``, and those of the callbacks.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    KernelSVC : The same with a kernel.
    sklearn.svm.LinearSVC : The same model by LIBLINEAR.

    Notes
    -----
    Ctrl-C during ``fit`` raises KeyboardInterrupt with the model fitted as far as the run got; with ``warm_start=True``
    another ``fit`` continues from there.

    Random features turn it into a kernel machine: ``make_pipeline(kernbench.features.RandomFeatures(Gaussian(2.0),
    256), LinearSVC())``.

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A dual coordinate descent
       method for large-scale linear SVM", ICML 2008.
    .. [2] R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, "LIBLINEAR: a library for large linear
       classification", JMLR 9, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernbench import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit(X, y)
    >>> print(model.predict(X[[0, 60, 120]]))
    [0 1 2]
    >>> print(model[-1].converged_)
    True
    """

    def __init__(
        self,
        loss: str = "auto",
        *,
        C: float = 1.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        max_seconds: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, Any] | str | None = None,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options
        self.n_jobs = n_jobs

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        check_linear_svc(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows. With an intercept they are copied once, to append a column; sparse rows stay
            sparse.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C, at least 0; a weight of k is equivalent to k copies of the row, 0 to leaving it out. A class
            that has no other rows is left out, too, if two others remain: ``classes_`` does not contain it.

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
        fit_task(LinearTask(self, X, y, sample_weight), [self])
        return self

    def path(self, X: Rows, y: ArrayLike, Cs: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several values of C, each starting from the previous solution.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        Cs : array-like of shape (n_Cs,)
            Each > 0, in any order; fitted from small to large.

        Returns
        -------
        list of LinearSVC
            Fitted models in the order of `Cs`; each is this one with another ``C``.

        Notes
        -----
        ``max_seconds`` limits all fits together. The estimator itself is not changed.
        """
        models, in_turn = models_along(self, "C", Cs, ascending=True)
        fit_task(LinearTask(in_turn[0], X, y, sample_weight), in_turn)
        return models

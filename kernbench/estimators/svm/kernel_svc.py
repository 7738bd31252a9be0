"""The support vector classifier: `KernelSVC`."""

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.locks import one_at_a_time
from kernbench.estimators.svm import scs_stream
from kernbench.estimators.svm.expansion import ExpansionClassifier
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.estimators.svm.small_pairs import fit_small_pairs
from kernbench.kernels.base import Kernel


class KernelSVC(ExpansionClassifier):
    r"""Support vector classifier with a kernel: scikit-learn's ``SVC``, with a choice of solvers.

    For two classes it minimises over functions :math:`f` of the kernel's space and intercepts :math:`b`

    .. math::

        \frac{\alpha}{2} \|f\|^2
        + \frac{1}{n} \sum_{i=1}^{n} w_i \, l\bigl(y_i (f(x_i) + b)\bigr),
        \qquad C = \frac{1}{\alpha n},

    with :math:`y_i = +1` for ``classes_[1]``, weights :math:`w_i` = sample weight × class weight and the
    hinge loss :math:`l(m) = \max(0, 1 - m)` or another of the margin :math:`m`. Times :math:`n C` that is the
    problem of ``SVC`` (the same ``C`` means the same), whose solution is :math:`f = \sum_i y_i a_i k(x_i,
    \cdot)`, for the hinge with :math:`0 \le a_i \le C w_i`. More than two classes are handled one against
    one, as in ``SVC``, or one against the rest.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "chi2", "additive_chi2", "poly", "sigmoid", "linear", "cosine", "precomputed"}, \
            Kernel or callable, default="rbf"
        ``rbf`` exp(-gamma ‖x - z‖²), ``laplacian`` exp(-gamma ‖x - z‖₁), ``chi2`` exp(-gamma sum_j (x_j -
        z_j)² / (x_j + z_j)) for entries x_j >= 0, ``additive_chi2`` sum_j 4 x_j z_j / (x_j + z_j) (with an intercept
        equivalent to scikit-learn's -sum_j (x_j - z_j)² / (x_j + z_j)), ``poly`` (gamma <x, z> + coef0)^degree,
        ``cosine`` <x, z> / (‖x‖ ‖z‖), ``sigmoid`` tanh(gamma <x, z> + coef0), which is indefinite;
        ``gaussian`` and ``polynomial`` are other names of ``rbf`` and ``poly``. ``precomputed``: X is the kernel
        matrix, K(train, train) in ``fit`` and K(test, train) afterwards; the former must be symmetric, which is
        checked on the entries between 64 of the rows. A kernel object of ``kernbench.kernels`` has its own
        parameters, which ``set_params`` and searches call ``kernel__sigma`` and so on. A function is called as
        ``kernel(X, Z)`` with batches of rows and returns the matrix of shape (len(X), len(Z)), dense or sparse.
        Rows need not be numeric: for a list of texts or other objects the function is given one-dimensional
        arrays of them, for a table with text arrays of rows of objects.
    gamma : {"scale", "auto", "median"} or float, default="scale"
        ``"scale"`` is 1 / (n_features · variance of X), ``"auto"`` 1 / n_features, ``"median"`` 1 / (2 s²)
        with s the median distance between at most 2,000 rows (``laplacian``: 1 / s with l1 distances). A
        float, > 0, is in units of 1 / x² (``laplacian``: 1 / x). Unlike in ``SVC``, the variance is that of the
        weighted data when there are sample weights, so that a weight of k is equivalent to k copies; the median takes
        each row of positive weight once.
    degree : int, default=3
        Degree of ``poly``, at least 1.
    coef0 : float, default=0.0
        Constant of ``poly``, at least 0, and of ``sigmoid``, of either sign.
    C : float, default=1.0
        Inverse strength of the regularisation, > 0.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        max(0, 1 - m), max(0, 1 - m)² or log(1 + exp(-m)) of the margin m. Every solver accepts the
        hinge; ``kernbench list solvers`` shows which ones minimise the other losses, and the error that the others
        raise names them.
    solver : str, default="smo"
        ``smo`` is exact and recommended; the others reach a rough solution with fewer kernel evaluations, or are for
        comparison. ``kernbench.solvers.registry`` lists them all, with their cost and their source.

        * ``smo``: sequential minimal optimisation, pairs of dual variables by second-order gain [1]_, [2]_;
        * ``sdca``: dual coordinate ascent, one variable at a time in random order;
        * ``pegasos``: stochastic subgradient steps of length 1 / (alpha t) [3]_;
        * ``norm-ball-sgd``: averaged stochastic subgradients of the loss inside a ball of given radius;
        * ``perceptron``: the online perceptron, with a step for each misclassified row;
        * ``sbp``: stochastic batch perceptron, supergradients of the margin for a given budget of slack [4]_;
        * ``norma``: online gradient descent with decaying coefficients; options bound the number of support vectors;
        * ``scs``: stochastic conjugate subgradient directions over growing samples;
        * ``wolfe``: Wolfe's conjugate subgradient method on all examples;
        * ``closed-form``: the Parzen classifier, which is optimal if C is so small that no margin exceeds 1; needs
          ``fit_intercept=False``.
    fit_intercept : bool, default=True
        False fixes b = 0.
    shrinking : bool, default=True
        Whether ``smo`` leaves out coefficients at a bound that will probably stay there, as in ``SVC``; other solvers
        ignore it.
    probability : bool, default=False
        Must be False, or ``"deprecated"``, the default of ``SVC`` in scikit-learn 1.9; present for compatibility, see
        the notes for the replacement.
    tol : float, default=1e-3
        Tolerance of the stopping rule, > 0, for the certified duality gap divided by the objective: with 1e-3 the
        objective is at most 0.1 % above the optimum. ``smo`` also compares `tol` with the largest violation of the
        optimality conditions, in units of the decision function, as ``SVC`` does.
    max_iter : int, default=-1
        Maximum number of iterations for each two-class problem. Unlike in ``SVC``, -1 does not mean unlimited, but the
        default of the solver in the registry: for ``smo`` 10 million, or 100 for each row if that is more; for ``scs``
        1,000, for ``wolfe`` 2,000 and for ``closed-form`` 2; for the others a number of passes over the data, from 10
        for ``sbp`` to 200 for ``sdca``.
    max_seconds : float, default=None
        Time budget of ``fit`` in seconds, divided among the two-class problems; None means no limit.
        Callbacks and traces are not charged.
    cache_size : float, default=500
        Memory for kernel rows in megabytes (2²⁰ bytes), > 0, for each of ``n_jobs`` threads. For at most 2,500 rows the
        whole kernel matrix is kept, whatever the value. It hardly affects the time of ``smo`` (experiment ``cache``).
    class_weight : dict or "balanced", default=None
        Factors of C by class; ``"balanced"`` is n_samples / (n_classes · number of examples of the class),
        where, unlike in ``SVC``, an example of sample weight k counts k times.
    multi_class : {"ovo", "ovr"}, default="ovo"
        For more than two classes: one problem for each pair of them, as in ``SVC``, or one for each class against
        the rest. The latter are larger but fewer, and share their kernel rows.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether ``decision_function`` returns one column per class or per pair of classes, for more than two classes.
        ``"ovo"`` needs ``multi_class="ovo"``.
    break_ties : bool, default=False
        For more than two classes, one against one: with True ``predict`` returns the class of the largest ``"ovr"``
        score, with False the first of the classes that win the most pairs, as in ``SVC``. True needs
        ``decision_function_shape="ovr"``.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of kernel values, in ``fit`` and in predictions; sums are float64. ``"auto"`` is float64 for at
        most 2,000 training rows (for ``smo`` 2,500, if one of two classes has at most a quarter of them) and float32
        above. It is float64, too, if float32 is too coarse for the data: for ``rbf`` if ``gamma`` is so large that
        k(x, x) = 1 could be wrong by one per cent (with sparse rows by 5e-5), for ``laplacian`` if values could be
        wrong by 5e-5, for kernels such as ``poly`` if rounding would hide the differences of rows. If the rounding of
        float32 keeps the gap of ``smo`` above `tol`, the run continues in float64. In float64, with more than 2,500
        rows of at least 10 entries (sparse ones: 40 that are stored), ``smo`` takes its first steps on float32 values;
        the final optimality conditions, objective and gap are those of float64 values.
    warm_start : bool, default=False
        Start the next ``fit`` from the solution of the last one, if classes and solver are the same and the
        coefficients suit the labels (on other rows: if they have the signs of the labels); otherwise from scratch. C,
        tol, limits and even the kernel may change in between; ``pegasos`` and ``norma`` start from the best multiple of
        a solution that is now worse than f = 0. Random generators continue, so that two fits of a and b iterations
        equal one of a + b (for ``pegasos`` if a is a multiple of 256). With a kernel that is a Python function, which
        may have changed in between, only coefficients and generators are kept.
    random_state : int, RandomState, Generator or None, default=None
        Source of the random numbers of stochastic solvers and of ``gamma="median"``. Pass an int for reproducible
        results; None is NumPy's global state (``np.random.seed``).
    n_jobs : int, default=None
        Number of threads that solve two-class problems at the same time; None means 1 (unless in a
        ``joblib.parallel_config``), -1 all cores. The model does not depend on it. A single problem uses all cores in
        any case.
    callback : callable or list of callables, default=None
        Called as ``callback(model)`` at intervals during ``fit``; its time is not counted. The argument is a two-class
        `KernelSVC` with the current iterate (with more classes, that of the current pair; one against the rest, its
        classes are False and True). It has all attributes except those that summarise a run: ``status_``,
        ``fit_status_``, ``objective_``, ``duality_gap_`` and ``trace_``. If the callback returns a dict, this adds
        columns to ``trace_``; if it returns True, the run stops. With ``n_jobs`` > 1 it is called from several threads,
        one at a time.
    verbose : int, default=0
        1 shows a progress bar of the iterations; with ``n_jobs`` > 1, of the problems done.
    solver_options : dict, default=None
        Further keyword arguments for the solver's class, such as ``{"nu": 0.01}`` for ``sbp``, a slack budget in place
        of C (`slack_budget` converts one to the other), or ``{"sample_cap": 5000}`` for ``scs``, the largest number of
        rows in its sample.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    support_ : ndarray of shape (n_SV,), int32
        Indices of the support vectors in the training set, grouped by class.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, n_features)
        Sparse if X was; of shape (0, 0) for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,), int32
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV), or (n_classes, n_SV)
        Coefficients of the support vectors, with the layout and signs of ``SVC``; always dense. With more than two
        classes one against the rest, row k belongs to the problem in which class k is positive.
    coef_ : ndarray of shape (n_problems, n_features)
        Weights of the features; linear kernel only. There are n_classes (n_classes - 1) / 2 problems one
        against one, n_classes one against the rest.
    intercept_ : ndarray of shape (n_problems,)
    centre_ : ndarray of shape (n_features,), or None
        What ``fit`` subtracts from the rows. With a linear kernel and an intercept the problem does not depend on this
        shift, but rounding errors do. ``coef_`` is the sum of the centred support vectors times ``dual_coef_``;
        ``intercept_`` is for rows that are not centred. (If the coefficients add up to 0, as with ``smo``, the centre
        does not affect ``coef_``.) None for other kernels, and if the data need no centring.
    kernel_ : Kernel
        The kernel with its numbers, for instance ``Gaussian(sigma=1.2)``.
    dtype_ : {"float32", "float64"}
        Precision of kernel values.
    n_iter_ : ndarray of shape (n_problems,)
        Iterations of the last ``fit``.
    converged_ : bool
        Whether ``tol`` was reached, for every problem.
    status_ : str, or list of str with more than two classes
        ``"converged"``, or what ended the run: ``"max_iter"``, ``"max_seconds"``, ``"callback"``, ``"stalled"`` (no
        further step was possible), ``"stagnated"`` (the solver ended by itself before the gap reached `tol`),
        ``"interrupted"`` (Ctrl-C) or ``"not started"``; ``"finished"`` for a method without a stopping rule
        (``perceptron``); ``"diverged"`` where ``scs`` or ``wolfe`` finds that the objective has no minimum, as with a
        kernel that is not positive semi-definite, or the values of f in ``sbp`` leave the range of floats.
    fit_status_ : int
        0 if converged, else 1.
    objective_ : float, or ndarray of shape (n_problems,) with more than two classes
        The objective above, where n is the number of rows with positive weight in the problem. For ``sbp`` with a slack
        budget ``nu``, which maximises a margin, it is minus that margin, a negative number. For ``scs`` with more rows
        than its ``sample_cap`` (2,000, see `solver_options`), or on a stream, it is an estimate from the sample and
        from rows outside it.
    objective_of_sample_ : float, or ndarray of shape (n_problems,) with more than two classes
        Only if `objective_` is such an estimate (NaN for problems where it is not): the objective with the losses
        averaged over the sample, as in ``trace_``. It is lower than `objective_`, since the model is fitted to the
        sample. If the difference is larger than the standard error of the estimate explains, a warning advises a larger
        ``sample_cap``.
    duality_gap_ : float or None, or ndarray of shape (n_problems,) with more than two classes
        Certified bound on the distance of ``objective_`` to the optimum. None (NaN in an array) if there is no bound:
        for a kernel that is found not to be positive semi-definite, for ``sbp`` with a slack budget, for ``scs`` with
        more rows than its ``sample_cap`` (its stopping rule is then the gap on the sample), and after Ctrl-C during the
        certificate.
    n_kernel_evaluations_ : int
        Number of values k(x, z) that ``fit`` computed, not counting those found in the cache.
    trace_ : dict of lists, or list of dicts with more than two classes
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations``, ``objective``, and those of the callbacks. For more
        than 1,000 small pairs of classes it is a sequence that makes the dicts on access.
    shape_fit_ : tuple of int of shape (2,)
        Shape of the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    sklearn.svm.SVC : The same model by LIBSVM.

    Notes
    -----
    Ctrl-C during ``fit`` raises KeyboardInterrupt with the model fitted as far as the run got; with ``warm_start=True``
    another ``fit`` continues from there.

    With ``solver="smo"``, the hinge and one against one, small problems are solved together on the same kernel rows,
    which ``n_kernel_evaluations_`` counts once: those with at most 2,500 rows in each pair of classes (1,000 in
    float32), if ``cache_size`` holds the kernel matrix of all rows, and without warm start, callbacks, limits, a
    progress bar or a kernel that is a Python function. With two classes, one of which is rare, only the kernel rows
    that are needed are computed.

    Probabilities come from ``sklearn.calibration.CalibratedClassifierCV(KernelSVC(), ensemble=False)``, which
    replaces ``SVC(probability=True)``.

    References
    ----------
    .. [1] J. Platt, "Fast training of support vector machines using sequential minimal optimization", 1998.
    .. [2] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for
       training support vector machines", JMLR 6, 2005.
    .. [3] S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter, "Pegasos: primal estimated sub-gradient solver
       for SVM", Mathematical Programming 127, 2011.
    .. [4] A. Cotter, S. Shalev-Shwartz, N. Srebro, "The kernelized stochastic batch perceptron", ICML 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernbench import KernelSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), KernelSVC(C=10)).fit(X, y)
    >>> print(model.predict(X[[0, 50, 100]]))
    [0 1 2]

    Watch the training error while a stochastic solver runs:

    >>> X, y = X[50:], y[50:]
    >>> watched = KernelSVC(solver="sbp", tol=0.3, random_state=0,
    ...                     callback=lambda model: {"error": 1 - model.score(X, y)})
    >>> watched = watched.fit(X, y)
    >>> sorted(watched.trace_)
    ['error', 'n_iter', 'n_kernel_evaluations', 'objective', 'seconds']
    """

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        *,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        loss: str = "hinge",
        solver: str = "smo",
        fit_intercept: bool = True,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        cache_size: float = 500,
        class_weight: dict[Any, Any] | str | None = None,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.loss = loss
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
            float32 and float64 rows in C order are taken without a copy.
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
        task = KernelTask(self, X, y, sample_weight)
        if not fit_small_pairs(task):
            fit_task(task, [self])
        return self

    def path(self, X: Rows, y: ArrayLike, Cs: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several values of C, each starting from the previous solution.

        The fits share the kernel rows that fit into ``cache_size`` (for more than 4,000 rows ``smo`` keeps those of its
        last working sets), and ``smo`` also reuses the gradient.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        Cs : array-like of shape (n_Cs,)
            Each > 0, in any order; fitted from small to large.

        Returns
        -------
        list of KernelSVC
            Fitted models in the order of `Cs`: copies of this estimator with other values of ``C``.

        Raises
        ------
        ValueError
            As for `fit`, and for a slack budget ``nu`` in ``solver_options``, which takes the place of C.
        KeyboardInterrupt
            After Ctrl-C, with nothing returned.

        Notes
        -----
        ``max_seconds`` limits all fits together, ``max_iter`` each of them. The estimator itself is not changed.
        """
        if "nu" in (self.solver_options or {}):
            raise ValueError("a path over C has no use for solver_options={'nu': ...}: leave nu out")
        models, in_turn = models_along(self, "C", Cs, ascending=True)
        fit_task(KernelTask(in_turn[0], X, y, sample_weight), in_turn)
        return models

    @available_if(scs_stream.can_stream)
    @one_at_a_time
    def partial_fit(
        self, X: Rows, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from the next rows of a stream, with ``solver="scs"``.

        Rows are added to the sample of the model until it holds ``sample_cap`` of them (an entry of `solver_options`,
        by default 2,000); as many more are kept to validate steps. Memory does not grow with the stream.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The kernel's width is determined from the first batch, so it should be large.
        y : array-like of shape (n_samples,)
            Labels of two classes; a batch may lack one. For more classes, wrap the model in
            ``sklearn.multiclass.OneVsRestClassifier``.
        classes : array-like of shape (2,), default=None
            The two labels; needed in the first call unless both are in `y`.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data, such as rows too large for the kernel; the model stays as it was.

        Notes
        -----
        The number of rows of a stream is not known, so n in C = 1 / (alpha n) is ``sample_cap``, as in a `fit` of that
        many rows. ``solver_options={"alpha": 1.0}`` sets alpha itself. ``max_iter`` is the number of iterations in each
        call (by default one for every ``growth`` = 50 rows, at least 20). ``objective_`` is an estimate for the rows so
        far, ``objective_of_sample_`` the objective on the sample, ``duality_gap_`` is None, and ``support_`` are
        indices among the rows that are kept. After `fit`, `partial_fit` starts from scratch.
        """
        scs_stream.partial_fit(self, X, y, classes, sample_weight)
        return self

    @available_if(scs_stream.can_stream)
    def fit_chunks(self, chunks: Any, classes: ArrayLike | None = None) -> Self:
        """Fit to data that come in chunks and need not fit into memory, with ``solver="scs"``.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, sample_weight)
            From a list, rows are drawn at random from all chunks, and only these rows of a memory map are read (pass a
            memory map as ``[(X, y)]``). An iterator is read chunk by chunk, as far as the run needs: its chunks should
            be in random order.
        classes : array-like of shape (2,), default=None
            The two labels; by default those of the first 1,000 rows or, if they are all of one class, of as many as
            necessary.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For an invalid chunk; the message has its number, counted from 1, unless rows are too large for the
            kernel or outside its domain. The model is then that of the run so far; if the run had not begun, it is
            fitted to the rows before the chunk, provided that they have both classes. The outcome of
            an earlier fit (``converged_``, ``duality_gap_``, ``status_`` and the like) is removed. Empty chunks are
            skipped.
        KeyboardInterrupt
            After Ctrl-C; the model is fitted as far as the run got.

        Notes
        -----
        As for `partial_fit`; ``max_iter=-1`` stands for 1,000 iterations. Rows that were not drawn are not checked.
        """
        scs_stream.fit_chunks(self, chunks, classes)
        return self

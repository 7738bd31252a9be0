"""The classifier that ranks: `ROCSVC`."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from kernbench._typing import Callback, RandomState, Rows
from kernbench._warnings import warn
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.locks import one_at_a_time
from kernbench.estimators.roc import stream
from kernbench.estimators.roc.parameters import check_roc_svc
from kernbench.estimators.roc.roc_task import ROC
from kernbench.estimators.roc.scores import RankingClassifier
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.kernels.base import Kernel


class ROCSVC(RankingClassifier):
    r"""Support vector classifier that ranks: it maximises the area under the ROC curve.

    For two classes, however unequal in size, it minimises over functions :math:`f` of the kernel's space

    .. math::

        \frac{\alpha}{2} \|f\|^2
        + \frac{1}{n_+ n_-} \sum_{i: y_i = +} \; \sum_{j: y_j = -} \ell\bigl(f(x_i) - f(x_j)\bigr),
        \qquad \ell(t) = \max(0, 1 - t),

    over all pairs of a positive and a negative row, or over a random sample of pairs [1]_. The loss of a pair is large
    if the negative row scores higher than the positive one. An intercept cancels, so it is set afterwards, for a
    requested sensitivity or specificity.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        As in `kernbench.KernelSVC`. ``precomputed``: X is the kernel matrix, K(train, train) in ``fit`` and
        K(test, train) afterwards.
    alpha : float, default=1e-3
        Strength of the regularisation, > 0; the λ of the paper. It does not depend on the number of rows.
    pairs : {"all", "n_samples"} or int, default="all"
        ``"all"`` uses all pairs exactly, by sorting, in O(n log n), and is recommended. With an integer, this number of
        pairs is drawn once, with replacement (so it may exceed the number of pairs); ``"n_samples"`` draws as many
        pairs as there are rows, as in the paper [1]_. ``solver_options={"balanced": True}`` draws each row of a class
        equally often, and is for drawn pairs only.
    loss : {"auto", "hinge", "squared_hinge", "log_loss", "squared"}, default="auto"
        ``hinge`` as above; ``squared_hinge`` its square and ``log_loss`` log(1 + exp(-t)), which are smooth;
        ``squared`` (1 - t)², which has a closed form for at most 1,500 columns or features, used for every `solver`.
        ``"auto"`` is ``squared_hinge`` for ``solver="newton"``, which needs a smooth loss, and ``hinge`` for the rest.
    threshold : "youden", float, ("sensitivity", s) or ("specificity", q), default="youden"
        Rows whose score is at least the threshold are predicted positive. ``("sensitivity", s)``: the largest threshold
        at which at least a share s of the positives is predicted positive; ``("specificity", q)``: a threshold at which
        at least a share q of the negatives is predicted negative, half way to the next score; s and q are in (0, 1].
        ``"youden"`` maximises the sum of sensitivity and specificity.
    threshold_on : "train" or float, default="train"
        The rows on whose scores the threshold is set. Scores of training rows are optimistic, especially with a small
        `alpha`; a float in (0, 1) holds out this share of each class, drawn at random, and uses their scores. To use
        other rows, call `adjust_threshold`.
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Parameter of a kernel that is given by name, as are `degree` and `coef0`; see `kernbench.KernelSVC`.
    degree : int, default=3
    coef0 : float, default=0.0
    features : {"auto", "nystroem", "random", "exact"}, default="auto"
        How a kernel is represented. ``exact`` uses the kernel matrix of n² values; ``nystroem`` projects the kernel
        onto landmarks and ``random`` draws random features, both at a cost linear in n. ``"auto"`` takes the columns of
        X for ``kernel="linear"``, and ``exact`` for at most 2,000 rows or a precomputed kernel; otherwise ``nystroem``,
        and also if `n_landmarks` or `landmarks` is given or the squared loss needs features.
    n_landmarks : int, default=None
        For ``nystroem``; None means 300, or as many as there are rows.
    landmarks : {"stratified", "uniform", "kmeans", "leverage"} or rows, default="stratified"
        For ``nystroem``: rows drawn inside each class in proportion to its size (``stratified``), rows drawn from all
        (``uniform``), centroids (``kmeans``), or rows drawn by their ridge leverage scores (``leverage``); an array of
        shape (m, n_features) gives the landmarks themselves. See `kernbench.features.Nystroem`.
    n_features : int, default=None
        For ``random``; None means 512.
    solver : {"bundle", "newton", "adamax", "gradient"}, default="bundle"
        ``bundle`` (cutting planes [2]_) and ``newton`` (truncated Newton [3]_) reach a certified gap in tens of
        iterations. ``adamax`` [4]_ is the paper's method, ``gradient`` the same with a fixed step. Adamax changes a
        weight by at most 0.002 in an iteration, which is too little with landmarks: there, use
        ``solver_options={"step_size": 0.2}``.
    tol : float, default=1e-3
        Tolerance, > 0. ``bundle``, ``newton``: duality gap divided by the objective. ``adamax``,
        ``gradient``: change of the best objective over 20 iterations.
    max_iter : int, default=-1
        Maximum number of iterations; -1 means 1,000.
    max_seconds : float, default=None
        Time budget of the solver in seconds; features and callbacks are not charged.
    cache_size : float, default=500
        Memory for the kernel matrix in megabytes (2²⁰ bytes), > 0, with ``exact``; a larger matrix is recomputed in
        each pass.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision in which kernel values, or features of training rows, are held; sums are float64. ``"auto"``
        is float64 for at most 2,000 rows, float32 above. The columns of X stay as they are.
    reservoir_size : int, default=1000
        Rows of each class that ``partial_fit`` keeps; fixed by the first batch.
    warm_start : bool, default=False
        Start the next ``fit`` from the solution of the last one. For the same rows, the feature map and the pairs are
        kept too, and a run that was ended by a limit continues exactly where it stopped. With a kernel that is a Python
        function, which may have changed in between, every ``fit`` starts from scratch.
    random_state : int, RandomState, Generator or None, default=None
        Source of landmarks, random features, pairs, held-out rows and the subset of ``gamma="median"``. Pass an int for
        reproducible results; None is NumPy's global state (``np.random.seed``).
    callback : callable or list of callables, default=None
        Called as ``callback(model)`` at intervals during ``fit`` with a copy of the model that has the current iterate;
        its time is not counted. If it returns a dict, this adds columns to ``trace_``; if it returns True, the run
        stops.
    verbose : int, default=0
        1 shows a progress bar.
    solver_options : dict, default=None
        Further keyword arguments for the solver's class, such as ``{"step_size": 0.02}`` for ``adamax``.
        Ignored with ``loss="squared"``, which needs no solver, and by `partial_fit`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is positive.
    coef_ : ndarray of shape (1, n_features_in_)
        Weights of the columns of X; linear kernel with ``features="auto"`` only.
    feature_coef_ : ndarray of shape (1, n_columns)
        Weights of the columns of ``feature_map_``, with ``nystroem`` and ``random``.
    dual_coef_ : ndarray of shape (1, n_SV)
        With ``exact``, coefficients of the support vectors: f(x) = Σ_k dual_coef_k · k(x, x_k).
    support_ : ndarray of shape (n_SV,), int32
        With ``exact``, the indices of the support vectors in the training set.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, n_features)
        With ``exact``; of shape (0, 0) for a precomputed kernel.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    features_ : {"linear", "nystroem", "random", "exact"}
        The kind of features used.
    feature_map_ : Nystroem, RandomFeatures or None
    kernel_ : Kernel
        The kernel with its numbers, for instance ``Gaussian(sigma=1.2)``.
    loss_ : {"hinge", "squared_hinge", "log_loss", "squared"}
    dtype_ : {"float32", "float64"}
    n_iter_ : ndarray of shape (1,)
        Iterations of the last ``fit``, or steps of all ``partial_fit`` since.
    converged_ : bool
        Whether `tol` was reached. This attribute and the following ones, up to ``trace_``, describe a run of ``fit``:
        `partial_fit` removes them.
    status_ : str
        ``"converged"``, or what ended the run: ``"max_iter"``, ``"max_seconds"``, ``"callback"``,
        ``"stalled"``, ``"stagnated"``, ``"interrupted"``.
    fit_status_ : int
        0 if converged, else 1.
    objective_ : float
        The objective above.
    duality_gap_ : float or None
        Certified bound on the distance of ``objective_`` to the optimum (loose for ``adamax`` and
        ``gradient``). None where there is no bound: with ``exact``, for a kernel that is found not to be positive
        semi-definite, and where Ctrl-C came before the certificate was complete.
    n_kernel_evaluations_ : int
        Values k(x, z) computed for the fit, landmarks included; 0 for columns and random features.
    trace_ : dict of lists
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations``, ``objective``, and those of the callbacks.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    ROCSVCCV : Chooses alpha by cross-validation.
    KernelSVC : Maximises accuracy instead.

    Notes
    -----
    There is no ``class_weight``: the weight of a class is a common factor of all pairs and has no effect.

    The scores are not probabilities; ``sklearn.calibration.CalibratedClassifierCV`` converts them.

    After Ctrl-C during ``fit`` the model is fitted as far as the run got.

    References
    ----------
    .. [1] E. Bae, S. J. Shin, "Scaling up ROC-optimizing support vector machines".
    .. [2] T. Joachims, "Training linear SVMs in linear time", KDD 2006.
    .. [3] C.-P. Lee, C.-J. Lin, "Large-scale linear RankSVM", Neural Computation 26, 2014.
    .. [4] D. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernbench import ROCSVC
    >>> from kernbench.metrics import roc_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), ROCSVC(threshold=("sensitivity", 0.99))).fit(X, y)
    >>> roc_auc(y, model.decision_function(X)) > 0.99
    True
    >>> print((model.predict(X)[y == 1] == 1).mean() >= 0.99)
    True
    """

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        *,
        alpha: float = 1e-3,
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
        reservoir_size: int = 1000,
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
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
        self.reservoir_size = reservoir_size
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        check_roc_svc(self)

    def _fitted_attributes(self):
        return super()._fitted_attributes() | stream.to_save(self)

    def _check_fitted_state(self):
        super()._check_fitted_state()
        stream.restore(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
            float32 and float64 rows in C order are taken without a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            The pair (i, j) weighs w_i w_j, so that a weight of k is equivalent to k copies of the row, and 0 to
            leaving it out.

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
        fit_models([self], X, y, sample_weight)
        return self

    def path(self, X: Rows, y: ArrayLike, alphas: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several values of alpha, each starting from the previous solution.

        The fits share one feature map and, if pairs are drawn, the pairs. A path costs about as much as a few single
        fits.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        alphas : array-like of shape (n_alphas,)
            Each > 0, in any order; fitted from large to small.

        Returns
        -------
        list of ROCSVC
            Fitted models in the order of `alphas`; each is this one with another ``alpha``.

        Notes
        -----
        ``max_seconds`` limits all fits together. The estimator itself is not changed.
        """
        models, in_turn = models_along(self, "alpha", alphas, ascending=False)
        fit_models(in_turn, X, y, sample_weight)
        return models

    @available_if(stream.has_features)
    @one_at_a_time
    def partial_fit(
        self, X: Rows, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from the next rows of a stream.

        Each row of the batch is paired with rows of the other class, drawn from a reservoir: a random sample of
        ``reservoir_size`` rows of each class of the stream so far, this batch included (uniform, or in proportion to
        the weights, if there are any). Averaged stochastic gradient descent then takes steps on these pairs. The
        threshold is set on the reservoir.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            With a kernel, the bandwidth and the landmarks are determined from the first batch, so it should be large.
        y : array-like of shape (n_samples,)
            A batch may lack a class.
        classes : array-like of shape (2,), default=None
            The two labels; needed in the first call unless both are in `y`.
        sample_weight : array-like of shape (n_samples,), default=None
            As for `fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As for `fit`.
        AttributeError
            For ``features="exact"`` and ``kernel="precomputed"``, which cannot stream.

        Notes
        -----
        ``pairs`` is the number of pairs per batch: with ``"n_samples"`` each row is paired with one other row, with
        ``"all"`` with eight. After `fit`, `partial_fit` continues from that solution (it restarts if
        ``features="auto"`` had chosen ``exact``). The attributes that describe the run of `fit`, from ``converged_`` to
        ``trace_``, are then removed. `solver`, `solver_options`, `tol`, the limits and `threshold_on` are
        ignored. After Ctrl-C the model is that of the batches before, and the interrupted one can be given again. Model
        files hold the reservoirs, too, so that the stream of a loaded model continues as that of the saved one would.
        Until rows of both classes have come, the model stays as it is after `fit`; else all its scores are 0.
        """
        stream.partial_fit(self, X, y, classes, sample_weight)
        return self


def fit_models(models, X, y, sample_weight):
    """Fit models that differ in alpha, from large to small."""
    (result,) = fit_task(SpaceTask(ROC, models[0], X, y, sample_weight), models)
    if result.converged and not np.any(result.solution.coef):
        warn("all scores are equal: no direction of X separates the classes")

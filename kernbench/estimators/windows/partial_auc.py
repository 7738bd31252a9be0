"""The classifier of a range of false positive rates: `PartialAUCClassifier`."""

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.path import copy_with, fit_task, models_along
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.estimators.windows.parameters import check_partial_auc
from kernbench.estimators.windows.partial_auc_task import PARTIAL_AUC, criticality_of
from kernbench.estimators.windows.window_classifier import WindowClassifier
from kernbench.kernels.base import Kernel
from kernbench.pairs.window import checked_fpr_range


class PartialAUCClassifier(WindowClassifier):
    r"""Classifier that maximises the area under a part of the ROC curve, between two false positive rates.

    For two classes and a range :math:`[a, b]` of false positive rates it minimises over functions :math:`f` of the
    kernel's space

    .. math::

        \frac{\alpha}{2} \|f\|^2
        + \frac{1}{n_+ n_- (b - a)} \sum_{i: y_i = +} \; \sum_{j \in J_{a,b}(f)} \ell\bigl(f(x_i) - f(x_j)\bigr),

    where :math:`J_{a,b}(f)` holds the negatives that :math:`f` ranks from place :math:`n_- a` to place :math:`n_- b`,
    the highest score first; where an end falls inside a negative, a part of it counts [1]_. Since the window depends
    on :math:`f` the problem is not convex: a solution is a critical point, and which one depends on the start.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.1)
        (a, b) with 0 <= a < b <= 1. The whole range, (0, 1), is what `ROCSVC` minimises.
    ranks : (int, int), default=None
        (m, n) in place of `fpr_range`, which must then have its default: the window consists of the negatives of rank
        m + 1 to n, the highest score first.
    loss : {"auto", "log_loss", "hinge", "squared_hinge"}, default="auto"
        ℓ of a pair: log(1 + exp(-t)), max(0, 1 - t), or the square of that. ``"auto"`` is ``log_loss`` where the solver
        minimises it. ``svmpauc-tight`` minimises a convex bound of 1 minus the partial AUC, which for a = 0 is the
        hinge and for a > 0 may be less.
    solver : str, default="dca-exact"
        ``dca-exact`` (ours) is a difference-of-convex algorithm on all pairs with certified convex subproblems;
        ``svmpauc-tight`` minimises the convex structural bound of Narasimhan and Agarwal [2]_; ``agd-sbcd``, ``dca``
        and ``proximal-dca`` are the stochastic methods of [1]_; ``minibatch`` uses the window of each batch in place of
        that of the data, which is biased [3]_. See ``kernbench list solvers``.
    alpha : float, default=1e-4
        Strength of the regularisation, >= 0; for ``svmpauc-tight`` > 0.
    kernel : str, Kernel or callable, default="linear"
        As in `ROCSVC`.
    start : {"logistic", "auc", "solver"}, default="logistic"
        Where the solver starts: ``logistic`` is a logistic regression with classes of equal weight; ``auc`` is the
        solution for the whole range, a convex problem (also what ``logistic`` means with a kernel without features);
        ``solver`` is the solver's own starting point. A start at f = 0 would be useless: there all scores are tied, and
        no method makes progress.
    validation : float or (X, y), default=None
        Rows on which the partial AUC is monitored: a float is a share of each class of the training rows, which is left
        out of the fit and scored with its weights; a pair gives other rows, which the steps of a pipeline do not
        transform. The trace then has a column ``validation_partial_auc``.
    keep : {"best", "last"}, default="best"
        With `validation`: whether the model is the iterate with the largest partial AUC on these rows, of those in the
        trace, or the last one. With `validation` the trace is recorded at iterations that do not depend on the time;
        with `warm_start` and the same rows and parameters, iterates of the fits before count, too. In both cases
        ``objective_``, the gaps, ``converged_`` and ``status_`` are those of the last iterate; ``best_n_iter_`` says
        which one the best is.
    threshold : "youden", "window", float, ("sensitivity", s) or ("specificity", q), default="youden"
        Rows whose score is at least the threshold are predicted positive. ``"window"`` is the threshold at the upper
        end of the range, specificity 1 - b; the others are those of `ROCSVC`.
    threshold_on : "train" or float, default="train"
        The rows on whose scores the threshold is set; see `ROCSVC`.
    gamma, degree, coef0, features, n_landmarks, landmarks, n_features, cache_size, dtype
        As in `ROCSVC`. The stochastic solvers (``agd-sbcd``, ``dca``, ``proximal-dca``, ``minibatch``) work on features
        of a kernel: with them ``features="auto"`` never takes ``exact``.
    tol : float, default=1e-3
        Tolerance of the solver's stopping rule; for ``dca-exact``, of the relative decrease of the objective and of the
        certified gap of its subproblem.
    max_iter : int, default=-1
        -1 is the solver's default limit.
    max_seconds, warm_start, callback, verbose
        As in `ROCSVC`. The time budget includes the computation of the `start`, which is the model if nothing is left
        of it.
    random_state : int, RandomState, Generator or None, default=None
        Draws examples, landmarks, random features and held-out rows; see `ROCSVC`.
    solver_options : dict, default=None
        Other parameters of the solver, such as ``{"shared_batches": False}`` for ``agd-sbcd``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is positive.
    coef_, feature_coef_, dual_coef_, support_, support_vectors_, feature_map_, features_, kernel_
        The function f; as in `ROCSVC`.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    fpr_range_ : (float, float)
        The range in rates, also where `ranks` were given.
    loss_ : str
    dtype_ : {"float32", "float64"}
    objective_ : float
        The objective above, of the last iterate.
    duality_gap_ : None
        None, since the problem is not convex; see `subproblem_gap_`. (A float for ``svmpauc-tight``, whose problem is
        convex: that of the last iterate.)
    subproblem_gap_ : float
        With ``dca-exact``: certified gap of the last iterate in the last convex subproblem, of which it is the solution
        once the fit has converged; infinity where the kernel matrix is not positive semi-definite, as the warning says.
        On a kernel matrix it includes a bound on the rounding of kernel values, unless cutting planes ended the run.
        The last iterate is the model, except with `validation` and ``keep="best"``.
    validation_score_ : float
        With `validation`: the largest partial AUC on these rows.
    best_n_iter_ : int
        The iteration with this partial AUC.
    status_ : str
        As in `ROCSVC`, or ``"diverged"``: the iterates of a stochastic solver or their objective overflowed, and the
        model is the last iterate that was finite.
    n_iter_, converged_, fit_status_, n_kernel_evaluations_, trace_, n_features_in_, feature_names_in_
        As in `ROCSVC`.

    See Also
    --------
    ROCSVC : The whole range; convex.
    kernbench.metrics.partial_auc : The area itself.

    Notes
    -----
    More than two classes: ``sklearn.multiclass.OneVsRestClassifier(PartialAUCClassifier(...))``.

    A surrogate of a window does not always beat a well-tuned logistic regression in the window: compare on validation
    rows. Where the partial AUC stays below about a half, f = 0 may be the optimum, and a warning says so.

    References
    ----------
    .. [1] Y. Yao, Q. Lin, T. Yang, "Large-scale optimization of partial AUC in a range of false positive rates",
       NeurIPS 2022.
    .. [2] H. Narasimhan, S. Agarwal, "SVM_pAUC^tight: a new support vector method for optimizing partial AUC based on a
       tight convex upper bound", KDD 2013.
    .. [3] P. Kar, H. Narasimhan, P. Jain, "Online and stochastic gradient methods for non-decomposable loss functions",
       NeurIPS 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernbench import PartialAUCClassifier
    >>> from kernbench.metrics import partial_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), PartialAUCClassifier((0.0, 0.05))).fit(X, y)
    >>> partial_auc(y, model.decision_function(X), (0.0, 0.05)) > 0.95
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.1),
        *,
        ranks: tuple[int, int] | None = None,
        loss: str = "auto",
        solver: str = "dca-exact",
        alpha: float = 1e-4,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        start: str = "logistic",
        validation: Any = None,
        keep: str = "best",
        threshold: str | float | tuple[str, float] = "youden",
        threshold_on: str | float = "train",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        features: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "stratified",
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
        self.fpr_range = fpr_range
        self.ranks = ranks
        self.loss = loss
        self.solver = solver
        self.alpha = alpha
        self.kernel = kernel
        self.start = start
        self.validation = validation
        self.keep = keep
        self.threshold = threshold
        self.threshold_on = threshold_on
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

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        check_partial_auc(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger is positive.
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

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If a limit ended the run before `tol` was reached.
        UserWarning
            If f = 0 is as good a solution: if every f ranks most pairs of the window wrongly, a convex loss is minimal
            where all scores are equal; if a multiple of f has smaller losses, `alpha` is too large.
        """
        fit_task(SpaceTask(PARTIAL_AUC, self, X, y, sample_weight), [self])
        return self

    def path(
        self,
        X: Rows,
        y: ArrayLike,
        alphas: ArrayLike | None = None,
        *,
        fpr_ranges: list[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> list[Self]:
        """Fit a model for each of several alphas or ranges, each starting from the previous solution.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        alphas : array-like of shape (n_models,), default=None
            Each > 0, in any order; they are fitted from large to small.
        fpr_ranges : list of (float, float), default=None
            Ranges to fit in turn, instead of `alphas`. Going from the whole range to a narrow one helps, since the
            first problem is convex.

        Returns
        -------
        list of PartialAUCClassifier
            Fitted models in the order given. `max_seconds` is the budget of all of them.
        """
        if (alphas is None) == (fpr_ranges is None):
            raise ValueError("give either alphas or fpr_ranges")
        if fpr_ranges is None:
            models, in_turn = models_along(self, "alpha", alphas, ascending=False)
            fit_task(SpaceTask(PARTIAL_AUC, in_turn[0], X, y, sample_weight), in_turn)
            return models
        if self.ranks is not None:
            raise ValueError("a path over fpr_ranges needs ranks=None")
        ranges = [checked_fpr_range(fpr_range) for fpr_range in fpr_ranges]
        if not ranges:
            raise ValueError("fpr_ranges must hold at least one range")
        models = [copy_with(self, fpr_range=ends) for ends in ranges]
        for model in models:
            check_partial_auc(model)
        fit_task(SpaceTask(PARTIAL_AUC, models[0], X, y, sample_weight, strength="fpr_range"), models)
        return models

    def criticality(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None, *, mu: float = 1.0) -> float:
        """Return how far the model is from a critical point of its problem on some rows.

        That is the norm of the gradient of the objective smoothed by Moreau envelopes (Definition 2 of Yao, Lin and
        Yang), at the point whose proximal point with regard to the lower part is the model; 0 at a critical point.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; the rows that the model was fitted to, to judge the fit.
        mu : float, default=1.0
            Smoothing parameter of the envelopes, > 0: that of the paper times the number of pairs within the window.

        Returns
        -------
        float
            Computed by cutting planes with an error of about 1 %; this costs about as much as a fit.

        Raises
        ------
        ValueError
            With ``features="exact"``, where the model keeps its support vectors only, and for
            ``solver="svmpauc-tight"``, which minimises another objective.
        """
        check_is_fitted(self)
        return criticality_of(self, X, y, sample_weight, mu)

"""The classifier of the min-max margin loss of the AUC: `AUCMarginClassifier`."""

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.roc.parameters import check_threshold_parameters
from kernbench.estimators.roc.scores import RankingClassifier
from kernbench.estimators.roc.space_task import Formulation, SpaceTask
from kernbench.estimators.windows.parameters import check_window_model, solver_needs_features
from kernbench.kernels.base import Kernel
from kernbench.metrics import roc_auc
from kernbench.validation.numbers import check_number

LARGEST_MARGIN = 1e100  # its square is a finite number


class AUCMarginClassifier(RankingClassifier):
    r"""Classifier that ranks by the min-max margin loss of the AUC, minimised by PESG.

    It minimises over functions :math:`f` of the space of features

    .. math::

        \frac{\alpha}{2} \|f\|^2 + \operatorname{var}_+ f + \operatorname{var}_- f
        + \max\bigl(0, M + \operatorname{mean}_- f - \operatorname{mean}_+ f\bigr)^2,

    which is the mean squared loss (M - f(x_i) + f(x_j))² over all pairs, except that class means further apart than the
    margin M are not penalised [1]_. PESG, the proximal epoch stochastic gradient method, needs only batches of rows.
    The optimum over all rows is cheap to find by other means, so this classifier serves for comparison with other
    methods that work on batches.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the regularisation, >= 0.
    margin : float, default=1.0
        M, > 0.
    solver : {"pesg"}, default="pesg"
        The proximal epoch stochastic gradient method of [1]_.
    kernel : str, Kernel or callable, default="linear"
        As in `ROCSVC`.
    validation, keep, threshold, threshold_on
        As in `PartialAUCClassifier`, with the AUC in the place of the partial AUC, and no ``"window"``.
    gamma, degree, coef0, features, n_landmarks, landmarks, n_features, cache_size, dtype
        As in `ROCSVC`. PESG works on features of a kernel: ``features="exact"`` is not available, and ``"auto"`` never
        takes it.
    tol, max_iter, max_seconds, warm_start, random_state, callback, verbose, solver_options
        As in `PartialAUCClassifier`.

    Attributes
    ----------
    classes_, coef_, feature_coef_, feature_map_, features_, kernel_, intercept_, dtype_
        As in `ROCSVC`.
    loss_ : str
        ``"auc_margin"``.
    objective_ : float
        The objective above, of the last iterate.
    duality_gap_ : None
        The solver certifies nothing.
    n_iter_, converged_, fit_status_, n_kernel_evaluations_, trace_, n_features_in_, feature_names_in_
        As in `ROCSVC`.
    status_, validation_score_, best_n_iter_
        As in `PartialAUCClassifier`.

    References
    ----------
    .. [1] Z. Yuan, Y. Yan, M. Sonka, T. Yang, "Large-scale robust deep AUC maximization: a new surrogate loss and
       empirical studies on medical image classification", ICCV 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernbench import AUCMarginClassifier
    >>> from kernbench.metrics import roc_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = AUCMarginClassifier(random_state=0).fit(X, y)
    >>> roc_auc(y, model.decision_function(X)) > 0.98
    True
    """

    def __init__(
        self,
        alpha: float = 1e-4,
        *,
        margin: float = 1.0,
        solver: str = "pesg",
        kernel: str | Kernel | Callable[..., Any] = "linear",
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
        self.alpha = alpha
        self.margin = margin
        self.solver = solver
        self.kernel = kernel
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
        _check(self)

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model; see `PartialAUCClassifier.fit`.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes; the larger is positive.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        fit_task(SpaceTask(AUC_MARGIN, self, X, y, sample_weight), [self])
        return self

    def path(self, X: Rows, y: ArrayLike, alphas: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several values of alpha, each starting from the previous solution; see `ROCSVC.path`.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        alphas : array-like of shape (n_alphas,)

        Returns
        -------
        list of AUCMarginClassifier
        """
        models, in_turn = models_along(self, "alpha", alphas, ascending=False)
        fit_task(SpaceTask(AUC_MARGIN, in_turn[0], X, y, sample_weight), in_turn)
        return models


def _check(model):
    check_threshold_parameters(model)
    check_number("margin", model.margin, above=0, at_most=LARGEST_MARGIN)
    entry = check_window_model(model, "auc-margin")
    return entry, entry.losses[0]


def _make_solver(task, design, alpha, initial):
    return task.solver(design, initial, alpha=alpha, margin=task.model.margin)


AUC_MARGIN = Formulation(
    check=_check,
    make_solver=_make_solver,
    of_the_solver=("solver", "margin"),
    needs_features=solver_needs_features("auc-margin"),
    centres=lambda model: True,  # the means of the scores, over which the loss is minimal, follow any shift
    metric=lambda task: lambda y, scores, weights: roc_auc(y, scores, sample_weight=weights),
    metric_name="validation_auc",
    continues=True,
)

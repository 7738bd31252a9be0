"""The classifier of a ranked range: `RankedRangeClassifier`."""

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.roc.scores import TwoClassModel
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.estimators.windows.ranked_range_task import RANKED_RANGE_CLASSIFIER
from kernbench.kernels.base import Kernel


class RankedRangeClassifier(TwoClassModel):
    r"""Classifier that minimises the mean of the losses between two ranks, without the largest or the smallest ones.

    For two classes it minimises over functions :math:`f` of the kernel's space

    .. math::

        \frac{\alpha}{2} \|f\|^2 + \frac{1}{n - m} \sum_{k = m + 1}^{n} \ell_{[k]}(f),

    where :math:`\ell_{[k]}` is the k-th largest of the losses :math:`\ell(y_i f(x_i))`, the sum of ranked range [2]_.
    Leaving out the largest makes a classifier robust against wrong labels; leaving out the smallest attends to the hard
    examples. The problem is not convex unless m = 0.

    Parameters
    ----------
    ranked_range : (m, n), default=(0.05, 1.0)
        The losses that count, ranked from the largest down. Two integers are ranks, 0 <= m < n: the losses of rank
        m + 1 to n. Two floats are shares of all losses, 0 <= m < n <= 1. The default leaves out the largest
        twentieth, those of outliers and of wrong labels.
    loss : {"auto", "log_loss", "hinge", "squared_hinge"}, default="auto"
        ``"auto"`` is ``log_loss``.
    solver : {"dca-exact", "agd", "dca"}, default="dca-exact"
        ``dca-exact`` (ours) descends on all rows and certifies its convex subproblems; ``agd`` is the stochastic method
        of [1]_, ``dca`` that of [2]_.
    alpha : float, default=1e-4
        Strength of the regularisation, >= 0.
    kernel : str, Kernel or callable, default="linear"
        As in `ROCSVC`.
    fit_intercept : bool, default=True
        Whether to add an intercept, as the weight of a constant column, which is regularised like the others; a kernel
        without features has no intercept. With ``kernel="linear"``, columns without zeros are centred by their medians,
        so that the intercept, and with it the effect of its penalty, is small.
    validation : float or (X, y), default=None
        Rows on which the model is monitored during the fit: a float is a share of the training rows, which is left out
        of the fit and scored with its weights; a pair gives other rows, which the steps of a pipeline do not transform.
        The trace then has a column ``validation_accuracy``, the accuracy.
    keep : {"best", "last"}, default="best"
        With `validation`: whether the model is the iterate that scores best on these rows, of those in the trace, or
        the last one; see `PartialAUCClassifier`.
    gamma, degree, coef0, features, n_landmarks, landmarks, n_features, cache_size, dtype
        As in `ROCSVC`. With ``agd`` and ``dca``, which work on features of a kernel, ``features="auto"`` never takes
        ``exact``.
    tol, max_iter, max_seconds, warm_start, random_state, callback, verbose, solver_options
        As in `PartialAUCClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is positive.
    coef_, feature_coef_, dual_coef_, support_, support_vectors_, feature_map_, features_, kernel_
        The function f; as in `ROCSVC`.
    intercept_ : ndarray of shape (1,)
    loss_ : str
    dtype_ : {"float32", "float64"}
    objective_ : float
        The objective above, of the last iterate.
    status_, duality_gap_, subproblem_gap_, validation_score_, best_n_iter_
        As in `PartialAUCClassifier`.
    n_iter_, converged_, fit_status_, n_kernel_evaluations_, trace_, n_features_in_, feature_names_in_
        As in `ROCSVC`.

    See Also
    --------
    RankedRangeRegressor : The same for numbers.

    References
    ----------
    .. [1] Y. Yao, Q. Lin, T. Yang, "Large-scale optimization of partial AUC in a range of false positive rates",
       NeurIPS 2022.
    .. [2] S. Hu, Y. Ying, X. Wang, S. Lyu, "Learning by minimizing the sum of ranked range", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import RankedRangeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = X[:, 0] > 0
    >>> wrong = np.where(X[:, 0] > 1.5, ~y, y)  # the labels of the surest rows are wrong
    >>> model = RankedRangeClassifier((0.1, 1.0)).fit(X, wrong)
    >>> print((model.predict(X) == y).mean() > 0.9)
    True
    """

    def __init__(
        self,
        ranked_range: Any = (0.05, 1.0),
        *,
        loss: str = "auto",
        solver: str = "dca-exact",
        alpha: float = 1e-4,
        kernel: str | Kernel | Callable[..., Any] = "linear",
        fit_intercept: bool = True,
        validation: Any = None,
        keep: str = "best",
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
        self.ranked_range = ranked_range
        self.loss = loss
        self.solver = solver
        self.alpha = alpha
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.validation = validation
        self.keep = keep
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
        RANKED_RANGE_CLASSIFIER.check(self)

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
        """
        fit_task(SpaceTask(RANKED_RANGE_CLASSIFIER, self, X, y, sample_weight), [self])
        return self

    def path(self, X: Rows, y: ArrayLike, alphas: ArrayLike, sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a model for each of several values of alpha, each starting from the previous solution; see `ROCSVC.path`.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        alphas : array-like of shape (n_alphas,)
            Each > 0.

        Returns
        -------
        list of RankedRangeClassifier
        """
        models, in_turn = models_along(self, "alpha", alphas, ascending=False)
        fit_task(SpaceTask(RANKED_RANGE_CLASSIFIER, in_turn[0], X, y, sample_weight), in_turn)
        return models

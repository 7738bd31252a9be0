"""The regularisation for which the kernel SVM has a closed form."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_X_y

from kernbench._typing import Rows
from kernbench.estimators.arguments.kernel import weighted_scale
from kernbench.estimators.arguments.training_data import check_square, check_weights
from kernbench.kernels.base import Kernel
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.kernels.names import OF_GAMMA, resolve_kernel
from kernbench.kernels.rows import KernelRows
from kernbench.problems.kernel.parzen import smallest_alpha
from kernbench.validation.arrays import check_indices
from kernbench.validation.foreign import host_array, refuse_times
from kernbench.validation.numbers import check_flag


class ClosedFormLimit(NamedTuple):
    """The regularisation from which the Parzen classifier is the minimiser.

    Attributes
    ----------
    alpha : float
        The smallest regularisation for which it is the minimiser; 0.0 if it is for all, infinity if for none.
    C : float
        The largest ``C = 1 / (alpha n)`` of `KernelSVC` for which it is the minimiser.
    """

    alpha: float
    C: float


def closed_form_limit(
    X: Rows,
    y: ArrayLike,
    *,
    kernel: str | Kernel | Callable[..., Any] = "rbf",
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = False,
) -> ClosedFormLimit:
    r"""Return for which `alpha` and `C` the kernel SVM with the hinge loss is solved by the Parzen classifier.

    With strong regularisation every example stays inside the margin, and
    :math:`f = \frac{1}{\alpha n} \sum_i w_i y_i k(x_i, \cdot)` is the minimiser: exactly as long as no margin
    :math:`y_i f(x_i)` exceeds 1. ``KernelSVC(solver="closed-form", fit_intercept=False)`` computes it.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes.
    kernel, gamma, degree, coef0
        As in `KernelSVC`.
    sample_weight : array-like of shape (n_samples,), default=None
        Rows of weight 0 are left out, and do not count in n.
    fit_intercept : bool, default=False
        With an intercept there is a closed form only if both classes have the same total weight.

    Returns
    -------
    ClosedFormLimit
        With the smallest ``alpha`` and the largest ``C``.

    Raises
    ------
    ValueError
        If there are not two classes, or the data are invalid.

    Notes
    -----
    Computes all n² kernel values once, tile by tile, without storing the matrix.

    Examples
    --------
    >>> from kernbench.estimators import closed_form_limit
    >>> limit = closed_form_limit([[0.0], [1.0]], [0, 1], gamma=0.5)
    >>> round(limit.alpha, 4), round(limit.C, 4)
    (0.1967, 2.5415)
    """
    check_flag("fit_intercept", fit_intercept)
    X, y = host_array(X, "X"), host_array(y, "y")
    refuse_times(X)
    check_indices(X)
    accept_sparse = False if is_precomputed(kernel) else "csr"
    X, y = check_X_y(X, y, accept_sparse=accept_sparse, dtype=(np.float64, np.float32))
    check_square(X, kernel)
    weights = np.ones(X.shape[0]) if sample_weight is None else check_weights(sample_weight, X)
    used = weights > 0
    X = X[np.ix_(used, used)] if is_precomputed(kernel) else X[used]
    y, weights = y[used], weights[used]
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"two classes are needed, got {len(classes)} with a positive weight")
    signs = np.where(y == classes[1], 1.0, -1.0)
    has_gamma = isinstance(kernel, str) and kernel in OF_GAMMA
    if has_gamma and sample_weight is not None and isinstance(gamma, str) and gamma == "scale":
        gamma = weighted_scale(X, weights)
    chosen = resolve_kernel(kernel, X, gamma=gamma, degree=degree, coef0=coef0)
    check_range(X, chosen, "float64")
    sums = KernelRows(X, chosen, cache_bytes=0, dtype=np.float64).matvec(weights * signs)
    alpha = smallest_alpha(sums, signs, weights, fit_intercept=fit_intercept)
    return ClosedFormLimit(alpha, np.inf if alpha == 0 else 1 / (alpha * len(signs)))

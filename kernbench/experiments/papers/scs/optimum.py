"""The objective over all training rows, and a bound from below that is tight: what every method is judged by."""

import numpy as np

from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.kernels import blocks
from kernbench.kernels.names import resolve_kernel

LARGEST = 20_000  # training rows up to which the objective is computed on all of them, and the optimum is
TIGHT = 1e-5  # tolerance of the solver that certifies the optimum


def objective(X, y, gamma, lam, rows, coef, intercept=0.0):
    """λ/2 ‖f‖² + the mean hinge over all rows, of f = Σ coef_j k(x_j, ·) over the training rows `rows`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        -1 and +1.
    gamma : float
    lam : float
    rows : ndarray of shape (n_support,)
        Indices into X.
    coef : ndarray of shape (n_support,)
        Signed.
    intercept : float, default=0.0

    Returns
    -------
    float
    """
    f = np.zeros(len(y))
    if len(rows):
        f = blocks.matmul(resolve_kernel("rbf", X, gamma=gamma), X, X[rows], coef, dtype="float64")
    hinge = np.maximum(0.0, 1.0 - y * (f + intercept)).mean()
    return float(0.5 * lam * (coef @ f[rows]) + hinge)


def certified_optimum(X, y, gamma, lam):
    """A lower bound on the smallest objective without intercept: the dual value of a tightly solved problem.

    Returns
    -------
    float
    """
    model = KernelSVC(
        gamma=gamma, C=1.0 / (lam * len(y)), fit_intercept=False, tol=TIGHT, dtype="float64", cache_size=2000
    ).fit(X, y)
    return float(model.objective_ - model.duality_gap_)

"""The certified optimum of a Gaussian SVM, with which methods are compared."""

from dataclasses import dataclass

import numpy as np

from kernbench.estimators import KernelSVC
from kernbench.experiments.measure.judging import error_rate


@dataclass(frozen=True)
class Optimum:
    """The optimum that the methods of a data set are compared with.

    Attributes
    ----------
    lower : float
        Certified lower bound on the objective alpha/2 ‖f‖² + mean hinge.
    test_error : float
        Test error of the solution that is within the certified gap of the bound.
    n_support : int
    """

    lower: float
    test_error: float
    n_support: int

    def relative_gap(self, objective):
        """An upper bound on the relative suboptimality of an objective."""
        return None if objective is None else objective / self.lower - 1.0


def certified_optimum(data, *, gamma, C, tol=1e-4, **params):
    """Solve a Gaussian SVM tightly, off the clock.

    Parameters
    ----------
    data : Dataset
    gamma, C : float
    tol : float
        Violation of the optimality conditions; 1e-4 leaves a relative gap of about 1e-6.
    **params
        Further ones of `KernelSVC`.

    Returns
    -------
    Optimum
    """
    model = KernelSVC(kernel="rbf", gamma=gamma, C=C, tol=tol, **params).fit(data.X_train, data.y_train)
    return Optimum(
        lower=float(np.max(model.objective_ - model.duality_gap_)),
        test_error=error_rate(data.y_test, model.predict(data.X_test)),
        n_support=len(model.support_),
    )

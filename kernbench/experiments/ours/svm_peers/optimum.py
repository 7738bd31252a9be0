"""The optimum that all methods of a data set are measured by: enclosed between two certified numbers."""

from dataclasses import dataclass

import numpy as np

from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.experiments.measure.evaluation import error_rate

TOL = 1e-4  # violation of the optimality conditions; leaves a relative gap of about 1e-6


@dataclass(frozen=True)
class Optimum:
    """What a solver is to reach.

    Attributes
    ----------
    lower : float
        Certified bound from below on the objective α/2 ‖f‖² + mean hinge.
    test_error : float
        Of the solution that is within the certified gap of it.
    n_support : int
    """

    lower: float
    test_error: float
    n_support: int

    def relative_gap(self, objective):
        """How far an objective is above the optimum at the most, relative to it."""
        return None if objective is None else objective / self.lower - 1.0


def find_optimum(data, params):
    """Solve the problem tightly, off everybody's clock.

    Parameters
    ----------
    data : Dataset
    params : dict
        ``gamma`` and ``C`` of the Gaussian SVM.
    """
    model = KernelSVC(kernel="rbf", gamma=params["gamma"], C=params["C"], tol=TOL, cache_size=1000)
    model.fit(data.X_train, data.y_train)
    return Optimum(
        lower=float(np.max(model.objective_ - model.duality_gap_)),
        test_error=error_rate(data.y_test, model.predict(data.X_test)),
        n_support=len(model.support_),
    )

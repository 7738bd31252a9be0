"""The task of a `KernelNoveltyDetector`: that of a regressor without targets."""

import numpy as np

from kernbench.estimators.arguments.kernel import check_kernel
from kernbench.estimators.arguments.parameters import check_run
from kernbench.estimators.arguments.training_data import check_square, check_weights
from kernbench.estimators.fit.choice import named_entry
from kernbench.estimators.regression.tasks import KernelRegressorTask
from kernbench.kernels.domain import is_precomputed
from kernbench.problems.novelty_problem import OneClass
from kernbench.problems.nu_problem import NuRisk
from kernbench.validation.numbers import check_flag
from kernbench.validation.rows import check_rows


def check_novelty_detector(model):
    """Check the parameters; return the registry's entry of the solver and the loss."""
    check_kernel(model)
    check_flag("shrinking", model.shrinking)
    check_run(model)
    return named_entry(model, "kernel-novelty"), OneClass(model.nu)


class NoveltyTask(KernelRegressorTask):
    """The task of one `KernelNoveltyDetector`, whose coefficients are those of scikit-learn's `OneClassSVM`.

    Parameters
    ----------
    model : KernelNoveltyDetector
    X, sample_weight
        As given to ``fit``.
    """

    strength, several, risk = "nu", False, NuRisk
    check = staticmethod(check_novelty_detector)

    def __init__(self, model, X, sample_weight):
        super().__init__(model, X, None, sample_weight)
        self.free_intercept = True

    def read(self, X, y, sample_weight):
        kernel = self.model.kernel
        X = check_rows(self.model, X, reset=True, accept_sparse=not is_precomputed(kernel))
        check_square(X, kernel)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        return X, np.zeros(X.shape[0]), weights

    def alpha_of(self, strength):
        return 1.0 / self.n_rows

    def shape_intercept(self, model):
        model.offset_ = float(-model.intercept_[0])

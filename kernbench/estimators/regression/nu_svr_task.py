"""The task of a `KernelNuSVR`: that of a `KernelSVR` whose zone has the width that a share of the rows demands."""

import numpy as np

from kernbench.estimators.arguments.kernel import check_kernel
from kernbench.estimators.arguments.parameters import check_run, check_strength
from kernbench.estimators.fit.choice import named_entry
from kernbench.estimators.regression.tasks import KernelSVRTask
from kernbench.losses.regression import regression_loss
from kernbench.problems.intercept import best_constant
from kernbench.problems.nu_problem import NuResidual, NuRisk, zone_of
from kernbench.validation.numbers import check_flag


def check_kernel_nu_svr(model):
    """Check the parameters; return the registry's entry of the solver and the loss."""
    check_kernel(model)
    check_flag("shrinking", model.shrinking)
    check_strength("C", model.C)
    check_run(model)
    return named_entry(model, "kernel-nu-regression"), NuResidual(model.nu)


class KernelNuSVRTask(KernelSVRTask):
    """The task of one `KernelNuSVR`, or of a path of them.

    Parameters
    ----------
    model : KernelNuSVR
    X, y, sample_weight
        As given to ``fit``.
    """

    risk = NuRisk
    check = staticmethod(check_kernel_nu_svr)

    def offset_of(self, target):
        return best_constant(target, self.weights, regression_loss("absolute_error"))

    def set_functions(self, model, problems, solutions):
        super().set_functions(model, problems, solutions)
        (problem,), (solution,) = problems, solutions
        level = solution.state.get("level")
        if level is None:  # of f = 0, which the certificate found to be better
            weights = np.ones(self.n_rows) if self.weights is None else self.weights
            model.epsilon_ = zone_of(problem.y - solution.intercept, weights, model.nu * weights.sum())
        else:
            model.epsilon_ = float(level[0])

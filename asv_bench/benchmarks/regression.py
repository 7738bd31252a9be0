"""Solvers of regressions: what two passes cost and what they are worth."""

from .runs import KernelRegressionRuns, LinearRegressionRuns


class _Costs:
    number = 1
    repeat = (1, 10, 0.5)

    def time_run(self, solver):
        self.run(solver)


class _Quality:
    def peakmem_run(self, solver):
        self.run(solver)

    def track_objective(self, solver):
        """The objective after two passes; lower is better."""
        return self.run(solver).objective()

    track_objective.unit = "objective"


class KernelRegression(KernelRegressionRuns, _Costs):
    """Time of solvers with a kernel."""


class KernelRegressionQuality(KernelRegressionRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (KernelRegressionRuns.params[0],)


class LinearRegression(LinearRegressionRuns, _Costs):
    """Time of solvers on features."""


class LinearRegressionQuality(LinearRegressionRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (LinearRegressionRuns.params[0],)

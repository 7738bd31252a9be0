"""Solvers of regressions, compiled beside reference: what two passes cost and what they are worth."""

from .regression_runs import KernelRuns, LinearRuns


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


class KernelRegression(KernelRuns, _Costs):
    """Time of solvers with a kernel."""


class KernelRegressionQuality(KernelRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (KernelRuns.params[0],)


class LinearRegression(LinearRuns, _Costs):
    """Time of solvers on features."""


class LinearRegressionQuality(LinearRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (LinearRuns.params[0],)

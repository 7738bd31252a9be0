"""Solvers of regressions, compiled beside reference: what two passes cost and what they are worth."""

from .regression_runs import KernelRuns, LinearRuns


class _Costs:
    number = 1
    repeat = (2, 20, 2.0)

    def time_run(self, solver, twin):
        self.run(solver, twin)

    def peakmem_run(self, solver, twin):
        self.run(solver, twin)


class _Quality:
    def track_objective(self, solver, twin):
        """The objective after two passes; lower is better."""
        return self.run(solver, twin).objective()

    track_objective.unit = "objective"


class KernelRegression(KernelRuns, _Costs):
    """Time and memory of solvers with a kernel."""


class KernelRegressionQuality(KernelRuns, _Quality):
    """What these solvers are worth."""


class LinearRegression(LinearRuns, _Costs):
    """Time and memory of solvers on features."""


class LinearRegressionQuality(LinearRuns, _Quality):
    """What these solvers are worth."""

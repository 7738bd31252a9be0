"""What a fixed number of iterations is worth, and what a fixed gap costs: the same numbers on every run.

Lower is better for all of them.
"""

import math

from .solver_runs import WITHOUT_GAP, SolverRuns


class AfterTwoPasses(SolverRuns):
    """The solution after 2,048 iterations, judged from outside the solver, and its memory."""

    params = (SolverRuns.params[0],)

    def peakmem_iterations(self, solver):
        self.run()

    def track_log10_gap(self, solver):
        """log10 of (objective - optimum) / optimum; lower is better."""
        return math.log10(self.problem.relative_gap(self.run().solution()))

    def track_test_error(self, solver):
        """Share of 2,000 test rows misclassified; lower is better."""
        return self.problem.test_error(self.run().solution())

    def track_kernel_evaluations(self, solver):
        """Values k(x, z) computed, those found in the cache not counted; lower is better."""
        return self.run().n_kernel_evaluations

    track_log10_gap.unit = "log10 relative gap"
    track_test_error.unit = "test error"
    track_kernel_evaluations.unit = "kernel evaluations"


class ToTenPercentGap(SolverRuns):
    """The cost of coming within 10% of the optimum, looked at every 256 iterations."""

    params = (tuple(name for name in SolverRuns.params[0] if name not in WITHOUT_GAP),)

    def track_kernel_evaluations(self, solver):
        """Values k(x, z) computed by then; lower is better."""
        return self.run_to_gap().n_kernel_evaluations

    def track_iterations(self, solver):
        """Iterations by then; lower is better. Not to be compared across solvers."""
        return self.run_to_gap().n_iter

    track_kernel_evaluations.unit = "kernel evaluations"
    track_iterations.unit = "iterations"

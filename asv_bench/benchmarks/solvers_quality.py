"""What a fixed number of iterations is worth, and what a fixed gap costs: the same numbers on every run.

Lower is better for all of them.
"""

import math

from kernbench.kernels.threads import single_threaded_blas

from .runs import KernelRuns

GAP = 0.1  # "to a gap" means this far above the optimum, relative to it
STRETCH = 256  # iterations between two looks at the gap; a multiple of every solver's granularity
LAST_PASS = 100  # a solver that has not come to the gap by then has failed
# No step of the Perceptron knows of the regularisation, and the closed form has one answer, near the optimum or not.
WITHOUT_GAP = ("perceptron", "closed-form")


class AfterTwoPasses(KernelRuns):
    """The solution after 2,048 iterations, judged from outside the solver, and its memory."""

    params = (KernelRuns.params[0],)

    def peakmem_iterations(self, solver):
        self.run(solver)

    def track_log10_gap(self, solver):
        """log10 of (objective - optimum) / optimum; lower is better."""
        return math.log10(self.problem.relative_gap(self.run(solver).solution()))

    def track_test_error(self, solver):
        """Share of 2,000 test rows misclassified; lower is better."""
        return self.problem.test_error(self.run(solver).solution())

    def track_kernel_evaluations(self, solver):
        """Values k(x, z) computed, those found in the cache not counted; lower is better."""
        return self.run(solver).n_kernel_evaluations

    track_log10_gap.unit = "log10 relative gap"
    track_test_error.unit = "test error"
    track_kernel_evaluations.unit = "kernel evaluations"


class ToTenPercentGap(KernelRuns):
    """The cost of coming within 10% of the optimum, looked at every 256 iterations."""

    params = (tuple(name for name in KernelRuns.params[0] if name not in WITHOUT_GAP),)

    def run_to_gap(self, name):
        """The solver at the first multiple of `STRETCH` where its gap is at most `GAP`."""
        solver = self.new_solver(name)
        with single_threaded_blas():
            while solver.n_iter < LAST_PASS * len(self.problem.y):
                advanced = solver.advance(STRETCH)
                if self.problem.relative_gap(solver.solution()) <= GAP:
                    return solver
                if advanced == 0:
                    break
        raise RuntimeError(f"stopped after {solver.n_iter} iterations with a gap above {GAP:g}")

    def track_kernel_evaluations(self, solver):
        """Values k(x, z) computed by then; lower is better."""
        return self.run_to_gap(solver).n_kernel_evaluations

    def track_iterations(self, solver):
        """Iterations by then; lower is better. Not to be compared across solvers."""
        return self.run_to_gap(solver).n_iter

    track_kernel_evaluations.unit = "kernel evaluations"
    track_iterations.unit = "iterations"

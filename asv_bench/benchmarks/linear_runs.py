"""A run of a registered solver on explicit features, compiled or reference, on the problem they all share."""

from importlib import import_module

from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import registry

from . import problems

DESIGNS = {
    "compiled": "kernbench.solvers.design",
    "reference": "kernbench.reference.design",
}
PASSES = 2  # iterations of a run, in passes over the training rows
ITERATIONS = 25  # of a solver whose iteration is itself a pass


class LinearRuns:
    """Every registered solver of the linear SVM and both its twins, on the hinge loss with the default settings."""

    param_names = ("solver", "twin")
    params = (tuple(problems.solver_names("linear-svm")), problems.TWINS)
    timeout = 120

    def setup(self, solver, twin):
        if solver not in registry.names("linear-svm"):
            raise NotImplementedError(f"this commit has no {solver}")  # asv leaves the cell out
        entry = registry.get(solver, "linear-svm")
        self.solver_class = entry.load(twin)
        self.problem = problems.linear_problem()
        self.n_iter = PASSES * len(self.problem.y) if entry.default_epochs else ITERATIONS
        problems.prepare_process()

    def run(self, twin):
        """The solver after so many iterations, or converged before, in one call."""
        problem, as_design = self.problem, import_module(DESIGNS[twin]).as_design
        solver = self.solver_class(as_design(problem.X), problem.y, alpha=problem.alpha, random_state=0)
        with single_threaded_blas():  # as the driver does
            solver.advance(self.n_iter)
        return solver

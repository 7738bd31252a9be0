"""A run of a registered solver on explicit features, on the problem they all share."""

from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import registry

from . import problems

KIND = "linear-svm"
PASSES = 2  # iterations of a run, in passes over the training rows
ITERATIONS = 25  # of a solver whose iteration is itself a pass


class LinearRuns:
    """Every registered solver of the linear SVM, on the hinge loss with the default settings."""

    param_names = ("solver",)
    params = (tuple(problems.solver_names(KIND)),)
    timeout = 120

    def setup(self, solver):
        self.solver_class = problems.solver_class(KIND, solver)
        self.problem = problems.linear_problem()
        self.n_iter = PASSES * len(self.problem.y) if registry.get(solver, KIND).default_epochs else ITERATIONS
        problems.prepare_process()

    def run(self):
        """The solver after so many iterations, or converged before, in one call."""
        solver = problems.make_solver(KIND, self.solver_class, self.problem)
        with single_threaded_blas():  # as the driver does
            solver.advance(self.n_iter)
        return solver

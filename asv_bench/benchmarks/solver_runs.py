"""A run of a registered solver on the problem they all share."""

from kernbench.kernels.threads import single_threaded_blas

from . import problems

KIND = "kernel-svm"
PASSES = 2  # iterations of a run, in passes over the training rows
GAP = 0.1  # "to a gap" means this far above the optimum, relative to it
STRETCH = 256  # iterations between two looks at the gap; a multiple of every solver's granularity
LAST_PASS = 100  # a solver that has not come to the gap by then has failed
# No step of the Perceptron knows of the regularisation, and the closed form has one answer, near the optimum or not.
WITHOUT_GAP = ("perceptron", "closed-form")


class SolverRuns:
    """Every registered kernel SVM solver, with the default settings."""

    param_names = ("solver",)
    params = (tuple(problems.solver_names(KIND)),)
    timeout = 120

    def setup(self, solver):
        self.solver_class = problems.solver_class(KIND, solver)
        self.problem = problems.hinge_problem()
        problems.prepare_process()

    def new_solver(self):
        return problems.make_solver(KIND, self.solver_class, self.problem, self.problem.kernel)

    def run(self):
        """The solver after `PASSES`, or converged before; in one call, since the driver's chunks follow the clock."""
        solver = self.new_solver()
        with single_threaded_blas():  # as the driver does
            solver.advance(PASSES * len(self.problem.y))
        return solver

    def run_to_gap(self):
        """The solver at the first multiple of `STRETCH` where its gap is at most `GAP`."""
        solver = self.new_solver()
        with single_threaded_blas():
            while solver.n_iter < LAST_PASS * len(self.problem.y):
                advanced = solver.advance(STRETCH)
                if self.problem.relative_gap(solver.solution()) <= GAP:
                    return solver
                if advanced == 0:
                    break
        raise RuntimeError(f"stopped after {solver.n_iter} iterations with a gap above {GAP:g}")

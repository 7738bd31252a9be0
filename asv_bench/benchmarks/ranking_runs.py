"""A run of a registered solver of the ROC-SVM, on the problem they all share."""

from kernbench.kernels.threads import single_threaded_blas

from . import problems

KIND = "roc-svm"
SQUARED = ("newton",)  # minimise the squared hinge only
ITERATIONS = 25  # cuts of the bundle, steps of Newton
STEPS = 500  # of descent, which are small
DESCENT = ("gradient", "adamax")
TOL = 1e-6  # at which bundle and Newton are done before they have taken so many


class RankingRuns:
    """Every registered solver of the ROC-SVM, over all pairs."""

    param_names = ("solver",)
    params = (tuple(problems.solver_names(KIND)),)
    timeout = 120

    def setup(self, solver):
        self.solver_class = problems.solver_class(KIND, solver)
        self.squared = solver in SQUARED
        self.n_iter = STEPS if solver in DESCENT else ITERATIONS
        self.problem = problems.ranking_problem()
        problems.prepare_process()

    def run(self, solver):
        """The solver after so many iterations, or after those it had to take."""
        settings = {} if solver in DESCENT else {"tol": TOL}
        settings["loss"] = "squared_hinge" if self.squared else "hinge"
        with single_threaded_blas():  # as the driver does
            made = problems.make_solver(KIND, self.solver_class, self.problem, **settings)
            while made.n_iter < self.n_iter and made.advance(self.n_iter - made.n_iter):
                pass
        return made

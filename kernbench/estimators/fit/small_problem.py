"""The fast path for one problem of few rows: a regression, a novelty detector, two classes with nu; see `fit.small`."""

from kernbench.estimators.fit.centring import rounding_of
from kernbench.estimators.fit.small import fit_small
from kernbench.solvers.kernel.smo._small_problems import SmallProblem


def fit_small_problem(task):
    """Fit the model of a task with one small problem if it needs nothing of the driver.

    Parameters
    ----------
    task : KernelRegressorTask or KernelNuTask

    Returns
    -------
    bool
        False if the model was not fitted; see `fit_small`.
    """
    return fit_small(_SmallProblem(task))


class _SmallProblem:
    """The problem of a task with one output, or one pair of classes."""

    def __init__(self, task):
        self.task, self.X, self.kernel, self.balanced = task, task.X, task.kernel, task.free_intercept

    def largest(self):
        """The number of rows, all of which need a positive weight, for a loss without a ridge."""
        task = self.task
        is_one = len(task.problems) == 1 and task.loss.bend == 0.0
        return task.n_rows if is_one and (task.weights is None or task.weights.min() > 0.0) else None

    def problems(self, rows):
        task, model = self.task, self.task.model
        problem = task.problems[0].problem_of(rows, getattr(model, task.strength))
        return SmallProblem(rows, problem, tol=float(model.tol))

    def folding(self, problem):
        (coef,), (intercept,), centre = problem.dual_coef, problem.intercept, self.task.model.centre_
        if centre is None:
            return 0.0
        return self.task.mean_weight * rounding_of(self.X.T @ coef, centre, intercept)  # slopes are at most 1

    def solutions(self, problem):
        return [problem.solution()]

    def set_coef(self, problem):
        self.task.set_solutions(self.task.model, self.solutions(problem))

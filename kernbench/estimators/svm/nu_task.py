"""The problems of a `KernelNuSVC`: those of a `KernelSVC`, with a share nu in place of C."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from kernbench.estimators.fit.certificate import Examined
from kernbench.estimators.fit.continuation import digest
from kernbench.estimators.svm.expansion import set_expansion
from kernbench.estimators.svm.kernel_task import KernelTask, PairProblem
from kernbench.estimators.svm.parameters import check_kernel_nu_svc
from kernbench.problems.nu_problem import NuMargin, NuRisk, kernel_problem, largest_feasible, require_feasible
from kernbench.solvers.base import Solution


class KernelNuTask(KernelTask):
    """The task of one `KernelNuSVC`.

    The problem of a pair is that of `problems.nu_problem` with alpha = 1 / n. Its solution f + b is divided by the
    level rho, as in LIBSVM, where it becomes the model; warm starts and certificates are those of f + b.

    Parameters
    ----------
    model : KernelNuSVC
    X, y, sample_weight
        As given to ``fit``.

    Raises
    ------
    ValueError
        If nu is infeasible for a pair of classes; the largest nu that is feasible for all of them is named.
    """

    strength, free_intercept = "nu", True
    check = staticmethod(check_kernel_nu_svc)

    def __init__(self, model, X, y, sample_weight):
        super().__init__(model, X, y, sample_weight)
        self.loss, self.kernel, self.n_rows = NuMargin(model.nu), model.kernel_, len(self.codes)
        self.may_lower_strength = False  # solutions of a smaller nu have other sums of coefficients
        weights = np.ones(len(self.codes)) if self.weights is None else self.weights
        of_class = np.bincount(self.codes, weights, minlength=len(model.classes_))
        tightest = min(
            (problem.pair for problem in self.problems), key=lambda pair: largest_feasible(_of(of_class, pair))
        )
        require_feasible(model.nu, _of(of_class, tightest), _of(model.classes_, tightest))
        self.mean_weight = float(weights.mean())
        if model.warm_start:
            self.key = (*self.key, model.nu, digest(weights))

    def problem_of(self, k, pair):
        return NuPair(self, k, pair)

    def assemble(self, model, results):
        self.set_solutions(model, [result.model for result in results])

    def set_solutions(self, model, solutions):
        """Set the attributes that define the decision functions."""
        self.set_functions(model, self.codes, [problem.pair for problem in self.problems], solutions)

    def set_functions(self, model, codes, pairs, solutions):
        """Set the attributes that define the decision functions of some pairs."""
        model.rho_ = np.array([level_of(solution) for solution in solutions])
        set_expansion(model, self.given, codes, pairs, [divided(solution) for solution in solutions])

    def stored(self, model, solutions):
        stored = self.stored_by(model, [divided(solution) for solution in solutions], self.loss)
        for own, solution in zip(() if stored is None else stored.functions, solutions):
            if (level := level_of(solution)) != 0.0:
                own.unit *= level
                own.solution = Solution(level * own.solution.coef, solution.intercept)
        return stored


class NuPair(PairProblem):
    """The problem of a pair of classes."""

    __slots__ = ()

    def objective(self, rows, nu):
        return {"alpha": 1.0 / rows.n_rows, "fit_intercept": True, "loss": NuMargin(nu)}

    def problem_of(self, rows, nu):
        """Return the problem on kernel rows."""
        return kernel_problem(
            rows, self.pair.y, weights=self.pair.of_rows(self.task.weights), **self.objective(rows, nu)
        )

    def risk_of(self, nu):
        return NuRisk(self.problem_of(SimpleNamespace(n_rows=self.n_rows), nu))

    def examined(self, rows, solver, nu):
        task = self.task
        rows.release()  # a run that was stopped may have left rows out
        dtype = np.dtype(rows.dtype).name
        return Examined(NuRisk(solver.problem), task.X_of(self.pair), task.model.kernel_, rows, dtype, True,
                        task.model.centre_)  # fmt: skip

    def describe(self, model, solution):
        super().describe(model, divided(solution))
        model.rho_ = np.array([level_of(solution)])


def level_of(solution):
    """Return rho; 0 for f = 0."""
    return float(solution.state["level"][0]) if np.any(solution.coef) else 0.0


def divided(solution):
    """Return f + b over rho; unchanged for f = 0. As in LIBSVM, a negative rho changes the signs."""
    level = level_of(solution)
    if level == 0.0:
        return solution
    return replace(solution, coef=solution.coef / level, intercept=solution.intercept / level)


def _of(values, pair):
    return values[pair.negative], values[pair.positive]

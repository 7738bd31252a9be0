"""The cost of storing intercepts in float64; see `fit.centring`.

A certificate is for rows minus a centre and targets minus an offset, whereas the model is for rows and targets as
given: it has the weights w and the float64 number closest to offset + b - <w, centre>, up to the rounding of that sum.
The difference shifts all scores of the training rows. Usually it is far below the rounding of the objective. If a bound
does not show that, the shift is computed exactly, and its cost from the losses at the shifted scores, since a bound
from the slope of the loss is too large near an optimum, where slopes cancel.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from kernbench.estimators.fit.centring import exact_intercept, rounding_of
from kernbench.estimators.fit.certificate import KEPT, Examined
from kernbench.estimators.fit.outcome import STAGNATED
from kernbench.problems.certificate.certify import MOST_WORK
from kernbench.problems.certificate.extended import EPS, LONG
from kernbench.problems.certificate.risks import change_of
from kernbench.solvers.base import Solution

# Share of the objective below which the cost of a shift is not counted, nor the intercept changed: columns up to some
# 1e3 times their spread from the origin cost less, no more than sums of losses in float64 are off anyway.
NEGLIGIBLE = 1e-12
FAR = 1e-9  # share of the objective beyond which the bound means columns farther away, where every cost counts


@dataclass
class StoredFunction:
    """How a model stores the function of a problem, as `unit` times <w, x> + intercept.

    Attributes
    ----------
    weights : ndarray of shape (d,), or None
        Of the columns as given; None without a centre.
    terms : tuple of float
        The intercept stands for their sum less <w, centre>.
    solution : Solution
        The function itself: its coefficients and intercept for the rows of the problem.
    unit : float
    """

    weights: np.ndarray | None
    terms: tuple
    solution: Solution
    unit: float = 1.0


@dataclass
class Stored:
    """How a model stores the functions of all problems.

    Attributes
    ----------
    functions : list of StoredFunction
    centre : ndarray of shape (d,), or None
    kernel : Kernel or None
        Of which the coefficients of solutions are; None for weights of columns.
    loss : MarginLoss, ResidualLoss or NuLoss
    heaviest : float
        Bound on the mean weight of the rows of a problem.
    constant : float or None
        Value of the last column, if it is the intercept's and its coefficient has a penalty.
    by_mean : bool
        Whether intercepts are the mean of the targets, the best ones for the squared error as far as the centre is the
        mean of the rows.
    """

    functions: list
    centre: np.ndarray | None
    kernel: object
    loss: object
    heaviest: float
    constant: float | None = None
    by_mean: bool = False


def assembled(task, model, results):
    """Set the attributes of `model` that follow from its results; return these with the rounding of intercepts counted.

    Parameters
    ----------
    task : Task
    model : estimator
    results : list of FitResult

    Returns
    -------
    list of FitResult
    """
    task.assemble(model, results)
    has_gap = [result.gap is not None and result.objective_of_sample is None for result in results]
    objectives = [result.objective if known else np.nan for result, known in zip(results, has_gap, strict=True)]
    counted = [result.folding for result in results]
    costs = costs_of_storing(task, model, [result.model for result in results], objectives, counted)
    pairs = zip(results, costs, strict=True)
    return [_with_cost(result, cost, model.tol) if cost else result for result, cost in pairs]


def costs_of_storing(task, model, solutions, objectives, counted):
    """Return by how much objectives are larger for the functions as they are stored.

    An intercept whose rounding is not negligible is first replaced by the float64 number next to the exact one.

    Parameters
    ----------
    task : Task
    model : estimator
        Fitted, up to the description of its outcome.
    solutions : list of Solution
        Those that its functions are made of.
    objectives : list of float
        NaN for one that needs no certificate.
    counted : list of float
        The part of each cost that the gap contains already.

    Returns
    -------
    list of float
        Less `counted`; 0.0 where negligible.
    """
    costs = [0.0] * len(solutions)
    stored = task.stored(model, solutions)
    if stored is None:
        return costs
    intercepts = np.array(model.intercept_, dtype=np.float64, ndmin=1)
    for k, (own, objective) in enumerate(zip(stored.functions, objectives, strict=True)):
        negligible = NEGLIGIBLE * abs(objective)
        most = abs(own.unit) * rounding_of(own.weights, stored.centre, *own.terms)
        penalty = _penalty(stored, own, getattr(model, task.strength), most)
        bound = change_of(stored.loss, stored.heaviest, objective, most) + penalty
        if np.isfinite(most) and bound > negligible + counted[k]:
            least = negligible if bound <= FAR * abs(objective) else 0.0
            cost, intercepts[k] = _least_cost(task, model, k, stored, float(intercepts[k]), objective, least)
            costs[k] = max(0.0, cost - counted[k])
    if not np.array_equal(intercepts, np.atleast_1d(model.intercept_)):
        model.intercept_ = float(intercepts[0]) if np.ndim(model.intercept_) == 0 else intercepts
    return costs


def _least_cost(task, model, k, stored, intercept, objective, negligible):
    """Return the cost of the intercept of problem k, or of a better one, and that intercept; 0.0 if `negligible`."""
    own, problem, strength = stored.functions[k], task.problems[k], getattr(model, task.strength)
    exact = exact_intercept(own.weights, stored.centre, *own.terms)
    shift = own.unit * float(Fraction(intercept) - exact)
    bound = change_of(stored.loss, stored.heaviest, objective, abs(shift)) + _penalty(stored, own, strength, shift)
    if bound <= negligible and not stored.by_mean:
        return 0.0, intercept  # computing scores is expensive, with a kernel as much as a fit
    risk, solution = problem.risk_of(strength), own.solution
    scores = _scores(risk, problem.X, stored.kernel, solution)
    risk_value = risk.value(scores, solution.intercept)
    of_centre = 0.0
    if stored.by_mean:  # rounding leaves residuals a mean m; with the best intercept the optimum is lower by m^2 / 2
        margins = risk.problem
        of_centre = 0.5 * float(margins.weights @ (scores + solution.intercept - margins.targets) / risk.n) ** 2

    def cost_of(b):
        shift = own.unit * float(Fraction(b) - exact)
        change = risk.value(scores + LONG(shift), solution.intercept) - risk_value
        rounding = EPS * risk.n * abs(risk_value)
        return max(0.0, float(change + rounding)) + _penalty(stored, own, strength, shift) + of_centre

    cost = cost_of(intercept)
    if cost > negligible and (nearest := cost_of(float(exact))) < cost:
        cost, intercept = nearest, float(exact)
    return (cost if cost > negligible else 0.0), intercept


def _scores(risk, X, kernel, solution):
    """Return the scores of a function without its intercept, of rounding far below the shifts that cost anything."""
    if kernel is None:
        return X @ solution.coef
    examined = Examined(risk, X, kernel)
    space = examined.space()
    return space.scores(solution.coef) if space.work <= MOST_WORK else examined.scores(Solution(solution.coef))


def _penalty(stored, own, alpha, shift):
    """Return by how much a shift may enlarge the penalty of an intercept that is a coefficient."""
    if stored.constant is None:
        return 0.0
    change = abs(shift) / stored.constant
    # Not change**2, which raises where a power of a Python float overflows.
    return alpha * (abs(float(own.solution.coef[-1])) * change + 0.5 * change * change)


def _with_cost(result, cost, tol):
    gap = float(result.gap + cost)
    is_within = gap <= tol * abs(result.objective) or result.status in KEPT
    status = STAGNATED if result.status == "converged" and not is_within else result.status
    return replace(result, gap=gap, status=status)

"""The certificate of each run of a fit: the objective and gap of the model that is returned, whatever its solver."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from kernbench.estimators.fit.centring import rounding_of
from kernbench.estimators.fit.outcome import STAGNATED
from kernbench.kernels import blocks
from kernbench.kernels.base import Kernel
from kernbench.problems.certificate import rounding
from kernbench.problems.certificate.certify import SAMPLED, allowed, certify, measured, upper_mean
from kernbench.problems.certificate.curvature import shows_negative_curvature
from kernbench.problems.certificate.extended import DOUBLE, Expansion, Features
from kernbench.problems.certificate.kernel_values import (
    asymmetry_of_values,
    error_of_values,
    most_stored,
    with_subnormals,
)
from kernbench.solvers.base import Solution

KEPT = ("max_seconds", "callback", "interrupted", "diverged")  # whatever the gap
LARGEST_ERROR = 4.0  # of a score, in units of the largest of those measured
UNEVEN = 10.0  # largest weight, in units of their mean, up to which rows are drawn with equal probabilities
FEW_VALUES = 2**20  # kernel values that may be computed again, to drop the rounding of a solver's updates


@dataclass
class Examined:
    """A run's problem, as its certificate needs it.

    Attributes
    ----------
    risk : MarginRisk or PairRisk
    X : ndarray or CSR matrix of shape (n, d)
        Training rows, or features.
    kernel : Kernel or None
        None for weights of the columns of X.
    rows : KernelRows or None
        From which the solver took kernel values, if it updates its scores step by step.
    dtype : str
        Precision of kernel values.
    own_dual : bool
        Whether the solver's bound is that of its own coefficients, not of others.
    centre : ndarray of shape (d,), or None
        What was subtracted from the rows that the model is given; see `fit.centring`.
    """

    def __post_init__(self):
        if self.kernel is not None and not self.own_dual:
            self.risk.dual_size = self.risk.reach / self.risk.alpha

    risk: object
    X: object
    kernel: object = None
    rows: object = None
    dtype: str = "float64"
    own_dual: bool = False
    centre: object = None

    def space(self):
        """Return the space for extended precision."""
        return Features(self.X) if self.kernel is None else Expansion(self.kernel, self.X)

    @cached_property
    def n_terms(self):
        """The largest number of stored entries of a row."""
        return most_stored(self.X)

    @cached_property
    def largest(self):
        """The largest magnitude of k(x, x) of rows that count, which bounds |k(x, z)| if anything is certified: if the
        kernel is semi-definite.

        For weights a bound on the norms of these rows.
        """
        if self.kernel is None:
            return _largest_entry(self.X, self.counted) * float(np.sqrt(self.n_terms))
        if type(self.kernel).diagonal is Kernel.diagonal:
            return 1.0
        diagonal = np.abs(self.kernel.diagonal(self.X) if self.rows is None else self.rows.diagonal())
        return float(np.max(diagonal if self.counted is None else diagonal[self.counted]))

    @cached_property
    def counted(self):
        """Which rows have a weight, and so may have a coefficient; None if all, or if pairs are counted."""
        problem = getattr(self.risk, "problem", None)
        return None if problem is None or problem.weights.all() else problem.weights > 0.0

    @cached_property
    def asymmetry(self):
        """The error of a kernel value, relative to the largest, if the solver takes kernel rows: row i for column i."""
        return 0.0 if self.rows is None else asymmetry_of_values(self.kernel, self.X)

    @cached_property
    def value_error(self):
        """Bounds on the error of a kernel value, relative to the largest: as the solver takes it, and in float64."""
        kernel = self.kernel
        if kernel.routine == "precomputed":
            own, in_float64 = (float(np.finfo(self.dtype).eps) if self.dtype == "float32" else 0.0), 0.0
        else:
            has_terms = kernel.norm_factor is not None and hasattr(self.rows, "row_terms")
            terms = self.rows.row_terms() if has_terms else None
            in_float64 = error_of_values(kernel, "float64", self.X, terms)
            own = in_float64 if self.dtype == "float64" else error_of_values(kernel, self.dtype, self.X, terms)
        own = with_subnormals(own, self.dtype, self.largest) + self.asymmetry
        return own, with_subnormals(in_float64, "float64", self.largest)

    def is_indefinite(self, solution, objective, gap):
        """Whether the kernel shows negative curvature."""
        return self.kernel is not None and shows_negative_curvature(
            self.kernel,
            self.X,
            solution.coef,
            balanced=getattr(getattr(self.risk, "problem", None), "fit_intercept", True),  # so are pairs
            objective=objective if self.risk.lowest == 0.0 else None,
            lower=objective - gap,
            at_zero=self.risk.at_zero()[0],
        )

    def known(self, solution, objective, gap, n_updates):
        """Return the `Rounding` of the solver's objective and bound."""
        coef = solution.coef
        if self.kernel is None:
            norm, longest = float(np.linalg.norm(coef)), self.largest
            return rounding.of_weights(self.risk, objective, gap, norm, longest, len(coef), n_terms=self.n_terms)
        unit = self.value_error[0] + DOUBLE * (np.count_nonzero(coef) + n_updates)
        return rounding.of_expansion(self.risk, objective, float(np.abs(coef).sum()), self.largest, unit)

    def folding(self, solution):
        """Return a bound on the change of scores where <w, centre> is folded into the stored intercept."""
        if self.centre is None:
            return 0.0
        return rounding_of(self.X.T @ solution.coef, self.centre, solution.intercept)

    def scores(self, solution):
        """Return the scores of the training rows in the model's precision."""
        if self.kernel is None:
            return Features(self.X).X @ solution.coef + solution.intercept
        products = blocks.matmul(self.kernel, self.X, self.X, solution.coef, dtype=self.dtype)
        return products + solution.intercept

    def measure(self, solution, objective, n_updates, n_rows):
        """Return the `Rounding` of kernel values and updates, measured on twice `n_rows` rows, or on all of a few.

        Scores that the solver updated step by step are compared as they are, so that the rounding of its updates is
        measured, too: its bound grows with their number and is far too large after millions.
        """
        coef, rng = solution.coef, np.random.default_rng(0)
        used = np.flatnonzero(coef)
        known = solution.state.get("products")
        exact = _exact_scores(self.kernel, self.X, coef)

        def errors_of(drawn):
            products = self.rows.product(drawn, used, coef[used], count=False) if known is None else known[drawn]
            return products - exact(drawn)

        n, all_rows = len(coef), len(coef) <= n_rows
        errors, of_norm = _errors_by_size(coef, errors_of, n_rows, rng)
        if known is not None and hasattr(self.risk, "sensitive"):
            # Far from its kink a hinge does not notice errors: rows are drawn from those that may.
            scores = known + solution.intercept
            rows = sensitive = self.risk.sensitive(scores, LARGEST_ERROR * np.abs(errors).max())
            shares = self._shares(sensitive)
            if len(sensitive) and not all_rows:
                rows = rng.choice(sensitive, n_rows, p=shares)
            changes = self.risk.changes(rows, scores[rows], errors_of(rows)) if len(rows) else np.zeros(2)
            if all_rows:
                of_risk = abs(float(changes.sum())) / n
            else:
                if shares is not None and len(rows):
                    changes = changes / (len(sensitive) * shares[np.searchsorted(sensitive, rows)])
                of_risk = len(sensitive) / n * upper_mean(changes)
        elif all_rows:
            of_risk = self.risk.change(objective, float(np.abs(errors[self.risk.problem.weights > 0.0]).max()))
        else:
            of_risk = self.risk.change(objective, self._error_of_scores(errors_of, n_rows, rng))
        n_updates, asymmetry = (n_updates, self.asymmetry) if known is None else (0, 0.0)  # else they were measured
        unit = self.value_error[1] + asymmetry + DOUBLE * (len(used) + n_updates)
        return measured(self.risk, objective, coef, self.largest, unit, of_norm, of_risk)

    def _error_of_scores(self, errors_of, n_rows, rng):
        """Return a bound on the mean error of the scores, rows counted by their weights, measured on `n_rows` rows; on
        the root of the mean square for losses without a steepest slope."""
        n, weights = self.risk.n, self.risk.problem.weights
        shares = self._shares(np.arange(n))
        rows = rng.integers(n, size=n_rows) if shares is None else rng.choice(n, n_rows, p=shares)
        times = 1.0 if shares is not None else weights[rows] / weights.mean()
        errors = np.abs(errors_of(rows))
        if np.isfinite(self.risk.slope):
            return upper_mean(times * errors)
        return float(np.sqrt(upper_mean(times * errors**2)))

    def _shares(self, rows):
        """Return the probabilities with which to draw rows: in proportion to their weights, if a few hold most of the
        weight and draws of equal probability would miss them; else None."""
        weights = self.risk.problem.weights
        if not weights.max() > UNEVEN * weights.mean():
            return None
        return weights[rows] / weights[rows].sum()


def _exact_scores(kernel, X, coef):
    """Return a function of indices that returns the scores of these rows, of kernel values in float64."""
    if kernel.routine == "precomputed":
        return lambda drawn: X[drawn] @ coef
    used = np.flatnonzero(coef)
    support = X[used]
    return lambda drawn: blocks.matmul(kernel, X[drawn], support, coef[used], dtype="float64")


def _errors_by_size(coef, errors_of, n_rows, rng):
    """Return the errors of the scores of some rows, or of all of a few, drawn by the sizes of their coefficients; and a
    bound on the mean of the errors times the signs of the coefficients, rows counted by these sizes."""
    size = np.abs(coef)
    if len(coef) <= n_rows:
        errors = errors_of(np.arange(len(coef)))
        return errors, abs(float(coef @ errors)) / size.sum()
    used = np.flatnonzero(coef)
    drawn = rng.choice(used, n_rows, p=size[used] / size.sum())
    errors = errors_of(drawn)
    return errors, upper_mean(np.sign(coef[drawn]) * errors)


@dataclass(frozen=True)
class ExaminedKernel:
    """A run whose problem is not convex, so that its kernel alone is examined: with negative curvature the gaps of
    convex subproblems certify nothing either, and rounding of its values changes them.

    Attributes
    ----------
    kernel, X
        As of `Examined`.
    balanced : bool
        As for `shows_negative_curvature`.
    dtype : str
        Precision of kernel values.
    root : tuple of ndarray, or None
        The solver's `root_of_gap`.
    """

    kernel: object
    X: object
    balanced: bool
    dtype: str = "float64"
    root: tuple | None = None

    def is_indefinite(self, solution, objective, gap):
        """Whether the kernel shows negative curvature."""
        return shows_negative_curvature(
            self.kernel, self.X, solution.coef, balanced=self.balanced, objective=objective, lower=-np.inf, at_zero=0.0
        )

    def rounding_of_gap(self, objective, gap, tol):
        """Return a bound on the rounding of the gap of a subproblem if it is the square of `root`, else 0.

        Where kernel values are float32 and their bound does not suffice it is measured on some rows; see `certify`.
        """
        if self.root is None or not np.any(self.root[0]):
            return 0.0
        coef, scores = self.root
        values = Examined(None, self.X, self.kernel, dtype=self.dtype, own_dual=True)
        of_values, of_float64 = values.value_error
        size, of_sums = float(np.abs(coef).sum()), DOUBLE * np.count_nonzero(coef)
        square = size * size * values.largest
        found = square * (of_values + of_sums)
        if self.dtype == "float64" or found <= allowed(objective, gap, tol):
            return found
        exact, rng = _exact_scores(self.kernel, self.X, coef), np.random.default_rng(0)
        for n_rows in SAMPLED:
            _, of_norm = _errors_by_size(coef, lambda drawn: scores[drawn] - exact(drawn), n_rows, rng)
            found = size * of_norm + square * (of_float64 + of_sums)
            if gap + found <= tol * abs(objective):
                break
        return float(found)


def certified(examined, result, tol, *, stops_by_gap=False, n_earlier=0):
    """Return a FitResult with the objective, gap and status of the model that is returned.

    Parameters
    ----------
    examined : Examined, or an object that has its `is_indefinite`, or None
        None for a method without a gap, its own or that of a subproblem.
    result : FitResult
    tol : float
    stops_by_gap : bool, default=False
        Whether the solver's rule compares `tol` with its gap, so that without one it has not converged.
    n_earlier : int, default=0
        Iterations of earlier runs, from whose scores the solver continued its updates.
    """
    if examined is None or result.objective_of_sample is not None:
        return result
    solution, objective = result.solution, float(result.objective)
    gap = np.inf if result.gap is None else float(result.gap)
    if examined.is_indefinite(solution, objective, gap):
        subproblem_gap = None if result.subproblem_gap is None else np.inf
        by_gap = stops_by_gap or subproblem_gap is not None
        status = STAGNATED if by_gap and result.converged else result.status
        return replace(result, gap=None, subproblem_gap=subproblem_gap, is_indefinite=True, status=status)
    if result.gap is None:  # that of a subproblem is what there is
        rounded = examined.rounding_of_gap(objective, result.subproblem_gap, tol)
        subproblem_gap = result.subproblem_gap + rounded
        is_lost = rounded > 0.0 and not subproblem_gap <= tol * abs(objective)
        status = STAGNATED if is_lost and result.converged else result.status
        return replace(result, subproblem_gap=subproblem_gap, status=status)
    if not isinstance(examined, Examined):  # the solver's own bound is that of the model
        return replace(result, status=_status(result.status, result, tol))
    n_updates = 2 * (n_earlier + result.n_iter) if examined.rows is not None else 0
    known = examined.known(solution, objective, gap, n_updates)
    if n_updates and not known.total <= allowed(objective, gap, tol) and _is_cheap(examined, solution):
        problem = examined.risk.problem
        responses = examined.rows.matvec(solution.coef)
        objective = problem.objective(responses, solution.coef @ responses, solution.intercept)
        gap = max(problem.gap(solution.coef, responses, solution.intercept), objective - result.objective + gap)
        n_updates = 0
        known = examined.known(solution, objective, gap, 0)
    is_rounded = examined.dtype == "float32" or "products" in solution.state  # by values, or by updates
    can_measure = is_rounded and hasattr(examined.rows, "product") and np.any(solution.coef)
    found = certify(
        examined.risk,
        solution,
        objective=objective,
        gap=gap,
        tol=tol,
        known=known,
        make_space=examined.space,
        scores=lambda: examined.scores(solution),
        largest=examined.largest,
        measure=(lambda n_rows: examined.measure(solution, objective, n_updates, n_rows)) if can_measure else None,
        folding=examined.folding(solution),
    )
    returned = None
    if found.intercept_of_zero is not None:
        returned = Solution(np.zeros_like(solution.coef), found.intercept_of_zero, solution.n_iter)
    return replace(
        result,
        objective=found.objective,
        gap=found.gap,
        status=_status(result.status, found, tol, examined),
        returned=returned,
        rounding=found.rounding,
        error_of_scores=found.error_of_scores,
        folding=found.folding,
    )


def _is_cheap(examined, solution):
    return hasattr(examined.rows, "matvec") and len(solution.coef) * np.count_nonzero(solution.coef) <= FEW_VALUES


def _status(status, found, tol, examined=None):
    """Return the status of a run, given the objective and the gap that were `found` of its model."""
    if status in KEPT:
        return status
    if found.gap <= tol * abs(found.objective):
        return "converged"
    if status != "converged":
        return status
    if examined is None:
        return STAGNATED
    is_zero = found.objective == 0.0 and found.gap <= examined.risk.negligible(tol, examined.largest)
    return status if is_zero else STAGNATED


def _largest_entry(X, rows=None):
    """Return the largest magnitude of a stored entry, of the rows of a mask."""
    if rows is not None:
        X = X[rows]
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return 0.0
    return float(max(values.max(), -float(values.min())))

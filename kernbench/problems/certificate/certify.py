"""The certificate of a returned model, in up to three stages of rising cost; see the package."""

from dataclasses import dataclass

import numpy as np

from kernbench.problems.certificate import rounding
from kernbench.problems.certificate.extended import EPS, LONG
from kernbench.problems.certificate.risks import space_is_expansion

SMALL = 0.05  # share of tol, or of a larger gap, that rounding may add to the gap without further computation
MOST_WORK = 3e7  # multiplications in extended precision that a certificate may cost: up to a second
SAME = 1e-12  # relative difference of objectives that is rounding of their sums
SAMPLED = (64, 1024)  # rows on which the error of float32 values is measured, the more where the fewer do not suffice
ERRORS = 5.0  # standard errors added to a measured mean
VISIBLE = 1e-4  # error of decision values from which the user should know


@dataclass(frozen=True)
class Certificate:
    """The objective of a returned model, its gap, and the share of rounding in them.

    Attributes
    ----------
    objective, gap : float
    intercept_of_zero : float or None
        The best intercept for f = 0, if that model is better and to be returned instead.
    error_of_scores : float
        Difference between float64 and extended scores of the training rows, relative to the largest or to 1, if that
        is more; 0.0 where it is small by the norms.
    rounding : float
        The share of `gap` that is due to rounding.
    folding : float
        The share of `gap` that is due to the difference between the model and the one that is stored.
    """

    objective: float
    gap: float
    intercept_of_zero: float | None = None
    error_of_scores: float = 0.0
    rounding: float = 0.0
    folding: float = 0.0


def certify(
    risk, model, *, objective, gap, tol, known, make_space, scores=None, largest=1.0, measure=None, folding=0.0
):
    """Return the `Certificate` of a model.

    Parameters
    ----------
    risk : MarginRisk or PairRisk
    model : Solution
        Its coefficients and intercept, and in ``state["a"]`` dual variables if the solver has them.
    objective, gap : float
        Those that the solver reports.
    tol : float
        The gap that the run was to reach, relative to the objective.
    known : Rounding
        Rounding errors of the solver's objective and bound.
    make_space : callable
        ``make_space()`` returns `extended.Features` or `extended.Expansion`.
    scores : callable, optional
        ``scores()`` returns the scores of the training rows as prediction computes them.
    largest : float
        The largest k(x, x) for an expansion, the largest |x| for weights.
    measure : callable, optional
        ``measure(n_rows)`` returns the `Rounding` as measured on some rows, which is smaller than `known`.
    folding : float
        Bound on the difference between the scores of `model` and those of the model as it is stored. Its share of the
        gap is left out where `tol` would not be reached because of it: the caller can compute the difference itself.
    """
    at_zero, intercept = risk.at_zero()
    lower = objective - gap - known.bound
    error_of_scores = 0.0
    doubtful = not known.total <= allowed(objective, gap, tol)
    for n_rows in SAMPLED if doubtful and measure is not None else ():
        known = measure(n_rows)
        lower = objective - gap - known.bound
        doubtful = not known.total <= allowed(objective, gap, tol)
        if gap + known.total <= tol * abs(objective):
            break
    error, least_gain = known.objective, 0.0
    if doubtful or not objective <= at_zero - error:
        space = make_space()
        if space.work <= MOST_WORK:
            objective, error, bound, exact = _extended(risk, model, space, largest)
            lower = max(lower, bound) if np.isfinite(lower) else bound
            least_gain = error
            if doubtful and scores is not None:
                size = max(1.0, float(np.abs(exact).max()))
                error_of_scores = float(np.abs(scores() - exact).max()) / size
    stored = risk.change(objective, folding)
    lower = max(risk.lowest, min(lower, at_zero)) if np.isfinite(lower) else risk.lowest
    is_zero = not objective + stored <= at_zero * (1.0 + SAME)
    if risk.lowest < 0.0:  # the optimum may be f = 0: rounding of another objective would be divided by its level
        is_zero = is_zero or objective + stored >= at_zero - least_gain
    if is_zero:
        return Certificate(at_zero, float(at_zero - lower), intercept, 0.0, float(known.bound))
    if objective + error - lower <= tol * abs(objective) < objective + (error + stored) - lower:
        stored = 0.0
    error += stored
    gap = float(objective + error - lower)
    gap = max(0.0, gap) if gap < np.inf else np.inf  # also where a bound is not a number: it certifies nothing
    return Certificate(objective, gap, None, error_of_scores, float(error + known.bound), float(stored))


def allowed(objective, gap, tol):
    """Return the rounding that needs no further computation.

    A run that ended with a gap above `tol` is not called converged however exactly its gap is known.
    """
    return SMALL * max(tol * abs(objective), min(gap, VISIBLE * abs(objective)))


def _extended(risk, model, space, largest):
    """Return objective, its error, a lower bound on the optimum, and scores with intercept, in extended precision."""
    coef = np.asarray(model.coef, dtype=LONG)
    is_expansion = space_is_expansion(space)
    f = space.scores(coef)
    squared_norm = max(LONG(0), space.inner(coef, f))
    value = risk.value(f, model.intercept)
    objective = float(LONG(risk.alpha) / 2 * squared_norm + value)
    risk_value = abs(float(value))

    def rounded(size):
        """The `Rounding` of sums of coefficients or of weights of this size."""
        if is_expansion:
            unit = EPS * (len(coef) + 8) + space.value_error
            return rounding.of_expansion(risk, risk_value, size, largest, unit)
        return rounding.of_weights(risk, risk_value, 0.0, size, largest, len(coef), EPS)

    size = float(np.abs(coef).sum() if is_expansion else np.sqrt(squared_norm))
    bound = risk.lowest
    for dual, spread in risk.lower_bounds(space, coef, f, model.intercept, model.state):
        unit = EPS * (risk.n + 8) + (space.value_error if is_expansion else 0.0)
        square = largest if is_expansion else largest**2
        bound = max(bound, dual - 0.5 * spread**2 / risk.alpha * square * 2 * unit)
    error = rounded(size).objective + risk.rounding(risk_value, f)
    return objective, error, bound, (f + LONG(model.intercept)).astype(np.float64)


def measured(risk, risk_value, coef, largest, unit, of_norm, of_risk):
    """Return the `Rounding` of float32 kernel values from the errors of some scores.

    Parameters
    ----------
    risk : MarginRisk or PairRisk
    risk_value : float
    coef : ndarray of shape (n,)
    largest, unit : float
        As for `rounding.of_expansion`, for the sums in float64.
    of_norm : float
        Bound on the mean error of scores times the sign of the coefficient, rows counted by |coef|.
    of_risk : float
        Bound on the error of the risk.
    """
    size = float(np.abs(coef).sum())
    exact = rounding.of_expansion(risk, risk_value, size, largest, unit)
    half = 0.5 * risk.alpha * size * of_norm
    of_dual = max(1.0, risk.dual_size / size) ** 2  # as many times more where other coefficients make the bound
    return rounding.Rounding(exact.objective + half + of_risk, exact.bound + of_dual * half)


def upper_mean(values):
    """Return the absolute mean of a sample, and `ERRORS` standard errors."""
    return float(abs(values.mean()) + ERRORS * values.std(ddof=1) / np.sqrt(len(values)))

"""Steps of Newton's method on explicit features, for any loss: the core of `solvers.linear.newton`."""

import numpy as np

from kernbench.losses.margin import LogLoss
from kernbench.problems.linear.newton import CHEAP, FIRST, LARGEST, cost_of_factor, cost_of_row, hessian_rows
from kernbench.reference.bundle.line_search import line_search
from kernbench.reference.bundle.preconditioner import Preconditioner

LARGEST_CG = 250  # Hessian products per step
STUCK = 3  # steps without progress and without smoothing, after which rounding rules
BALANCE = 0.5  # share of the gap that is left to the smoothed problem before the width shrinks
SHRINK = 0.2
NARROWEST = 1e-14  # width, relative to the first one, at which the run ends
PROGRESS = 1e-14  # smallest relative decrease that counts
SHIFTS, ROUNDING = (10_000, 1e-15)  # trial shifts; the sum of slopes that is rounding, relative to that of their sizes


class EnvelopeRisk:
    """(1/n) sum_i w_i l_mu(y_i s_i - t_i) of scores s."""

    def __init__(self, loss, y, targets, shares, mu):
        self.loss, self.y, self.targets, self.shares, self.mu = loss, y, targets, shares, mu

    def evaluate(self, scores):
        """Return the risk and its gradient with respect to the scores."""
        z = self.y * scores - self.targets
        slopes = self._slopes(z)
        values = self.loss.dual_value(-slopes) + slopes * z - 0.5 * self.mu * slopes**2
        if self.mu == 0.0:
            values = self.loss.value(z)
        return self.shares @ values, self.shares * self.y * slopes

    def density(self, scores):
        """Return w_i l_mu''(z_i) / n; on a kink that of the side where it is 0."""
        z = self.y * scores - self.targets
        return self.shares * self._curvatures(z, -self._slopes(z))

    def exact(self, scores):
        """Return the risk without smoothing, and what smoothing adds to the gap."""
        z = self.y * scores - self.targets
        values, a = self.loss.value(z), -self._slopes(z)
        if self.mu == 0.0:
            return self.shares @ values, 0.0
        return self.shares @ values, self.shares @ np.maximum(0.0, values - self.loss.dual_value(a) + a * z)

    def best_shift(self, scores):
        """Return the constant that, added to all scores, minimises the risk: Newton's method within a bracket."""
        low, high, shift, width = -np.inf, np.inf, 0.0, 0.0
        for k in range(SHIFTS):
            z = self.y * (scores + shift) - self.targets
            slopes = self._slopes(z)
            total, size = self.shares @ (self.y * slopes), self.shares @ np.abs(slopes)
            curvature = self.shares @ self._curvatures(z, -slopes)
            if abs(total) <= ROUNDING * size:
                break
            low, high = (low, shift) if total > 0.0 else (shift, high)
            trial = shift - total / curvature if curvature > 0.0 else np.inf
            if not (low < trial < high and np.isfinite(trial)) or k % 3 == 2:
                if np.isfinite(low) and np.isfinite(high):
                    trial = 0.5 * (low + high)
                else:
                    width = max(2.0 * width, 1.0 + abs(shift))
                    trial = shift - width if total > 0.0 else shift + width
            if trial in (shift, low, high):
                break
            shift = trial
        return shift

    def take(self, indices):
        """Return the risk of a subset of the samples."""
        shares = self.shares[indices]
        shares = shares * (self.shares.sum() / shares.sum())
        return EnvelopeRisk(self.loss, self.y[indices], self.targets[indices], shares, self.mu)

    def _slopes(self, z):
        if self.loss is LogLoss:
            return self.loss.slope(z)
        return np.array([-self.loss.dual_coordinate(0.0, one, self.mu) for one in z])

    def _curvatures(self, z, a):
        loss = self.loss
        if loss is LogLoss:
            return loss.curvature(z)
        smooth = (a > loss.lower) & (a < loss.upper) & ((a != 0.0) | (loss.zone == 0.0))
        curvatures = np.zeros(len(a))
        curvatures[smooth] = 1.0 / (loss.bend + self.mu)
        return curvatures


def point_of(problem, free_last, widest, rng):
    """Return the point w = 0 of a `LinearProblem`."""
    risk = EnvelopeRisk(problem.loss, problem.y, problem.targets, problem.weights / problem.n, widest)
    return Point(risk, problem.design, problem.alpha, free_last, widest, rng)


def part_of(point, sample, rng):
    """Return the point w = 0 of the problem of some rows."""
    part = point.risk.take(sample)
    part.mu = point.widest
    return Point(part, point.design.take(sample), point.alpha, point.free_last, point.widest, rng)


def step(point):
    """Take a step, or smooth less if the smoothed problem is solved."""
    point.iterate()


class Point:
    """A point with its scores, gradient and certificate, the best one so far, and the factor of a Hessian.

    Parameters
    ----------
    risk : EnvelopeRisk
    design : FeatureDesign
    alpha : float
    free_last : bool
        Whether the last coefficient has no penalty.
    widest : float
        Width of the smoothing at the start.
    rng : Generator
        Draws the rows of the Hessian.

    Attributes
    ----------
    coef, best : ndarray of shape (d,)
    best_value, bound : float
        The objective at `best`, and a lower bound on the optimum.
    mu : float
        Width of the smoothing.
    stuck : int
        Steps without progress.
    work : float
        Multiplications by conjugate gradients since the Hessian was factorised.
    """

    def __init__(self, risk, design, alpha, free_last, widest, rng):
        self.risk, self.design, self.alpha, self.free_last, self.widest = risk, design, alpha, free_last, widest
        n, d = design.n_samples, design.n_coef
        self.penalised = slice(0, d - free_last)
        self.factor, self.exact = None, False
        if d <= LARGEST:
            self.row_cost = cost_of_row(design)
            rows = hessian_rows(n, d, self.row_cost, rng)
            self.factor = Preconditioner(design, None, alpha, rows, n_free=int(free_last))
            self.exact = len(rows) == n
        self.coef, self.scores = np.zeros(d), np.zeros(n)
        self.best, self.best_value, self.bound = np.zeros(d), np.inf, 0.0
        self.stuck, self.work = 0, 0.0

    @property
    def mu(self):
        return self.risk.mu

    @mu.setter
    def mu(self, mu):
        self.risk.mu = mu

    def hessian(self):
        """Return the Hessian of the factor, as a matrix without rows if there is none."""
        return np.empty((0, 0)) if self.factor is None else self.factor.hessian.copy()

    def load_hessian(self, hessian):
        """Factorise what `hessian` returned."""
        if self.factor is not None:
            self.factor.load(hessian)

    def is_stuck(self):
        """Return whether what is left is rounding."""
        if self.risk.mu > 0.0:
            return self.risk.mu <= NARROWEST * self.widest
        return self.stuck >= STUCK

    def evaluate_at(self, coef):
        """Go to these coefficients."""
        self.coef = coef
        self.scores = self.design.scores(coef) if coef.any() else np.zeros(self.design.n_samples)
        self._evaluate()

    def _evaluate(self):
        """Value, gradient and certificate at the point; keep it if it is the best so far."""
        if self.free_last:
            shift = self.risk.best_shift(self.scores)
            self.scores, self.coef = self.scores + shift, self.coef.copy()
            self.coef[-1] += shift
        penalised = self.coef[self.penalised]
        penalty = 0.5 * self.alpha * penalised @ penalised
        loss, self._excess = self.risk.exact(self.scores)
        smooth, g = self.risk.evaluate(self.scores)
        value, self.smooth_value = loss + penalty, smooth + penalty
        # With an unpenalised constant the slopes add up to 0: what is left of them is rounding.
        self._gradient = np.zeros(len(self.coef))
        self._gradient[self.penalised] = self.design.combine(g)[self.penalised] + self.alpha * penalised
        self._square = self._gradient @ self._gradient
        if value < self.best_value:
            self.best, self.best_value = self.coef.copy(), value
        self.bound = max(self.bound, value - self._excess - self._square / (2.0 * self.alpha))

    def iterate(self):
        """Take a step, or smooth less if the smoothed problem is solved."""
        last, risk = self.smooth_value, self.risk
        is_solved = self._square <= 2.0 * self.alpha * BALANCE * self._excess
        if risk.mu > 0.0 and (is_solved or self.stuck > 0):
            # This problem is solved as closely as it resembles the one without smoothing.
            risk.mu *= SHRINK
            self.stuck = 0
            self._evaluate()
            return
        h = risk.density(self.scores)
        if self._fits(h) and self.exact and self.stuck == 0:
            step = self.factor.solve(-self._gradient)
            self.work += 2.0 * self.design.n_values
            moved = self.design.scores(step)
        else:
            step, moved = self._iterative_step(h)
        slope, curvature = self._gradient @ step, self.alpha * step[self.penalised] @ step[self.penalised]
        t = 0.0
        if slope < 0.0:
            offset = slope - risk.evaluate(self.scores)[1] @ moved
            t = line_search(lambda t: offset + curvature * t + risk.evaluate(self.scores + t * moved)[1] @ moved, slope)
        self.coef, self.scores = self.coef + t * step, self.scores + t * moved
        self._evaluate()
        self.stuck = 0 if self.smooth_value < last - PROGRESS * abs(last) else self.stuck + 1

    def _fits(self, h):
        """Factorise the Hessian if that pays off, and return whether it was done.

        It does where it is as cheap as a few products with the data, and once the conjugate gradients since the last
        time have cost as much.
        """
        factor, d = self.factor, self.design.n_coef
        self._affordable = np.inf  # work after which it is done
        if factor is None:
            return False
        self._affordable = self.row_cost * np.count_nonzero(h[factor.rows] > 0) + cost_of_factor(d)
        if factor.hessian.size:
            self._affordable -= CHEAP * self.design.n_values
        elif self._affordable <= FIRST * self.design.n_values:
            self._affordable = 0.0
        if self.work < self._affordable:
            return False
        factor.fit(h)
        self.work = 0.0
        return True

    def _iterative_step(self, h):
        """Solve the Newton equation by preconditioned conjugate gradients; return the step and its scores."""
        design = self.design
        step, moved, residual = np.zeros(design.n_coef), np.zeros(design.n_samples), -self._gradient
        if not self._is_factorised:
            self._diagonal = self._diagonal_of_hessian(h)
        p = z = self._preconditioned(residual)
        rz = residual @ z
        # Loose far from the optimum, tighter towards it: the convergence of the steps is faster than linear.
        goal = rz * min(0.1, np.sqrt(max(0.0, self.best_value - self.bound) / self.best_value)) ** 2
        for _ in range(LARGEST_CG):
            p_scores = design.scores(p)
            product = design.combine(h * p_scores)
            product[self.penalised] += self.alpha * p[self.penalised]
            curvature = product @ p
            if curvature <= 0.0:
                break  # nothing is left but rounding
            length = rz / curvature
            step, moved, residual = step + length * p, moved + length * p_scores, residual - length * product
            self.work += 4.0 * design.n_values
            z = self._preconditioned(residual)
            last, rz = rz, residual @ z
            # Without a factor the equation may take forever, and with one no time.
            if rz <= goal or (not self._is_factorised and self.work >= self._affordable):
                break
            p = z + rz / last * p
        return step, moved

    def _preconditioned(self, residual):
        return self.factor.solve(residual) if self._is_factorised else residual / self._diagonal

    @property
    def _is_factorised(self):
        return self.factor is not None and self.factor.hessian.size > 0

    def _diagonal_of_hessian(self, h):
        diagonal = self.design.square_sums(h)
        diagonal[self.penalised] += self.alpha
        return np.where(diagonal == 0.0, 1.0, diagonal)  # 0: no sample has a curvature

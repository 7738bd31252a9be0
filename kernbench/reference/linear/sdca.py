"""Walks of dual coordinate ascent over the rows of explicit features: the core of `solvers.linear.sdca`."""

import numpy as np

from kernbench.losses.margin import LogLoss, SquaredHinge
from kernbench.losses.regression import ResidualLoss

STILL = 1e-12  # a gradient, or a step of the logistic loss or its effect on a margin, within rounding error


class Work:
    """Dual variables, weights, and what a walk over rows needs and finds.

    Parameters
    ----------
    problem : LinearProblem
    shrinking : bool
        Whether rows that are held at a bound are moved behind `active`.

    Attributes
    ----------
    dual, coef : ndarray
        a of shape (n,), w of shape (d,).
    order : ndarray of int64
        The rows of this epoch.
    active, position : int
        How many of them are visited; the next one.
    upper, lower : float
        Thresholds of shrinking: the largest and smallest projected gradient of the epoch before.
    largest, smallest : float
        The same, of this epoch.
    residual : float
        The sum of w_i (l(m_i) - psi(a_i) + a_i m_i) over its visits.
    n_products : int
        Inner products.
    """

    def __init__(self, problem, shrinking):
        self.problem, self.loss, self.shrinking = problem, problem.loss, shrinking
        self.push = problem.weights * problem.y / (problem.alpha * problem.n)
        norms = np.array([row @ row for row in map(self.row, range(problem.n))])
        self.curvature = np.abs(self.push) * norms
        self.dual, self.coef = np.zeros(problem.n), np.zeros(problem.design.n_coef)
        self.n_products = 0
        self.begin()
        self.position = -1

    def begin(self):
        """Begin an epoch."""
        self.position = 0
        self.largest, self.smallest, self.residual = -np.inf, np.inf, 0.0

    def end(self):
        """End an epoch: return what the gap would be if nothing had moved in it, and whether nothing did."""
        self.position = -1
        return self.residual / self.problem.n, self.largest <= STILL and self.smallest >= -STILL

    def narrow(self):
        """Set the thresholds of shrinking for the next epoch."""
        self.upper = self.largest if self.largest > STILL else np.inf
        self.lower = self.smallest if self.smallest < -STILL else -np.inf

    def is_over(self):
        """Return whether no epoch is begun, or the present one is at its end."""
        return self.position < 0 or self.position == self.active

    def active_rows(self):
        """Return those of `order` that are visited."""
        return self.order[: self.active]

    def start_from(self, dual):
        """Set the dual variables, and the weights they stand for."""
        self.dual = dual
        self.coef = self.problem.design.combine(self.push * dual)

    def row(self, i):
        """Return x_i."""
        return self.problem.design.rows([i])[0]

    def dual_objective(self):
        """Return the dual objective."""
        return self.problem.dual(self.dual, self.coef)

    def slopes(self, a, z):
        """Return the derivatives of a z - psi(a) to the left and to the right of a, infinite at the ends of the
        domain."""
        if isinstance(self.loss, ResidualLoss):
            return self.loss.dual_slopes(a, z)
        slope = z - 1.0 + (0.5 * a if self.loss is SquaredHinge else 0.0)
        return -np.inf if a <= 0.0 else slope, np.inf if a >= self.loss.upper else slope

    def stays_put(self, left, right):
        """Whether a is held, at a bound or a kink of psi, by more than any variable was pulled in the last epoch."""
        return (left == -np.inf or left < self.lower) and (right == np.inf or right > self.upper)


def walk(work, count):
    """Visit up to `count` rows of this epoch; return how many."""
    done = 0
    while done < count and work.position < work.active:
        i = work.order[work.position]
        step = _step(work, i, _margin(work, i), work.curvature[i])
        done += 1
        if step is None:  # left out
            work.active -= 1
            last = work.order[work.active]
            work.order[work.active], work.order[work.position] = i, last
            continue
        _move(work, i, step)
        work.position += 1
    return done


def batch_step(work, rows, curvatures):
    """Visit the next rows of this epoch together, from the same weights; `curvatures` are those of their steps."""
    margins = [_margin(work, i) for i in rows]
    for i, margin, curvature in zip(rows, margins, curvatures):
        _move(work, i, _step(work, i, margin, curvature))
    work.position += len(rows)


def _margin(work, i):
    """Return the margin, or the residual, of row i."""
    work.n_products += 1
    return work.problem.y[i] * (work.row(i) @ work.coef) - work.problem.targets[i]


def _step(work, i, margin, curvature):
    """Set a_i to its best value for this margin; return by how much it moved, None if it is to be left out."""
    loss, a = work.loss, work.dual[i]
    work.residual += work.problem.weights[i] * (loss.value(margin) - loss.dual_value(a) + a * margin)
    if loss is not LogLoss:
        left, right = work.slopes(a, margin)
        if work.shrinking and work.stays_put(left, right):
            return None
        projected = right if right < 0.0 else left if left > 0.0 else 0.0
    best = loss.dual_coordinate(a, margin, curvature)
    if loss is LogLoss:
        # Its effect on the margin where that is larger: on rows of 1e6 the dual variables are tiny.
        projected = (best - a) * max(1.0, curvature / max(1.0, abs(margin)))
    work.largest, work.smallest = max(work.largest, projected), min(work.smallest, projected)
    if abs(projected) <= STILL:
        return 0.0
    work.dual[i] = best
    return best - a


def _move(work, i, step):
    """Move the weights along x_i."""
    if step != 0.0:
        work.coef += step * work.push[i] * work.row(i)
        work.n_products += 1

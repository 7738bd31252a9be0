"""The dual problem of SMO as arrays: violations of its optimality conditions, working sets, shrinkable coordinates.

    maximise  sum_i beta_i y_i - 1/2 beta' (K + R) beta   with  lower <= beta <= upper,  sum beta = 0 (with a bias)

and the gradient e = y - (K + R) beta. For the hinge R = 0 and |beta_i| <= w_i / (alpha n). The squared hinge
has the dual value a - a^2/4 at a_i = alpha n |beta_i| / w_i >= 0: no upper bound, and

    1/(alpha n) sum_i w_i a_i^2 / 4 = 1/2 sum_i R_ii beta_i^2,     R_ii = alpha n / (2 w_i).

beta is optimal when no coordinate that can grow has a larger e than one that can shrink (without a bias: when no
coordinate can move in the direction of its e).
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from kernbench.losses.margin import SquaredHinge

SAME_BETA = 1e-13  # share of its box, and of the largest coefficient so far, within which a coefficient is at its bound
TINY = 1e-12  # curvature of a pair of equal points


@dataclass
class State:
    """Coefficients, gradient and bounds of some coordinates; all float64, of one length.

    Attributes
    ----------
    beta, e : ndarray
    lower, upper : ndarray
    diagonal : ndarray
        Of K + R.
    ridge : ndarray
        Of R.
    grain : ndarray
        `SAME_BETA` times the width of the box; the unbounded box of the squared hinge is given that of a margin of 0. A
        smaller change of beta counts as rounding if it is also below `SAME_BETA` times the largest coefficient: at a
        large C the box is unrelated to the size of coefficients.
    """

    beta: np.ndarray
    e: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    diagonal: np.ndarray
    ridge: np.ndarray
    grain: np.ndarray

    @classmethod
    def of(cls, problem, diagonal):
        """Return the state of a `MarginProblem` at beta = 0."""
        lower, upper = problem.box()
        n, ridge, grain = problem.n, np.zeros(problem.n), SAME_BETA * (upper - lower)
        if problem.loss is SquaredHinge:
            used = problem.weights > 0
            ridge[used] = 0.5 * problem.alpha * n / problem.weights[used]
            grain[used] = SAME_BETA / ridge[used]
        return cls(np.zeros(n), problem.y.copy(), lower, upper, diagonal + ridge, ridge, grain)

    def take(self, indices):
        """Return the state of a subset of the coordinates."""
        return State(*(getattr(self, field.name)[indices] for field in fields(self)))

    def at(self, beta, e):
        """Return the state at other coefficients, with their gradient."""
        return replace(self, beta=beta, e=e)

    def scores(self, y):
        """Return f(x_i), K times the coefficients."""
        return y - self.e - self.ridge * self.beta

    def dual(self, y):
        """Return the dual objective, sum beta y - 1/2 beta' (K + R) beta."""
        return 0.5 * float(self.beta @ (self.e + y))

    def extrapolate(self, beta, e, with_bias):
        """Extrapolate from coefficients `beta` with gradient `e` through the present ones to the best point in the box.

        Returns
        -------
        bool
            Whether beta moved; then the gradient has to be recomputed.
        """
        direction, bend = self.beta - beta, e - self.e  # the latter is (K + R) times the former
        if with_bias:  # a long step would amplify the rounding error of its sum
            direction[np.abs(direction).argmax()] -= direction.sum()
        slope, curvature = direction @ self.e, direction @ bend
        if not (slope > 0.0 and curvature > 0.0):
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.where(direction > 0.0, self.upper, self.lower)
            room = np.where(direction != 0.0, (bound - self.beta) / direction, np.inf)
        step = min(slope / curvature, float(room.min()))
        if step < 1.0:
            return False
        at_bound = room <= step
        self.beta += step * direction
        self.beta[at_bound] = bound[at_bound]
        return True

    def violation(self, with_bias):
        """Return the largest violation and, with a bias, the extreme e of coordinates that can grow and that can
        shrink."""
        can_grow, can_shrink = self.beta < self.upper, self.beta > self.lower
        if with_bias:
            top = self.e.max(where=can_grow, initial=-np.inf)
            bottom = self.e.min(where=can_shrink, initial=np.inf)
            return max(float(top - bottom), 0.0), top, bottom
        wrong = (can_grow & (self.e > 0)) | (can_shrink & (self.e < 0))
        return float(np.abs(self.e).max(where=wrong, initial=0.0)), 0.0, 0.0

    def choose(self, size, kept, slack, with_bias):
        """Return a working set: the coordinates `kept`, then those that violate the conditions most.

        Parameters
        ----------
        size : int
            Largest number of members.
        kept : ndarray of intp
            Members of the last set, at most `size`.
        slack : float
            Coordinates that violate the conditions by less are not chosen.

        Returns
        -------
        members : ndarray of intp
        violation : float
            The largest over all coordinates.
        """
        violation, top, bottom = self.violation(with_bias)
        sides = self._both_ends(top, bottom, slack) if with_bias else self._steepest(slack)
        taken = np.zeros(len(self.beta), dtype=bool)
        taken[kept] = True
        chosen, room = [kept], size - len(kept)
        for number, (side, urgency) in enumerate(sides):
            share = room // (len(sides) - number)
            free = ~taken[side]
            side, urgency = side[free], urgency[free]
            if len(side) > share:
                side = side[np.argpartition(-urgency, share - 1)[:share]] if share else side[:0]
            taken[side] = True
            room -= len(side)
            chosen.append(np.sort(side))
        return np.concatenate(chosen), violation

    def _both_ends(self, top, bottom, slack):
        grow = np.flatnonzero((self.beta < self.upper) & (self.e > bottom + slack))
        shrink = np.flatnonzero((self.beta > self.lower) & (self.e < top - slack))
        return (grow, self.e[grow]), (shrink, -self.e[shrink])

    def _steepest(self, slack):
        """Choose half by the gain of a single step, half by the violation, which the stopping rule tests."""
        beta, e = self.beta, self.e
        wrong = ((beta < self.upper) & (e > slack)) | ((beta > self.lower) & (e < -slack))
        side = np.flatnonzero(wrong)
        curvature = np.maximum(self.diagonal[side], TINY)
        step = np.clip(e[side] / curvature, (self.lower - beta)[side], (self.upper - beta)[side])
        return (side, step * (e[side] - 0.5 * step * curvature)), (side, np.abs(e[side]))

    def shrinkable(self, with_bias):
        """Return a mask of the coordinates at a bound that no step with a violating partner would move away from it."""
        at_upper, at_lower = self.beta >= self.upper, self.beta <= self.lower
        if not with_bias:
            return (at_upper & (self.e > 0)) | (at_lower & (self.e < 0))
        top = self.e.max(where=~at_upper, initial=-np.inf)
        bottom = self.e.min(where=~at_lower, initial=np.inf)
        pushed = (at_upper & ~at_lower & (self.e > top)) | (at_lower & ~at_upper & (self.e < bottom))
        return pushed | (at_lower & at_upper)

    def intercept(self):
        """Return the mean of e over the free coordinates or, if there are none, the middle of the admissible
        interval."""
        free = (self.beta > self.lower) & (self.beta < self.upper)
        if free.any():
            return float(self.e[free].sum() / np.count_nonzero(free))
        top = self.e.max(where=self.beta < self.upper, initial=-np.inf)
        bottom = self.e.min(where=self.beta > self.lower, initial=np.inf)
        return float(0.5 * (top + bottom)) if np.isfinite(top + bottom) else 0.0

"""The dual problem of SMO as arrays: violations of its optimality conditions, working sets, shrinkable coordinates.

    maximise  sum_i p_i beta_i - zone |beta_i| - 1/2 beta' (K + R) beta   with  lower <= beta <= upper,
                                                                          sum beta = 0 (with a bias)

and the gradient e = p - (K + R) beta of its smooth part. Classification: p_i = y_i and zone = 0. For the hinge R = 0
and |beta_i| <= w_i / (alpha n). The squared hinge has the dual value a - a^2/4 at a_i = alpha n |beta_i| / w_i >= 0: no
upper bound, and

    1/(alpha n) sum_i w_i a_i^2 / 4 = 1/2 sum_i R_ii beta_i^2,     R_ii = alpha n / (2 w_i).

Regression: p_i is the target, and a loss of the residual has the dual value -zone |a| - bend/2 a^2 on an interval
(`losses.regression`): a kink at 0 where zone = epsilon > 0, and R_ii = bend alpha n / w_i. So support vector regression
has one coordinate for each row, not two.

Where a coordinate grows, the objective has the slope e - zone at beta >= 0 and e + zone below; where it shrinks,
e - zone at beta > 0 and e + zone at or below 0. beta is optimal when no coordinate that can grow has a larger slope
than one that can shrink (without a bias: when no coordinate can move in the direction of its slope).
"""

from dataclasses import dataclass, fields, replace

import numpy as np

SAME_BETA = 1e-13  # share of its box, and of the largest coefficient so far, within which a coefficient is at its bound
TINY = 1e-12  # curvature of a pair of equal points


@dataclass
class State:
    """Coefficients, gradient and bounds of some coordinates; all float64, of one length.

    Attributes
    ----------
    beta, e : ndarray
    linear : ndarray
        p.
    lower, upper : ndarray
    diagonal : ndarray
        Of K + R.
    ridge : ndarray
        Of R.
    least_change : ndarray
        `SAME_BETA` times the width of the box; the unbounded box of a squared loss is given that of a loss of slope 2
        (for the squared hinge, of a margin of 0). A smaller change of beta counts as rounding if it is also below
        `SAME_BETA` times the largest coefficient: at a large C the box is unrelated to the size of coefficients.
    zone : float
    """

    beta: np.ndarray
    e: np.ndarray
    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    diagonal: np.ndarray
    ridge: np.ndarray
    least_change: np.ndarray
    zone: float = 0.0

    @classmethod
    def of(cls, problem, diagonal):
        """Return the state of a `MarginProblem` at beta = 0."""
        lower, upper = problem.box()
        n, ridge, least_change = problem.n, np.zeros(problem.n), SAME_BETA * (upper - lower)
        if problem.loss.bend > 0.0:
            used = problem.weights > 0
            ridge[used] = problem.loss.bend * problem.alpha * n / problem.weights[used]
            least_change[used] = SAME_BETA * problem.unit() / ridge[used]
        linear = problem.linear
        return cls(
            np.zeros(n), linear.copy(), linear, lower, upper, diagonal + ridge, ridge, least_change, problem.loss.zone
        )  # fmt: skip

    def take(self, indices):
        """Return the state of a subset of the coordinates."""
        arrays = (getattr(self, field.name)[indices] for field in fields(self) if field.name != "zone")
        return State(*arrays, self.zone)

    def at(self, beta, e):
        """Return the state at other coefficients, with their gradient."""
        return replace(self, beta=beta, e=e)

    def scores(self):
        """Return f(x_i), K times the coefficients."""
        return self.linear - self.e - self.ridge * self.beta

    def dual(self):
        """Return the dual objective."""
        value = 0.5 * float(self.beta @ (self.e + self.linear))
        return value - self.zone * float(np.abs(self.beta).sum()) if self.zone else value

    def slopes(self):
        """Return the slopes of the dual objective where coordinates grow, and where they shrink."""
        if not self.zone:
            return self.e, self.e
        at_least, above = self.beta >= 0.0, self.beta > 0.0
        return tuple(self.e - np.where(side, self.zone, -self.zone) for side in (at_least, above))

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
        grow, shrink = self.slopes()
        slope, curvature = direction @ np.where(direction > 0.0, grow, shrink), direction @ bend
        if not (slope > 0.0 and curvature > 0.0):
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.where(direction > 0.0, self.upper, self.lower)
            if self.zone:  # up to the kink
                bound = np.where(self.beta * direction < 0.0, 0.0, bound)
            room = np.where(direction != 0.0, (bound - self.beta) / direction, np.inf)
        step = min(slope / curvature, float(room.min()))
        if step < 1.0:
            return False
        at_bound = room <= step
        self.beta += step * direction
        self.beta[at_bound] = bound[at_bound]
        return True

    def violation(self, with_bias):
        """Return the largest violation and, with a bias, the extreme slopes of coordinates that can grow and that can
        shrink."""
        can_grow, can_shrink = self.beta < self.upper, self.beta > self.lower
        grow, shrink = self.slopes()
        if with_bias:
            top = grow.max(where=can_grow, initial=-np.inf)
            bottom = shrink.min(where=can_shrink, initial=np.inf)
            return max(float(top - bottom), 0.0), top, bottom
        above, below = grow.max(where=can_grow, initial=0.0), shrink.min(where=can_shrink, initial=0.0)
        return max(float(above), -float(below)), 0.0, 0.0

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
        of_growth, of_shrinkage = self.slopes()
        grow = np.flatnonzero((self.beta < self.upper) & (of_growth > bottom + slack))
        shrink = np.flatnonzero((self.beta > self.lower) & (of_shrinkage < top - slack))
        return (grow, of_growth[grow]), (shrink, -of_shrinkage[shrink])

    def _steepest(self, slack):
        """Choose half by the gain of a single step, half by the violation, which the stopping rule tests."""
        beta, e, (grow, shrink) = self.beta, self.e, self.slopes()
        side = np.flatnonzero(((beta < self.upper) & (grow > slack)) | ((beta > self.lower) & (shrink < -slack)))
        curvature = np.maximum(self.diagonal[side], TINY)
        step, now = e[side] / curvature, beta[side]
        if self.zone:
            best = now + step
            step = np.sign(best) * np.maximum(np.abs(best) - self.zone / curvature, 0.0) - now
        step = np.clip(step, (self.lower - beta)[side], (self.upper - beta)[side])
        gain = step * (e[side] - 0.5 * step * curvature)
        if self.zone:
            gain -= self.zone * (np.abs(now + step) - np.abs(now))
        return (side, gain), (side, np.maximum(grow[side], -shrink[side]))

    def shrinkable(self, with_bias):
        """Return a mask of the coordinates at a bound, or at a kink, that no step with a violating partner would move
        away from it."""
        at_upper, at_lower = self.beta >= self.upper, self.beta <= self.lower
        grow, shrink = self.slopes()
        top = bottom = 0.0
        if with_bias:
            top = grow.max(where=~at_upper, initial=-np.inf)
            bottom = shrink.min(where=~at_lower, initial=np.inf)
        return (at_upper | (grow < bottom)) & (at_lower | (shrink > top))

    def intercept(self):
        """Return the mean slope of the free coordinates or, if there are none, the middle of the admissible
        interval."""
        free = (self.beta > self.lower) & (self.beta < self.upper)
        if self.zone:
            free &= self.beta != 0.0
        grow, shrink = self.slopes()
        if free.any():
            return float(grow[free].sum() / np.count_nonzero(free))
        top = grow.max(where=self.beta < self.upper, initial=-np.inf)
        bottom = shrink.min(where=self.beta > self.lower, initial=np.inf)
        ends = [float(end) for end in (top, bottom) if np.isfinite(end)]
        return 0.5 * sum(ends) if len(ends) == 2 else sum(ends)

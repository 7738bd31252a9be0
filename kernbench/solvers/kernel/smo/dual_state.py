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

Problems with a share nu (`problems.nu_problem`) have one more constraint, and their pairs are compared by *families*:
in classification the positive coefficients keep their sum, as do the negative ones, so that both coordinates of a pair
are of one sign. In a regression sum |beta_i| <= M is the other constraint: where it is active, a pair may also consist
of a negative coefficient that grows and a positive one that shrinks, and where it is not, all pairs are one family.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

SAME_SIZE = 1e-10  # share of M that counts as rounding: where this is left of it, the bound is active
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
    constraint : {"sum", "signs", "size"}
        Of the coefficients, with a bias: see `MarginProblem`.
    size : float
        M, for the constraint ``"size"``.
    outside : float
        The part of M that coefficients of other coordinates take.
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
    constraint: str = "sum"
    size: float = 0.0
    outside: float = 0.0

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
        size = problem.size() if problem.constraint == "size" else 0.0
        return cls(
            np.zeros(n), linear.copy(), linear, lower, upper, diagonal + ridge, ridge, least_change, problem.loss.zone,
            problem.constraint, size,
        )  # fmt: skip

    def take(self, indices):
        """Return the state of a subset of the coordinates."""
        arrays = [getattr(self, field.name)[indices] for field in fields(self) if field.type is np.ndarray]
        outside = 0.0
        if self.constraint == "size":
            outside = self.outside + float(np.abs(self.beta).sum() - np.abs(arrays[0]).sum())
        return State(*arrays, self.zone, self.constraint, self.size, outside)

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

    def room(self):
        """Return by how much the sum of the magnitudes may grow; infinite without a bound."""
        if self.constraint != "size":
            return np.inf
        room = self.size - self.outside - float(np.abs(self.beta).sum())
        return room if room > SAME_SIZE * self.size else 0.0

    def free(self):
        """Return a mask of the coefficients at no bound and no kink."""
        free = (self.beta > self.lower) & (self.beta < self.upper)
        if self.zone or self.constraint != "sum":
            free &= self.beta != 0.0
        return free

    def families(self):
        """Return pairs of masks: the coordinates that can grow, and those that can shrink as they do."""
        can_grow, can_shrink = self.beta < self.upper, self.beta > self.lower
        if self.constraint == "sum" or (self.constraint == "size" and self.room() > 0.0):
            return [(can_grow, can_shrink)]
        below, above = self.beta < 0.0, self.beta > 0.0
        partners = can_shrink if self.constraint == "size" else can_shrink & ~above
        return [(can_grow & ~below, above), (below, partners)]

    def _ends(self, grow, shrink):
        """Return for each family its masks, its largest slope of growth and its least one of shrinkage."""
        return [
            (can_grow, can_shrink, grow.max(where=can_grow, initial=-np.inf),
             shrink.min(where=can_shrink, initial=np.inf))
            for can_grow, can_shrink in self.families()
        ]  # fmt: skip

    def extrapolate(self, beta, e, with_bias):
        """Extrapolate from coefficients `beta` with gradient `e` through the present ones to the best point in the box.

        Returns
        -------
        bool
            Whether beta moved; then the gradient has to be recomputed.
        """
        if self.constraint != "sum":
            return False
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
        """Return the largest violation."""
        grow, shrink = self.slopes()
        if with_bias:
            return max(0.0, *(float(top - bottom) for _, _, top, bottom in self._ends(grow, shrink)))
        can_grow, can_shrink = self.beta < self.upper, self.beta > self.lower
        above, below = grow.max(where=can_grow, initial=0.0), shrink.min(where=can_shrink, initial=0.0)
        return max(float(above), -float(below))

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
        if with_bias:
            violation, sides = self._both_ends(slack, size - len(kept))
        else:
            violation, sides = self.violation(False), self._steepest(slack)
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

    def _both_ends(self, slack, room):
        """Choose from both ends of each family or, without room for two, of that with the larger violation."""
        of_growth, of_shrinkage = self.slopes()
        families, sides = self._ends(of_growth, of_shrinkage), []
        violation = max(0.0, *(float(top - bottom) for _, _, top, bottom in families))
        if room < 2 * len(families):
            families = [max(families, key=lambda family: family[2] - family[3])]
        for can_grow, can_shrink, top, bottom in families:
            grow = np.flatnonzero(can_grow & (of_growth > bottom + slack))
            shrink = np.flatnonzero(can_shrink & (of_shrinkage < top - slack))
            sides += [(grow, of_growth[grow]), (shrink, -of_shrinkage[shrink])]
        return violation, sides

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
        grow, shrink = self.slopes()
        if not with_bias:
            return ((self.beta >= self.upper) | (grow < 0.0)) & ((self.beta <= self.lower) | (shrink > 0.0))
        stays = np.ones(len(self.beta), dtype=bool)
        for can_grow, can_shrink, top, bottom in self._ends(grow, shrink):
            stays &= (~can_grow | (grow < bottom)) & (~can_shrink | (shrink > top))
        return stays

    def intercept(self):
        """Return the b of the optimality conditions, from the slopes of free coordinates."""
        return self.intercept_and_level()[0]

    def level(self, dual=None):
        """Return the rho or eps of a problem with a share nu, from the slopes of free coordinates."""
        return self.intercept_and_level(dual)[1]

    def intercept_and_level(self, dual=None):
        """Return both, at the cost of one; `dual` is the dual objective of all coordinates, by default of these.

        rho is at least ||f||^2 / M, and ||f||^2 is -2 times the dual objective: apart from rounding, rho is negative
        only if that is negative, too, with a kernel that is not positive semi-definite.
        """
        levels = self._levels()
        if len(levels) == 1:
            return levels[0], 0.0
        level = 0.5 * abs(levels[0] - levels[1])
        if self.constraint == "signs" and levels[1] < levels[0] and (self.dual() if dual is None else dual) > 0.0:
            level = -level
        return 0.5 * sum(levels), level

    def _levels(self):
        """Return for each family the mean slope of its free coordinates or, if there are none, the middle of the
        admissible interval."""
        grow, shrink = self.slopes()
        free = self.free()
        families = self._ends(grow, shrink)
        levels = []
        for number, (_, _, top, bottom) in enumerate(families):
            own = free if len(families) == 1 else free & ((self.beta < 0.0) if number else (self.beta > 0.0))
            if own.any():
                levels.append(float(grow[own].sum() / np.count_nonzero(own)))
                continue
            ends = [float(end) for end in (top, bottom) if np.isfinite(end)]
            levels.append(0.5 * sum(ends) if len(ends) == 2 else sum(ends))
        return levels

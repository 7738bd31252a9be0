"""Steps of the stochastic batch perceptron: the core of `solvers.kernel.sbp`."""

import numpy as np

from kernbench.problems.draws import cumulative_weights
from kernbench.problems.water_level import NO_LEVEL, water_level
from kernbench.solvers.base import Diverged

DRIFT_STEPS = 1000  # steps between two recomputations of ||f||^2
TRIES = 256  # refused proposals after which an exact walk decides


def steps(work, n_iter, streams, volume):
    """Do `n_iter` steps at this slack budget; return how many were done."""
    for _ in range(n_iter):
        work.step(streams, volume)
    return n_iter


class Work:
    """Dual variables and heights, their weighted sums over the steps, and what a step needs.

    Parameters
    ----------
    rows : KernelRows
    problem : MarginProblem
    burn_in : int
        Steps left out of the sums.
    power : float
        Step t enters the sums with weight (t/1000)^power.
    fetch_rows : int
        No effect: rows are computed one by one.

    Attributes
    ----------
    n_iter : int
    squared_norm : float
        ||f||^2.
    average_weight : float
        Sum of the weights.
    heights, height_sums : ndarray of shape (n,)
        c_i = y_i f(x_i), and their weighted sums.
    """

    def __init__(self, rows, problem, burn_in, power, fetch_rows):
        self.rows, self.problem, self.burn_in, self.power = rows, problem, burn_in, power
        self.basins = problem.y if problem.fit_intercept else None
        self.diagonal = rows.diagonal()
        largest = self.diagonal[problem.weights > 0].max()
        self.first_rate = 1.0 / np.sqrt(largest) if largest > 0 else 1.0
        self.n_kernel_evaluations = 0
        n = problem.n
        self.resume(0, np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), 0.0, 0.0)

    def resume(self, n_iter, dual, heights, sums, height_sums, squared_norm, average_weight):
        """Continue from here."""
        self.n_iter, self.squared_norm, self.average_weight = n_iter, squared_norm, average_weight
        self._dual, self.heights, self._sums, self.height_sums = dual, heights, sums, height_sums

    def dual(self):
        """Return the dual variables alpha_i >= 0: f = sum_i alpha_i y_i k(x_i, .)."""
        return self._dual

    def sums(self):
        """Return the weighted sums of the dual variables over the steps."""
        return self._sums

    def step(self, streams, volume):
        """Draw an example below the water level, step along its row, and project f onto the unit ball."""
        y, c = self.problem.y, self.heights
        if not np.all(np.isfinite(c)):
            raise Diverged(NO_LEVEL)
        i = self.choose(water_level(c, self.problem.weights, volume, self.basins), streams)

        self.n_iter += 1
        rate = self.first_rate / np.sqrt(self.n_iter)
        self.squared_norm += 2 * rate * c[i] + rate**2 * self.diagonal[i]  # with c before the step
        self._dual[i] += rate
        c += rate * y[i] * y * self.rows.row(i)
        self.n_kernel_evaluations += self.problem.n
        if self.squared_norm > 1:
            shrink = 1.0 / np.sqrt(self.squared_norm)
            self._dual *= shrink
            c *= shrink
            self.squared_norm = 1.0
        if self.n_iter % DRIFT_STEPS == 0:
            self.squared_norm = self._dual @ c

        if self.n_iter > self.burn_in:
            share = (self.n_iter / 1000) ** self.power
            self._sums += share * self._dual
            self.height_sums += share * c
            self.average_weight += share

    def choose(self, level, streams):
        """Draw an example from p*: the class by a fair coin (two basins), then by weight among those below the level.

        Examples of the class are proposed at random, by weight; the first one below the level is taken. Those at the
        edge may be covered in part: they are taken with the probability of that part.
        """
        coins, *proposals = streams
        members, edge, stream = self.problem.weights > 0, level.positive, proposals[0]
        if self.basins is not None:
            heads = coins.next()[0] < 0.5
            edge, stream = (level.positive, proposals[0]) if heads else (level.negative, proposals[1])
            members &= self.basins == (1 if heads else -1)
        members = np.flatnonzero(members)
        weights, heights = self.problem.weights[members], self.heights[members]
        at_edge = weights[heights == edge].sum()
        share = min((level.mass - weights[heights < edge].sum()) / at_edge, 1.0)
        cumulative = cumulative_weights(weights)
        for _ in range(TRIES):
            u, v = stream.next()
            if cumulative is None:
                k = int(u * len(members))
            else:
                k = np.searchsorted(cumulative, u * cumulative[-1], side="right")
            k = min(k, len(members) - 1)
            if heights[k] < edge or (heights[k] == edge and v < share):
                return members[k]
        return members[self._walk(heights, weights, edge, level.mass, *stream.next())]

    @staticmethod
    def _walk(heights, weights, edge, mass, rank, tie):
        """The same draw without rejections: by `rank` among those below the edge, else by `tie` among those at it."""
        below = np.flatnonzero(heights < edge)
        cumulative = np.cumsum(weights[below])
        r = rank * mass
        if len(below) and r < cumulative[-1]:
            return below[np.searchsorted(cumulative, r, side="right")]
        at_edge = np.flatnonzero(heights == edge)
        cumulative = np.cumsum(weights[at_edge])
        k = np.searchsorted(cumulative, tie * cumulative[-1], side="right")
        return at_edge[min(k, len(at_edge) - 1)]

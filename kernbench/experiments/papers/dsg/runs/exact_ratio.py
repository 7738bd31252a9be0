"""Density ratios and relative novelty by convex optimisation on all rows, with a duality gap."""

import numpy as np
from scipy.optimize import minimize

from kernbench.experiments.measure.objectives import gaussian
from kernbench.kernels.blocks import block
from kernbench.losses.output import output_loss

SMALLEST, LARGEST_GAP = 1e-12, 1e-6  # of dual variables with a logarithm; relative to the objective
MOST_RUNS = 20


class ExactDensityRatio:
    r"""The minimiser of the objective of `kernbench.DoublyStochasticDensityRatio`, by its dual problem.

    f = Σ s_i k(x_i, ·) / (n_i alpha) over the rows of both samples, of n_i rows each. s_i is minus the slope of the
    loss: for rows of P, 1 or a number in (0, 1/floor]; for rows of Q, negative, or a number in [-1, 0]. L-BFGS-B
    maximises

        -alpha/2 ‖f‖² - E_q (c log c - c), c = -s            for ``target="log_ratio"``,
        -alpha/2 ‖f‖² + E_p (1 + log s)                       for ``target="ratio"``.

    Attributes
    ----------
    duality_gap_ : float
    """

    def __init__(self, gamma, alpha, target="log_ratio", floor=0.1):
        self.gamma, self.alpha, self.target, self.floor = gamma, alpha, target, floor

    def fit(self, P, Q):
        """Fit the model; raise RuntimeError unless the duality gap vanishes."""
        self.rows_ = np.vstack([P, Q])
        of_p = np.arange(len(self.rows_)) < len(P)
        y, sizes = np.where(of_p, 1.0, -1.0), np.where(of_p, len(P), len(Q))
        K = block(gaussian(self.gamma), self.rows_, self.rows_, dtype=np.float64)
        log = self.target == "log_ratio"
        curved = ~of_p if log else of_p  # whose dual terms have a logarithm

        def negative_dual(s):
            coef = s / (sizes * self.alpha)
            f, sizes_of = K @ coef, np.abs(s[curved])
            slopes = f / sizes
            if log:
                value = np.sum(sizes_of * np.log(sizes_of) - sizes_of) / len(Q)
                slopes[curved] -= np.log(sizes_of) / len(Q)
            else:
                value = -np.sum(1 + np.log(sizes_of)) / len(P)
                slopes[curved] -= 1 / (sizes_of * len(P))
            return 0.5 * self.alpha * coef @ f + value, slopes

        if log:
            bounds = [(1.0, 1.0) if p else (None, -SMALLEST) for p in of_p]
        else:
            bounds = [(SMALLEST, 1 / self.floor) if p else (-1.0, 0.0) for p in of_p]
        start = np.clip(y, *np.array(bounds, dtype=np.float64).T)  # None is NaN: no bound
        s = np.where(np.isnan(start), y, start)
        loss = output_loss("density_ratio" if log else "truncated_ratio", floor=self.floor)
        options = {"maxiter": 20_000, "maxfun": 40_000, "maxcor": 50, "ftol": 0.0, "gtol": 1e-10}
        # Rounding may end a line search early; a run from there has forgotten the curvature that led to it.
        for _ in range(MOST_RUNS):
            found = minimize(negative_dual, s, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
            s = found.x
            self.coef_ = s / (sizes * self.alpha)
            f = K @ self.coef_
            primal = 0.5 * self.alpha * self.coef_ @ f + np.sum(loss.value(f[:, None], y) / sizes)
            self.duality_gap_ = float(primal + found.fun)
            if self.duality_gap_ <= LARGEST_GAP * max(1.0, abs(primal)):
                return self
        raise RuntimeError(f"the exact density ratio has a duality gap of {self.duality_gap_:g}")

    def function(self, X):
        """Values of f at rows."""
        return block(gaussian(self.gamma), X, self.rows_, dtype=np.float64) @ self.coef_

    def log_ratio(self, X):
        """The estimate of log(p/q) at rows."""
        f = self.function(X)
        return f if self.target == "log_ratio" else np.log(np.maximum(f, self.floor))

    def ratio(self, X):
        """The estimate of p/q at rows."""
        f = self.function(X)
        return np.exp(f) if self.target == "log_ratio" else np.maximum(f, 0.0)

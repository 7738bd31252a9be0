"""The full risk by its definition: a loop over all pairs of a positive and a negative row."""

import numpy as np

PATIENCE = 20  # iterations over which the best objective has to improve
MOMENTUM, DECAY = 0.9, 0.999


class NaiveROCSVC:
    """Linear ROC-SVM over all pairs by Adamax, in O(n_+ n_-) time and memory an iteration.

    What the paper calls the full ROC-SVM. Same objective, steps and stopping rule as
    ``ROCSVC(pairs="all", solver="adamax")``, which sorts instead.

    Parameters
    ----------
    alpha : float
    tol : float
        Change of the best objective over 20 iterations, relative to max(1, objective).
    max_iter : int
    step_size : float
    """

    def __init__(self, alpha=1e-3, tol=1e-6, max_iter=1000, step_size=0.002):
        self.alpha, self.tol, self.max_iter, self.step_size = alpha, tol, max_iter, step_size
        self.loss_ = "hinge"

    def fit(self, X, y):
        """Fit to rows X of shape (n, d) with labels y of -1 and +1."""
        positives, negatives = X[y > 0], X[y < 0]
        w, momentum, largest = np.zeros((3, X.shape[1]))
        best, best_w, history = np.inf, w, []
        for t in range(1, self.max_iter + 1):
            value, g = self._value_and_subgradient(w, positives, negatives)
            if value < best:
                best, best_w = value, w
            history.append(best)
            if t > PATIENCE and history[-1 - PATIENCE] - best < self.tol * max(1.0, best):
                break
            momentum = MOMENTUM * momentum + (1 - MOMENTUM) * g
            largest = np.maximum(DECAY * largest, np.abs(g))
            step = np.divide(momentum, largest, out=np.zeros_like(g), where=largest > 0)
            w = w - self.step_size / (1 - MOMENTUM**t) * step
        if self._value_and_subgradient(w, positives, negatives)[0] < best:
            best_w = w
        self.coef_, self.n_iter_ = best_w[None, :], np.array([t])
        return self

    def decision_function(self, X):
        """Scores of rows."""
        return X @ self.coef_[0]

    def _value_and_subgradient(self, w, positives, negatives):
        # A pair is active if b_j > a_i - 1, compared in this form everywhere. Counts are sums of floats, for which BLAS
        # is faster than sums of booleans.
        shortfall = (negatives @ w)[None, :] - (positives @ w - 1)[:, None]
        active = (shortfall > 0).astype(np.float64)
        risk = np.vdot(active, shortfall) / active.size
        of_positives, of_negatives = active @ np.ones(len(negatives)), np.ones(len(positives)) @ active
        g = (of_negatives @ negatives - of_positives @ positives) / active.size
        return 0.5 * self.alpha * w @ w + risk, g + self.alpha * w

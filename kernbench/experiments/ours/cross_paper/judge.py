"""Metrics of a model, relative to the certified optimum of its objective."""

import numpy as np

from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.judging import error_rate
from kernbench.experiments.measure.objectives import mean_hinge, squared_norm, training_scores
from kernbench.metrics import roc_auc
from kernbench.pairs import AllPairs

# Both with alpha/2 ‖f‖², over functions of the kernel's space and without an intercept.
ROWS, PAIRS = "rows", "pairs"
LOSSES = {ROWS: mean_hinge, PAIRS: lambda signs, scores: AllPairs(signs).mean_loss(scores, "hinge")}
# In double precision: the certificate counts rounding, which in single precision is not negligible here.
TIGHT = {
    ROWS: ("kernbench.estimators:KernelSVC", {"fit_intercept": False, "tol": 1e-4}),
    PAIRS: ("kernbench.estimators:ROCSVC", {"features": "exact", "solver": "bundle", "tol": 1e-5}),
}
SHARED = {"kernel": "rbf", "dtype": "float64", "cache_size": 2000, "random_state": 0}


class Judge:
    """Solve the problem tightly, off the clock; then judge models by it, all by the same code.

    Parameters
    ----------
    data : Dataset
    objective : {"rows", "pairs"}
        The mean hinge loss over rows, or over pairs of a positive and a negative row.
    gamma, alpha : float
    """

    def __init__(self, data, objective, *, gamma, alpha):
        self.data, self.loss, self.alpha = data, LOSSES[objective], alpha
        self.is_ranked = objective == PAIRS
        estimator, params = TIGHT[objective]
        params = {**params, **SHARED, "gamma": gamma, "alpha": alpha}
        exact = build(estimator, params, len(data.y_train)).fit(data.X_train, data.y_train)
        self.lower = float(exact.objective_ - exact.duality_gap_)
        self.exact_scores = self._centred(exact.decision_function(data.X_test))
        self.exact = self(exact)

    def __call__(self, model):
        """Return ``test_error``, ``auc``, ``gap`` (relative, above the optimum), ``distance`` (of the scores)."""
        data = self.data
        scores = model.decision_function(data.X_test)
        own = training_scores(model, data.X_train)
        threshold = best_threshold(data.y_train, own) if self.is_ranked else 0.0
        apart = self._centred(scores) - self.exact_scores
        return {
            "test_error": error_rate(data.y_test, np.where(scores > threshold, 1, -1)),
            "auc": roc_auc(data.y_test, scores),
            "gap": self._gap(model, own),
            "distance": float(np.linalg.norm(apart) / np.linalg.norm(self.exact_scores)),
        }

    def _gap(self, model, scores):
        """Objective above the optimum; None for functions outside the kernel's space, of random features."""
        if hasattr(model, "block_coef_"):
            return None
        objective = 0.5 * self.alpha * squared_norm(model, scores) + self.loss(self.data.y_train, scores)
        return max(0.0, objective / self.lower - 1.0)

    def _centred(self, scores):
        # Pairs determine scores up to a constant.
        return scores - np.mean(scores) if self.is_ranked else scores


def best_threshold(y, scores):
    """The threshold with the fewest errors of ``score > threshold`` on the rows themselves."""
    order = np.argsort(scores, kind="stable")
    ascending, signs = scores[order], y[order]
    # With the k smallest scores called negative: positives among them, and negatives above.
    errors = np.concatenate([[0], np.cumsum(signs > 0)]) + np.concatenate([np.cumsum((signs < 0)[::-1])[::-1], [0]])
    cuts = np.concatenate([[-np.inf], ascending])
    allowed = np.concatenate([[True], ascending[1:] > ascending[:-1], [True]])
    return float(cuts[np.argmin(np.where(allowed, errors, len(y) + 1))])

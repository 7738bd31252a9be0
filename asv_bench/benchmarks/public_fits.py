"""Fits by public names alone, so that commits of any layout of the package can be measured: the history.

Like those of `problems`, the numbers must not change; a new problem gets a new name. Nothing is imported from the
other files of this suite, which need a registry.
"""

import time
import warnings

import numpy as np

import kernbench

N_FIT, N_TEST = 4000, 2000
ESTIMATORS = {
    "KernelSVC smo": ("KernelSVC", "curved", {"solver": "smo"}),
    "KernelSVC sdca": ("KernelSVC", "curved", {"solver": "sdca"}),
    "KernelSVC sbp": ("KernelSVC", "curved", {"solver": "sbp", "max_iter": 2000}),
    "LinearSVC": ("LinearSVC", "straight", {}),
    "ROCSVC": ("ROCSVC", "straight", {}),
    "DoublyStochasticClassifier": ("DoublyStochasticClassifier", "curved", {"max_iter": 64}),
}


def draw(truth, n, seed):
    """Rows of 16 columns and labels of a curved or a straight boundary, 3% of them flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 16))
    scores = X[:, 0] * X[:, 1] + X[:, 2] if truth == "curved" else X[:, :8].sum(axis=1) - X[:, 8:].sum(axis=1)
    y = np.where(scores > 0, 1, -1)
    return X, np.where(rng.random(n) < 0.03, -y, y)


class PublicFit:
    """One fit of 4,000 rows with the defaults, apart from the seed and limits on the iterations."""

    param_names = ("estimator",)
    params = (tuple(ESTIMATORS),)
    number = 1
    rounds = 1
    repeat = (3, 10, 1.0)
    warmup_time = 0  # setup has fitted once
    timeout = 600  # seconds of the clock, on a machine that may be busy
    timer = staticmethod(time.process_time)  # one thread; other work on the machine adds little to it

    def setup(self, estimator):
        name, truth, params = ESTIMATORS[estimator]
        if not hasattr(kernbench, name):
            raise NotImplementedError(f"this commit has no {name}")
        self.X, self.y = draw(truth, N_FIT, seed=0)
        self.X_test, self.y_test = draw(truth, N_TEST, seed=1)
        self.model = getattr(kernbench, name)(random_state=0, **params)
        self.fit()  # the first fit of a process loads libraries

    def fit(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # stopped by a limit
            return self.model.fit(self.X, self.y)

    def time_fit(self, estimator):
        self.fit()

    def peakmem_fit(self, estimator):
        self.fit()

    def track_test_error(self, estimator):
        """Share of 2,000 test rows on the wrong side, at threshold 0 of the scores; lower is better."""
        return float(np.mean(self.fit().decision_function(self.X_test) * self.y_test <= 0))

    def track_kernel_evaluations(self, estimator):
        """Values k(x, z) computed by the fit; lower is better."""
        count = getattr(self.fit(), "n_kernel_evaluations_", None)
        return float("nan") if count is None else count

    track_test_error.unit = "test error"
    track_kernel_evaluations.unit = "kernel evaluations"

"""A solver, and plug-ins around it that make it slower or count more; imported by the child processes of the tests."""

import time

from kernbench import KernelSVC


class Around:
    """`KernelSVC`, a `factor` as slow, and `more` kernel evaluations."""

    def __init__(self, factor=1.0, more=0, gamma=0.5, random_state=None):
        self.factor, self.more = factor, more
        self.model = KernelSVC(gamma=gamma, solver="sbp", max_iter=4000, random_state=random_state)

    def fit(self, X, y):
        start = time.process_time()
        self.model.fit(X, y)
        end = start + self.factor * (time.process_time() - start)
        while time.process_time() < end:
            pass
        self.n_kernel_evaluations_ = self.model.n_kernel_evaluations_ + self.more
        return self

    def predict(self, X):
        return self.model.predict(X)


def evaluate(fit):
    return {"test_error": float((fit.predictions != fit.data.y_test).mean())}

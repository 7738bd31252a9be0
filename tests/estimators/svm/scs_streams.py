"""Streams for the tests of KernelSVC(solver="scs"): chunks, models, rows to judge them by."""

import numpy as np

from kernbench import KernelSVC


def draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, "yes", "no")


def svc(cap=200, alpha=0.01, **options):
    options = {"gamma": 0.5, "random_state": 0, "max_iter": 60, **options}
    return KernelSVC(solver="scs", C=1 / (alpha * cap), solver_options={"sample_cap": cap}, **options)


def chunks_of(X, y, size=150):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def endless(seed=0, size=150):
    while True:
        yield draw(size, seed)
        seed += 1


X_NEW, Y_NEW = draw(1000, 999)

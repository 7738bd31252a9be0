"""The data and the questions of the model files that each release keeps in ``tests/saving/releases/<version>/``."""

import numpy as np


def training_set(task):
    """Return what a model of this task is fitted to, the same everywhere: X and y, X alone, or two sets of rows."""
    t = np.arange(40)
    X = np.column_stack([np.sin(1.3 * t), np.cos(0.7 * t * t), t / 40])
    value = X[:, 0] * X[:, 1] + X[:, 2]
    return {
        "classify": (X, (value > np.median(value)).astype(int)),
        "rank": (X, (value > np.median(value)).astype(int)),
        "regress": (X, value),
        "ratio": (X[:15], X[15:]),
        "novelty": (X,),
        "transform": (X,),
    }[task]


def new_rows():
    """Return rows that are not in the training set."""
    t = np.arange(25)
    return np.column_stack([np.cos(2.1 * t), np.sin(0.3 * t * t), 1 - t / 25])


def answer(model, X):
    """Return the scores, predictions or features of the rows."""
    for name in ("decision_function", "predict", "log_ratio", "transform"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    raise AssertionError(f"{model} says nothing of rows")

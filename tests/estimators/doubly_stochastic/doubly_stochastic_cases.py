"""Models and data that tests of the doubly stochastic estimators share."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    DoublyStochasticRegressor,
)

X, Y = make_moons(400, noise=0.15, random_state=0)
LABELS = np.array(["no", "yes"])[Y]
TARGETS = np.sin(2 * X[:, 0]) + X[:, 1]
SMALL = {"batch_size": 64, "block_size": 16, "random_state": 0, "max_iter": 30}
# A model, what its fit takes, and what it says about rows.
MODELS = {
    "classifier": (DoublyStochasticClassifier(**SMALL), (X, LABELS), "decision_function"),
    "classes": (DoublyStochasticClassifier(loss="log_loss", **SMALL), (X, np.arange(400) % 3), "predict_proba"),
    "paper": (
        DoublyStochasticClassifier(precondition=False, average="tail", class_weight={"no": 2}, **SMALL),
        (X, LABELS),
        "decision_function",
    ),
    "regressor": (DoublyStochasticRegressor(loss="huber", **SMALL), (X, TARGETS), "predict"),
    "gp": (DoublyStochasticGPRegressor(random_state=0), (X, TARGETS), "predict"),
    "gp-std": (DoublyStochasticGPRegressor(std="operator", block_size=50, random_state=0), (X, TARGETS), "sample_std"),
    "novelty": (DoublyStochasticNoveltyDetector(**SMALL), (X,), "decision_function"),
    "ratio": (DoublyStochasticDensityRatio(**SMALL), (X[Y == 0], X[Y == 1]), "log_ratio"),
    "relative": (DoublyStochasticDensityRatio(target="ratio", floor=0.2, **SMALL), (X[Y == 0], X[Y == 1]), "ratio"),
}
every_model = pytest.mark.parametrize("name", MODELS)


def of(model, method):
    """The function that says something about rows."""
    if method == "sample_std":
        return lambda rows: model.predict(rows, return_std=True)[1]
    return getattr(model, method)


def fresh(name, **parameters):
    model, data, method = MODELS[name]
    return type(model)(**{**model.get_params(), **parameters}), data, method

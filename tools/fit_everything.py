"""Fit every public estimator and evaluate it: what `tools/sanitize` looks for leaks in."""

import warnings

from sklearn.datasets import make_classification

from kernbench._models import ESTIMATORS


def main(repeats=3):
    """Fit each with its defaults to 200 rows."""
    X, y = make_classification(200, 5, random_state=0)
    arguments = {"novelty": (X,), "ratio": (X, X + 0.3)}
    for _ in range(repeats):
        for model in ESTIMATORS:
            fitted = model.load()().fit(*arguments.get(model.task, (X, y)))
            (fitted.log_ratio if model.task == "ratio" else fitted.predict)(X)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

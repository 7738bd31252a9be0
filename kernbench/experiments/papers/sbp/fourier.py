"""A cell: the test error of linear SVMs on more and more random Fourier features."""

from time import perf_counter

from kernbench._lazy import load
from kernbench.experiments.measure.judging import error_rate
from kernbench.experiments.measure.objectives import gaussian
from kernbench.experiments.measure.record import result
from kernbench.experiments.papers.sbp.curves import PASSES, mean_error, most_pairs


def measure(cell):
    """Train a linear SVM to optimality on 1, 2, 4, ... pairs of features.

    The cost of k pairs is taken to be k n inner products, those of the features of the training rows;
    training costs nothing. The cell's `params` are ``gamma``, ``C``, ``pairs`` (the most) and ``tol``.

    Returns
    -------
    dict
        ``metrics``: ``test_error`` and ``matched_error``, with the most pairs; ``shared_error``,
        ``early_error``, ``epoch_error`` and ``evaluations`` as of :mod:`~kernbench.experiments.papers.sbp.curves`,
        with inner products for kernel evaluations, None where the pairs do not reach so far. ``trace``:
        ``pairs``, ``passes`` (inner products over n²), ``evaluations`` (inner products) and ``test_error``.
    """
    from kernbench.features import RandomFeatures

    data = load(cell.loader)(**cell.arguments)
    params, n = cell.params, len(data.y_train)
    counts, errors = [], []
    start = perf_counter()
    k = 1
    while k <= params["pairs"]:
        features = RandomFeatures(gaussian(params["gamma"]), 2 * k, form="pair", random_state=cell.seed)
        train = features.fit_transform(data.X_train)
        model = load(cell.estimator)(
            C=params["C"], loss="hinge", fit_intercept=False, tol=params["tol"], random_state=cell.seed
        )
        model.fit(train, data.y_train)
        counts.append(k)
        errors.append(error_rate(data.y_test, model.predict(features.transform(data.X_test))))
        k *= 2
    seconds = perf_counter() - start
    on_grid = [_last(counts, errors, passes * n) for passes in PASSES]
    metrics = {
        "test_error": errors[-1],
        "matched_error": errors[-1],
        "shared_error": mean_error(on_grid, most_pairs(params["pairs"]) / n),
        "early_error": _last(counts, errors, n / 8),
        "epoch_error": _last(counts, errors, n),
        "evaluations": counts[-1] * n,
    }
    trace = {
        "pairs": counts,
        "passes": [k / n for k in counts],
        "evaluations": [k * n for k in counts],
        "test_error": errors,
    }
    return result(data, metrics, seconds={"run": seconds}, trace=trace)


def _last(counts, errors, most):
    """The error with the most pairs up to `most`; None if there is none, or if `most` is at least twice all pairs."""
    if most >= 2 * counts[-1]:
        return None
    return next((error for k, error in zip(reversed(counts), reversed(errors)) if k <= most), None)

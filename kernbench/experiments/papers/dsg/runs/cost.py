"""A cell of ``dsg-cost``: how time and the size of the model grow with the number of rows and of columns."""

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.record import exponent, result

ROUNDS = 3  # of which the fastest counts: other work on the machine can only add time


def measure(cell):
    """Fit one pass to more and more rows, and to more and more columns.

    The cell's `params` are those of the estimator, and ``sizes``, the numbers of rows, ``widths``, the numbers of
    columns, and ``rows_per_feature`` of a method on explicit features, which takes n / rows_per_feature of them, up to
    a factor as many as iterations.

    Returns
    -------
    dict
        ``metrics``: the exponents ``train_n``, ``train_d``, ``predict_n``, ``model_n`` and ``model_d`` with which the
        time of a pass, the time of a prediction and the bytes of the model grow with rows n and columns d, and
        ``work_n``, that of feature values or kernel evaluations, which needs no clock. ``trace``: two tables,
        ``n_rows``, ``fit``, ``predict``, ``model`` and ``n_columns``, ``fit_by_columns``.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    sizes, widths = params.pop("sizes"), params.pop("widths")
    by_rows = [_costs(cell, params, data, n, widths[0]) for n in sizes]
    by_columns = [_costs(cell, params, data, sizes[len(sizes) // 2], d) for d in widths]
    metrics = {
        "train_n": exponent(sizes, [found["fit"] for found in by_rows]),
        "predict_n": exponent(sizes, [found["predict"] for found in by_rows]),
        "model_n": exponent(sizes, [found["model"] for found in by_rows]),
        "work_n": exponent(sizes, [found["work"] for found in by_rows]) if by_rows[0]["work"] else None,
        "train_d": exponent(widths, [found["fit"] for found in by_columns]),
        "model_d": exponent(widths, [found["model"] for found in by_columns]),
        "model_bytes": by_rows[-1]["model"],
    }
    trace = {"n_rows": sizes, **{name: [found[name] for found in by_rows] for name in ("fit", "predict", "model")}}
    trace |= {"n_columns": widths, "fit_by_columns": [found["fit"] for found in by_columns]}
    return result(data, metrics, seconds={"fit": by_rows[-1]["fit"], "predict": by_rows[-1]["predict"]}, trace=trace)


def _costs(cell, params, data, n, d):
    X, y, X_test = data.X_train[:n, :d], data.y_train[:n], data.X_test[:, :d]
    params = {**params, "gamma": 0.5 / d, "random_state": cell.seed}
    rows_per_feature = params.pop("rows_per_feature", None)
    if rows_per_feature is not None:
        params["n_features"] = n // rows_per_feature
    make, alpha = load(cell.estimator), 1.0 / n
    params |= {"alpha": alpha} if takes(make, "alpha") else {"C": 1.0}
    params["max_iter"] = -(-n // params.get("batch_size", 1))
    fits, predictions = [], []
    for _ in range(ROUNDS):
        model, seconds = timed(lambda: make(**params).fit(X, y))
        fits.append(seconds)
        predictions.append(timed(lambda: model.predict(X_test))[1])  # noqa: B023, called at once
    work = getattr(model, "n_feature_values_", None) or getattr(model, "n_kernel_evaluations_", None)
    return {"fit": min(fits), "predict": min(predictions), "model": _bytes(model), "work": work}


def _bytes(model):
    """Bytes that a prediction needs: coefficients, support vectors, landmarks; frequencies come from a seed."""
    if hasattr(model, "model_"):  # FixedFeaturesSVC
        landmarks = getattr(model.model_.features, "landmarks_", np.empty(0))
        return model.model_.linear.coef_.nbytes + landmarks.nbytes
    if hasattr(model, "block_coef_"):
        return model.block_coef_.nbytes
    return model.support_vectors_.nbytes + model.dual_coef_.nbytes

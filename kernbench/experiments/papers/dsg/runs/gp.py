"""A cell of ``dsg-gp``: mean and variance of a Gaussian process against the closed form, step by step."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigvalsh

from kernbench._lazy import load
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import gaussian
from kernbench.experiments.measure.record import columns, result
from kernbench.kernels.blocks import block

LINE_POINTS = 81
COLUMNS = ("n_iter", "seconds", "mean_error", "variance_error")


def measure(cell):
    """Fit a Gaussian process with more and more steps, and compare it with the closed form on the test rows.

    The cell's `params` are those of the estimator, ``gamma`` and ``noise_variance`` among them, and ``steps``, numbers
    of steps; each is a fit of its own. With ``stable_step`` the step size is the inverse of the largest eigenvalue of
    the kernel's operator; ``n_points`` is the number of test rows that are taken, all of them by default.

    Returns
    -------
    dict
        ``metrics``, at the end: ``mean_error`` and ``variance_error``, distances to the closed form relative to its
        norm; ``n_iter``. ``trace``: two tables, `COLUMNS`, and the posterior along a line: ``place``, ``value``,
        ``curve``.
    """
    data = load(cell.loader)(**cell.arguments)
    params = {"std": "points", **cell.params}
    steps, n_points = params.pop("steps"), params.pop("n_points", None)
    if params.pop("stable_step", False):
        params["step_size"] = 1 / largest_eigenvalue(data.X_train, params["gamma"])
    extent = np.abs(data.X_train).max()
    line = np.column_stack([np.linspace(-extent, extent, LINE_POINTS), np.zeros(LINE_POINTS)])
    points = np.vstack([data.X_test[:n_points], line])
    n_test = len(points) - LINE_POINTS
    mean, variance = closed_form(data.X_train, data.y_train, points, params["gamma"], params["noise_variance"])
    make, rows = load(cell.estimator), []
    for t in steps:
        model = make(**params, max_iter=t, random_state=cell.seed)
        given = points if params["std"] == "points" else None
        model, seconds = timed(lambda: model.fit(data.X_train, data.y_train, points=given))  # noqa: B023, called at once
        found, deviation = model.predict(points, return_std=True)
        errors = [
            _relative_distance(ours[:n_test], exact[:n_test])
            for ours, exact in ((found, mean), (deviation**2, variance))
        ]
        rows.append([t, seconds, *errors])
    memory = peak_memory()
    trace = columns(COLUMNS, rows)
    curves = {
        "mean": found,
        "mean, exact": mean,
        "mean + 2 std": found + 2 * deviation,
        "mean + 2 std, exact": mean + 2 * np.sqrt(variance),
    }
    trace["place"] = np.tile(line[:, 0], len(curves))
    trace["value"] = np.concatenate([values[n_test:] for values in curves.values()])
    trace["curve"] = np.repeat(list(curves), LINE_POINTS)
    metrics = {
        "mean_error": rows[-1][2],
        "variance_error": rows[-1][3],
        "n_iter": steps[-1],
        "n_feature_values": model.n_feature_values_,
    }
    return result(data, metrics, seconds={"fit": rows[-1][1]}, trace=trace, memory=memory)


def measure_growing(cell):
    """Fit the features of one block, and twice as many as long as that changes mean or variance at the test rows.

    The closed form takes no part in this choice: fits end when a doubling moves the mean by at most ``mean_moves`` and
    the variance by at most ``variance_moves``, both relative to their norm, or at the last of ``sizes``.

    Returns
    -------
    dict
        ``metrics`` as of `measure`, and ``n_features``, ``mean_moved``, ``variance_moved`` by the last doubling. In the
        ``trace`` ``n_iter`` is the number of features.
    """
    data = load(cell.loader)(**cell.arguments)
    params = {name: value for name, value in cell.params.items() if name != "steps"}
    sizes, *limits = (params.pop(name) for name in ("sizes", "mean_moves", "variance_moves"))
    exact = closed_form(data.X_train, data.y_train, data.X_test, params["gamma"], params["noise_variance"])
    make, rows, before, moved, total = load(cell.estimator), [], None, [None, None], 0.0
    for size in sizes:
        model = make(**params, std="points", block_size=size, batch_size=max(size, len(data.y_train)), max_iter=1,
                     random_state=cell.seed)  # fmt: skip
        _, seconds = timed(lambda: model.fit(data.X_train, data.y_train, points=data.X_test))  # noqa: B023, now
        mean, deviation = model.predict(data.X_test, return_std=True)
        found, total = (mean, deviation**2), total + seconds
        rows.append([size, total, *map(_relative_distance, found, exact)])
        if before is not None:
            moved = list(map(_relative_distance, before, found))
            if all(move <= limit for move, limit in zip(moved, limits)):
                break
        before = found
    metrics = {
        "mean_error": rows[-1][2],
        "variance_error": rows[-1][3],
        "n_iter": len(rows),
        "n_features": rows[-1][0],
        "mean_moved": moved[0],
        "variance_moved": moved[1],
        "n_feature_values": model.n_feature_values_,
    }
    return result(data, metrics, seconds={"fit": total}, trace=columns(COLUMNS, rows))


def _relative_distance(found, expected):
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def measure_norma(cell):
    """The same for kernel regression: a step is ``rows_per_step`` of its iterations.

    The variance k(x, x) - g_x(x) is that of the first ``variance_points`` test rows x, for each of which a regression
    g_x of its own learns k(x, ·), as the features do for all.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    own = ("steps", "rows_per_step", "noise_variance", "variance_points")
    steps, rows, noise_variance, n_points = (params.pop(name) for name in own)
    points, kernel = data.X_test[:n_points], gaussian(params["gamma"])
    mean, variance = closed_form(data.X_train, data.y_train, data.X_test, params["gamma"], noise_variance)
    targets = np.column_stack([data.y_train, block(kernel, data.X_train, points, dtype=np.float64)])
    make, found = load(cell.estimator), []
    for t in steps:
        model = make(**params, alpha=noise_variance / len(data.y_train), max_iter=t * rows, random_state=cell.seed)
        _, seconds = timed(lambda: model.fit(data.X_train, targets))  # noqa: B023, called at once
        outputs, prior = model.predict(data.X_test), kernel.diagonal(points)
        left = np.clip(prior - np.diagonal(outputs[:n_points, 1:]), 0.0, prior)
        errors = _relative_distance(outputs[:, 0], mean), _relative_distance(left, variance[:n_points])
        found.append([t, seconds, *errors])
    metrics = {"mean_error": found[-1][2], "variance_error": found[-1][3], "n_iter": steps[-1]}
    return result(data, metrics, seconds={"fit": found[-1][1]}, trace=columns(COLUMNS, found))


def largest_eigenvalue(X, gamma):
    """The largest eigenvalue of K / n; steps of gradient descent that are longer than twice its inverse diverge."""
    K = block(gaussian(gamma), X, X, dtype=np.float64)
    return float(eigvalsh(K / len(X), subset_by_index=[len(X) - 1, len(X) - 1])[0])


def closed_form(X, y, points, gamma, noise_variance):
    """The posterior mean and variance of f at points, by Cholesky's factor of K + s² I."""
    kernel = gaussian(gamma)
    K = block(kernel, X, X, dtype=np.float64)
    K[np.diag_indices_from(K)] += noise_variance
    factor, cross = cho_factor(K, lower=True), block(kernel, X, points, dtype=np.float64)
    explained = np.einsum("ij,ij->j", cross, cho_solve(factor, cross))
    return cross.T @ cho_solve(factor, y), np.maximum(kernel.diagonal(points) - explained, 0.0)

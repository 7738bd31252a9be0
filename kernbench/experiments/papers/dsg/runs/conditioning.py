"""A cell of ``dsg-molecules``: what regularisation the energies need, and what gradient steps reach."""

import numpy as np

from kernbench._lazy import load
from kernbench.datasets.real.molecules import full_matrices
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.objectives import gaussian
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.papers.dsg.parts import gamma_of
from kernbench.experiments.papers.dsg.runs.molecules import drawing, median_distance
from kernbench.kernels.blocks import block


def measure(cell):
    """Compare exact ridge regression with gradient descent from 0 on the same kernel matrix, by its eigenvectors.

    Descent is free of all noise: full batches and the kernel itself, which is what doubly stochastic gradients have in
    the mean. With steps of size 1 / λ_1, where λ_1 is the largest eigenvalue of K/n, T of them fit the share
    1 - (1 - λ/λ_1)^T of the target along an eigenvector, ridge regression λ / (λ + alpha); the two agree best at
    alpha = λ_1 / T.

    The cell's `params` are ``widths``, in multiples of the median distance, ``alphas``, ``steps`` and, as in
    :mod:`.molecules`, ``votes`` and ``predicate_step``.

    Returns
    -------
    dict
        ``metrics``, for the width at which ridge regression errs least on the test molecules: ``ridge_mae``,
        ``ridge_alpha``, ``width``; ``descent_mae`` after the last number of steps and ``descent_alpha``, λ_1 / T, which
        it reaches; ``ridge_mae_there``, of ridge regression with the nearest alpha; ``steps_needed``, λ_1 / alpha of
        the best. ``trace``: ``alpha``, ``mae`` and ``curve`` of all widths.
    """
    data, params = load(cell.loader)(**cell.arguments), cell.params
    train, test = full_matrices(data.X_train), full_matrices(data.X_test)
    draw = drawing(train, np.random.default_rng(cell.seed), params["predicate_step"])
    median, Z = median_distance(draw, train), draw(train)
    votes = [draw(test) for _ in range(params["votes"])]
    mean, n = data.y_train.mean(), len(data.y_train)
    target = data.y_train - mean
    alphas, steps = np.array(params["alphas"]), np.array(params["steps"])
    rows, best = [], None

    def errors(gains):
        """Mean absolute errors of f = Σ gains_j <u_j, y> K(·, X) u_j, a column of `gains` for each model."""
        coefs = U @ (gains * (U.T @ target)[:, None])
        found = np.mean([block(kernel, part, Z, dtype=np.float64) @ coefs for part in votes], axis=0)
        return np.abs(found + mean - data.y_test[:, None]).mean(axis=0)

    def both():
        ridge = errors(1 / (n * (values[:, None] + alphas)))
        shares = -np.expm1(steps * np.log1p(-np.minimum(values / values[-1], 1 - 1e-16))[:, None])
        return ridge, errors(shares / (n * values[:, None]))

    seconds = 0.0
    for width in params["widths"]:
        kernel = gaussian(gamma_of(width * median))
        values, U = np.linalg.eigh(block(kernel, Z, Z, dtype=np.float64) / n)
        values = np.maximum(values, values[-1] * np.finfo(float).eps)  # rounding makes some negative
        (ridge, descent), taken = timed(both)
        seconds += taken
        reached = values[-1] / steps
        rows += [[a, e, f"ridge, width {width:g}"] for a, e in zip(alphas, ridge)]
        rows += [[a, e, f"descent, width {width:g}"] for a, e in zip(reached, descent)]
        k = int(np.argmin(ridge))
        if best is None or ridge[k] < best["ridge_mae"]:
            best = {
                "ridge_mae": ridge[k],
                "ridge_alpha": alphas[k],
                "width": width,
                "descent_mae": descent[-1],
                "descent_alpha": reached[-1],
                "ridge_mae_there": ridge[np.argmin(np.abs(np.log(alphas / reached[-1])))],
                "steps_needed": values[-1] / alphas[k],
                "n_columns": Z.shape[1],
            }
    return result(data, best, seconds={"fit": seconds}, trace=columns(("alpha", "mae", "curve"), rows))

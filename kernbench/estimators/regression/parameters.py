"""Checks of the parameters and training data of regressors, and the constant they start from."""

import numpy as np

from kernbench.estimators.arguments.parameters import check_run, check_strength
from kernbench.estimators.arguments.targets import check_targets, require_squares
from kernbench.estimators.arguments.training_data import check_square, check_weights
from kernbench.estimators.fit.choice import named_entry
from kernbench.estimators.fit.solver import require_loss_of
from kernbench.kernels.domain import is_precomputed
from kernbench.losses.regression import regression_loss
from kernbench.problems.intercept import best_constant
from kernbench.validation.numbers import check_flag

LEAST_SPREAD = 1e-9  # of targets, for a solver whose dual variables, of their size, are accurate to 1e-13
ROUNDING = 1e-12  # relative


def check_regressor(model, kind, *, strength="alpha", offered=None):
    """Check the parameters that all regressors have, of losses `offered`; `strength` is "alpha" or "C".

    Returns
    -------
    entry : SolverEntry or None
        The entry of its solver; None for ``"auto"``, which depends on the data.
    loss : ResidualLoss
    """
    entry = named_entry(model, kind)
    loss = regression_loss(
        model.loss, delta=model.delta, epsilon=model.epsilon, quantile=model.quantile, offered=offered
    )
    if entry is not None:
        require_loss_of(entry, loss.name)
    check_strength(strength, getattr(model, strength))
    check_flag("fit_intercept", model.fit_intercept)
    check_run(model)
    return entry, loss


def check_regression_data(model, X, y, sample_weight, *, kernel=None, several=False):
    """Check the arguments of ``fit``.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), float64; with `several` it may have a column for each output
    weights : ndarray of shape (n_samples,), or None
        Divided by their mean: a weight of k is then equivalent to k copies of a row, for the objective is a mean.
    """
    X, y = check_targets(model, X, y, reset=True, accept_sparse=not is_precomputed(kernel), several=several)
    require_squares(y)
    check_square(X, kernel)
    if sample_weight is None:
        return X, y, None
    weights = check_weights(sample_weight, X)
    return X, y, weights / weights.mean()


def offset_of(model, loss, y, weights):
    """Return the constant of least loss, by which targets are centred; 0 without an intercept."""
    return best_constant(y, weights, loss) if model.fit_intercept else 0.0


def check_spread(model, y, offset):
    """Raise ValueError if the centred targets are too small for the solver; rounding errors of equal ones are not."""
    spread = np.abs(y).max()
    if model.solver_ == "sdca" and ROUNDING * abs(offset) < spread < LEAST_SPREAD:
        raise ValueError(
            f"the targets differ from {offset:.3g} by at most {spread:.2g}, too little for solver='sdca', whose steps "
            "are accurate to 1e-13: scale the targets, for example with sklearn.compose.TransformedTargetRegressor("
            "transformer=StandardScaler())"
        )

"""A cell of ``dsg-losses``: a kernel machine of each loss against its exact solution on the same rows."""

import numpy as np

from kernbench._lazy import load
from kernbench.estimators import KernelNoveltyDetector, KernelRegressor
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.clock import Tracer, own_clock, timed
from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import result
from kernbench.experiments.papers.dsg.data import wave_quantile
from kernbench.experiments.papers.dsg.runs.exact_ratio import ExactDensityRatio

TIGHT = {"tol": 1e-7, "dtype": "float64"}


def exact_regressor(loss, gamma, alpha, epsilon=0.1, quantile=0.5):
    """The optimum of a loss of the residual, with a certified gap."""
    same = {"loss": loss, "gamma": gamma, "alpha": alpha, "epsilon": epsilon, "quantile": quantile}
    return KernelRegressor(fit_intercept=False, **same, **TIGHT)


def exact_novelty_detector(nu, gamma):
    """The one-class machine, with a certified gap."""
    return KernelNoveltyDetector(nu=nu, gamma=gamma, **TIGHT)


EXACT = {"regression": exact_regressor, "novelty": exact_novelty_detector, "ratio": ExactDensityRatio}


def measure(cell):
    """Fit a model, and compare its function with the exact one on the test rows.

    The cell's `params` are those of the estimators (each gets those that it takes), ``problem``, a key of `EXACT`, and
    for some methods ``other_alphas``: the exact function is computed with these, too, to see which of them is learned.

    Returns
    -------
    dict
        ``metrics``: ``distance`` of f to the exact one, relative to the standard deviation of the latter, over the test
        rows; ``truth_distance``, the same to what is to be learned; ``share`` of the training rows that the loss
        controls (see `share`) and ``share_off``, its distance to the exact model's; ``certificate``, the gap of the
        exact model; ``nearest_alpha`` and ``nearest_distance``, to the exact function of another alpha, of those the
        nearest one; ``n_iter``; ``n_feature_values``. ``trace``: ``n_iter``,
        ``seconds`` and ``distance``.
    """
    data, params = load(cell.loader)(**cell.arguments), dict(cell.params)
    problem, other_alphas = params.pop("problem"), params.pop("other_alphas", ())
    exact = _made(EXACT[problem], params)
    exact.fit(*_samples(problem, data))
    expected = outputs(exact, data.X_test)
    spread = expected.std()

    def distance(model, expected=expected):
        return {"distance": float(np.sqrt(np.mean((outputs(model, data.X_test) - expected) ** 2)) / spread)}

    make = load(cell.estimator)
    follows = takes(make, "batch_size")  # an iterative method, not an exact one
    tracer = {"callback": Tracer(distance)} if follows else {}
    model = _made(make, {**params, "random_state": cell.seed, **tracer})
    _, seconds = timed(lambda: model.fit(*_samples(problem, data)))
    memory = peak_memory()
    mine, truth = share(problem, params, data, model), known(problem, params, data.X_test)
    off = None if truth is None else outputs(model, data.X_test) - truth
    others = {}
    for alpha in other_alphas:
        other = _made(EXACT[problem], {**params, "alpha": alpha}).fit(*_samples(problem, data))
        others[alpha] = distance(model, outputs(other, data.X_test))["distance"]
    nearest = min(others, key=others.get, default=None)
    metrics = {
        **distance(model),
        "nearest_alpha": nearest,
        "nearest_distance": others.get(nearest),
        "truth_distance": None if off is None else float(np.sqrt(np.mean(off**2)) / spread),
        "share": mine,
        "share_off": None if mine is None else abs(mine - share(problem, params, data, exact)),
        "certificate": float(np.max(exact.duality_gap_)),
        "n_iter": iterations(model) if follows else None,
        "n_feature_values": getattr(model, "n_feature_values_", None),
    }
    trace = {name: list(model.trace_[name]) for name in ("n_iter", "seconds", "distance")} if follows else None
    return result(data, metrics, seconds={"fit": own_clock(model) or seconds}, trace=trace, memory=memory)


def _made(make, params):
    return make(**{name: value for name, value in params.items() if takes(make, name)})


def _samples(problem, data):
    if problem == "ratio":
        return data.X_train[data.y_train > 0], data.X_train[data.y_train < 0]
    return data.X_train, data.y_train


def outputs(model, X):
    """f of rows; that of an exact one-class machine in the scale of the other one, whose coefficients add up to 1."""
    if hasattr(model, "log_ratio"):
        return model.ratio(X) if model.target == "ratio" else model.log_ratio(X)
    if not hasattr(model, "score_samples"):
        return model.predict(X)
    return model.score_samples(X) / (np.sum(model.dual_coef_) if hasattr(model, "dual_coef_") else 1.0)


def share(problem, params, data, model):
    """The share of training rows that the loss controls, None for the logarithm of a density ratio.

    Of a quantile: rows at or below f. Of the epsilon-insensitive loss: rows outside of the tube. Of a novelty detector:
    rows below the level. Of a density ratio: rows of P below the floor.
    """
    if problem == "ratio":
        P, _ = _samples(problem, data)
        return float(np.mean(model.ratio(P) < params["floor"])) if model.target == "ratio" else None
    predictions = model.predict(data.X_train)
    if problem == "novelty":
        return float(np.mean(predictions < 0))
    residuals = data.y_train - predictions
    return float(np.mean(residuals <= 0 if params["loss"] == "quantile" else np.abs(residuals) > params["epsilon"]))


def known(problem, params, X):
    """What is to be learned: quantiles and ratios of generated data; None of a novelty detector."""
    if problem == "novelty":
        return None
    if problem == "ratio":
        log_ratio = 0.125 - 0.5 * X[:, 0]
        if params.get("target") != "ratio":
            return log_ratio
        ratio = np.exp(log_ratio)
        return np.where(ratio >= params["floor"], ratio, 0.0)
    return wave_quantile(X, params.get("quantile", 0.5))

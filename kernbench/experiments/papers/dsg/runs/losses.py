"""A cell of ``dsg-losses``: a kernel machine of each loss against its exact solution on the same rows."""

import numpy as np

from kernbench._lazy import load
from kernbench.estimators import KernelNoveltyDetector, KernelRegressor
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.clock import Tracer, own_clock, timed
from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import gaussian
from kernbench.experiments.measure.record import result
from kernbench.experiments.papers.dsg.data import wave_quantile
from kernbench.kernels.blocks import block

TIGHT = {"tol": 1e-7, "dtype": "float64"}
NEWTON_STEPS, STATIONARY = 100, 1e-9


def exact_regressor(loss, gamma, alpha, epsilon=0.1, quantile=0.5):
    """The optimum of a loss of the residual, with a certified gap."""
    same = {"loss": loss, "gamma": gamma, "alpha": alpha, "epsilon": epsilon, "quantile": quantile}
    return KernelRegressor(fit_intercept=False, **same, **TIGHT)


def exact_novelty_detector(nu, gamma):
    """The one-class machine, with a certified gap."""
    return KernelNoveltyDetector(nu=nu, gamma=gamma, **TIGHT)


class ExactDensityRatio:
    r"""The minimiser of alpha/2 ‖f‖² + E_q e^f - E_p f by Newton's method.

    f = Σ a_i k(x_i, ·) over the rows of both samples, with a = 1 / (n_p alpha) for rows of P and, for those of Q,
    a = -e^f / (n_q alpha), which Newton's method solves.
    """

    def __init__(self, gamma, alpha):
        self.gamma, self.alpha = gamma, alpha

    def fit(self, P, Q):
        """Fit the model; raise RuntimeError unless the gradient vanishes."""
        self.rows_ = np.vstack([P, Q])
        K = block(gaussian(self.gamma), Q, Q, dtype=np.float64)
        n = len(Q)
        of_p = block(gaussian(self.gamma), Q, P, dtype=np.float64).mean(axis=1) / self.alpha
        a = np.full(n, -1.0 / (n * self.alpha))

        def objective(a):
            f = of_p + K @ a
            return self.alpha * (0.5 * a @ K @ a + a @ of_p) + np.exp(f).mean()

        for _ in range(NEWTON_STEPS):
            slopes = np.exp(of_p + K @ a) / n
            gradient = self.alpha * a + slopes
            self.duality_gap_ = float(n * np.abs(gradient).max())  # of e^f: 0 at the optimum
            if self.duality_gap_ <= STATIONARY:
                break
            step = np.linalg.solve(self.alpha * np.eye(n) + slopes[:, None] * K, -gradient)
            size, now = 1.0, objective(a)
            while objective(a + size * step) > now and size > 1e-6:
                size /= 2
            a = a + size * step
        else:
            raise RuntimeError(f"Newton's method left a gradient of {self.duality_gap_:g}")
        self.coef_ = np.concatenate([np.full(len(P), 1.0 / (len(P) * self.alpha)), a])
        return self

    def log_ratio(self, X):
        """Values of f at rows."""
        return block(gaussian(self.gamma), X, self.rows_, dtype=np.float64) @ self.coef_


EXACT = {"regression": exact_regressor, "novelty": exact_novelty_detector, "ratio": ExactDensityRatio}


def measure(cell):
    """Fit a model, and compare its function with the exact one on the test rows.

    The cell's `params` are those of the estimators (each gets those that it takes) and ``problem``, a key of `EXACT`.

    Returns
    -------
    dict
        ``metrics``: ``distance`` of f to the exact one, relative to the standard deviation of the latter, over the test
        rows; ``truth_distance``, the same to what is to be learned; ``share`` of the training rows that the loss
        controls (see `share`) and ``share_off``, its distance to the exact model's; ``certificate`` of the exact
        model, the gap or what Newton's method left; ``n_iter``; ``n_feature_values``. ``trace``: ``n_iter``,
        ``seconds`` and ``distance``.
    """
    data, params = load(cell.loader)(**cell.arguments), dict(cell.params)
    problem = params.pop("problem")
    exact = _made(EXACT[problem], params)
    exact.fit(*_samples(problem, data))
    expected = outputs(exact, data.X_test)
    spread = expected.std()

    def distance(model):
        return {"distance": float(np.sqrt(np.mean((outputs(model, data.X_test) - expected) ** 2)) / spread)}

    make = load(cell.estimator)
    follows = takes(make, "batch_size")  # an iterative method, not an exact one
    tracer = {"callback": Tracer(distance)} if follows else {}
    model = _made(make, {**params, "random_state": cell.seed, **tracer})
    _, seconds = timed(lambda: model.fit(*_samples(problem, data)))
    memory = peak_memory()
    mine, truth = share(problem, params, data, model), known(problem, params, data.X_test)
    off = None if truth is None else outputs(model, data.X_test) - truth
    metrics = {
        **distance(model),
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
        return model.log_ratio(X)
    if not hasattr(model, "score_samples"):
        return model.predict(X)
    return model.score_samples(X) / (np.sum(model.dual_coef_) if hasattr(model, "dual_coef_") else 1.0)


def share(problem, params, data, model):
    """The share of training rows that the loss controls, None for a density ratio.

    Of a quantile: rows at or below f. Of the epsilon-insensitive loss: rows outside of the tube. Of a novelty detector:
    rows below the level.
    """
    if problem == "ratio":
        return None
    predictions = model.predict(data.X_train)
    if problem == "novelty":
        return float(np.mean(predictions < 0))
    residuals = data.y_train - predictions
    return float(np.mean(residuals <= 0 if params["loss"] == "quantile" else np.abs(residuals) > params["epsilon"]))


def known(problem, params, X):
    """What is to be learned: quantiles and log ratios of generated data; None of a novelty detector."""
    if problem == "novelty":
        return None
    if problem == "ratio":
        return 0.125 - 0.5 * X[:, 0]
    return wave_quantile(X, params.get("quantile", 0.5))

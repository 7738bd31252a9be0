"""A cell: the left side of Theorem 4, and the terms of its bound, as the number of rows grows."""

import numpy as np
from sklearn.utils.extmath import randomized_svd

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.objectives import gaussian, squared_norm, training_scores
from kernbench.experiments.measure.rates import rate
from kernbench.experiments.measure.record import columns, result
from kernbench.pairs import AllPairs

LEFT, DRAWN, SPECTRUM = "left side of Theorem 4", "drawing alone", "‖K − K̃‖₂ / n"
COLUMNS = ("quantity", "n_rows", "value")


def measure(cell):
    """Fit the whole kernel on all pairs, and landmarks on B = n drawn pairs, to more and more rows.

    U is the mean hinge over all pairs, V that over B = n drawn ones, f̂ the minimiser over all pairs with the whole
    kernel, f̃ that over drawn pairs with landmarks. The cell's `params` are those of `ROCSVC` and ``sizes`` and
    ``n_seeds``.

    Returns
    -------
    dict
        ``metrics``: the power of n with which |U(f̂) − V(f̃)| (``left``) and |U(f̂) − V(f̂)| (``drawn``) fall, in the mean
        over seeds, each with the ends of its interval (``_low``, ``_high``). ``trace``: ``quantity``, ``n_rows``,
        ``value``; the quantities are these two and the spectral error of the landmarks over n.
    """
    params = dict(cell.params)
    sizes, n_seeds = params.pop("sizes"), params.pop("n_seeds")
    landmarks = {name: params.pop(name) for name in ("features", "n_landmarks", "landmarks")}
    rows = []
    for n in sizes:
        for seed in range(n_seeds):
            draw = n_seeds * cell.arguments["seed"] + seed
            data = load(cell.loader)(**{**cell.arguments, "n_train": n, "seed": draw})
            seeded = {**params, "random_state": cell.seed + seed}
            whole = build(cell.estimator, {**seeded, "features": "exact", "pairs": "all"}, n)
            drawn = build(cell.estimator, {**seeded, **landmarks, "pairs": "n_samples"}, n)
            rows += _values(data, whole, drawn, params, np.random.default_rng(cell.seed + seed))
    metrics = {}
    for name, quantity in (("left", LEFT), ("drawn", DRAWN)):
        means = [np.mean([value for what, m, value in rows if (what, m) == (quantity, n)]) for n in sizes]
        found = rate(sizes, means)
        metrics |= {name: found.slope, f"{name}_low": found.low, f"{name}_high": found.high}
    return result(data, metrics, trace=columns(COLUMNS, rows))


def _values(data, whole, drawn, params, rng):
    """The quantities on one draw of the data."""
    X, y, n = data.X_train, data.y_train, len(data.y_train)
    scores = training_scores(whole.fit(X, y), X)
    on_all = AllPairs(y).mean_loss(scores, "hinge")
    # Over pairs that were not used to find the minimiser, as in the first term of the proof.
    up, down = (scores[rng.choice(np.flatnonzero(y == sign), n)] for sign in (1, -1))
    on_drawn = np.mean(np.maximum(0.0, 1.0 - (up - down)))
    drawn.fit(X, y)
    own = drawn.objective_ - 0.5 * params["alpha"] * squared_norm(drawn, None)
    features = drawn.feature_map_.transform(X)
    error = gaussian(params["gamma"])(X, X) - features @ features.T  # positive semi-definite
    _, (largest,), _ = randomized_svd(error, 1, random_state=0)
    yield LEFT, n, abs(on_all - own)
    yield DRAWN, n, abs(on_all - on_drawn)
    yield SPECTRUM, n, largest / n

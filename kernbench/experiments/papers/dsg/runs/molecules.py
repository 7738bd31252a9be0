"""A cell of ``dsg-molecules``: regression on random Coulomb matrices, predictions averaged over several of them."""

from itertools import product

import numpy as np
from scipy.spatial.distance import pdist

from kernbench._lazy import load
from kernbench.datasets.real.molecules import binary_predicates, full_matrices, randomly_sorted, upper_triangles
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import result
from kernbench.experiments.papers.dsg.parts import gamma_of

DRAWS_FOR_RANGE = 10  # random matrices of each molecule that determine the range of the entries
ROWS_FOR_MEDIAN = 1000
TRIAL_VOTES = 4  # random matrices of each held-out molecule while parameters are chosen


def measure(cell):
    """Fit energies to Coulomb matrices.

    The cell's `params` are those of the estimator (others that a setting gives are left out) and

    * ``permutations``, random matrices of each molecule to train with; None: fit the sorted matrices as they are;
    * ``votes``, random matrices a prediction is averaged over;
    * ``predicate_step``, the step between the thresholds of binary predicates; None: the entries themselves;
    * ``search``, lists of values by parameter. ``width`` is in multiples of the median distance. Of all combinations
      that with the least error on a tenth of the training molecules, held out, is fitted;
    * ``trial_permutations``, random matrices of each molecule in these trials, where the fit has more.

    Returns
    -------
    dict
        ``metrics``: ``mae``, ``rmse`` in kcal/mol, ``constant_mae`` of the mean energy, ``single_mae`` of predictions
        from one random matrix each, ``n_columns``, ``n_iter``, ``n_feature_values``, ``n_features`` of the model, and
        what was chosen: ``width``, ``chosen_alpha``, ``chosen_damping``. ``seconds``: ``fit``, ``predict`` and
        ``search``.
    """
    data = load(cell.loader)(**cell.arguments)
    make, rng = load(cell.estimator), np.random.default_rng(cell.seed)
    mean, scale = data.y_train.mean(), data.y_train.std()
    y = (data.y_train - mean) / scale  # there is no intercept
    permutations, votes, step = (cell.params.get(name) for name in ("permutations", "votes", "predicate_step"))
    params = {name: value for name, value in cell.params.items() if takes(make, name)}
    if takes(make, "random_state"):
        params["random_state"] = cell.seed
    chosen, search_seconds = {}, 0.0
    if permutations is None:
        model = make(**params)
        _, seconds = timed(lambda: model.fit(data.X_train, y))
        n_columns = data.X_train.shape[1]
        (outputs, predict_seconds) = timed(lambda: model.predict(data.X_test)[None])
    else:
        train, test = full_matrices(data.X_train), full_matrices(data.X_test)
        draw = drawing(train, rng, step)
        chosen, search_seconds = timed(lambda: _choose(make, params, cell.params, draw, train, y, rng))
        model = make(**{**params, **_of_estimator(chosen)})
        _, seconds = timed(lambda: _fit(model, draw, train, y, permutations, rng))
        n_columns = model.n_features_in_ if hasattr(model, "n_features_in_") else draw(test[:1]).shape[1]
        outputs, predict_seconds = timed(lambda: np.array([model.predict(draw(test)) for _ in range(votes)]))
    memory = peak_memory()
    errors = mean + scale * outputs.mean(axis=0) - data.y_test
    single = mean + scale * outputs - data.y_test
    blocks = getattr(model, "block_coef_", None)
    metrics = {
        "mae": float(np.abs(errors).mean()),
        "rmse": float(np.sqrt((errors**2).mean())),
        "single_mae": float(np.abs(single).mean()),
        "constant_mae": float(np.abs(data.y_test - mean).mean()),
        "n_columns": n_columns,
        "n_iter": iterations(model),
        "n_features": None if blocks is None else blocks.shape[0] * blocks.shape[1],
        "n_feature_values": getattr(model, "n_feature_values_", None),
        "width": chosen.get("width"),
        "chosen_alpha": chosen.get("alpha"),
        "chosen_damping": chosen.get("damping"),
    }
    seconds = {"fit": seconds, "predict": predict_seconds, "search": search_seconds}
    return result(data, metrics, seconds=seconds, memory=memory)


def drawing(train, rng, step):
    """A function that draws a random matrix of each molecule, as a row of entries or of predicates."""

    def triangles(matrices):
        return upper_triangles(randomly_sorted(matrices, rng))

    if step is None:
        return lambda matrices: triangles(matrices).astype(np.float32)
    largest = np.max([triangles(train).max(axis=0) for _ in range(DRAWS_FOR_RANGE)], axis=0)
    return lambda matrices: binary_predicates(triangles(matrices), largest, step)


def median_distance(draw, matrices):
    """The median distance between rows of some molecules."""
    return float(np.median(pdist(draw(matrices[:ROWS_FOR_MEDIAN]).astype(np.float64))))


def _choose(make, params, asked, draw, train, y, rng):
    """The values of ``search`` with the least error on molecules that are held out, with ``gamma`` for ``width``."""
    search = asked.get("search")
    if not search:
        return {}
    median = median_distance(draw, train)
    candidates = [dict(zip(search, values)) for values in product(*search.values())]
    for candidate in candidates:
        if "width" in candidate:
            candidate["gamma"] = gamma_of(candidate["width"] * median)
    if len(candidates) == 1:
        return candidates[0]
    order = rng.permutation(len(y))
    held, rest = order[: len(y) // 10], order[len(y) // 10 :]
    rows = [draw(train[held]) for _ in range(TRIAL_VOTES)]
    # An exact method is declared with few matrices, since its kernel matrix is square in the rows.
    n_matrices = min(asked["trial_permutations"], asked["permutations"])

    def error(candidate):
        model = make(**{**params, **_of_estimator(candidate)})
        _fit(model, draw, train[rest], y[rest], n_matrices, rng)
        return np.abs(np.mean([model.predict(part) for part in rows], axis=0) - y[held]).mean()

    return candidates[int(np.argmin([error(candidate) for candidate in candidates]))]


def _of_estimator(candidate):
    return {name: value for name, value in candidate.items() if name != "width"}


def _fit(model, draw, train, y, permutations, rng):
    """Fit to random matrices: drawn one after the other where the model reads a stream, else all at once."""
    if not hasattr(model, "fit_chunks"):
        return model.fit(np.vstack([draw(train) for _ in range(permutations)]), np.tile(y, permutations))
    orders = (rng.permutation(len(y)) for _ in range(permutations))
    return model.fit_chunks((draw(train[order]), y[order]) for order in orders)

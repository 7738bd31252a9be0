"""A cell of ``dsg-molecules``: regression on random Coulomb matrices, predictions averaged over several of them."""

import numpy as np

from kernbench._lazy import load
from kernbench.datasets.real.molecules import binary_predicates, full_matrices, randomly_sorted, upper_triangles
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import result

DRAWS_FOR_RANGE = 10  # random matrices of each molecule that determine the range of the entries


def measure(cell):
    """Fit energies to Coulomb matrices.

    The cell's `params` are those of the estimator (others that a setting gives are left out) and ``permutations``,
    random matrices of each molecule to train with, ``votes``, those a prediction is averaged over, and ``predicates``,
    whether entries become binary predicates. Without ``permutations`` the model is fitted to the sorted matrices.

    Returns
    -------
    dict
        ``metrics``: ``mae``, ``rmse`` in kcal/mol, ``constant_mae`` of the mean energy, ``single_mae`` of predictions
        from one random matrix each, ``n_columns``, ``n_iter``, ``n_feature_values``.
    """
    data = load(cell.loader)(**cell.arguments)
    make = load(cell.estimator)
    settings = {name: cell.params.get(name) for name in ("permutations", "votes", "predicates")}
    params = {name: value for name, value in cell.params.items() if takes(make, name)}
    if takes(make, "random_state"):
        params["random_state"] = cell.seed
    mean, scale = data.y_train.mean(), data.y_train.std()
    y = (data.y_train - mean) / scale  # there is no intercept
    rng = np.random.default_rng(cell.seed)
    model = make(**params)
    if settings["permutations"] is None:
        _, seconds = timed(lambda: model.fit(data.X_train, y))
        n_columns = data.X_train.shape[1]
        (outputs, predict_seconds) = timed(lambda: model.predict(data.X_test)[None])
    else:
        train, test = full_matrices(data.X_train), full_matrices(data.X_test)
        draw = _drawing(train, rng, settings["predicates"])
        chunks = (
            (draw(train[order]), y[order])
            for _ in range(settings["permutations"])
            for order in [rng.permutation(len(y))]
        )
        _, seconds = timed(lambda: model.fit_chunks(chunks))
        n_columns = model.n_features_in_
        outputs, predict_seconds = timed(
            lambda: np.array([model.predict(draw(test)) for _ in range(settings["votes"])])
        )
    memory = peak_memory()
    errors = mean + scale * outputs.mean(axis=0) - data.y_test
    single = mean + scale * outputs - data.y_test
    metrics = {
        "mae": float(np.abs(errors).mean()),
        "rmse": float(np.sqrt((errors**2).mean())),
        "single_mae": float(np.abs(single).mean()),
        "constant_mae": float(np.abs(data.y_test - mean).mean()),
        "n_columns": n_columns,
        "n_iter": iterations(model),
        "n_feature_values": getattr(model, "n_feature_values_", None),
    }
    return result(data, metrics, seconds={"fit": seconds, "predict": predict_seconds}, memory=memory)


def _drawing(train, rng, predicates):
    """A function that draws a random matrix of each molecule, as a row."""

    def triangles(matrices):
        return upper_triangles(randomly_sorted(matrices, rng))

    if not predicates:
        return lambda matrices: triangles(matrices).astype(np.float32)
    largest = np.max([triangles(train).max(axis=0) for _ in range(DRAWS_FOR_RANGE)], axis=0)
    return lambda matrices: binary_predicates(triangles(matrices), largest)

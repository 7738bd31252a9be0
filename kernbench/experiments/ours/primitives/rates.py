"""The speed of feature maps, and the speed-up by threads."""

import os

import numpy as np
from threadpoolctl import threadpool_limits

from kernbench._lazy import load
from kernbench.experiments.measure.alternation import alternate
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.ours.primitives import catalogue
from kernbench.experiments.ours.primitives.blocks import bare_product
from kernbench.experiments.ours.primitives.inputs import rows
from kernbench.kernels.blocks import block, matmul

# (map, library)
PHASE, PAIR, NYSTROEM = "random features, phase", "random features, pair", "Nyström"
OURS, SKLEARN = "kernbench", "scikit-learn"
YARDSTICK = ("one product, one cosine", "yardstick")


def feature_maps(cell):
    """Time transforms of the Gaussian's feature maps in float32 with one thread, and the drawing of
    frequencies.

    The cell's `params` are ``kernel``, ``n_features``, ``n_landmarks`` and ``seconds``.

    Returns
    -------
    dict
        ``metrics``: ``cosine_share``, the yardstick's time over that of `RandomFeatures` (one matrix product
        and one pass of cosines give features of the form ``"phase"``); ``speed_up`` over ``RBFSampler``;
        ``nystroem_speed_up`` over scikit-learn's; ``normals_share``, the time NumPy takes for as many normal
        numbers over that of the first features of one row. ``trace``: ``map``, ``library``, ``seconds``,
        ``microseconds_per_row``.
    """
    from sklearn.kernel_approximation import Nystroem as SklearnNystroem
    from sklearn.kernel_approximation import RBFSampler

    from kernbench.features import Nystroem, RandomFeatures

    data = load(cell.loader)(**cell.arguments)
    X = data.X_train.astype(np.float32)
    n_columns = X.shape[1]
    kernel = catalogue.get(cell.params["kernel"]).kernel(n_columns)
    size, n_landmarks = cell.params["n_features"], cell.params["n_landmarks"]
    gamma, seeded = 0.5 / kernel.sigma**2, {"random_state": cell.seed}
    W = rows("points", size, n_columns, cell.seed, np.float32)
    models = {
        (PHASE, OURS): RandomFeatures(kernel, size, form="phase", **seeded),
        (PHASE, SKLEARN): RBFSampler(gamma=gamma, n_components=size, **seeded),
        (PAIR, OURS): RandomFeatures(kernel, size, form="pair", **seeded),
        (NYSTROEM, OURS): Nystroem(kernel, n_landmarks, **seeded),
        (NYSTROEM, SKLEARN): SklearnNystroem(gamma=gamma, n_components=n_landmarks, **seeded),
    }
    routines = {name: _transform(model.fit(X), X) for name, model in models.items()}
    routines[YARDSTICK] = lambda: _product_and_cosine(X, W)
    first_row = X[:1]

    def draw():
        RandomFeatures(kernel, size, form="phase", **seeded).fit(X[:2]).transform(first_row)

    def draw_by_numpy():
        np.random.default_rng(cell.seed).standard_normal((n_columns, size), dtype=np.float32)

    with threadpool_limits(1):
        found = alternate(routines, cell.params["seconds"])
        drawn = alternate({"ours": draw, "numpy": draw_by_numpy}, cell.params["seconds"] / 4)
    metrics = {
        "cosine_share": found.ratio(YARDSTICK, (PHASE, OURS)),
        "speed_up": found.ratio((PHASE, SKLEARN), (PHASE, OURS)),
        "nystroem_speed_up": found.ratio((NYSTROEM, SKLEARN), (NYSTROEM, OURS)),
        "normals_share": drawn.ratio("numpy", "ours"),
    }
    seconds = [found.of(name) for name in routines]
    trace = {
        "map": [what for what, _ in routines],
        "library": [library for _, library in routines],
        "seconds": seconds,
        "microseconds_per_row": [1e6 * value / len(X) for value in seconds],
    }
    return result(data, metrics, trace=trace)


def threads(cell):
    """Time blocks, products and features with one thread up to all threads of the cell.

    The cell's `params` are ``kernel``, ``n_features``, ``n_block_rows`` (of the matrix K(X, X)) and
    ``seconds``.

    Returns
    -------
    dict
        ``metrics``: under ``threads``, the speed-up of each routine with all threads. ``trace``: ``routine``,
        ``threads``, ``seconds``, ``speed_up``.
    """
    from kernbench.features import RandomFeatures

    data = load(cell.loader)(**cell.arguments)
    X = data.X_train.astype(np.float32)
    few = X[: cell.params["n_block_rows"]]
    kernel, a = catalogue.get(cell.params["kernel"]).kernel(X.shape[1]), np.ones(len(few))
    model = RandomFeatures(kernel, cell.params["n_features"], random_state=cell.seed).fit(X)
    work = {
        "K(X, X)": lambda: block(kernel, few, few),
        "K(X, X) @ a": lambda: matmul(kernel, few, few, a),
        "features of X": lambda: model.transform(X),
    }
    counts = range(1, threads_given() + 1)
    trace, metrics = [], {}
    for name, routine in work.items():
        found = alternate({str(n): _with_threads(n, routine) for n in counts}, cell.params["seconds"])
        trace += [(name, n, found.of(str(n)), found.ratio("1", str(n))) for n in counts]
        metrics[name] = found.ratio("1", str(counts[-1]))
    trace = columns(("routine", "threads", "seconds", "speed_up"), trace)
    return result(data, {"threads": metrics}, trace=trace)


def _product_and_cosine(X, W):
    """The minimal work for features of the form ``"phase"``: one product, one vectorised pass in place."""
    values = bare_product(X, W)
    return np.cos(values, out=values)


def _transform(model, X):
    return lambda: model.transform(X)


def _with_threads(n_threads, routine):
    def run():
        with threadpool_limits(n_threads):
            routine()

    return run


def threads_given():
    """The number of threads of this cell's process."""
    return int(os.environ.get("OMP_NUM_THREADS") or 1)

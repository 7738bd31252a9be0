"""A cell of ``twins``: every solver of the registry on a problem of its kind, compiled and reference in turn."""

from statistics import median
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from kernbench._lazy import load
from kernbench.datasets.base import Dataset, array_checksum
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.ours.twins.settings import BATCH_SIZE, settings_of
from kernbench.kernels import Gaussian
from kernbench.solvers.kinds import TWINS
from kernbench.solvers.registry import SOLVERS

ROUNDS = 3  # of which the fastest counts: other work on the machine can only add time
DECIMALS = 9  # mathematics libraries may differ in later ones, which must not change the checksum
MOST_STEPS = 2**20


def measure(cell):
    """Advance the twins of every solver by the same number of iterations, from the start, and compare their times.

    The number is the first power of 2 for which the reference takes ``seconds``, or with which it is at its end. Times
    are processor times of one thread, without the construction of the solver and of its rows.

    Returns
    -------
    dict
        ``metrics``: ``least`` and ``median``, speed-ups, and ``n_apart``, how many pairs did not take equally many
        iterations. ``trace``: ``solver``, ``kind``, ``n_iter``, ``compiled``, ``reference`` (seconds), ``speed_up``.
    """
    data = load(cell.loader)(**cell.arguments)
    rows, n_apart = [], 0
    with threadpool_limits(1):
        for entry in SOLVERS:
            if entry.has_two_twins:
                n_iter, seconds = compare_twins(entry, data, cell.params["seconds"])
                n_apart += n_iter["compiled"] != n_iter["reference"]
                ours, theirs = (seconds[twin] for twin in TWINS)
                name = f"{entry.name}, {entry.problem}"
                rows.append((name, entry.problem, n_iter["compiled"], ours, theirs, theirs / ours))
    names = ("solver", "kind", "n_iter", "compiled", "reference", "speed_up")
    speed_ups = [row[-1] for row in rows]
    metrics = {"least": min(speed_ups), "median": median(speed_ups), "n_solvers": len(rows), "n_apart": n_apart}
    return result(data, metrics, trace=columns(names, rows))


def load_rows(n_rows, n_columns, seed=0):
    """Standard normal rows and noisy scores, as a data set without a test part."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns)).round(DECIMALS)
    scores = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n_rows)
    y = (scores - 0.5).round(DECIMALS)  # the classes are not of one size
    return Dataset(
        name="normal-rows",
        X_train=X,
        y_train=y,
        X_test=X[:0],
        y_test=y[:0],
        kind="generated",
        description=f"{n_rows} standard normal rows, noisy scores of three columns",
        source="kernbench.experiments.ours.twins.runs",
        checksum=array_checksum(X, y),
    )


def compare_twins(entry, data, seconds):
    """Iterations and seconds of the twins of one solver, each as a dict by twin."""
    steps = 2
    done, spent = _advance(entry, data, "reference", steps)
    while spent < seconds and done == steps < MOST_STEPS:
        steps *= 2
        done, spent = _advance(entry, data, "reference", steps)
    best, n_iter = {"reference": spent, "compiled": np.inf}, {"reference": done}
    for number in range(ROUNDS):
        for twin in TWINS if number else ("compiled",):
            n_iter[twin], spent = _advance(entry, data, twin, steps)
            best[twin] = min(best[twin], spent)
    return n_iter, best


def _advance(entry, data, twin, steps):
    """Advance a new solver; return the iterations it took and the seconds."""
    solver = new_solver(entry, data, twin)
    start = process_time()
    done = solver.advance(steps)
    return done, process_time() - start


def new_solver(entry, data, twin):
    """A solver of the registry on `data`, whose targets are numbers; classes are their signs."""
    kind, X, scores = entry.kind, data.X_train, data.y_train
    y = scores if kind.real_targets else np.where(scores > 0, 1.0, -1.0)
    n, d = X.shape
    kernel = Gaussian((d / 2) ** 0.5)
    options = {"alpha": 1.0 / n, "random_state": 0, "loss": entry.losses[0], **kind.defaults}
    options |= settings_of(entry.problem, n)
    if kind.first == "batches":
        batches = kind.make_data(X, twin=twin, y=y, batch_size=BATCH_SIZE)
        return entry.load(twin)(batches, kernel, block_size=BATCH_SIZE, **options)
    first = kind.make_data(X, kernel if kind.first == "rows" else None, twin=twin, dtype="float64")
    return entry.load(twin)(first, y, **options)

"""A cell on an endless stream: a doubly stochastic fit to chunks, followed by its test error."""

from kernbench._lazy import load
from kernbench.datasets import stream
from kernbench.experiments.measure.clock import Tracer, own_clock, timed
from kernbench.experiments.measure.judging import error_rate, iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.race import TRACE
from kernbench.experiments.measure.record import result

CHUNK_ROWS = 8192


def measure(cell):
    """Fit to the first rows of an endless data set.

    The cell's `params` are those of the estimator, and ``rows``, how many are read.

    Returns
    -------
    dict
        ``metrics``: ``test_error``, ``n_iter``, ``n_feature_values``, ``n_rows``.
        ``seconds``: ``fit``, wall time, which includes the time to deform images and to follow the run; ``solver``,
        without the latter. ``trace``: that of the solver.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    rows = params.pop("rows")
    options = {
        name: value for name, value in cell.arguments.items() if name not in ("name", "n_train", "n_test", "seed")
    }
    return follow(cell, data, stream(data.name, cell.arguments.get("seed", 0), **options), rows, params)


def follow(cell, data, opened, rows, params):
    """Fit the cell's estimator to the first rows of a stream and follow its test error; return as `measure` does.

    Parameters
    ----------
    cell : Cell
    data : Dataset
        What the record tells of the data.
    opened : tuple
        The stream, test rows and their labels.
    rows : int
    params : dict
        Those of the estimator.
    """
    images, X_test, y_test = opened
    tracer = Tracer(lambda model: {"test_error": error_rate(y_test, model.predict(X_test))})
    model = load(cell.estimator)(**params, callback=tracer)
    _, wall = timed(lambda: model.fit_chunks(images.chunks(CHUNK_ROWS, rows)))
    memory = peak_memory()
    predictions, predict_seconds = timed(lambda: model.predict(X_test))
    metrics = {
        "test_error": error_rate(y_test, predictions),
        "n_iter": iterations(model),
        "n_feature_values": getattr(model, "n_feature_values_", None),
        "n_rows": rows,
    }
    trace = {column: list(model.trace_[column]) for column in TRACE if column in model.trace_}
    seconds = {"fit": wall, "predict": predict_seconds, "solver": own_clock(model)}
    return result(data, metrics, seconds=seconds, trace=trace, memory=memory)

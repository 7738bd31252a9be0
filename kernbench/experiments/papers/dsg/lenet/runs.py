"""Cells of networks: a LeNet trained as a whole, and methods on the features of one."""

from dataclasses import replace

from kernbench._lazy import load
from kernbench.experiments.measure import race
from kernbench.experiments.measure.clock import Tracer, own_clock, timed
from kernbench.experiments.measure.judging import error_rate, iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import result
from kernbench.experiments.papers.dsg.lenet import features
from kernbench.experiments.papers.dsg.runs import stream as stream_runs


def measure(cell):
    """Measure a method on features: a race in memory, or a fit to a stream if the cell's arguments name ``rows``."""
    if "rows" not in cell.arguments:
        return race.classify(replace(cell, loader=f"{features.__name__}:features"))
    opened, described = features.feature_stream(**cell.arguments), features.features(**cell.arguments)
    return stream_runs.follow(cell, described, opened, cell.arguments["rows"], dict(cell.params))


def jointly(cell):
    """Measure the training of the network whose features the other methods see.

    Returns
    -------
    dict
        As of `stream_runs.measure`; ``passes`` in place of feature values.
    """
    arguments = {"epochs": None, "rows": None, "seed": 0, **cell.arguments}
    if arguments["rows"] is None:
        data = load(cell.loader)(**cell.arguments)
        X_test, y_test = data.X_test, data.y_test
    else:
        _, X_test, y_test = features.opened(arguments["seed"])
    few = X_test[:100], y_test[:100]
    load("kernbench.experiments.papers.dsg.lenet.classifier:NetworkClassifier")(max_epochs=1).fit(*few)  # libraries
    tracer = Tracer(lambda model: {"test_error": error_rate(y_test, model.predict(X_test))})
    model, wall = timed(lambda: features.train(**arguments, callback=tracer))
    memory = peak_memory()
    predictions, predict_seconds = timed(lambda: model.predict(X_test))
    described = features.features(**cell.arguments)
    metrics = {
        "test_error": error_rate(y_test, predictions),
        "n_iter": iterations(model),
        "passes": arguments["epochs"],
        "n_rows": arguments["rows"],
    }
    seconds = {"fit": own_clock(model), "wall": wall, "predict": predict_seconds, "solver": own_clock(model)}
    return result(described, metrics, seconds=seconds, trace=model.trace_, memory=memory)

"""A cell: choose alpha, fit on the clock, score on the clock, judge off the clock."""

from dataclasses import replace
from time import perf_counter

from kernbench.experiments.declare import resolve
from kernbench.experiments.measure.clock import peak_memory, result, warm_up
from kernbench.experiments.papers.rocsvm.judging import judge
from kernbench.experiments.papers.rocsvm.search import chosen_alpha


def measure(cell):
    """Fit and judge a model that ranks.

    The cell's `params` are those of the estimator and perhaps ``search``: keywords of
    :func:`~kernbench.experiments.papers.rocsvm.search.chosen_alpha`, which then chooses ``alpha``.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics`` as of :func:`~kernbench.experiments.papers.rocsvm.judging.judge`. ``seconds``: ``fit``,
        ``predict`` and, with a search, ``search`` (all its fits).
    """
    data = resolve(cell.loader)(**cell.arguments)
    params, seconds = dict(cell.params), {}
    search = params.pop("search", None)
    if search is not None:
        start = perf_counter()
        # A budget is that of the fit, not of the search.
        free = {name: value for name, value in params.items() if name != "max_seconds"}
        params["alpha"] = chosen_alpha(cell.estimator, free, data, **search, seed=cell.seed)
        seconds["search"] = perf_counter() - start
    warm_up(replace(cell, params=params), data)
    model = resolve(cell.estimator)(**params)
    start = perf_counter()
    model.fit(data.X_train, data.y_train)
    seconds["fit"] = perf_counter() - start
    start = perf_counter()
    scores = model.decision_function(data.X_test)
    seconds["predict"] = perf_counter() - start
    memory = peak_memory()
    evaluations = getattr(model, "n_kernel_evaluations_", None)
    metrics = judge(model, data, scores)
    return result(data, metrics, seconds=seconds, n_kernel_evaluations=evaluations, memory=memory)

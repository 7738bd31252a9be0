"""The fit of all pairs of classes, one after the other, within one time budget."""

from dataclasses import replace

from kernbench.estimators._binary import Callbacks, make_rows, make_solver
from kernbench.estimators._outcome import INTERRUPTED, NOT_STARTED, not_started
from kernbench.estimators._parameters import callbacks_of, iteration_limit
from kernbench.solvers import driver


def fit_pairs(model, entry, X, pairs, weights, start, data, snapshot):
    """Solve the problem of each pair.

    Parameters
    ----------
    model : KernelSVC
        Gives the parameters, and ``kernel_``, ``dtype_`` and ``classes_``.
    entry : SolverEntry
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    pairs : list of Pair
    weights : ndarray of shape (n_samples,), or None
    start : Continuation
        Gives the first solutions, where there are any, and the random generators.
    data : str
        Digest of the examples.
    snapshot : callable
        ``snapshot(pair, solver)`` returns the fitted model of `pair` as of now.

    Returns
    -------
    list of FitResult
        After Ctrl-C the interrupted pair says so, and those behind it have the status "not started".
    """
    results, left = [], model.max_seconds
    for k, pair in enumerate(pairs):
        if results and results[-1].status in (INTERRUPTED, NOT_STARTED):
            results.append(not_started(len(pair.y)))
            continue
        rows = make_rows(
            pair.examples(X, model.kernel),
            model.kernel_,
            cache_size=model.cache_size,
            dtype=model.dtype_,
            twin=model._twin,
        )
        settings = {
            # A slack budget `nu` takes the place of alpha where a solver has one.
            "alpha": None if "nu" in (model.solver_options or {}) else 1.0 / (model.C * rows.n_rows),
            "weights": pair.of_rows(weights),
            "fit_intercept": model.fit_intercept,
            "random_state": start.generators[k],
            "initial": start.initial(k, pair.y, model.kernel_, data),
        }
        solver = make_solver(
            entry, rows, pair.y, settings, tol=model.tol, options=model.solver_options, twin=model._twin
        )
        callbacks = Callbacks(callbacks_of(model), lambda solver, pair=pair: snapshot(pair, solver))
        result = driver.run(
            solver,
            max_iter=iteration_limit(model, entry, len(pair.y)),
            tol=model.tol,
            # Time that a pair does not need is for those that come.
            max_seconds=None if left is None else left / (len(pairs) - k),
            callback=callbacks if callbacks_of(model) else None,
            progress=_title(model, pair) if model.verbose else False,
        )
        if callbacks.interrupted:
            result = replace(result, status=INTERRUPTED)
        if left is not None:
            left = max(0.0, left - result.seconds)
        results.append(result)
    return results


def _title(model, pair):
    title = f"{type(model).__name__} {model.solver}"
    if len(model.classes_) == 2:
        return title
    return f"{title}: {model.classes_[pair.negative]} against {model.classes_[pair.positive]}"

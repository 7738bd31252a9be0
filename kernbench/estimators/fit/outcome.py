"""The outcome of a fit: fitted attributes, and a warning where a run stopped short."""

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

INTERRUPTED = "interrupted"
NOT_STARTED = "not started"  # an earlier problem was interrupted
FINISHED = "finished"  # the passes of a method without a stopping rule are done: converged_ stays False
QUIET = ("converged", FINISHED, "callback", INTERRUPTED, NOT_STARTED)  # requested by, or known to, the user


def set_outcome(model, results):
    """Set the attributes that describe the outcome, given one FitResult for each problem."""
    model.n_iter_ = np.array([result.n_iter for result in results])
    model.n_kernel_evaluations_ = sum(result.n_kernel_evaluations for result in results)
    model.converged_ = all(result.converged for result in results)
    model.fit_status_ = 0 if model.converged_ else 1
    if len(results) == 1:
        (result,) = results
        model.objective_, model.duality_gap_ = result.objective, result.gap
        model.status_, model.trace_ = result.status, result.trace
    else:
        model.objective_ = np.array([result.objective for result in results])
        model.duality_gap_ = np.array([np.nan if result.gap is None else result.gap for result in results])
        model.status_ = [result.status for result in results]
        model.trace_ = [result.trace for result in results]


def warn_unless_converged(model, results, plural="problems"):
    """Warn about runs that stopped short: what stopped them, how far they got and what to change."""
    short = [result for result in results if result.status not in QUIET]
    if not short:
        return
    sentences = [_reason(model, status, short) for status in dict.fromkeys(result.status for result in short)]
    name = f"{type(model).__name__}(solver={model.solver!r})"
    of_problems = "" if len(results) == 1 else f" in {len(short)} of {len(results)} {plural}"
    advice = "Features on very different scales also slow it down: try sklearn.preprocessing.StandardScaler."
    warn(
        f"{name} did not reach tol={model.tol:g}{of_problems}. {' '.join(sentences)} {advice}",
        ConvergenceWarning,
    )


def warn(message, category=UserWarning):
    """Warn at the line outside of kernbench that called ``fit``."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("kernbench."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _reason(model, status, results):
    worst = max(
        (result for result in results if result.status == status),
        key=lambda result: result.n_iter if result.gap is None else result.gap,
    )
    gap = "" if worst.gap is None else f"a duality gap of {worst.gap:.3g} at "
    reached = f" with {gap}the objective {worst.objective:.6g}"
    if status == "max_iter":
        limit = f"max_iter={model.max_iter}"
        if model.max_iter == -1:
            limit = f"its default limit of {worst.n_iter} iterations (max_iter=-1)"
        return f"It stopped at {limit}{reached}: raise max_iter, or tol."
    if status == "max_seconds":
        limit = f"max_seconds={model.max_seconds:g} and {worst.n_iter} iterations"
        return f"It stopped after {limit}{reached}: raise max_seconds, or tol."
    remedy = "raise tol" if model.dtype_ == "float64" else "raise tol, or use dtype='float64'"
    return f"It made no progress any more after {worst.n_iter} iterations{reached}: {remedy}."

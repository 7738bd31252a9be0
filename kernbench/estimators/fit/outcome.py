"""The outcome of a fit: fitted attributes, and a warning where a run stopped short."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernbench._warnings import warn
from kernbench.problems.certificate.certify import VISIBLE
from kernbench.problems.whole_objective import Estimate
from kernbench.solvers import registry
from kernbench.solvers.kinds import KINDS

INTERRUPTED = "interrupted"
NOT_STARTED = "not started"  # Ctrl-C came before its run
FINISHED = "finished"  # the passes of a method without a stopping rule are done: converged_ stays False
STOPPED_BY_USER = ("callback", INTERRUPTED, NOT_STARTED)
QUIET = ("converged", FINISHED, *STOPPED_BY_USER)  # requested by, or known to, the user
STAGNATED = "stagnated"  # the solver's own rule holds, but not the certificate
CERTIFIERS = ("smo", "bundle", "newton", "sdca")  # solvers whose gap closes, the most dependable first
OWN_RULES = {  # remedies where the own rule of a solver holds too early
    "wolfe": "lower eps in solver_options (a length in the space of the kernel), ",
    "scs": "scale the features (eps and the radii in solver_options are lengths in the space of the kernel), ",
}
SAMPLE_CAP = 2000  # default of `scs`, the solver that works on a sample
OF_AN_OUTCOME = ("objective_", "duality_gap_", "converged_", "fit_status_", "status_", "trace_",
                 "n_kernel_evaluations_", "objective_of_sample_", "subproblem_gap_")  # fmt: skip


def set_outcome(model, results):
    """Set the attributes that describe the outcome, given one FitResult for each problem."""
    model.n_iter_ = np.array([result.n_iter for result in results])
    model.n_kernel_evaluations_ = sum(result.n_kernel_evaluations for result in results)
    model.converged_ = all(result.converged for result in results)
    model.fit_status_ = 0 if model.converged_ else 1
    of_sample = [result.objective_of_sample for result in results]
    if any(objective is not None for objective in of_sample):
        model.objective_of_sample_ = of_sample[0] if len(of_sample) == 1 else np.array(of_sample, dtype=float)
    elif hasattr(model, "objective_of_sample_"):  # of an earlier fit
        del model.objective_of_sample_
    vars(model).pop("subproblem_gap_", None)
    if len(results) == 1:
        (result,) = results
        if result.subproblem_gap is not None:
            model.subproblem_gap_ = result.subproblem_gap
        model.objective_, model.duality_gap_ = result.objective, result.gap
        model.status_, model.trace_ = result.status, result.trace
    else:
        model.objective_ = np.array([result.objective for result in results])
        model.duality_gap_ = np.array([np.nan if result.gap is None else result.gap for result in results])
        model.status_ = [result.status for result in results]
        model.trace_ = [result.trace for result in results]


def drop_outcome(model):
    """Remove what `set_outcome` sets, except ``n_iter_``: it describes an earlier fit, of another function."""
    for name in OF_AN_OUTCOME:
        vars(model).pop(name, None)


def warn_unless_converged(model, results, plural="problems", advice=None):
    """Warn about runs that stopped short: what stopped them, how far they got and what to change.

    `advice` is a function, called only then, that returns one more sentence, which may be empty.
    """
    short = [result for result in results if result.status not in QUIET]
    # Without a minimum there is nothing to converge to: `warn_if_indefinite` says so.
    short = [result for result in short if not (result.is_indefinite and result.status == STAGNATED)]
    # Of f = 0 with the objective 0 no gap is a small share: `warn_of_rounding` says that nothing better was found.
    short = [result for result in short if not (result.status == STAGNATED and _is_zero_at_zero(result))]
    if not short:
        return
    sentences = [_reason(model, status, short) for status in dict.fromkeys(result.status for result in short)]
    of_problems = "" if len(results) == 1 else f" in {len(short)} of {len(results)} {plural}"
    more = advice() if advice else ""
    if any(result.returned is not None and np.any(result.returned.coef) for result in short):
        more = f"The solution for a smaller C has a smaller objective and is returned. {more}".rstrip()
    scales = "Features on very different scales also slow it down: try sklearn.preprocessing.StandardScaler."
    text = " ".join(filter(None, (*sentences, more, scales)))
    warn(f"{_named(model)} did not reach tol={model.tol:g}{of_problems}. {text}", ConvergenceWarning)


def _is_zero(solution):
    return solution is not None and not np.any(solution.coef)


def _is_zero_at_zero(result):
    return result.objective == 0.0 and _is_zero(result.returned)


def warn_of_rounding(model, results):
    """Warn about models that are f = 0 since no better one was found, and about scores that rounding changes."""
    name, remedy = (
        type(model).__name__,
        f"scale the columns (sklearn.preprocessing.StandardScaler), or {_weaker(model)}",
    )
    zeros = [result for result in results if _is_zero(result.returned) and np.any(result.solution.coef)]
    if zeros:
        is_optimum = all(result.converged for result in zeros)
        cause = (
            f"it is the optimum. To get another function, {_weaker(model)}, or change the kernel"
            if is_optimum
            else f"{remedy}, or raise max_iter"
        )
        warn(
            f"{_named(model)} found no function with a smaller objective than f = 0, which is returned with the best "
            f"intercept: {cause}.",
            ConvergenceWarning,
        )
    worst = max((result.error_of_scores for result in results), default=0.0)
    if worst > VISIBLE:
        warn(
            f"Terms of {name}'s decision function cancel: rounding changes its values by up to {worst:.1g} of the "
            f"largest. {remedy[0].upper()}{remedy[1:]}.",
            ConvergenceWarning,
        )


def warn_if_indefinite(model, results):
    """Warn about kernels with negative curvature, whose objectives have no minimum."""
    if any(result.is_indefinite for result in results):
        warn(
            f"The kernel of {type(model).__name__} is not positive semi-definite on the training rows: its objective "
            "has no minimum, the model is a stationary point at most, and duality_gap_ is None. Use a positive "
            "semi-definite kernel (of a precomputed matrix, set the negative eigenvalues to 0), or rely on validation."
        )


def _solver_of(model):
    return getattr(model, "solver_", model.solver)


def _named(model):
    """Return the name of a model, with its solver where this is a parameter."""
    name = type(model).__name__
    return f"{name}(solver={_solver_of(model)!r})" if "solver" in model.get_params(deep=False) else name


def _weaker(model):
    if hasattr(model, "C"):
        return f"lower C={model.C:g}"
    name = "alpha" if hasattr(model, "alpha") else "nu"
    return f"raise {name}={getattr(model, name):g}"


def _certifier(model):
    """Return the advice for a run whose certificate does not close."""
    kinds = [kind.name for kind in KINDS.values() if kind.estimator == type(model).__name__]
    loss = getattr(model, "loss_", model.loss)
    offered = [entry.name for entry in registry.SOLVERS if entry.problem in kinds and loss in entry.losses]
    others = [name for name in CERTIFIERS if name in offered]
    is_best = not others or _solver_of(model) == others[0]
    if model.dtype_ == "float32" and is_best:
        return "use dtype='float64', or raise tol"
    if is_best:
        return f"scale the columns (sklearn.preprocessing.StandardScaler), {_weaker(model)}, or raise tol"
    return f"use solver={others[0]!r}, which certifies its solution, or raise tol"


def warn_if_sample_misleads(model, results, *, is_stream=False):
    """Warn where the objective of a sample is clearly below that of all rows; return whether it is."""
    misled = [
        result
        for result in results
        if result.objective_of_sample is not None
        and result.status not in STOPPED_BY_USER
        and Estimate(result.objective, result.objective_error).is_above(result.objective_of_sample)
    ]
    if not misled:
        return False
    worst = max(misled, key=lambda result: result.objective / result.objective_of_sample)
    size = len(worst.solution.state["sample"])
    warn(
        f"{_named(model)} fitted its sample of {size} rows better than the others: over all rows the objective is "
        f"{worst.objective:.4g} (standard error {worst.objective_error:.1g}), over the sample "
        f"{worst.objective_of_sample:.4g}. To bring them together, {_larger_sample(model, worst, size, is_stream)}."
    )
    return True


def _larger_sample(model, result, size, is_stream):
    """Return the advice that makes the sample of a run, now of `size` rows, larger."""
    options = model.solver_options or {}
    cap = int(options.get("sample_cap", SAMPLE_CAP))
    more = []
    if size == cap:
        # At the same C the alpha of a stream falls as the sample grows, which is then fitted almost as closely.
        same_alpha = f", with C={model.C / 2:g} (its n is sample_cap)" if is_stream and "alpha" not in options else ""
        more += [f'raise the size of the sample, solver_options={{"sample_cap": {2 * cap}}}{same_alpha}']
    if result.sample_grows:
        is_limited = result.status in ("max_iter", "max_seconds")
        more += [f"raise {result.status}" if is_limited else 'set "eps" to 0 in solver_options, which ended the run']
    if more:
        return " and ".join(more)
    if options.get("growth") == 0:
        return 'raise "s0" in solver_options, the size of the sample, or "growth"'
    if options.get("validation") == "holdout":
        return 'set "validation" to "redraw" in solver_options: rows that are set aside do not join the sample'
    return "fit more rows: the sample holds all there are"


def _more(model, limit):
    """Return the advice for a run that a limit ended."""
    if "nu" in (getattr(model, "solver_options", None) or {}):  # `sbp`
        return f"with a slack budget nu every run ends at a limit, as no gap is certified; choose {limit} by new rows"
    return f"raise {limit}, or tol"


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
        return f"It stopped at {limit}{reached}: {_more(model, 'max_iter')}."
    if status == "max_seconds":
        limit = f"max_seconds={model.max_seconds:g} and {worst.n_iter} iterations"
        return f"It stopped after {limit}{reached}: {_more(model, 'max_seconds')}."
    if status == STAGNATED:
        own = OWN_RULES.get(_solver_of(model), "")
        return f"Its own stopping rule was met{reached}, which does not certify tol: {own}{_certifier(model)}."
    if status == "diverged":
        return f"It was stopped: {worst.message}. The model is the last iterate that was finite."
    remedies = f"{_weaker(model)}, or raise tol"
    if model.dtype_ != "float64":
        remedies = f"use dtype='float64', {remedies}"
    return f"It made no further progress after {worst.n_iter} iterations{reached}: {remedies}."

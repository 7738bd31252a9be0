"""Checks of the parameters of models of a range of ranks; each raises a ValueError that says what would be right."""

import numpy as np

from kernbench.estimators.fit.solver import require_loss_of
from kernbench.estimators.roc.parameters import YOUDEN, check_space, check_threshold_parameters
from kernbench.pairs.window import checked_fpr_range
from kernbench.solvers import registry
from kernbench.validation.numbers import check_flag, check_name, is_integer, is_number

WINDOW = "window"  # the threshold at the window's upper end
THRESHOLDS = (YOUDEN, WINDOW)
STARTS = ("logistic", "auc", "solver")
KEEPS = ("best", "last")
DEFAULT_RANGE = (0.0, 0.1)  # what `fpr_range` is unless it is given


def check_window_model(model, problem, losses=None):
    """Check what all models of this module's kind have in common; return the registry's entry of the solver.

    `losses` are those of the model, if it is not for all that its solvers minimise.
    """
    entry = registry.get(model.solver, problem)
    check_space(model, zero_alpha=True)
    known = {loss for other in registry.SOLVERS if other.problem == problem for loss in other.losses}
    loss = getattr(model, "loss", "auto")
    check_name("loss", loss, ("auto", *(known if losses is None else known.intersection(losses))))
    if loss != "auto":
        require_loss_of(entry, loss)
    if model.features == "exact" and entry.load().needs_features:
        raise ValueError(
            f"solver={entry.name!r} takes no kernel, as features='exact' is: choose features='nystroem' or 'random'"
        )
    check_name("keep", model.keep, KEEPS)
    check_validation(model.validation)
    return entry


def solver_needs_features(problem):
    """Return a function that says whether the solver of a model for this kind of problem cannot take a kernel."""
    return lambda model: registry.get(model.solver, problem).load().needs_features


def check_partial_auc(model):
    """Check the parameters of a `PartialAUCClassifier` and return the registry's entry of its solver."""
    entry = check_window_model(model, "partial-auc")
    check_threshold_parameters(model, THRESHOLDS)
    check_name("start", model.start, STARTS)
    low, high = checked_fpr_range(model.fpr_range)
    if model.ranks is not None:
        m, n = _two("ranks", model.ranks)
        if not (is_integer(m) and is_integer(n) and 0 <= m < n):
            raise ValueError(f"ranks must be two integers (m, n) with 0 <= m < n, got {model.ranks!r}")
        if (low, high) != DEFAULT_RANGE:
            raise ValueError(
                f"ranks={model.ranks!r} and fpr_range={model.fpr_range!r} both give the range: pass only one of them"
            )
    elif model.threshold == WINDOW and high == 1:
        raise ValueError(
            f"threshold='window' is where the specificity is 1 - {high:g}, at which every row is positive: choose "
            "threshold='youden', or an fpr_range that ends below 1"
        )
    return entry


def threshold_of_window(fpr_range):
    """Return the threshold that "window" means; raise ValueError for a range that ends at 1."""
    _, high = fpr_range
    if high == 1:
        raise ValueError(
            "threshold='window' would set the specificity to 0, since the range ends at 1: choose another threshold"
        )
    return ("specificity", 1 - high)


def check_ranked_range(model, losses):
    """Check the parameters of a model of a ranked range, with one of `losses`; return its solver's registry entry."""
    entry = check_window_model(model, "ranked-range", losses)
    check_flag("fit_intercept", model.fit_intercept)
    shares_or_ranks(model.ranked_range)
    return entry


def shares_or_ranks(ranked_range):
    """Return the ends of a ranked range, and whether they are shares of all losses: floats up to 1, not integers."""
    m, n = _two("ranked_range", ranked_range)
    if is_integer(m) and is_integer(n):
        if 0 <= m < n:
            return (m, n), False
    elif is_number(m) and is_number(n) and 0 <= m < n <= 1:
        return (m, n), True
    raise ValueError(
        "ranked_range must be two integers (m, n), 0 <= m < n, that count losses from the largest down, or two shares "
        f"of all losses as floats, 0 <= m < n <= 1; got {ranked_range!r}"
    )


def masses_of(ranked_range, total):
    """Return the masses (m, n) that a ranked range means for losses that weigh `total` together."""
    (m, n), shares = shares_or_ranks(ranked_range)
    if shares:
        return m * total, n * total
    if n > total * (1 + 1e-12):
        raise ValueError(
            f"ranked_range={ranked_range!r} ends beyond the {total:g} losses there are: lower n, or give shares"
        )
    return float(m), float(n)


def check_validation(validation):
    """Raise ValueError unless `validation` is None, a share of the rows or a pair of rows and labels."""
    if validation is None or (is_number(validation) and 0 < validation < 1):
        return
    if isinstance(validation, tuple | list) and len(validation) == 2 and all(map(_has_rows, validation)):
        return
    raise ValueError(
        "validation must be None, a share of the rows between 0 and 1, or a pair (X, y) of other rows; got "
        f"{type(validation).__name__} {validation if np.isscalar(validation) else ''}".rstrip()
    )


def loss_of(model, entry, default):
    """Return the loss that ``loss=`` means for the solver `entry`: `default` for "auto", where it minimises that."""
    if model.loss != "auto":
        return model.loss
    return default if default in entry.losses else entry.losses[0]


def _two(name, value):
    if isinstance(value, tuple | list | np.ndarray) and len(value) == 2:
        return tuple(value)
    raise ValueError(f"{name} must be a pair (m, n), got {value!r}")


def _has_rows(values):
    return hasattr(values, "shape") or isinstance(values, list | tuple)

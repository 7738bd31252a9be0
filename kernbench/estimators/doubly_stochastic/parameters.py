"""Checks of the parameters of doubly stochastic models, and what ``"auto"`` means."""

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from kernbench._warnings import warn
from kernbench.estimators.arguments.kernel import check_kernel
from kernbench.estimators.arguments.parameters import check_run
from kernbench.features.maps.forms import KERNELS_OF_NAMES, terms_of
from kernbench.kernels.functions import Kernel
from kernbench.problems.streaming.averages import AVERAGES
from kernbench.problems.streaming.step_sizes import SCHEDULES
from kernbench.validation.foreign import host_array
from kernbench.validation.numbers import check_flag, check_name, check_number

BATCH, LARGE_BATCH = 1024, 4096  # rows of an "auto" batch
MANY_ROWS = 50_000  # from which on batches are large, and one pass is enough
STEPS_OF_A_FIT = 100  # for which the step sizes were chosen; fewer steps of a pass are longer
MOST_STEPS = 1600  # that this asks for: those of batches of 64
LONGEST = 3.0  # times the step size
FAR_FROM_ONE = 100.0  # a deviation of targets, or one over it, in units of the largest slope of the loss


def check_doubly_stochastic(model):
    """Check the parameters that all doubly stochastic models share."""
    check_kernel(model)
    if isinstance(model.kernel, Kernel):
        terms_of(model.kernel)
    elif not isinstance(model.kernel, str) or model.kernel not in KERNELS_OF_NAMES:
        raise ValueError(
            f"there are no random features of kernel={model.kernel!r}. Names of kernels that have them: "
            f"{', '.join(KERNELS_OF_NAMES)}; kernbench.kernels has more, as objects"
        )
    if not (model._chooses_batches and model.batch_size == "auto"):
        check_number("batch_size", model.batch_size, at_least=1, whole=True)
    check_flag("precondition", model.precondition)
    if model.block_size != "auto":
        check_number("block_size", model.block_size, at_least=1, whole=True)
        if model.batch_size != "auto":  # else its rows are known in the run
            check_block_size(model, model.batch_size)
    check_number("damping", model.damping, at_least=0)
    if model.step_size != "auto":
        check_number("step_size", model.step_size, above=0)
    check_name("schedule", model.schedule, ("auto", *SCHEDULES))
    check_name("average", model.average, AVERAGES)
    if model.max_blocks is not None:
        check_number("max_blocks", model.max_blocks, at_least=1, whole=True)
    for name in ("shuffle", "warm_start"):
        check_flag(name, getattr(model, name))
    check_run(model)
    first = (model.solver_options or {}).get("average_from")
    if first is not None and model.average != "tail":
        raise ValueError(
            f"average_from={first!r} is the first step of average='tail', but average={model.average!r}: choose "
            "average='tail', or leave it out"
        )


def check_block_size(model, batch_size):
    """Raise ValueError if a preconditioned block has more features than a batch has rows.

    An ``"auto"`` batch of fewer rows than `BATCH`, for lack of more, counts as one of `BATCH`.
    """
    rows = max(BATCH, batch_size) if model.batch_size == "auto" else batch_size
    if model.precondition and model.block_size != "auto" and model.block_size > rows:
        raise ValueError(
            f"block_size={model.block_size} is larger than batch_size={rows}: with precondition=True the covariance of "
            "a block is estimated on a batch, which should have four rows for each feature"
        )


def validation_vector(X, y):
    """Return labels or targets of the validation rows X as a vector, one for each row; None without validation rows."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise ValueError("X_val and y_val belong together: pass both, or neither")
    y = column_or_1d(host_array(y, "y_val"))
    check_consistent_length(host_array(X, "X_val"), y)
    return y


def has_large_batches(model, n_rows):
    """Return whether ``batch_size="auto"`` means large batches: for many rows in arrays, with the preconditioner."""
    return model.batch_size == "auto" and model.precondition and MANY_ROWS <= n_rows < np.inf


def batch_size_of(model, n_rows, block_size=0):
    """Return the rows of a batch: the given number, or four for each feature of a block of the initial solution.

    Large batches of a pass all have the same size, near 4,096, since a small last batch would have too few rows for a
    covariance. If the last batch of another pass would be smaller than a quarter of a batch, its rows are spread over
    the others, unless these are many: a step has the same length for few rows as for many.
    """
    if model.batch_size != "auto":
        return _with_rest(int(model.batch_size), n_rows)
    rows = BATCH
    if has_large_batches(model, n_rows):
        rows = -(-n_rows // round(n_rows / LARGE_BATCH))
    return _with_rest(max(rows, model._rows_per_feature * block_size), n_rows)


def _with_rest(rows, n_rows):
    if not rows <= n_rows < np.inf:
        return rows
    n_batches, rest = divmod(n_rows, rows)
    return -(-n_rows // n_batches) if 0 < 4 * rest < rows and 4 * n_batches <= rows else rows


def block_size_of(model, n_rows):
    """Return the features of a block: the given number, or a fraction of the rows of a batch, with a lower limit."""
    if model.block_size != "auto":
        return int(model.block_size)
    batch_size = batch_size_of(model, n_rows)
    largest = batch_size if has_large_batches(model, n_rows) else model._largest_block
    share = min(batch_size, n_rows) // model._rows_per_feature // 2 * 2
    return max(model._smallest_block(n_rows), min(largest, share))


def window_of(model, n_rows, batch_size, block_size):
    """Return the number of rows of a step if that is more than the batch, else 0.

    A step solves with the covariance of a block of features, which needs enough rows: with few, steps overfit their
    batch, and the noise adds up, see `warn_of_few_rows`.
    """
    rows = min(max(BATCH, model._rows_per_feature * block_size), n_rows)
    return rows if model.precondition and batch_size < rows else 0


def warn_of_few_rows(model, n_rows, solver):
    """Warn if preconditioned steps use few of the available rows: their noise adds up.

    On MAGIC, Adult and Forest cover, steps of 512 rows cost a regression on labels .8 to 6.8 points of accuracy, and
    steps of 256 rows cost a classifier .3 to 3.7 points, with 16 features as with 64. Steps of `BATCH` rows cost
    nothing, down to one row for each feature. The covariance operator has no window.
    """
    alone = solver.recent is None or solver.operator is not None
    rows = solver.batches.batch_size if alone else solver.recent.size
    if model.precondition and rows < min(BATCH, n_rows):
        warn(
            f"{type(model).__name__}: with precondition=True, steps of {rows} rows are so noisy that the model may be "
            f"far from the best. Raise batch_size to {BATCH}, or to the number of rows if they are fewer, or set "
            "precondition=False."
        )


def warn_of_scale(model, loss, y):
    """Warn if steps, which for a loss with bounded slopes do not grow with y, are far too short or too long for y.

    Huber's function has slopes in proportion to small residuals, so that steps are never too long.
    """
    steepest = max(abs(loss.lower), abs(loss.upper))
    if steepest == np.inf or model.step_size != "auto" or y.dtype.kind not in "fiu":
        return
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused later
        deviation = float(np.std(np.subtract(y, y[0], dtype=np.float64)))  # exactly 0 of equal targets
    is_small = loss.smoothness == np.inf and 0.0 < deviation * FAR_FROM_ONE < steepest
    if is_small or FAR_FROM_ONE * steepest < deviation < np.inf:
        warn(
            f"{type(model).__name__}: the steps of loss={loss.name!r} have the size of its slopes, at most "
            f"{steepest:g}, and y has a standard deviation of {deviation:.2g}, so that the model may be far from the "
            "best. Scale y, for example with sklearn.compose.TransformedTargetRegressor(transformer=StandardScaler()), "
            "or set step_size."
        )


def fewest_steps_of(model, n_rows):
    """Return the smallest number of steps of a fit to arrays, unless their batches are the large ones.

    With small batches and a preconditioner there are as many steps as visit the rows of that number of batches of
    `BATCH`, for models with a window, even if `solver_options` turns it off: their blocks are smaller, so that the same
    number of features takes more steps.
    """
    rows = BATCH if model.batch_size == "auto" else model.batch_size
    if not (model._has_window and model.precondition):
        return STEPS_OF_A_FIT
    return min(MOST_STEPS, max(STEPS_OF_A_FIT, -(-STEPS_OF_A_FIT * min(BATCH, n_rows) // rows)))


def full_steps_of(model, n_rows, per_pass):
    """Return the number of steps after which those of ``schedule="auto"`` get shorter, 0 for never.

    These are a pass, of `per_pass` batches, or the steps of `fewest_steps_of` if they are more. Many long steps with a
    preconditioner would overfit the labels of the training rows: the small number of steps is what regularises the
    model.
    """
    shorter = model._shortens_steps and model.precondition and model.schedule == "auto"
    return max(fewest_steps_of(model, n_rows), per_pass) if shorter else 0


def steps_of(model, n_rows):
    """Return the step size and the name of its schedule.

    The few large batches of a pass take longer steps.
    """
    size, schedule = model._steps[bool(model.precondition)]
    if has_large_batches(model, n_rows):
        size *= min(LONGEST, max(1.0, STEPS_OF_A_FIT * LARGE_BATCH / n_rows))
    return (
        size if model.step_size == "auto" else float(model.step_size),
        schedule if model.schedule == "auto" else model.schedule,
    )

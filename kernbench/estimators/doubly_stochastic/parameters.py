"""Checks of the parameters of doubly stochastic models, and what ``"auto"`` means."""

from kernbench.estimators.fit.kernel import check_kernel
from kernbench.estimators.fit.parameters import check_run
from kernbench.features.maps.forms import KERNELS_OF_NAMES, terms_of
from kernbench.kernels.functions import Kernel
from kernbench.problems.streaming.averages import AVERAGES
from kernbench.problems.streaming.step_sizes import SCHEDULES
from kernbench.validation.numbers import check_flag, check_name, check_number


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
    check_number("batch_size", model.batch_size, at_least=1, whole=True)
    check_flag("precondition", model.precondition)
    if model.block_size != "auto":
        check_number("block_size", model.block_size, at_least=1, whole=True)
        if model.precondition and model.block_size > model.batch_size:
            raise ValueError(
                f"block_size={model.block_size} is larger than batch_size={model.batch_size}: with "
                "precondition=True the covariance of a block is estimated on a batch, which should have four rows "
                "for each feature"
            )
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


def block_size_of(model, n_rows):
    """Return the features of a block: a share of the rows of a batch, unless a number is given."""
    if model.block_size != "auto":
        return int(model.block_size)
    rows = min(int(model.batch_size), n_rows)
    return max(2, min(model._largest_block, rows // model._rows_per_feature // 2 * 2))


def steps_of(model):
    """Return the step size and the name of its schedule."""
    size, schedule = model._steps[bool(model.precondition)]
    return (
        size if model.step_size == "auto" else float(model.step_size),
        schedule if model.schedule == "auto" else model.schedule,
    )

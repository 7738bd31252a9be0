"""Are the parameters of a `LinearSVC` sensible? Which loss does it minimise?"""

from kernbench._names import unknown_name
from kernbench.estimators._parameters import (
    check_class_weight,
    check_margin_loss,
    check_n_jobs,
    check_positive,
    check_run,
)
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.solvers import registry

AUTO = "auto"


def check_linear_svc(model):
    """Check the parameters of a `LinearSVC`; return the registry's entry of its solver and the name of the loss.

    Raises
    ------
    ValueError
        For the first parameter that is out of its range; for a wrong name, the message says the nearest.
    """
    entry = registry.get(model.solver, "linear-svm")
    loss = _loss(model, entry)
    check_positive("C", model.C)
    check_positive("intercept_scaling", model.intercept_scaling)
    check_run(model)
    check_class_weight(model.class_weight)
    check_n_jobs(model.n_jobs)
    return entry, loss


def _loss(model, entry):
    """The loss that ``loss=`` means for this solver."""
    if model.loss == AUTO:
        return "squared_hinge" if "squared_hinge" in entry.losses else entry.losses[0]
    if not isinstance(model.loss, str) or model.loss not in MARGIN_LOSSES:
        raise ValueError(unknown_name("loss", model.loss, (AUTO, *MARGIN_LOSSES)))
    check_margin_loss(model.loss, entry)
    return model.loss

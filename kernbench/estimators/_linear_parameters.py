"""Are the parameters of a `LinearSVC` sensible? Which loss does it minimise?"""

from types import SimpleNamespace

from kernbench._names import unknown_name
from kernbench.estimators._parameters import _check_class_weight, check_positive, check_run, is_integer
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
    # The memory of a cache is the one thing that a run here does not have.
    check_run(SimpleNamespace(**model.get_params(deep=False), cache_size=1.0))
    _check_class_weight(model.class_weight)
    if model.n_jobs is not None and not (is_integer(model.n_jobs) and model.n_jobs != 0):
        raise ValueError(
            f"n_jobs must be a number of threads, -1 for all cores, or None, got {model.n_jobs!r}"
        )
    return entry, loss


def _loss(model, entry):
    """The loss that ``loss=`` means for this solver."""
    if model.loss == AUTO:
        return "squared_hinge" if "squared_hinge" in entry.losses else entry.losses[0]
    if not isinstance(model.loss, str) or model.loss not in MARGIN_LOSSES:
        raise ValueError(unknown_name("loss", model.loss, (AUTO, *MARGIN_LOSSES)))
    if model.loss not in entry.losses:
        others = [
            other.name
            for other in registry.SOLVERS
            if other.problem == entry.problem and model.loss in other.losses
        ]
        raise ValueError(
            f"solver={entry.name!r} minimises loss={' or '.join(map(repr, entry.losses))} only; "
            f"loss={model.loss!r} is offered by solver={' or '.join(map(repr, others))}"
        )
    return model.loss

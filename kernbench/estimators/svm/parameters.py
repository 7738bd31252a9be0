"""Checks of the parameters of support vector classifiers; each raises a ValueError that says what to change."""

from numbers import Real

import numpy as np

from kernbench._names import unknown_name
from kernbench.estimators.arguments.kernel import check_kernel
from kernbench.estimators.arguments.parameters import check_class_weight, check_n_jobs, check_run, check_strength
from kernbench.estimators.fit.choice import AUTO, named_entry
from kernbench.estimators.fit.solver import require_loss_of
from kernbench.estimators.svm.multiclass import ONE_VS_REST, SCHEMES
from kernbench.losses.margin import MARGIN_LOSSES, margin_loss
from kernbench.solvers import registry
from kernbench.validation.numbers import check_flag, check_name, check_number, check_positive

SHAPES = ("ovr", "ovo")
UNSET = "deprecated"  # the default of ``probability`` in scikit-learn 1.9, which means False
FREE = "newton"  # the solver of explicit features that takes an intercept without a penalty


def check_kernel_svc(model):
    """Check the parameters of a `KernelSVC` and return the registry's entry of its solver."""
    entry = registry.get(model.solver, "kernel-svm")
    check_strength("C", model.C)
    _check_loss(model.loss, entry)
    check_kernel(model)
    check_flag("fit_intercept", model.fit_intercept)
    check_run(model)
    check_name("multi_class", model.multi_class, SCHEMES)
    _check_flags(model)
    check_output(model)
    if model.multi_class == ONE_VS_REST and model.decision_function_shape != "ovr":
        raise ValueError("decision_function_shape='ovo' gives values of pairs: it needs multi_class='ovo'")
    check_n_jobs(model.n_jobs)
    check_class_weight(model.class_weight)
    return entry


def check_kernel_nu_svc(model):
    """Check the parameters of a `KernelNuSVC` and return the registry's entry of its solver."""
    check_number("nu", model.nu, above=0, at_most=1)
    check_kernel(model)
    check_run(model)
    _check_flags(model)
    check_output(model)
    check_n_jobs(model.n_jobs)
    check_class_weight(model.class_weight)
    return registry.get(model.solver, "kernel-nu-svm")


def check_linear_svc(model):
    """Check the parameters of a `LinearSVC`.

    Returns
    -------
    entry : SolverEntry or None
        The entry of its solver; None for ``"auto"``, which depends on the data.
    loss : str
    """
    entry = named_entry(model, "linear-svm")
    loss = model.loss
    if loss == AUTO:
        loss = "squared_hinge" if entry is None or "squared_hinge" in entry.losses else entry.losses[0]
    elif not isinstance(loss, str) or loss not in MARGIN_LOSSES:
        raise ValueError(unknown_name("loss", loss, (AUTO, *MARGIN_LOSSES)))
    if entry is not None:
        _check_loss(loss, entry)
    check_strength("C", model.C)
    check_flag("fit_intercept", model.fit_intercept)
    if has_free_intercept(model):
        entry = entry or registry.get(FREE, "linear-svm")
        if entry.name != FREE:
            raise ValueError(
                f"intercept_scaling=inf leaves the intercept without a penalty, which solver={FREE!r} alone can do; "
                f"got solver={entry.name!r}: choose {FREE!r} or 'auto', or a finite intercept_scaling"
            )
    elif model.intercept_scaling != np.inf:
        check_positive("intercept_scaling", model.intercept_scaling)
    check_run(model)
    check_class_weight(model.class_weight)
    check_n_jobs(model.n_jobs)
    return entry, loss


def has_free_intercept(model):
    """Whether a `LinearSVC` has an intercept without a penalty."""
    scaling = model.intercept_scaling
    return bool(model.fit_intercept) and isinstance(scaling, Real) and scaling == np.inf


def _check_loss(loss, entry):
    """Raise ValueError for an unknown loss, and for one that the solver of `entry` does not minimise."""
    margin_loss(loss)
    require_loss_of(entry, loss)


def check_output(model):
    """Check the parameters that say what is made of decision values."""
    check_name("decision_function_shape", model.decision_function_shape, SHAPES)
    check_flag("break_ties", model.break_ties)
    if model.break_ties and model.decision_function_shape != "ovr":
        raise ValueError("break_ties=True compares scores of classes: it needs decision_function_shape='ovr'")


def _check_flags(model):
    """Check the other flags of `SVC`."""
    check_flag("shrinking", model.shrinking)
    if isinstance(model.probability, str) and model.probability == UNSET:
        return
    check_flag("probability", model.probability)
    if model.probability:
        raise ValueError(
            "probability=True is not supported: for probabilities wrap the model, "
            f"sklearn.calibration.CalibratedClassifierCV({type(model).__name__}(), ensemble=False)"
        )

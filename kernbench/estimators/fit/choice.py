"""What ``solver="auto"`` stands for, and the solver that a warning names."""

from kernbench.losses.table import losses_of
from kernbench.problems.linear.newton import LARGEST
from kernbench.solvers import registry

AUTO = "auto"
SMOOTH = losses_of("margin", "residual", smooth=True)
STEP_OR_FEW = losses_of("residual", smooth=True, flat=False)  # Newton's method takes one step, or a few
KERNEL_LARGEST = 4000  # rows up to which a kernel matrix is factorised for these, 128 MB; with other losses f is sparse
KERNEL_FEASIBLE = 20_000  # rows up to which one is worth a try where another solver fails, 3.2 GB

# The solvers that do well where another one does not converge, the best first.
OTHERS = {
    "linear-svm": {"sdca": ("newton",), "newton": ("sdca",), "bundle": ("newton",), None: ("newton",)},
    "linear-regression": {"sdca": ("newton",), "newton": ("sdca",), None: ("newton",)},
    "kernel-regression": {"sdca": ("newton", "smo"), "newton": ("sdca",), "smo": ("sdca",), None: ("newton", "smo")},
}


def named_entry(model, problem):
    """Return the registry's entry of the solver that a model names; None for ``"auto"``."""
    return None if model.solver == AUTO else registry.get(model.solver, problem)


def linear_entry(problem, loss, n_rows, n_columns):
    """Return the entry that ``"auto"`` stands for on explicit features.

    Newton's method does not depend on the scales of the columns, nor on alpha, as long as their Hessian can be formed;
    with more columns it needs a smooth loss, and its time depends on the condition of the Hessian, as does that of
    coordinate ascent. With more columns than rows the dual has fewer variables and almost orthogonal rows, which suits
    coordinate ascent; the cost of its steps is proportional to the entries of a row. For the squared error one Newton
    step suffices, for Huber's loss a few, even then.
    """
    is_tall = n_rows >= n_columns
    fits = is_tall or loss in STEP_OR_FEW if n_columns <= LARGEST else is_tall and loss in SMOOTH
    return registry.get("newton" if fits else "sdca", problem)


def kernel_regression_entry(loss, n_rows):
    """Return the entry that ``"auto"`` stands for in a kernel regression."""
    if loss.name not in STEP_OR_FEW:
        return registry.get("smo", "kernel-regression")
    return registry.get("newton" if n_rows <= KERNEL_LARGEST else "sdca", "kernel-regression")


def other_solver(entry, loss, n_rows):
    """Return a sentence that names another solver for data on which that of `entry` did not converge; may be empty."""
    others = OTHERS.get(entry.problem, {})
    for name in others.get(entry.name, others.get(None, ())):
        factorises = name == "newton" and entry.problem == "kernel-regression"
        if loss in registry.get(name, entry.problem).losses and not (factorises and n_rows > KERNEL_FEASIBLE):
            return f"Try solver={name!r}, too."
    return ""

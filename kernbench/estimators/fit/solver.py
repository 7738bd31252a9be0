"""The solver of a problem."""

import inspect

from kernbench._names import unknown_name
from kernbench.solvers import registry

DATA = ("rows", "design", "y", "batches", "kernel")  # arguments of solvers that are not options
OF_THE_ESTIMATOR = ("tol", "core")  # always set by the estimator


def require_loss_of(entry, loss):
    """Raise ValueError, which names the solvers that minimise the loss called `loss`, unless that of `entry` does."""
    if loss in entry.losses:
        return
    others = [repr(other.name) for other in registry.SOLVERS if other.problem == entry.problem and loss in other.losses]
    remedy = f"solver={' or '.join(others)}" if others else "no solver of this problem"
    raise ValueError(
        f"solver={entry.name!r} minimises loss={' or '.join(map(repr, entry.losses))} only; "
        f"loss={loss!r} is offered by {remedy}"
    )


def make_solver(model, entry, data, y, settings):
    """Return the solver of `entry`.

    Parameters
    ----------
    model : estimator
        Gives ``tol``, ``solver_options`` and the twin.
    entry : SolverEntry
    data : KernelRows, Design, StreamSource or a source of batches
    y : ndarray of shape (n_rows,), or Kernel
        -1 and +1, or targets; the kernel where labels come with the batches.
    settings : dict
        The keywords that the estimator sets.

    Raises
    ------
    ValueError
        If ``solver_options`` holds one of these, or one that the solver does not have.
    """
    solver_class, options = entry.load(model._twin), model.solver_options
    if not options:
        solver = solver_class(data, y, **settings)
    else:
        taken = sorted({"core", *settings} & options.keys())
        if taken:
            raise ValueError(f"solver_options must not hold {', '.join(taken)}: the estimator sets it")
        try:
            solver = solver_class(data, y, **settings, **options)
        except TypeError as error:
            known = _options_of(entry, settings)
            for name in options:
                if name not in known:
                    raise ValueError(unknown_name(f"option of solver {entry.name!r}", name, known)) from None
            raise ValueError(f"solver {entry.name!r} does not take solver_options={options!r}: {error}") from error
    if solver.first_check is None:
        solver.hold_to(model.tol)  # `advance` tests the rule itself
    return solver


def _options_of(entry, settings):
    """Return the names that ``solver_options`` may hold; compiled classes have no signature, their twins do."""
    names = inspect.signature(entry.load("reference")).parameters
    return [name for name in names if name not in (*DATA, *OF_THE_ESTIMATOR, *settings)]

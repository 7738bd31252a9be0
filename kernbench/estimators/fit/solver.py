"""The solver of a problem."""


def make_solver(model, entry, data, y, settings):
    """Return the solver of `entry`.

    Parameters
    ----------
    model : estimator
        Gives ``tol``, ``solver_options`` and the twin.
    entry : SolverEntry
    data : KernelRows, Design or StreamWindow
    y : ndarray of shape (n_rows,)
        -1 and +1.
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
        taken = sorted(settings.keys() & options.keys())
        if taken:
            raise ValueError(f"solver_options must not hold {', '.join(taken)}: the estimator sets it")
        try:
            solver = solver_class(data, y, **settings, **options)
        except TypeError as error:
            raise ValueError(
                f"solver {entry.name!r} does not take solver_options {options!r}: {error}"
            ) from error
    if solver.first_check is None:
        solver.tol = model.tol  # `advance` tests the rule itself
    return solver

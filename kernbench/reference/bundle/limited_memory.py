"""The two-loop recursion of limited-memory BFGS: the core of `solvers.bundle.limited_memory`."""


def products(design, step, step_scores, change, change_scores):
    """Return <change, step>, |step|^2 and |change|^2; the scores are needed for a kernel only."""
    inner = design.inner
    return inner(change, step, step_scores), inner(step, step, step_scores), inner(change, change, change_scores)


def solve(design, preconditioner, order, steps, step_scores, changes, change_scores, curvatures, v):
    """v <- about the inverse Hessian times v, by the pairs in this `order`, the oldest first."""
    shares, kernel = {}, design.is_kernel
    for k in order[::-1]:
        shares[k] = design.inner(v, steps[k], step_scores[k] if kernel else None) / curvatures[k]
        v -= shares[k] * changes[k]
    if preconditioner is not None:
        v[:] = preconditioner.solve(v)
    elif len(order):
        k = order[-1]
        v *= curvatures[k] / design.inner(changes[k], changes[k], change_scores[k] if kernel else None)
    for k in order:
        share = design.inner(v, changes[k], change_scores[k] if kernel else None) / curvatures[k]
        v += (shares[k] - share) * steps[k]

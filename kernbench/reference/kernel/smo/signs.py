"""Steps of SMO in problems with a share nu: pairs of one sign, and a bound on the sum of magnitudes.

See the families of `solvers.kernel.smo.dual_state`.
"""


def families(work):
    """Return pairs of masks: the coordinates that can grow, and those that can shrink as they do."""
    beta, bounded = work.beta, work.constraint == "size"
    can_grow, can_shrink = beta < work.upper, beta > work.lower
    if bounded and work.room > 0:
        return [(can_grow, can_shrink)]
    return [(can_grow & (beta >= 0), beta > 0), (beta < 0, can_shrink if bounded else can_shrink & (beta <= 0))]


def ends_of_pair(work, i, j):
    """Return how far beta_i may grow and beta_j shrink in one step: to a bound, or to 0."""
    return 0.0 if work.beta[i] < 0 else work.upper[i], 0.0 if work.beta[j] > 0 else work.lower[j]


def bounded_step(work, beta_i, beta_j, step):
    """Return the part of a step that the sum of magnitudes has room for; take it from the room."""
    growth = (1 if beta_i >= 0 else -1) + (1 if beta_j <= 0 else -1)
    if growth > 0 and step >= work.room / growth:
        step, work.room = work.room / growth, 0.0
    else:
        work.room -= growth * step
    return step

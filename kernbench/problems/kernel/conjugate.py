"""Options of the conjugate subgradient methods, checked, and the certified gap on a sample, for both twins."""

from types import SimpleNamespace

import numpy as np

from kernbench.losses.duality import dual_bound
from kernbench.problems.margin_problem import require_number
from kernbench.validation.numbers import check_name, check_number

GEOMETRIES = ("rkhs", "euclidean")
SEARCHES = ("exact", "bracket")
VALIDATIONS = ("redraw", "holdout")
HELD_OUT = 0.2  # share of the rows that validation="holdout" sets aside
EPS = 1e-3  # default stopping rule without a certificate: length of the direction
FAR = 0.1  # gap on the sample, relative to the objective, at which that rule does not count as convergence
WATCHED = 10  # keep the responses of all rows if there are at most this many times the largest sample
SPARE_BYTES = 10**8  # memory allowed beyond three matrices of the largest sample
NO_DIRECTION = 1e-7  # length of a direction, relative to the subgradient's, that is zero up to rounding
RECOMPUTED = 50  # recompute responses after this many iterations, since updates accumulate rounding errors


def check_search(eps, c1, c2):
    """Raise ValueError unless the constants of line search and stopping rule are valid."""
    require_number("eps", eps)
    for name, value in (("c1", c1), ("c2", c2)):
        check_number(name, value, above=0, below=1)
    if not c1 < c2:
        raise ValueError(f"the line search needs c1 < c2, got c1={c1!r}, c2={c2!r}")


def check_scs(*, geometry, line_search, validation, eps, delta_min, delta_0, delta_max, eta1, eta2, gamma, n, c1, c2,
              s0, growth, sample_cap):  # fmt: skip
    """Check the parameters of `SCS`.

    Raises
    ------
    ValueError
        For the first invalid parameter.
    """
    check_name("geometry", geometry, GEOMETRIES)
    check_name("line_search", line_search, SEARCHES)
    check_name("validation", validation, VALIDATIONS)
    check_search(0.0 if eps is None else eps, c1, c2)
    for name, value in (("delta_min", delta_min), ("delta_0", delta_0), ("delta_max", delta_max)):
        require_number(name, value, positive=True)
    if not delta_min <= delta_0 <= delta_max:
        raise ValueError(
            f"the radii must be delta_min <= delta_0 <= delta_max, got {delta_min!r}, {delta_0!r}, {delta_max!r}"
        )
    check_number("eta1", eta1, above=0, below=1)
    require_number("eta2", eta2)
    check_number("gamma", gamma, above=1)
    for name, value, least in (("n", n, 2), ("s0", s0, 2), ("growth", growth, 0), ("sample_cap", sample_cap, 2)):
        check_number(name, value, at_least=least, whole=True)
    if s0 > sample_cap:
        raise ValueError(f"s0={s0} examples to begin with are more than sample_cap={sample_cap}: lower s0")


def watches_all(n_rows, cap, item):
    """Whether to keep the kernel values between the sample and all rows, `item` bytes each, and so all responses.

    They take as much memory as the kernel values of at most ten validation samples, which are then not needed.
    """
    return n_rows <= WATCHED * cap and (n_rows + cap) * cap * item <= 3 * 8 * cap**2 + SPARE_BYTES


def check_wolfe(*, alpha, geometry, line_search, bundle_size, eps, c1, c2):
    """Check the parameters of `Wolfe`.

    Raises
    ------
    ValueError
        For the first invalid parameter.
    """
    if alpha is None:
        raise ValueError("wolfe needs alpha, a positive number")
    check_name("geometry", geometry, GEOMETRIES)
    check_name("line_search", line_search, SEARCHES)
    check_search(eps, c1, c2)
    check_number("bundle_size", bundle_size, at_least=2, whole=True)


def smallest_norm(aa, bb, ab):
    """Return the mu in [0, 1] at which mu a + (1 - mu) b is shortest, from the inner products of a and b."""
    square = aa + bb - 2.0 * ab
    return min(max((bb - ab) / square, 0.0), 1.0) if square > 0.0 else 0.0


def certified_gap(matvec, y, weights, alpha, fit_intercept, objective, coefs):
    """Return `objective` minus the best of the lower bounds on the optimum from several vectors of coefficients.

    Parameters
    ----------
    matvec : callable
        a -> K @ a over the n examples of the problem.
    y, weights : ndarray of shape (n,)
    alpha : float
    fit_intercept : bool
    objective : float
    coefs : list of ndarray of shape (n,)
        Coefficients of the iterate and of the averaged subgradient; near the optimum the latter are dual feasible
        without a change.
    """
    matrix = SimpleNamespace(matvec=matvec)
    settings = {"alpha": alpha, "weights": weights, "fit_intercept": fit_intercept}
    bounds = [dual_bound(matrix, y, coef, **settings) for coef in coefs]
    return max(0.0, objective - max(bounds))


def settings_of(alpha, fit_intercept, weights):
    """Return what a direction depends on besides the rows and labels: that of another objective need not descend."""
    return np.concatenate([[alpha, fit_intercept], weights])


def scattered(size, ids, values):
    """Return a vector of `size` zeros with `values` at the indices `ids`."""
    out = np.zeros(size)
    out[ids] = values
    return out


def largest(coef, count):
    """Return the indices of the `count` largest non-zero entries in absolute value, or of all; ascending."""
    used = np.flatnonzero(coef)
    if len(used) > count:
        used = np.sort(used[np.argsort(-np.abs(coef[used]), kind="stable")[:count]])
    return used

"""What conjugate subgradient methods and their references share: checked settings, and a certificate on a sample."""

from numbers import Integral

import numpy as np

from kernbench._names import unknown_name
from kernbench.losses.duality import dual_bound
from kernbench.problems.margin_problem import require_number

GEOMETRIES = ("rkhs", "euclidean")
SEARCHES = ("exact", "bracket")
VALIDATIONS = ("redraw", "holdout")
HELD_OUT = 0.2  # share of the rows that validation="holdout" sets aside
EPS = 1e-3  # length of the direction that ends a run without a certificate
WATCHED = 10  # times the largest sample: up to so many rows, the responses of all are kept
SPARE_BYTES = 10**8  # beyond three matrices of the largest sample
NO_DIRECTION = 1e-7  # length of a direction, as a share of the subgradient's, that is zero up to rounding
RECOMPUTED = 50  # iterations after which responses are added up anew: recurrences gather rounding errors


def check_choice(name, value, known):
    """Refuse a name that is not among `known`; the message says the nearest."""
    if value not in known:
        raise ValueError(unknown_name(name, value, known))
    return value


def check_search(eps, c1, c2):
    """Check the numbers that every line search and stopping rule has."""
    require_number("eps", eps)
    if not 0.0 < c1 < c2 < 1.0:
        raise ValueError(f"the line search needs 0 < c1 < c2 < 1, got c1={c1!r}, c2={c2!r}")


def check_scs(*, geometry, line_search, validation, eps, delta_min, delta_0, delta_max, eta1, eta2, gamma, n, c1, c2,
              s0, growth, sample_cap):  # fmt: skip
    """Check the parameters of `SCS`.

    Raises
    ------
    ValueError
        For the first that makes no sense.
    """
    check_choice("geometry", geometry, GEOMETRIES)
    check_choice("line_search", line_search, SEARCHES)
    check_choice("validation", validation, VALIDATIONS)
    check_search(0.0 if eps is None else eps, c1, c2)
    if not 0.0 < delta_min <= delta_0 <= delta_max < np.inf:
        raise ValueError(
            f"the radii must be 0 < delta_min <= delta_0 <= delta_max, got {delta_min!r}, {delta_0!r}, {delta_max!r}"
        )
    if not 0.0 < eta1 < 1.0:
        raise ValueError(f"eta1 must be between 0 and 1, got {eta1!r}")
    require_number("eta2", eta2)
    if not 1.0 < gamma < np.inf:
        raise ValueError(f"gamma must be a finite number above 1, got {gamma!r}")
    for name, value, least in (
        ("n", n, 2),
        ("s0", s0, 2),
        ("growth", growth, 0),
        ("sample_cap", sample_cap, 2),
    ):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    if s0 > sample_cap:
        raise ValueError(f"s0={s0} examples to begin with are more than sample_cap={sample_cap}: lower s0")


def watches_all(n_rows, cap, item):
    """Whether to keep the kernel values between the sample and all rows, `item` bytes each, and so all responses.

    They cost what ten validation samples do at the most, and spare those of all iterations.
    """
    return n_rows <= WATCHED * cap and (n_rows + cap) * cap * item <= 3 * 8 * cap**2 + SPARE_BYTES


def check_wolfe(*, alpha, geometry, line_search, bundle_size, eps, c1, c2):
    """Check the parameters of `Wolfe`.

    Raises
    ------
    ValueError
        For the first that makes no sense.
    """
    if alpha is None:
        raise ValueError("wolfe needs alpha, a positive number")
    check_choice("geometry", geometry, GEOMETRIES)
    check_choice("line_search", line_search, SEARCHES)
    check_search(eps, c1, c2)
    if not isinstance(bundle_size, Integral) or isinstance(bundle_size, bool) or bundle_size < 2:
        raise ValueError(f"bundle_size must be an integer of at least 2, got {bundle_size!r}")


def smallest_norm(aa, bb, ab):
    """Return mu such that mu a + (1 - mu) b is the shortest vector between a and b, from their inner products."""
    square = aa + bb - 2.0 * ab
    return min(max((bb - ab) / square, 0.0), 1.0) if square > 0.0 else 0.0


class _Product:
    """What `dual_bound` asks of kernel rows."""

    def __init__(self, matvec):
        self.matvec = matvec


def certified_gap(matvec, y, weights, alpha, fit_intercept, objective, coefs):
    """Return `objective` minus the best lower bound on the optimum that any of several coefficients tells.

    Parameters
    ----------
    matvec : callable
        a -> K @ a over the n examples of the problem.
    y, weights : ndarray of shape (n,)
    alpha : float
    fit_intercept : bool
    objective : float
    coefs : list of ndarray of shape (n,)
        The iterate's, and those that the averaged subgradient stands for: near the optimum the second is
        feasible for the dual problem as it is.
    """
    settings = {"alpha": alpha, "weights": weights, "fit_intercept": fit_intercept}
    bounds = [dual_bound(_Product(matvec), y, coef, **settings) for coef in coefs]
    return max(0.0, objective - max(bounds))


def scattered(size, ids, values):
    """Return a vector of `size` zeros but for `values` at `ids`."""
    out = np.zeros(size)
    out[ids] = values
    return out


def largest(coef, count):
    """Return where a vector is not zero, in ascending order; the `count` largest entries if there are more."""
    used = np.flatnonzero(coef)
    if len(used) > count:
        used = np.sort(used[np.argsort(-np.abs(coef[used]), kind="stable")[:count]])
    return used

"""Tables of Matérn kernels of any order: -log k as a piecewise polynomial in the squared distance.

With s = r^2, L(s) = -log(2^(1-nu) / Gamma(nu) r^nu K_nu(r)) behaves like a power of s everywhere: like s^min(nu, 1)
at 0, like s^(1/2) at infinity. So intervals of a constant ratio, found by the leading bits of s, and polynomials of low
degree give it to a constant relative accuracy, and k = exp(-L) with an error of at most 1/e of that. The only
singularity of L is at s = 0: on an interval [s, (1 + 1/16) s] the error of interpolation at Chebyshev nodes falls by
1/66 per degree.

Largest error of k: 2e-7 in float32; in float64 3e-14 for nu <= 5, growing to 1e-12 at nu = 500, which is that of the
Bessel and Gamma functions that the table is made from. Squared distances below the smallest normal number count as 0,
where the kernel is 1; only for orders below 0.2 this is wrong by more than 1e-7, in float32.
"""

import numpy as np
from scipy.special import gammaln, kve


def matern_table(nu, dtype, bits, n_terms, largest):
    """Return the coefficients of all intervals, and the leading bits of the first one.

    Parameters
    ----------
    nu : float
    dtype : dtype
        float32 or float64.
    bits : int
        There are 2^bits intervals per binade.
    n_terms : int
        Coefficients of an interval, of ascending powers of u = fraction - 1/2, where fraction is the relative position
        of s in the interval.
    largest : float
        A squared distance at which k has underflowed.

    Returns
    -------
    pieces : ndarray of shape (n_pieces, n_terms)
        The first piece, for negligible s, is zero.
    first : int
        Piece i is for those s whose leading bits, as an integer, are `first` + i.
    """
    info = np.finfo(dtype)
    # Below 2^lowest, 1 - k is less than a tenth of a rounding, or s is not a normal number.
    lowest = max(int(info.minexp), int(np.floor((np.log2(info.eps) - 8) / min(nu, 1.0))))
    binades = np.arange(lowest, int(np.log2(largest)) + 1)
    pieces_per_binade = 2**bits
    starts = (2.0 ** binades[:, None] * (1 + np.arange(pieces_per_binade) / pieces_per_binade)).ravel()
    widths = np.repeat(2.0 ** (binades - bits), pieces_per_binade)
    needed = np.searchsorted(-minus_log_matern(nu, starts) < np.log(info.tiny) - 20, True) + 1
    starts, widths = starts[:needed], widths[:needed]
    nodes = 0.5 * np.cos(np.pi * (np.arange(n_terms) + 0.5) / n_terms)
    values = minus_log_matern(nu, starts[:, None] + widths[:, None] * (nodes + 0.5))
    pieces = np.zeros((len(starts) + 1, n_terms), dtype=dtype)
    pieces[1:] = values @ np.linalg.inv(np.vander(nodes, increasing=True)).T
    first = ((lowest - int(info.minexp) + 1) << bits) - 1
    return pieces, first


def minus_log_matern(nu, s):
    """Return -log(2^(1-nu) / Gamma(nu) r^nu K_nu(r)), r^2 = s > 0, in float64."""
    r = np.sqrt(s)
    with np.errstate(over="ignore", divide="ignore"):
        scaled = kve(nu, r)  # K_nu(r) exp(r)
        value = r - (1 - nu) * np.log(2) + gammaln(nu) - nu * np.log(r) - np.log(scaled)
    # Where K_nu overflows: the series of r^nu K_nu, whose second half, of order r^(2 nu), is far below rounding.
    small = np.isinf(scaled)
    quarter, term, k = 0.25 * s[small], np.ones(np.count_nonzero(small)), 1.0
    total = np.zeros_like(term)
    while k < nu and np.any(np.abs(term) > 1e-18):
        term = term * quarter / (k * (k - nu))
        total += term
        k += 1.0
    value[small] = -np.log1p(total)
    return value

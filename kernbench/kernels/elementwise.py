"""exp, log, cos, sin and acos of whole arrays, vectorised; the loops are those of ``_vector_math.h``.

They accept the same arguments as NumPy's, with four differences: results are float32 or float64 only, they differ from
the true value by up to the error stated with each function, a zero may lose its sign, and no floating-point warning is
raised. The last bit may differ between processors with and without fused multiply-add; on one machine a value depends
only on its argument, not on its neighbours or the number of threads.

The errors called measured are the largest seen, on processors with and without fused multiply-add: over
every float32, and in float64 over millions of arguments of all magnitudes, with more of them near difficult arguments.
"""

import numpy as np

from kernbench.kernels.simd import _elementwise

__all__ = ["acos", "cos", "exp", "exp_nonpositive", "log", "sin", "sincos"]


def exp(x, out=None):
    """Return e**x, element by element.

    Relative error below 1e-7 in float32 and 2e-16 in float64 (measured: 8.5e-8 and 1.6e-16); where the result
    is denormal, at most one unit in its last place. Overflow gives infinity, NaN stays NaN.

    Parameters
    ----------
    x : array-like of real numbers, any shape
        float32 is computed in float32, everything else in float64.
    out : ndarray of x's shape and precision, optional
        Where to write the result; may be `x` itself.

    Returns
    -------
    ndarray of x's shape, float32 or float64
        `out` if it was given; a scalar for a scalar.

    Raises
    ------
    ValueError
        If x is not real, or `out` has another shape or precision.
    """
    return _mapped(_elementwise.exp, x, out)


def exp_nonpositive(x, out=None):
    """Return e**x for x <= 0, as the Gaussian and the other exponential kernels compute it.

    Relative error below 1e-7 in float32 for -87.3 <= x <= 0 and below 4e-16 in float64 for -708 <= x <= 0
    (measured: 8.4e-8 and 1.6e-16). Smaller arguments, minus infinity too, give the value at that end,
    1.2e-38 or 3.3e-308, instead of a denormal number or zero: an absolute error no larger than that. A default NaN
    stays NaN; one with a payload may not.

    Parameters
    ----------
    x, out
        As in :func:`exp`.

    Returns
    -------
    ndarray of x's shape, float32 or float64

    Raises
    ------
    ValueError
        If any of x is positive.
    """
    x = _real(x)
    if np.any(x > 0):
        raise ValueError("exp_nonpositive takes x <= 0 only; exp takes every x")
    return _mapped(_elementwise.exp_nonpositive, x, out)


def log(x, out=None):
    """Return the natural logarithm, element by element.

    Relative error below 1e-7 in float32 and 2e-16 in float64 (measured: 8.3e-8 and 1.6e-16), also next to 1
    and for denormal arguments. log(0) is -inf, and the logarithm of a negative number NaN.

    Parameters
    ----------
    x, out
        As in :func:`exp`.

    Returns
    -------
    ndarray of x's shape, float32 or float64
    """
    return _mapped(_elementwise.log, x, out)


def cos(x, out=None):
    """Return the cosine of angles in radians, element by element.

    Relative error below 2e-7 in float32 and 4e-16 in float64 (measured: 1.9e-7 and 3.3e-16) for every finite
    argument, also next to the zeros. Arguments beyond 6000 (float32) or a million (float64) are left to the
    C library and take ten times as long. The cosine of infinity is NaN. A value may exceed 1 by a unit in the
    last place.

    Parameters
    ----------
    x, out
        As in :func:`exp`.

    Returns
    -------
    ndarray of x's shape, float32 or float64
    """
    return _mapped(_elementwise.cos, x, out)


def sin(x, out=None):
    """Return the sine of angles in radians, element by element; errors and limits are those of :func:`cos`.

    Parameters
    ----------
    x, out
        As in :func:`exp`.

    Returns
    -------
    ndarray of x's shape, float32 or float64
    """
    return _mapped(_elementwise.sin, x, out)


def sincos(x, out=None):
    """Return sine and cosine of angles in radians, for less than the cost of both; errors as in :func:`cos`.

    The last bit may differ from that of :func:`sin` and :func:`cos`, which use another polynomial.

    Parameters
    ----------
    x : array-like of real numbers, any shape
        float32 is computed in float32, everything else in float64.
    out : pair of ndarrays of x's shape and precision, optional
        Where to write sine and cosine; one of them may be `x` itself.

    Returns
    -------
    sine, cosine : ndarrays of x's shape, float32 or float64
    """
    x = _real(x)
    given = (None, None) if out is None else out
    if len(given) != 2:
        raise ValueError("`out` of sincos must be a pair of arrays, one for the sine and one for the cosine")
    if given[0] is not None and given[1] is not None and np.may_share_memory(*given):
        raise ValueError("the two arrays of `out` overlap; give sine and cosine an array each")
    sine, cosine = (_target(x, one) for one in given)
    _elementwise.sincos(np.ascontiguousarray(x).reshape(-1), sine.reshape(-1), cosine.reshape(-1))
    return _delivered(sine, given[0]), _delivered(cosine, given[1])


def acos(x, out=None):
    """Return the angle in [0, pi] whose cosine is x, element by element.

    Relative error below 2e-7 in float32 and 4e-16 in float64 (measured: 1.5e-7 and 2.6e-16), also next to
    x = 1. NaN outside [-1, 1]: clip a cosine that was computed.

    Parameters
    ----------
    x, out
        As in :func:`exp`.

    Returns
    -------
    ndarray of x's shape, float32 or float64
    """
    return _mapped(_elementwise.acos, x, out)


def _mapped(function, x, out):
    x = _real(x)
    target = _target(x, out)
    function(np.ascontiguousarray(x).reshape(-1), target.reshape(-1))
    return _delivered(target, out)


def _real(x):
    x = np.asarray(x)
    if x.dtype.kind not in "biuf":
        raise ValueError(f"expected real numbers, got an array of dtype {x.dtype}")
    single = x.dtype.kind == "f" and x.dtype.itemsize == 4
    return x.astype(np.float32 if single else np.float64, copy=False)  # in this machine's byte order


def _target(x, out):
    """Return the contiguous array to compute into: `out` where that is safe, else a new one."""
    if out is None:
        return np.empty(x.shape, dtype=x.dtype)
    if not isinstance(out, np.ndarray) or out.shape != x.shape or out.dtype != x.dtype:
        have = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(f"`out` must be an array like the result, {x.dtype} of shape {x.shape}; got {have}")
    if not out.flags.writeable:
        raise ValueError("`out` is read-only")
    in_place = x.flags.c_contiguous and x.ctypes.data == out.ctypes.data
    if out.flags.c_contiguous and (in_place or not np.may_share_memory(x, out)):
        return out
    return np.empty(x.shape, dtype=x.dtype)


def _delivered(target, out):
    if out is None:
        return target[()]  # turns a 0-d array into a scalar
    if out is not target:
        out[...] = target
    return out

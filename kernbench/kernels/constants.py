"""Check of the parameters of kernels: whether they can be represented in the precision of kernel values."""

from dataclasses import fields

import numpy as np

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
LIMITS = {dtype: float(np.finfo(dtype).max) / 4 for dtype in FLOATS}
EPS = {dtype: float(np.finfo(dtype).eps) for dtype in FLOATS}
TINY = {dtype: float(np.finfo(dtype).tiny) for dtype in FLOATS}  # least normal number
OF_ESTIMATORS = {"scale": "gamma", "c": "coef0"}  # the names of parameters of kernels in estimators


def check_constants(kernel, dtype, *, wider="use dtype='float64'"):
    """Raise ValueError for a parameter that is infinite in `dtype`: times an inner product of 0 it would be NaN.

    Parameters
    ----------
    kernel : Kernel
    dtype : {"float32", "float64"}
    wider : str
        Further advice for float32.
    """
    for component in kernel.components:
        check_constants(component, dtype, wider=wider)
    limit = LIMITS[np.dtype(dtype)]
    # Rates of coordinatewise kernels are bounded where they are used.
    if kernel.coordinatewise or max(map(abs, kernel.constants), default=0.0) < limit:
        return
    large = [
        f"{OF_ESTIMATORS.get(field.name, field.name)}={np.max(value):.3g}"
        for field in fields(kernel)
        if field.name != "kernels" and np.max(np.abs(value := getattr(kernel, field.name))) >= limit
    ]
    remedy = f", or {wider}" if np.dtype(dtype) == np.float32 else ""
    raise ValueError(
        f"{type(kernel).__name__}: {', '.join(large)} is too large for {np.dtype(dtype)}: lower it{remedy}"
    )

"""The power with which a quantity grows or falls, with its interval: measured rates beside published ones."""

from dataclasses import dataclass

import numpy as np

MIN_POINTS = 3
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rate:
    """y ~ x ** slope, fitted by least squares on the logarithms.

    Attributes
    ----------
    slope : float
    low, high : float
        Ends of the 95 % interval of the regression, by Student's t.
    """

    slope: float
    low: float
    high: float

    @property
    def half(self):
        """Half of the interval's length."""
        return (self.high - self.low) / 2


def rate(x, y):
    """Fit the power of `x` with which `y` changes.

    Parameters
    ----------
    x, y : sequence of float
        Positive; several points may share their x.

    Returns
    -------
    Rate or None
        None for fewer than three points, or if they all have the same x.
    """
    x, y = np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float))
    if len(x) < MIN_POINTS or not np.ptp(x):
        return None
    from scipy import stats

    line = stats.linregress(x, y)
    half = stats.t.ppf(0.5 + CONFIDENCE / 2, len(x) - 2) * line.stderr
    return Rate(float(line.slope), float(line.slope - half), float(line.slope + half))

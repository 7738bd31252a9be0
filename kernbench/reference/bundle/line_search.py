"""Line search by derivatives alone, for convex functions with or without kinks."""

FLAT = 0.02  # slope, relative to the first, that is small enough
NARROW = 1e-6  # relative width of a bracket around a kink
STATIONARY = 1e-9  # slope, relative to the first, that is 0 up to rounding


def line_search(derivative, slope):
    """Return a step t > 0 just beyond the minimiser of a convex function of t.

    The minimiser lies just before t: at t the derivative is at least 0 (up to rounding) and small, or there is a
    kink in between.

    Parameters
    ----------
    derivative : callable
        The derivative of the function at a step, non-decreasing.
    slope : float
        The derivative at 0, < 0.
    """
    low, low_slope, high = 0.0, slope, 1.0
    high_slope = derivative(high)
    while high_slope < -STATIONARY * abs(slope) and high < 2.0**30:
        low, low_slope, high = high, high_slope, 2 * high
        high_slope = derivative(high)
    for k in range(60):
        if high_slope <= FLAT * abs(slope) or high - low <= NARROW * high:
            break
        # The secant, extended slightly beyond the root so that the upper end moves; bisection every third time.
        t = low + (high - low) * -low_slope / (high_slope - low_slope)
        t = 0.5 * (low + high) if k % 3 == 2 else t + 0.05 * (high - t)
        middle = derivative(t)
        if middle >= 0:
            high, high_slope = t, middle
        else:
            low, low_slope = t, middle
    return high


class SampledLine:
    """Line search for a problem, on some of its samples.

    Parameters
    ----------
    problem : Risk or SmoothedPairs
        The problem of the sample.
    sample : ndarray of int
        Indices of its samples among all.
    """

    def __init__(self, problem, sample):
        self.problem, self.sample = problem, sample

    def search(self, scores, moved, slope, curvature):
        """Return a step just beyond the minimiser; 0 if `slope` is not negative.

        `slope` is the derivative of the objective at 0, `curvature` that of alpha/2 |f + t step|^2. The derivative of
        the risk is that on the sample; at 0 it is known exactly, so that only its change is estimated.
        """
        if slope >= 0:
            return 0.0
        here, along = scores[self.sample], moved[self.sample]
        risk = self.problem.risk
        offset = slope - risk(here)[1] @ along
        return line_search(lambda t: offset + curvature * t + risk(here + t * along)[1] @ along, slope)

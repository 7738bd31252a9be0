"""Steps of SMO where the dual objective has a kink at 0, on either side of which its slope is less by `zone`."""

import numpy as np


def slopes(work):
    """Return the slopes of the dual objective where coordinates grow, and where they shrink."""
    beta, e, zone = work.beta, work.e, work.zone
    return (e - np.where(beta >= 0, zone, -zone), e - np.where(beta > 0, zone, -zone)) if zone else (e, e)


def step_over_kinks(work, i, j, slope, curvature, end):
    """Return the best step of a pair, up to `end`, and add its gain. Where a coefficient passes 0, the slope drops by
    2 zone."""
    kinks = sorted(kink for kink in (-work.beta[i], work.beta[j]) if kink > 0)
    step = 0.0
    for kink in (*kinks, np.inf):
        length = min(slope / curvature, end - step, kink - step)
        work.dual_gain += length * (slope - 0.5 * length * curvature)
        at_kink = length == kink - step
        step = kink if at_kink else step + length
        slope -= length * curvature + 2 * work.zone
        if not at_kink or step >= end or slope <= 0:
            break
    return step


def round_to_zero(work, k, rounding):
    """Set a coefficient that is 0 up to rounding to 0."""
    if abs(work.beta[k]) <= rounding:
        work.beta[k] = 0.0


def shrunk(x, width):
    """Return x moved towards 0 by `width`, at most to 0."""
    return np.sign(x) * np.maximum(np.abs(x) - width, 0.0)


def single_steps(work, curvature):
    """Return the best step of each coordinate by itself, and its gain: soft thresholding, within the box."""
    beta, e, zone = work.beta, work.e, work.zone
    step = e / curvature
    if zone:
        step = shrunk(beta + step, zone / curvature) - beta
    step = np.clip(step, work.lower - beta, work.upper - beta)
    return step, step * (e - 0.5 * step * curvature) - zone * (np.abs(beta + step) - np.abs(beta))

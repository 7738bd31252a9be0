"""Ends and ticks of axes."""

import numpy as np

MARGIN = 0.06  # of an axis, beyond its outermost points
LARGEST = 1e150  # what lies beyond is cut; ends and steps of an axis, with room for names, must be finite
MANY = 7  # powers of ten; if there are more, every second or third is shown


def limits(arrays, log):
    """The ends of an axis that shows all values of some arrays, with a margin."""
    values = np.concatenate([np.ravel(array) for array in arrays]).clip(-LARGEST, LARGEST)
    low, high = float(values.min()), float(values.max())
    if log:
        factor = max(high / low, 2.0) ** MARGIN
        return low / factor, high * factor
    margin = MARGIN * (high - low) or 0.5
    return low - margin, high + margin


def beyond(ends, share, log):
    """The right end of an axis whose last `share` is reserved for names."""
    low, high = ends
    stretch = share / (1.0 - share)
    return high * (high / low) ** stretch if log else high + (high - low) * stretch


def ticks(low, high, log):
    """Round numbers from `low` to `high`: powers of ten, or some five steps."""
    return decades(low, high) if log else round_ticks(low, high)


def decades(low, high):
    """Powers of ten from `low` to `high`, not too many; steps of 1, 2, 5 where there are fewer than two.

    If there are fewer than three of those, even steps.
    """
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    found = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(found) >= 2:
        return found[:: -(-len(found) // MANY)]
    found = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    found = [value for value in found if low <= value <= high]
    return found if len(found) >= 3 else round_ticks(low, high)


def round_ticks(low, high, n_steps=4, whole=False):
    """Round numbers from `low` to `high`, at most `n_steps` steps, of integers if `whole`."""
    raw = (high - low) / n_steps
    if raw <= 0:
        return [low]
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
    step = max(1.0, np.round(step)) if whole else step
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(step * k) for k in range(first, last + 1)]

"""Steps of kernel Pegasos on responses."""

import numpy as np

from kernbench.reference.kernel.online.walk import Walk, intercept_search

__all__ = ["Walk", "intercept_search", "steps"]


def steps(walk, drawn, loss, y, targets, diagonal, lam, delay, squared_radius, intercept, sums, responses, numbers):
    """Do the steps on the examples drawn; `numbers` are the steps done so far and ||g||^2."""
    for i in drawn:
        f_i = responses[i] / (lam * (max(numbers[0], 1.0) + delay))
        push = -float(loss.slope(y[i] * (f_i + intercept) - targets[i]))
        numbers[0] += 1
        if push != 0.0:
            numbers[1] += 2 * push * y[i] * responses[i] + push**2 * diagonal[i]
            sums[i] += push
            responses += push * y[i] * walk.row(i)
        limit = squared_radius * (numbers[0] + delay) ** 2
        if numbers[1] > limit:
            shrink = np.sqrt(limit / numbers[1])
            sums *= shrink
            responses *= shrink
            numbers[1] = limit

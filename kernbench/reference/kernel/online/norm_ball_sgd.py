"""Steps of stochastic gradient descent on the mean loss within a ball."""

import numpy as np

from kernbench.reference.kernel.online.walk import Walk, intercept_search

__all__ = ["Walk", "intercept_search", "steps"]


def steps(
    walk, drawn, loss, y, diagonal, radius, r, power, intercept, coef, responses, coef_sums, response_sums, numbers
):
    """Do the steps on the examples drawn; `numbers` are the steps done so far, ||v||^2 and the sum of the weights."""
    for i in drawn:
        push = -float(loss.slope(y[i] * (radius * responses[i] + intercept)))
        if loss.name == "squared_hinge":  # no step goes beyond margin 1
            push /= 2.0 * max(1.0, radius * r / np.sqrt(numbers[0] + 1))
        numbers[0] += 1
        if push != 0.0:
            step = push / (r * np.sqrt(numbers[0]))
            numbers[1] += 2 * step * y[i] * responses[i] + step**2 * diagonal[i]
            coef[i] += step
            responses += step * y[i] * walk.row(i)
        if numbers[1] > 1.0:
            shrink = 1.0 / np.sqrt(numbers[1])
            coef *= shrink
            responses *= shrink
            numbers[1] = 1.0
        weight = (numbers[0] / 1000) ** power
        coef_sums += weight * coef
        response_sums += weight * responses
        numbers[2] += weight

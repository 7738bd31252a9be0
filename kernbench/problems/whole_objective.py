"""The objective over all rows of a function fitted to a sample of them.

The sample's own objective is lower, since the function was fitted to it. The mean loss of the other rows is exact where
their responses are known, and is otherwise estimated from some drawn for this purpose.
"""

from dataclasses import dataclass

import numpy as np

ERRORS = 3.0  # standard errors within which two objectives are the same
SAME_OBJECTIVE = 0.01  # ... or this share of the objective


@dataclass(frozen=True)
class Estimate:
    """An objective over all rows.

    Attributes
    ----------
    value : float
    error : float
        Standard error of `value`; 0.0 where no row was left out.
    """

    value: float
    error: float

    def is_above(self, objective):
        """Return whether `objective`, that of the sample, is too low by more than the error and one per cent."""
        return self.value - objective > max(ERRORS * self.error, SAME_OBJECTIVE * abs(self.value))


def estimate_objective(source, sample, outside, *, penalty, intercept, inside_responses, outside_responses):
    """Return the `Estimate` of ``penalty + (1/n) sum_i w_i hinge(y_i (f(x_i) + b))`` over all rows of a source.

    Parameters
    ----------
    source : a source of samples
        See ``kernbench.problems.streaming.samples``.
    sample, outside : ndarray of intp
        Ids of the sample, and of rows that are not in it.
    penalty : float
        alpha/2 ||f||^2.
    intercept : float
    inside_responses, outside_responses : ndarray
        f at these rows.
    """

    def losses(ids, responses):
        return source.weights[ids] * np.maximum(0.0, 1.0 - source.y[ids] * (responses + intercept))

    inside, rest = losses(sample, inside_responses), losses(outside, outside_responses)
    n_rest = source.n_outside(len(sample))
    if len(rest) == 0 or n_rest == 0:
        return Estimate(float(penalty + source.share * inside.mean()), 0.0)
    share = 1.0 / (1.0 + len(sample) / n_rest)  # 1 where `outside` stands for all rows: n_rest is infinite
    value = penalty + source.share * ((1.0 - share) * inside.mean() + share * rest.mean())
    spread = rest.std(ddof=1) if len(rest) > 1 else abs(rest[0])
    error = source.share * share * spread * np.sqrt(max(0.0, 1.0 / len(rest) - 1.0 / n_rest))
    return Estimate(float(value), float(error))

"""How far rounding may move an objective and a dual bound (Higham, Accuracy and Stability, 2002, section 3).

A computed sum of m products differs from the exact one by at most m eps sum |terms|. So scores sum_j c_j k(x_j, x_i)
are known up to unit S k, where S = sum_j |c_j|, k = max_i k(x_i, x_i) and `unit` is m eps plus the relative error of a
kernel value; scores <w, x_i> up to d eps |w| |x_i|.
"""

from dataclasses import dataclass

import numpy as np

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Rounding:
    """Bounds of absolute errors: of an objective, and of a lower bound on the optimum."""

    objective: float
    bound: float

    @property
    def total(self):
        """Bound on the error of their difference."""
        return self.objective + self.bound


def of_expansion(risk, risk_value, size, largest, unit):
    """Return the `Rounding` for f = sum_j c_j k(x_j, .) and the dual bound with the same coefficients.

    Parameters
    ----------
    risk : MarginRisk or PairRisk
    risk_value : float
        The risk of f.
    size : float
        The sum of the |c_j|.
    largest : float
        The largest k(x, x).
    unit : float
        Relative error of a sum of kernel values.
    """
    error = size * largest * unit
    norm = 0.5 * risk.alpha * size * error
    summation = EPS * risk.n * abs(risk_value)
    dual = max(size, risk.dual_size) ** 2 * largest * unit * 0.5 * risk.alpha
    return Rounding(norm + risk.change(risk_value, error) + summation, dual + summation)


def of_weights(risk, risk_value, gap, norm, longest, n_features, eps=EPS, n_terms=None):
    """Return the `Rounding` for f = <w, .>.

    Parameters
    ----------
    risk : MarginRisk or PairRisk
    risk_value, gap : float
        The risk of f, and the gap of its objective.
    norm : float
        |w|.
    longest : float
        Bound on |x_i|.
    n_features : int
    eps : float
        Unit roundoff of the sums.
    n_terms : int, optional
        Largest number of terms of a score, at most `n_features`.
    """
    unit = eps * ((n_features if n_terms is None else n_terms) + 8)
    summation = eps * risk.n * risk_value
    of_norm = risk.alpha * norm**2 * eps * (n_features + 8)
    objective = of_norm + risk.change(risk_value, norm * longest * unit) + summation
    # sum_i |g_i|: for a loss with Lipschitz slopes l'^2 <= 2 L l, and the gap is at least the sum of the squares of how
    # much slopes differ from the dual variables, over 2 L.
    reach = risk.reach
    if 0.0 < risk.smoothness < np.inf:
        roots = np.sqrt(max(risk_value, 0.0)) + np.sqrt(max(gap, 0.0))
        reach = min(reach, np.sqrt(2.0 * risk.smoothness * risk.mass) * roots)
    # The dual bound has alpha/2 |u|^2 with u = (1/alpha) sum_i g_i x_i, |u - w|^2 <= 4 gap / alpha.
    error = eps * (risk.n + 8) * longest * reach
    distance = np.sqrt(4.0 * max(gap, 0.0) / risk.alpha)
    return Rounding(objective, error * (norm + distance) + error**2 / risk.alpha + summation)

"""Problems of pairs, and the sums over pairs written out."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit


@pytest.fixture(scope="session")
def pair_problem():
    """A function ``make(seed, n=40, weighted=False, ties=False)``: labels, scores, weights, a direction."""

    def make(seed, n=40, weighted=False, ties=False):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(n) < 0.3, 1, -1)
        y[:2] = 1, -1
        scores = rng.normal(size=n) + 0.5 * y
        if ties:
            scores = np.round(2 * scores) / 2  # thresholds a - 1 meet scores b
        weights = None
        if weighted:
            weights = rng.exponential(size=n) * rng.integers(0, 2, size=n)
            weights[:2] = 1, 0.5
        return SimpleNamespace(n=n, y=y, scores=scores, weights=weights, v=rng.normal(size=n), rng=rng)

    return make


def written_out(y, scores, weights=None, v=None):
    """Losses and derivatives by the double sum over all pairs."""
    y, s = np.asarray(y), np.asarray(scores, dtype=np.float64)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    i, j = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    pair_weights = np.outer(w[i], w[j])
    pair_weights /= math.fsum(pair_weights.ravel())
    excess = np.maximum(0, s[j] - (s[i] - 1)[:, None])

    def spread(of_pairs):
        whole = np.empty(len(y))
        whole[i] = [-math.fsum(row) for row in of_pairs]
        whole[j] = [math.fsum(column) for column in of_pairs.T]
        return whole

    active = pair_weights * (excess > 0)
    answer = SimpleNamespace(
        hinge=math.fsum((pair_weights * excess).ravel()),
        subgradient=spread(active),
        squared_hinge=math.fsum((pair_weights * excess**2).ravel()),
        gradient=spread(2 * pair_weights * excess),
        log_loss=math.fsum((pair_weights * np.logaddexp(0, s[j] - s[i][:, None])).ravel()),
        log_gradient=spread(pair_weights * expit(s[j] - s[i][:, None])),
    )
    if v is not None:
        answer.hessian_product = spread(2 * active * (v[j] - v[i][:, None]))
        p, q = (expit(sign * (s[j] - s[i][:, None])) for sign in (1, -1))
        answer.log_hessian_product = spread(pair_weights * p * q * (v[j] - v[i][:, None]))
    return answer


@pytest.fixture(scope="session")
def brute_force():
    return written_out

"""Batches of pairs and of one list of losses, and the stochastic subgradients of Algorithm 1.

Scale-free form: subgradients are means over the batch, not sums over all pairs. With l the number of the largest
losses that count and N the length of the list, `share` is l/N; u are weights divided by their mean.
"""

import numpy as np

from kernbench.problems.ranking.sampling import THRESHOLDS
from kernbench.validation.numbers import check_name

CLEARANCE = 1e-9  # smallest relative difference of values that differ by more than rounding


def draw(u, n):
    """Return len(u) different indices below n: the first steps of the shuffle of Fisher and Yates."""
    moved, drawn = {}, []
    for k, number in enumerate(u):
        r = min(k + int(number * (n - k)), n - 1)
        drawn.append(moved.get(r, r))
        moved[r] = moved.get(k, k)
    return np.array(drawn, dtype=np.intp)


class PairBatches:
    """Batches of positives and negatives, for sums over pairs of l(a_i - b_j) with the l largest b_j.

    Parameters
    ----------
    sampling : PairSampling
    thresholds : {"exact", "stochastic"}
        "exact": all positives share one threshold tau of the scores b_j, instead of one of the losses each,
        lambda_i = l(a_i - tau).
    """

    def __init__(self, sampling, thresholds="exact"):
        self.sampling, self.design, self.size, self.loss = sampling, sampling.design, sampling.batch, sampling.loss
        self.one_threshold = check_name("thresholds", thresholds, THRESHOLDS) == "exact"
        self.n_thresholds = 1 if self.one_threshold else self.sampling.positives.size

    def draw(self, u):
        """Return the places in their populations of I positives and J negatives."""
        first, second = self.sampling.positives, self.sampling.negatives
        return draw(u[: first.batch], first.size), draw(u[first.batch :], second.size)

    def scores(self, batch, v):
        """Return rows, scores and weights of the positives and of the negatives of a batch."""
        for population, places in zip((self.sampling.positives, self.sampling.negatives), batch):
            X = self.design.rows(population.rows[places])
            yield X, X @ v, population.weights[places]

    def subgradients(self, batch, v, lam, share):
        """Return G, the subgradient in v; Gl, those in the thresholds; and the thresholds that they belong to."""
        (Xi, a, ui), (Xj, b, uj) = self.scores(batch, v)
        Z = a[:, None] - b[None, :]
        if self.one_threshold:
            touched = np.zeros(1, dtype=np.intp)
            A = np.broadcast_to(b > lam[0], Z.shape)
            Gl = share - np.mean(uj * (b > lam[0]))
        else:
            touched = batch[0]
            A = self.loss.value(Z) > lam[touched][:, None]
            Gl = share - np.mean(A * uj, axis=1)
        S = A * self.loss.slope(Z) * ui[:, None] * uj / Z.size
        G = Xi.T @ S.sum(axis=1) - Xj.T @ S.sum(axis=0)
        return G, Gl, touched

    def exact_threshold(self, scores, share):
        """Return a score that the share of the highest negatives lies above."""
        population = self.sampling.negatives
        return upper_quantile(scores[population.rows], population.weights, share)


class ListBatches:
    """Batches of samples, for the sum of the l largest of one list of losses."""

    n_thresholds = 1

    def __init__(self, sampling):
        self.sampling, self.design, self.size = sampling, sampling.design, sampling.batch
        self.loss, self.y = sampling.loss, sampling.y

    def losses(self, rows, scores):
        """Return the losses of samples, and their slopes in the scores."""
        y = self.y[rows]
        if self.sampling.of_margin:
            return self.loss.value(y * scores), y * self.loss.slope(y * scores)
        return self.loss.value(scores - y), self.loss.slope(scores - y)

    def draw(self, u):
        """Return the places in the population of J samples."""
        return draw(u, self.sampling.population.size)

    def subgradients(self, batch, v, lam, share):
        """Return G, the subgradient in v; Gl, that in the threshold; and the threshold's index."""
        population, touched = self.sampling.population, np.zeros(1, dtype=np.intp)
        rows, u = population.rows[batch], population.weights[batch]
        X = self.design.rows(rows)
        s, slopes = self.losses(rows, X @ v)
        A = s > lam[0]
        G = X.T @ (A * u * slopes) / len(batch)
        return G, share - np.mean(A * u), touched

    def exact_threshold(self, scores, share):
        """Return a loss that the share of the largest losses lies above."""
        population = self.sampling.population
        return upper_quantile(self.losses(population.rows, scores[population.rows])[0], population.weights, share)


def upper_quantile(values, weights, share):
    """Return a value above which `share` of the whole weight lies, or what whole samples of it there are.

    It is halfway between the first sample that does not fit and the next larger value, so that rounding does not
    decide.
    """
    order = np.argsort(-values)
    beyond = np.cumsum(weights[order]) > share * len(values) * (1 + 1e-12)
    if share >= 1.0 or not beyond.any():
        return -np.inf
    value = values[order[np.argmax(beyond)]]
    clear = value + CLEARANCE * max(1.0, abs(value))
    larger = values[values > clear]
    return 0.5 * (value + larger.min()) if len(larger) else clear

"""Steps on the window of a batch: the core of the naive mini-batches."""

import numpy as np

from kernbench.reference.pairs.window import WindowPairs
from kernbench.reference.ranking.stochastic.batches import PairBatches

__all__ = ["PairBatches", "WindowPairs", "steps"]


def steps(batches, u, first, step, alpha, low, high, radius, w, total):
    """Do the steps `first`, `first` + 1, …, one for each row of random numbers, and add the iterates to `total`.

    Return how many were done, fewer where a score is not finite.
    """
    for done, numbers in enumerate(u):
        (Xi, a, ui), (Xj, b, uj) = batches.scores(batches.draw(numbers), w)
        if not np.isfinite(w).all():
            return done
        with np.errstate(all="ignore"):
            order = np.argsort(-b, kind="stable")
            after = np.cumsum(uj[order])
            begin, end = low * after[-1], high * after[-1]
            share = np.zeros(len(b))  # of each negative's weight, what lies in the window
            share[order] = np.clip(np.minimum(after, end) - np.maximum(after - uj[order], begin), 0.0, None)
            S = batches.loss.slope(a[:, None] - b) * ui[:, None] * share / (ui.sum() * (end - begin))
            G = Xi.T @ S.sum(axis=1) - Xj.T @ S.sum(axis=0)
            eta = step / np.sqrt(first + done)
            w[:] = (w - eta * G) / (1.0 + eta * alpha)
            w *= min(1.0, radius / max(np.sqrt(w @ w), 1e-300))
            total += w
    return len(u)

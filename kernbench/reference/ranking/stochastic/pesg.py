"""Proximal steps on the min-max margin loss of the AUC: the core of PESG."""

import numpy as np

from kernbench.reference.ranking.stochastic.batches import PairBatches

__all__ = ["PairBatches", "steps"]


def steps(batches, u, eta, alpha, margin, decay, clip, v, reference, total, theta):
    """Do one step of v = (w, a, b) and theta for each row of random numbers, and add the iterates to `total`.

    Return how many were done, fewer where a score is not finite.
    """
    w, a, b = v[:-2], v[-2:-1], v[-1:]
    ridge = np.append(np.full(len(w), alpha), [0.0, 0.0])
    for done, numbers in enumerate(u):
        if not np.isfinite(v).all():
            return done
        with np.errstate(all="ignore"):
            (Xi, s, ui), (Xj, r, uj) = batches.scores(batches.draw(numbers), w)
            for_positive = 2.0 * ui / len(s) * (s - a)
            for_negative = 2.0 * uj / len(r) * (r - b)
            G = np.concatenate([
                Xi.T @ (for_positive - 2.0 * theta * ui / len(s)) + Xj.T @ (for_negative + 2.0 * theta * uj / len(r)),
                [-for_positive.sum(), -for_negative.sum()],
            ])  # fmt: skip
            G = np.clip(G, -clip, clip)
            v[:] = (v - eta * (G - decay * reference)) / (1.0 + eta * (decay + ridge))
            theta[:] = np.maximum(0.0, theta + eta * (2.0 * (margin + b - a) - 2.0 * theta))
            total += v
    return len(u)

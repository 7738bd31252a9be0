"""Runs of stochastic block coordinate descent on the same batches: the core of AGD-SBCD and of DCA."""

import numpy as np

from kernbench.reference.pairs.ranked_range import RankedRange
from kernbench.reference.pairs.window import WindowPairs
from kernbench.reference.ranking.stochastic.batches import ListBatches, PairBatches

__all__ = ["ListBatches", "PairBatches", "RankedRange", "WindowPairs", "find_thresholds", "steps"]

ROUNDING = 1e-12  # thresholds of this size are 0


def steps(batches, u, t, eta, theta, share, damping, v, v_sum, anchor, lam, lam_sum, last):
    """Do the steps t, t + 1, … of some runs, one for each row of random numbers.

    These draw a batch for all runs, or one for each. Return how many were done, fewer where a score is not finite.
    """
    shared = u.shape[1] == batches.size
    for done, numbers in enumerate(u):
        for r in range(len(v)):
            if r == 0 or not shared:
                batch = batches.draw(numbers[r * batches.size : (r + 1) * batches.size])
            if not np.isfinite(v[r]).all():
                return done
            with np.errstate(all="ignore"):
                G, Gl, touched = batches.subgradients(batch, v[r], lam[r], share[r])
                v_sum[r] += v[r]
                if share[r] < 1.0:
                    lam_sum[r, touched] += lam[r, touched] * (t + done + 1 - last[r, touched])
                    last[r, touched] = t + done + 1
                    lam[r, touched] -= theta * Gl
                    lam[r, np.abs(lam[r]) < ROUNDING] = 0.0  # many losses of a hinge are exactly 0
                v[r] = (v[r] + eta * (anchor[r] - G)) / (1.0 + eta * damping[r])
    return len(u)


def find_thresholds(batches, scores, share, lam):
    """Let the thresholds be exact at the scores of all samples; return False if a value to be sorted is not finite."""
    for r, of_the_run in enumerate(share):
        lam[r, 0] = batches.exact_threshold(scores, of_the_run)
    return True

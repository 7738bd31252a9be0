"""Stochastic block coordinate descent on g^l(v, lambda), Algorithm 1 of Yao, Lin and Yang in its scale-free form."""

import numpy as np

ROUNDING = 1e-12  # thresholds of this size are 0


class SBCD:
    """One run in v and lambda.

    Each step minimises G'v - anchor'v + pull/2 |v|^2 + ridge/2 |v|^2 + |v - v_t|^2 / (2 eta). With ``pull`` = 1/mu
    and ``anchor`` = w/mu this is the step of Algorithm 1, which keeps v near w.

    Parameters
    ----------
    batches : PairBatches or ListBatches
    share : float
        l/N, above 0.
    pull, ridge : float
    """

    arrays = ("v", "v_sum", "anchor", "lam", "lam_sum", "last")

    def __init__(self, batches, share, pull, ridge):
        self.batches, self.share, self.pull, self.ridge = batches, share, pull, ridge
        d, k = batches.design.n_coef, batches.n_thresholds
        self.v, self.v_sum, self.anchor = np.zeros(d), np.zeros(d), np.zeros(d)
        # Every threshold is -inf where all losses count. `lam_sum` holds its sum over steps before `last`.
        self.lam = np.full(k, -np.inf if share >= 1.0 else 0.0)
        self.lam_sum, self.last = np.zeros(k), np.zeros(k)

    def begin(self, w, linear=None):
        """Start the run at w; `linear` is subtracted from each G."""
        self.v, self.v_sum = w.copy(), np.zeros(len(w))
        self.lam_sum, self.last = np.zeros(len(self.lam)), np.zeros(len(self.lam))
        self.anchor = self.pull * w
        if linear is not None:
            self.anchor = self.anchor + linear

    def step(self, t, batch, eta, theta):
        """Do step t = 0, 1, ... of the run."""
        G, Gl, touched = self.batches.subgradients(batch, self.v, self.lam, self.share)
        self.v_sum += self.v
        if self.share < 1.0:
            self.lam_sum[touched] += self.lam[touched] * (t + 1 - self.last[touched])
            self.last[touched] = t + 1
            self.lam[touched] -= theta * Gl
            self.lam[np.abs(self.lam) < ROUNDING] = 0.0  # many losses of a hinge are exactly 0
        self.v = (self.v + eta * (self.anchor - G)) / (1.0 + eta * (self.pull + self.ridge))

    def end(self, T):
        """Return the mean of the iterates 0 to T - 1, and let lambda be its own."""
        if self.share < 1.0:
            self.lam = (self.lam_sum + self.lam * (T - self.last)) / T
        return self.v_sum / T

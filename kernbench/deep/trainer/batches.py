"""Batches of a fit, one after the other, with a state that a checkpoint holds."""

import numpy as np
import torch

from kernbench.deep.batches import PairBatchSampler


class PairBatches:
    """Batches of `n_positive` positives and `n_negative` negatives, each class without replacement.

    Parameters
    ----------
    y : ndarray of shape (n,)
    settings : Settings
    seed : int
    """

    def __init__(self, y, settings, seed):
        self.sampler = PairBatchSampler(y, settings.n_positive, settings.n_negative, seed=seed)

    def draw(self):
        """Return the indices of the next batch, the positives first."""
        return np.array(self.sampler.draw())

    def state_dict(self):
        """The number of the next batch: batch k depends on it and the seed only."""
        return {"batch": self.sampler.batch}

    def load_state_dict(self, state):
        """Go on from a `state_dict`."""
        self.sampler.batch = state["batch"]


class ShuffledBatches:
    """All indices in a random order, a batch at a time, in a new order each time."""

    def __init__(self, n, size, seed):
        self.n, self.size, self.rng = n, min(n, size), np.random.default_rng(seed)
        self.order = np.empty(0, dtype=np.int64)

    def draw(self):
        """Return the indices of the next batch."""
        if len(self.order) < self.size:  # a batch may span two orders, so that all have one size
            self.order = np.concatenate([self.order, self.rng.permutation(self.n)])
        batch, self.order = self.order[: self.size], self.order[self.size :]
        return batch

    def state_dict(self):
        """The rest of the order, and the state of the generator."""
        return {"order": torch.from_numpy(self.order.copy()), "rng": self.rng.bit_generator.state}

    def load_state_dict(self, state):
        """Go on from a `state_dict`."""
        self.order = state["order"].numpy().copy()
        self.rng.bit_generator.state = state["rng"]

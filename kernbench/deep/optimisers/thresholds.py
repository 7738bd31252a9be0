"""Which pairs of a batch are among the largest losses of all data: thresholds that follow their subgradients.

In g(v, lambda) = l sum_i lambda_i + sum_ij max(0, s_ij - lambda_i) a pair counts where s_ij > lambda_i; divided by N,
the subgradient in lambda_i is l/N less the share of the negatives whose pairs count, estimated by those of the batch.
A stage ends with the mean of its thresholds. With lambda_t+1 = lambda_t - d_t that mean over t = 0 ... T-1 is
lambda_T + sum_t d_t (t + 1) / T: the sum, called drift, changes only where a threshold does.
"""

import torch

ROUNDING = 1e-12  # thresholds of this size are 0: many losses of a hinge are exactly 0


class ThresholdPerPositive:
    """lambda_i, a threshold of the losses of each positive, 0 at first.

    Parameters
    ----------
    state : dict
        Holds the tensors.
    end : {"low", "high"}
        The end of the range whose thresholds these are.
    share : float
        l/N.
    n_positive : int
    """

    decay = 1.0  # power of k + 1 with which steps fall

    def __init__(self, state, end, share, n_positive):
        self.state, self.share, self.size = state, share, n_positive
        self.names = f"{end}_thresholds", f"{end}_drift"

    def count(self, losses, b, indices, theta, weight):
        """Return the pairs that count, as a mask, and take a step of size theta; `weight` is (t + 1) / T."""
        indices = self._checked(indices).to(losses.device)
        thresholds, drift = self._tensors(losses, lambda: losses.new_zeros(self.size))
        old = thresholds[indices]
        counted = losses > old[:, None]
        self._move(thresholds, drift, indices, old, theta * (self.share - counted.to(b.dtype).mean(1)), weight)
        return counted

    def end_stage(self):
        """Replace the thresholds by their means over the stage."""
        thresholds, drift = (self.state[name] for name in self.names)
        thresholds += drift
        drift.zero_()

    def forget_stage(self):
        """Restart a stage, with the thresholds as they are."""
        if self.names[1] in self.state:
            self.state[self.names[1]].zero_()

    def _move(self, thresholds, drift, indices, old, step, weight):
        new = old - step
        new = torch.where(new.abs() < ROUNDING, 0.0, new)
        thresholds.index_add_(0, indices, new - old)
        drift.index_add_(0, indices, (old - new) * weight)

    def _tensors(self, like, first):
        """Thresholds and drift, on the device and in the dtype of a tensor."""
        if self.names[0] not in self.state:
            thresholds = first()
            self.state.update(zip(self.names, (thresholds, torch.zeros_like(thresholds))))
        for name in self.names:
            self.state[name] = self.state[name].to(like)
        return (self.state[name] for name in self.names)

    def _checked(self, indices):
        if indices is None:
            raise ValueError(
                "a threshold is kept for every positive, so that step needs indices: wrap the data set in "
                "IndexedDataset and call step(closure, labels, indices)"
            )
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < self.size:
            raise ValueError(
                f"indices of positives must lie between 0 and n_positive - 1 = {self.size - 1}, found "
                f"{int(indices.min())} to {int(indices.max())}"
            )
        return indices


class OneThreshold(ThresholdPerPositive):
    """tau, one threshold of the negatives' scores: s_ij > lambda_i where b_j > tau and lambda_i = loss(a_i - tau).

    Its steps fall more slowly than those of the network, so that its lag behind the scores falls.
    """

    decay = 0.5

    def count(self, losses, b, indices, theta, weight):
        """Return the pairs that count, as a mask, and take a step of size theta; `weight` is (t + 1) / T."""
        old, drift = self._tensors(b, lambda: torch.quantile(b, 1.0 - self.share)[None])
        counted = b > old
        step = theta * (self.share - counted.to(b.dtype).mean())
        self._move(old, drift, torch.zeros(1, dtype=torch.long, device=b.device), old.clone(), step, weight)
        return counted.expand_as(losses)

    def find(self, scores):
        """Set the threshold to a score that `share` of those of all negatives lies above.

        It is halfway between the first sample that does not fit and the next larger value, so that rounding does not
        decide.
        """
        ranked = torch.sort(scores, descending=True).values
        place = int(self.share * len(ranked) * (1.0 + 1e-12))
        value = ranked[place]
        larger = ranked[ranked > value + 1e-9 * value.abs().clamp(min=1.0)]
        threshold = 0.5 * (value + larger[-1]) if len(larger) else value + 1e-9 * value.abs().clamp(min=1.0)
        thresholds, drift = self._tensors(scores, lambda: threshold[None])
        thresholds[0], drift[0] = threshold, 0.0

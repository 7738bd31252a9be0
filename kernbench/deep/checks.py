"""Scores and labels as tensors or arrays: checks, each of which raises a ValueError that says what would be right."""

import torch


def on_host(values):
    """Return a tensor as a NumPy array, bfloat16 as float32, since NumPy has none; anything else as it is."""
    if not torch.is_tensor(values):
        return values
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy(force=True)


def column_of(scores):
    """Return scores of shape (B,) or (B, 1) as a vector."""
    if not torch.is_tensor(scores):
        raise ValueError(f"scores must be a tensor, got {type(scores).__name__}")
    if not scores.is_floating_point():
        raise ValueError(f"scores must be floating-point numbers, got {scores.dtype}")
    if scores.ndim == 2 and scores.shape[1] == 1:
        return scores[:, 0]
    if scores.ndim == 2:
        raise ValueError(
            f"the module returns {scores.shape[1]} columns, shape {tuple(scores.shape)}: ranking needs one score per "
            "example; let its last layer have one output"
        )
    if scores.ndim != 1:
        raise ValueError(f"scores must have shape (B,) or (B, 1), got {tuple(scores.shape)}")
    return scores


class Classes:
    """Where the two classes of a batch are.

    Parameters
    ----------
    labels : Tensor of shape (B,) or (B, 1)
        0 and 1, or -1 and 1.
    both : bool, default=True
        Whether there must be examples of both.

    Attributes
    ----------
    mask : Tensor of shape (B,), bool
        The positives.
    n_positive, n_negative : int
    """

    def __init__(self, labels, both=True):
        labels = torch.as_tensor(labels)
        labels = labels if labels.dtype.is_signed else labels.int()  # of uint8, 255 would equal -1
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.ndim != 1:
            raise ValueError(f"labels must have shape (B,) or (B, 1), got {tuple(labels.shape)}")
        self.mask = labels == 1
        # one transfer from the device for all counts
        counts = torch.stack([self.mask.sum(), (labels == 0).sum(), (labels == -1).sum()]).tolist()
        self.n_positive, self.n_negative = counts[0], max(counts[1:])
        if self.n_positive + self.n_negative != len(labels):
            raise ValueError("labels must be 0 and 1, or -1 and 1")
        if both and not (self.n_positive and self.n_negative):
            missing = "negative" if self.n_positive else "positive"
            raise ValueError(f"the batch holds no {missing} example: draw batches by PairBatchSampler")

    def rows(self, device):
        """Return the indices of the positives and of the negatives, as tensors on a device."""
        order = torch.argsort(self.mask.to(device, torch.uint8), descending=True, stable=True)
        return order[: self.n_positive], order[self.n_positive :]


def scored_batch(scores, labels):
    """Return a batch's scores, which must be finite, as a vector, and its `Classes`."""
    scores, classes = column_of(scores), Classes(labels)
    require_labels(scores, classes.mask)
    if not torch.isfinite(scores.detach()).all():
        raise ValueError("scores must be finite, found NaN or infinity: lower the learning rate, or scale the inputs")
    return scores, classes


def require_labels(scores, labels):
    """Raise ValueError unless there is a label for each score."""
    if len(labels) != len(scores):
        raise ValueError(f"a batch needs a label per score, got {len(labels)} labels and {len(scores)} scores")

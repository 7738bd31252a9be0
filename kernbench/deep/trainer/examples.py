"""Examples as the trainer sees them: inputs by index, from an array or from a map-style dataset, and labels."""

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, TensorDataset, default_collate

from kernbench.deep.checks import column_of, on_host

SCORED_AT_ONCE = 256  # examples in a batch whose scores alone are wanted


class Examples:
    """Inputs that are fetched by index, with labels of -1 and +1.

    Parameters
    ----------
    source : ndarray or torch.utils.data.Dataset
    y : ndarray of shape (n,), float64
        -1 and +1.
    rows : ndarray of shape (n,), optional
        Indices into `source`; None means all.
    """

    def __init__(self, source, y, rows=None):
        self.source, self.y = source, y
        self.rows = np.arange(len(y)) if rows is None else rows

    def __len__(self):
        return len(self.y)

    @property
    def positive(self):
        """Which examples are positive."""
        return self.y > 0

    def take(self, chosen):
        """Return the examples whose indices are `chosen`."""
        return Examples(self.source, self.y[chosen], self.rows[chosen])

    def inputs(self, indices, like):
        """Return the inputs of some examples as one tensor on the device of `like`.

        Numbers of an array, and floating-point numbers of a dataset, get the precision of `like`; whole numbers of a
        dataset stay, for they may index an embedding.
        """
        rows = self.rows[indices]
        if isinstance(self.source, Dataset):
            inputs = _items(self.source, rows)
            return inputs.to(like.device, like.dtype if inputs.is_floating_point() else None)
        chosen = self.source[rows]
        native = np.asarray(chosen, chosen.dtype.newbyteorder("="))  # PyTorch takes no other order of bytes
        return torch.from_numpy(native).to(like.device, like.dtype)


def _items(dataset, rows):
    if _is_plain(dataset):
        return dataset.tensors[0][torch.from_numpy(rows)]
    if hasattr(dataset, "__getitems__"):
        items = dataset.__getitems__(rows.tolist())
    else:
        items = [dataset[int(row)] for row in rows]
    inputs = default_collate([item[0] if isinstance(item, tuple | list) else item for item in items])
    if not isinstance(inputs, torch.Tensor):
        raise ValueError(
            "an item of the dataset must be a pair (input, label) whose input is one tensor or array, got "
            f"{type(inputs).__name__}"
        )
    return inputs


def _is_plain(dataset):
    """Whether the items of a dataset are those of its tensors: a subclass may change them, to augment images."""
    return isinstance(dataset, TensorDataset) and type(dataset).__getitem__ is TensorDataset.__getitem__


def is_dataset(X):
    """Whether X is a dataset of torch; raise ValueError if its items cannot be fetched by index."""
    if not isinstance(X, Dataset):
        return False
    if isinstance(X, IterableDataset) or not (hasattr(X, "__len__") and hasattr(type(X), "__getitem__")):
        raise ValueError(
            f"{type(X).__name__} has no indices: batches of both classes are drawn by index. Give a map-style dataset, "
            "one with __getitem__ and __len__"
        )
    if len(X) == 0:
        raise ValueError("the dataset is empty")
    return True


def labels_of(dataset):
    """Return the labels of a dataset's items, (input, label), by a pass over them."""
    if _is_plain(dataset):
        if len(dataset.tensors) < 2:
            raise ValueError("the dataset has no labels: give them as y")
        return on_host(dataset.tensors[1])
    labels = []
    for k in range(len(dataset)):
        item = dataset[k]
        if not (isinstance(item, tuple | list) and len(item) >= 2):
            raise ValueError("an item of the dataset must be a pair (input, label); without labels, give them as y")
        labels.append(np.asarray(on_host(item[1])))
    return np.array(labels)


def column_of_scores(output, n):
    """Return a module's output for n examples as a vector; raise ValueError unless it is one score for each."""
    scores = column_of(output)
    if len(scores) != n:
        raise ValueError(f"the module must return one score per example, got {len(scores)} for {n}")
    return scores


@torch.no_grad()
def scores_of(module, examples, batch_size=SCORED_AT_ONCE):
    """Return the scores of all examples in evaluation mode, as ndarray of shape (n,), float64."""
    was_training = module.training
    module.eval()
    try:
        like, scores = reference_tensor(module), np.empty(len(examples))
        for start in range(0, len(scores), batch_size):
            chosen = np.arange(start, min(start + batch_size, len(scores)))
            output = module(examples.inputs(chosen, like))
            scores[chosen] = column_of_scores(output, len(chosen)).cpu().double().numpy()  # mps has no float64
        return scores
    finally:
        module.train(was_training)


def reference_tensor(module):
    """Return a floating-point parameter of a module: its device and precision are those of inputs."""
    for tensor in module.parameters():
        if tensor.is_floating_point():
            return tensor
    raise ValueError("the module has no parameters to train")

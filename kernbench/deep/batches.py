"""Batches of positives and negatives, and examples that know their index within their class.

`torch.utils.data.DataLoader(IndexedDataset(dataset, labels), batch_sampler=PairBatchSampler(labels))` yields what
:meth:`kernbench.deep.AGDSBCD.step` needs: inputs, labels and indices.
"""

from typing import Any

import numpy as np
from torch.utils.data import Dataset, Sampler

from kernbench._typing import RandomState
from kernbench.deep.checks import on_host
from kernbench.problems.draws import UniformStream, as_generator
from kernbench.validation.numbers import check_number, is_integer


class PairBatchSampler(Sampler):
    """Batches of I positives and J negatives, each drawn uniformly without replacement from its class.

    A batch is a list of indices into the data set, the positives first. Batches are independent of each other, as
    AGD-SBCD requires: an "epoch" is a number of batches, not a pass through a shuffled list. Batch k depends on `seed`
    and k only, whoever draws it.

    Parameters
    ----------
    labels : array-like or Tensor of shape (n,)
        0 and 1, or -1 and 1, of all examples.
    n_positive, n_negative : int, default=16
        I and J; the whole class where it has fewer.
    n_batches : int, default=None
        Batches of an iteration over the sampler; by default n / (I + J), rounded up.
    seed : None, int, RandomState or Generator, default=None
        None draws one from NumPy's global state (``np.random.seed``). An integer below 2^63 is the seed itself, which
        the stochastic solvers of `kernbench.solvers.ranking` hold in their solution's ``state["seed"]``: a sampler of
        that seed draws the batches of that run.

    Attributes
    ----------
    batch : int
        Number of the next batch, counted from the first one ever. Assign to it to continue from a checkpoint: a loader
        reads ahead, so that the number of batches that were used is for the training loop to count.
    positives, negatives : ndarray
        Indices of the examples of each class.

    Examples
    --------
    >>> from kernbench.deep import PairBatchSampler
    >>> sampler = PairBatchSampler([0, 1, 0, 1, 0, 0], n_positive=1, n_negative=2, seed=0)
    >>> len(sampler), list(sampler)
    (2, [[1, 0, 2], [3, 4, 2]])
    """

    positives: np.ndarray
    negatives: np.ndarray
    n_batches: int
    seed: int
    batch: int

    def __init__(
        self,
        labels: Any,
        n_positive: int = 16,
        n_negative: int = 16,
        n_batches: int | None = None,
        seed: RandomState = None,
    ) -> None:
        check_number("n_positive", n_positive, at_least=1, whole=True)
        check_number("n_negative", n_negative, at_least=1, whole=True)
        positive = positives_of(labels)
        self.positives, self.negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        self.n_positive: int = min(int(n_positive), len(self.positives))
        self.n_negative: int = min(int(n_negative), len(self.negatives))
        if n_batches is None:
            n_batches = -(-len(positive) // (self.n_positive + self.n_negative))
        self.n_batches = int(check_number("n_batches", n_batches, at_least=1, whole=True))
        is_seed = is_integer(seed) and 0 <= seed < 2**63
        self.seed = int(seed) if is_seed else int(as_generator(seed).integers(2**53))
        self.batch, self._stream = 0, UniformStream(self.seed, 0)

    def __len__(self) -> Any:
        return self.n_batches

    def __iter__(self) -> Any:
        for _ in range(self.n_batches):
            yield self.draw()

    def draw(self) -> Any:
        """Return the indices of the next batch, the positives first."""
        width = self.n_positive + self.n_negative
        if self._stream.position != self.batch * width:
            self._stream = UniformStream(self.seed, 0, position=self.batch * width)
        u = self._stream.ahead(width)[:width, 0]
        self._stream.position += width
        self.batch += 1
        return [*_draw(u[: self.n_positive], self.positives), *_draw(u[self.n_positive :], self.negatives)]


class IndexedDataset(Dataset):
    """A map-style data set whose items are (inputs, label, index), with the index of the example within its class.

    Parameters
    ----------
    dataset : map-style data set, or array or Tensor of inputs
        Anything with ``len`` and ``[i]``. Of items that are tuples or lists the first entry is taken as the inputs:
        labels come from `labels`.
    labels : array-like or Tensor of shape (n,)
        0 and 1, or -1 and 1.

    Attributes
    ----------
    indices : ndarray of shape (n,)
        Index of each example among those of its class, in the order of the data set.
    n_positive, n_negative : int

    Examples
    --------
    >>> from kernbench.deep import IndexedDataset
    >>> IndexedDataset([10.0, 11.0, 12.0], [0, 1, 1])[2]
    (12.0, 1, 1)
    """

    dataset: Any
    positive: Any

    def __init__(self, dataset: Any, labels: Any) -> None:
        if not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
            raise ValueError(
                f"a {type(dataset).__name__} has no indices: AGD-SBCD keeps a threshold for every positive example and "
                "needs a map-style data set, with len(dataset) and dataset[i]"
            )
        positive = positives_of(labels)
        if len(positive) != len(dataset):
            raise ValueError(f"labels must hold one per example, {len(dataset)}, got {len(positive)}")
        self.dataset, self.positive = dataset, positive
        self.indices: np.ndarray = np.where(positive, np.cumsum(positive), np.cumsum(~positive)) - 1
        self.n_positive: int = int(np.count_nonzero(positive))
        self.n_negative: int = len(positive) - self.n_positive

    def __len__(self) -> Any:
        return len(self.positive)

    def __getitem__(self, i: Any) -> Any:
        item = self.dataset[i]
        inputs = item[0] if isinstance(item, tuple | list) else item
        return inputs, int(self.positive[i]), int(self.indices[i])


def positives_of(labels):
    """Return which of all examples are positive, as a mask; there must be both classes."""
    labels = np.asarray(on_host(labels))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, got shape {labels.shape}")
    positive = labels == 1
    if not (np.all(positive | (labels == 0)) or np.all(positive | (labels == -1))):
        raise ValueError("labels must be 0 and 1, or -1 and 1")
    for members, name in ((positive, "positive"), (~positive, "negative")):
        if not members.any():
            raise ValueError(f"pairs need both classes, but no example is {name}")
    return positive


def _draw(u, members):
    """Return len(u) different members: the first steps of the shuffle of Fisher and Yates."""
    moved, drawn, n = {}, [], len(members)
    for k, number in enumerate(u.tolist()):
        r = min(k + int(number * (n - k)), n - 1)
        drawn.append(int(members[moved.get(r, r)]))
        moved[r] = moved.get(k, k)
    return drawn

"""Labels of a stream of two classes as -1 and +1, for `KernelSVC(solver="scs")`."""

import numpy as np

from kernbench.estimators.arguments import chunks

REDRAWS = 100  # until some row of a draw has a weight


class Reader(chunks.Reader):
    """Examples of a stream with labels -1 and +1, without those of weight 0; sparse rows stay sparse.

    Parameters
    ----------
    chunks : iterable of (X, y) or (X, y, weights)
    rng : Generator

    Attributes
    ----------
    factors : tuple of two floats
        Factors of the weights, by class.
    check : callable or None
        ``check(X)`` raises ValueError for examples that cannot be learned from; None as long as the kernel is unknown.
    """

    factors = (1.0, 1.0)
    check = None

    def take(self, count):
        """Return (X, y, weights) of up to `count` examples; zero examples only at the end of the stream."""
        while True:
            taken = super().take(count)
            examples = self._coded(taken)
            if len(examples[1]) or not len(taken[1]):
                return examples

    def redraw(self, count):
        """Return (X, y, weights) of rows drawn with replacement from all; None if the chunks come only once."""
        for _ in range(REDRAWS):
            drawn = super().redraw(count)
            examples = None if drawn is None else self._coded(drawn)
            if examples is None or len(examples[1]):
                break
        return examples

    def _coded(self, examples):
        X, y, weights = examples
        positive = y == self.classes[1]
        weights = weights * np.where(positive, self.factors[1], self.factors[0])
        used = weights > 0
        X = X[used]
        if self.check is not None:
            self.check(X)
        return X, np.where(positive[used], 1.0, -1.0), weights[used]

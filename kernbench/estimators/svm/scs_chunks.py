"""Labels of a stream of two classes as -1 and +1, for `KernelSVC(solver="scs")`."""

import numpy as np
from scipy import sparse

from kernbench.estimators.arguments import chunks


class Reader(chunks.Reader):
    """Examples of a stream with labels -1 and +1; dense, and without those of weight 0.

    Parameters
    ----------
    chunks : iterable of (X, y) or (X, y, weights)
    rng : Generator

    Attributes
    ----------
    factors : tuple of two floats
        Factors of the weights, by class.
    """

    factors = (1.0, 1.0)

    def take(self, count):
        """Return (X, y, weights) of up to `count` examples."""
        return self._coded(super().take(count))

    def redraw(self, count):
        """Return (X, y, weights) of rows drawn with replacement from all; None if the chunks come only once."""
        drawn = super().redraw(count)
        return None if drawn is None else self._coded(drawn)

    def _coded(self, examples):
        X, y, weights = examples
        positive = y == self.classes[1]
        weights = weights * np.where(positive, self.factors[1], self.factors[0])
        used = weights > 0
        X = X.toarray() if sparse.issparse(X) else X
        return X[used], np.where(positive[used], 1.0, -1.0), weights[used]

"""The latest rows of a run of batches, with the outputs of the model at them."""

from dataclasses import replace

import numpy as np

from kernbench.problems.streaming.batches import Batch, stacked

NAMES = ("X", "y", "weights")


class RecentRows:
    """A window on the latest rows: those of a batch replace the oldest ones.

    Parameters
    ----------
    size : int
        Rows that are kept, or those of the last batch where it has more.
    whole_batches : bool, default=False
        Whether the window begins with a batch, for losses whose batches are balanced: it then holds the fewest of the
        latest batches that have `size` rows together.

    Attributes
    ----------
    batch : Batch or None
        The rows, the oldest first; None before the first batch.
    sizes : tuple of int
        With `whole_batches`: the rows of each batch in the window.
    f : ndarray of shape (n, n_outputs), or None
        Outputs at these rows, which whoever changes the model keeps up to date; None where they are to be computed.
    """

    def __init__(self, size, whole_batches=False):
        self.size, self.whole_batches = size, whole_batches
        self.batch, self.sizes, self.f = None, (), None

    def return_to(self, batch, sizes):
        """Hold the rows of an earlier `batch`, or none for None, whose outputs are no longer known."""
        self.batch, self.sizes, self.f = batch, sizes, None

    def add(self, batch, f):
        """Add a batch and the outputs at its rows."""
        parts = [part for part in (self.batch, batch) if part is not None]
        if any(part.weights is not None for part in parts):
            parts = [part if part.weights is not None else replace(part, weights=np.ones(len(part))) for part in parts]
        kept = -self._n_kept(len(batch))
        columns = [[getattr(part, name) for part in parts] for name in NAMES]
        self.batch = Batch(*(None if column[0] is None else stacked(column)[kept:] for column in columns))
        self.f = (f if self.f is None else np.concatenate([self.f, f]))[kept:]

    def _n_kept(self, n_new):
        """Return the number of rows to keep after a batch of `n_new`; sets `sizes`."""
        if not self.whole_batches:
            return max(self.size, n_new)
        sizes = [*self.sizes, n_new]
        while sum(sizes[1:]) >= self.size:
            del sizes[0]
        self.sizes = tuple(sizes)
        return sum(sizes)

    def state(self):
        """Return what resuming needs, as new arrays; empty before the first batch."""
        if self.batch is None:
            return {}
        values = {"f": self.f, **{name: getattr(self.batch, name) for name in NAMES}}
        if self.whole_batches:
            values["sizes"] = np.array(self.sizes)
        return {f"recent_{name}": value.copy() for name, value in values.items() if value is not None}

    def resume(self, state):
        """Continue from a state."""
        if "recent_X" in state:
            self.batch = Batch(*(state.get(f"recent_{name}") for name in NAMES))
            self.f = np.array(state["recent_f"]) if "recent_f" in state else None
            # Without sizes, as in states of earlier versions, the rows count as one batch.
            self.sizes = tuple(np.ravel(state.get("recent_sizes", len(self.batch))).tolist())

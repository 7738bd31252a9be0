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

    Attributes
    ----------
    batch : Batch or None
        The rows, the oldest first; None before the first batch.
    f : ndarray of shape (n, n_outputs), or None
        Outputs at these rows, which whoever changes the model keeps up to date; None where they are to be computed.
    """

    def __init__(self, size):
        self.size = size
        self.batch = self.f = None

    def return_to(self, batch):
        """Hold the rows of an earlier `batch`, or none for None, whose outputs are no longer known."""
        self.batch, self.f = batch, None

    def add(self, batch, f):
        """Add a batch and the outputs at its rows."""
        parts = [part for part in (self.batch, batch) if part is not None]
        if any(part.weights is not None for part in parts):
            parts = [part if part.weights is not None else replace(part, weights=np.ones(len(part))) for part in parts]
        kept = -max(self.size, len(batch))
        columns = [[getattr(part, name) for part in parts] for name in NAMES]
        self.batch = Batch(*(None if column[0] is None else stacked(column)[kept:] for column in columns))
        self.f = (f if self.f is None else np.concatenate([self.f, f]))[kept:]

    def state(self):
        """Return what resuming needs, as new arrays; empty before the first batch."""
        if self.batch is None:
            return {}
        values = {"f": self.f, **{name: getattr(self.batch, name) for name in NAMES}}
        return {f"recent_{name}": value.copy() for name, value in values.items() if value is not None}

    def resume(self, state):
        """Continue from a state."""
        if "recent_X" in state:
            self.batch = Batch(*(state.get(f"recent_{name}") for name in NAMES))
            self.f = np.array(state["recent_f"]) if "recent_f" in state else None
